// Campaigns: written by admins, offered on pages, and their results. The service decides by page, office hours and
// frequency; the widget by time, scroll depth and exit intent. Specification 4.4.

import type { VisitorRecord } from '../../store/customers/visitors.ts';
import {
  allCampaigns,
  type CampaignContent,
  type CampaignRecord,
  type CampaignStats,
  type CampaignStatus,
  campaignStatsOf,
  campaignStatsSince,
  countCampaigns,
  type Frequency,
  findCampaign,
  findVisitStart,
  insertCampaign,
  insertCampaignEvent,
  lastImpressions,
  liveCampaigns,
  type QuickReply,
  type TriggerRules,
  updateCampaign,
} from '../../store/growth/campaigns.ts';
import { callingVisitor } from '../customers/visitors.ts';
import { refuse, refuseField } from '../errors.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { ActorKind } from '../runtime/registry.ts';
import { firstChars } from '../text.ts';
import { requireAdmin } from '../workspace/access.ts';
import { requireFeature } from '../workspace/entitlements.ts';
import { siteHours } from '../workspace/office-hours.ts';
import { requireSite } from '../workspace/sites.ts';
import { requireRoom, requireUrlMatch, type UrlPattern, urlPattern } from './url-patterns.ts';

/** The period of a list's aggregates in UTC days, including today (decisions 4.4). */
const statsDays = 30;
const dayMs = 24 * 3600_000;
const maxNameChars = 120;
/** Includes archived ones: campaigns are never deleted, and their list is not paged. */
const maxCampaigns = 1000;

export interface CampaignView extends CampaignRecord {
  readonly stats: CampaignStats;
}

interface LiveCampaign {
  readonly campaign: CampaignRecord;
  readonly pattern: UrlPattern;
}

/** Live campaigns with compiled patterns, so that patterns are not compiled for every page view. */
const liveCampaignsKind: ActorKind<readonly LiveCampaign[]> = {
  name: 'liveCampaigns',
  load: (db) =>
    liveCampaigns(db).map((campaign) => ({ campaign, pattern: urlPattern(campaign.triggerRules.urlMatch) })),
};

/** For optional fields, null means the same as omitted. */
type Written<Of> = {
  readonly [Field in keyof Of]: Record<never, never> extends Pick<Of, Field> ? Of[Field] | null : Of[Field];
};

export interface CampaignFields {
  readonly name: string;
  readonly triggerRules: Written<TriggerRules>;
  readonly content: Written<Omit<CampaignContent, 'quickReplies'>> & {
    readonly quickReplies?: readonly Written<QuickReply>[] | null;
  };
}

/** A draft. Refuses admin_required, feature_locked, invalid_body, semantic_error. */
export const createCampaign = command('campaign.create', (ctx, fields: CampaignFields): CampaignView => {
  requireCampaignAdmin(ctx);
  return addDraft(ctx, { name: fields.name, ...requireSound(fields) });
});

export type CampaignChanges = { readonly [Field in keyof CampaignFields]?: CampaignFields[Field] | undefined } & {
  readonly status?: Exclude<CampaignStatus, 'archived'> | undefined;
};

/**
 * Objects are replaced as a whole. Refuses admin_required, feature_locked, not_found, campaign_archived, invalid_body,
 * semantic_error.
 */
export const changeCampaign = command(
  'campaign.update',
  (ctx, params: { campaignId: string; changes: CampaignChanges }): CampaignView => {
    requireCampaignAdmin(ctx);
    const before = requireCampaign(ctx, params.campaignId);
    if (before.status === 'archived') refuse('campaign_archived');
    const {
      name = before.name,
      status = before.status,
      triggerRules = before.triggerRules,
      content = before.content,
    } = params.changes;
    if (Object.values(params.changes).every((value) => value === undefined))
      refuseField('invalid_body', 'body', 'must name a field that can be changed');
    return put(ctx, { ...before, name, status, ...requireSound({ triggerRules, content }) });
  },
);

/** No effect on an archived campaign. Refuses admin_required, feature_locked, not_found. */
export const archiveCampaign = command('campaign.archive', (ctx, params: { campaignId: string }): CampaignView => {
  requireCampaignAdmin(ctx);
  const before = requireCampaign(ctx, params.campaignId);
  return before.status === 'archived' ? campaignView(ctx, before) : put(ctx, { ...before, status: 'archived' });
});

/**
 * A new draft from any campaign, even an archived one. Refuses admin_required, feature_locked, not_found,
 * semantic_error.
 */
export const duplicateCampaign = command('campaign.duplicate', (ctx, params: { campaignId: string }): CampaignView => {
  requireCampaignAdmin(ctx);
  const { name, triggerRules, content } = requireCampaign(ctx, params.campaignId);
  const suffix = ' (copy)';
  return addDraft(ctx, { name: firstChars(name, maxNameChars - suffix.length) + suffix, triggerRules, content });
});

/** Newest first. */
export function listCampaigns(view: View, filter: { status: CampaignStatus | undefined }): CampaignView[] {
  const stats = campaignStatsSince(view.db, statsSince(view));
  return allCampaigns(view.db, filter).map((campaign) => ({
    ...campaign,
    stats: stats.get(campaign.id) ?? { impressions: 0, clicks: 0, startedChats: 0 },
  }));
}

/** Refuses not_found. */
export function readCampaign(view: View, campaignId: string): CampaignView {
  return campaignView(view, requireCampaign(view, campaignId));
}

/** A campaign as offered to the widget: its conditions and its content. */
export interface CampaignOffer {
  readonly id: string;
  readonly triggerRules: {
    readonly showAfterMs: number;
    readonly exitIntent: boolean;
    readonly scrollDepthPct: number;
    readonly frequency: Frequency;
  };
  readonly content: CampaignContent;
}

/** The live campaigns that may be shown to this visitor on this page now, oldest first. */
export function campaignsFor(ctx: Context, visitor: VisitorRecord, url: string): CampaignOffer[] {
  const matching = theLive(ctx).filter(({ pattern }) => pattern.matches(url));
  if (matching.length === 0) return [];
  const seen = lastImpressions(ctx.db, visitor.id);
  const visitStart = findVisitStart(ctx.db, visitor.id) ?? visitor.firstSeenAt;
  const { officeHoursOpen } = siteHours(ctx, requireSite(ctx, visitor.siteId));
  return matching
    .filter(
      ({ campaign }) =>
        (officeHoursOpen || campaign.triggerRules.officeHoursOnly !== true) &&
        mayShow(campaign, seen.get(campaign.id), visitStart),
    )
    .map(({ campaign }) => offerOf(campaign));
}

/**
 * Records what the widget reports that the visitor saw or did. An impression beyond the campaign's frequency is a
 * duplicate report and not counted. Refuses forbidden, not_found.
 */
export const noteCampaignEvent = command(
  'widget.noteCampaign',
  (ctx, params: { campaignId: string; type: 'impression' | 'click' | 'dismiss' }): { counted: boolean } => {
    const visitor = callingVisitor(ctx);
    const campaign = requireCampaign(ctx, params.campaignId);
    const visitStart = findVisitStart(ctx.db, visitor.id) ?? visitor.firstSeenAt;
    // A campaign that was archived or paused meanwhile may still be on a page; a draft never was.
    const counted =
      campaign.status !== 'draft' &&
      (params.type !== 'impression' ||
        mayShow(campaign, lastImpressions(ctx.db, visitor.id).get(campaign.id), visitStart));
    if (counted)
      insertCampaignEvent(ctx.db, {
        campaignId: campaign.id,
        visitorId: visitor.id,
        type: params.type,
        conversationId: null,
        createdAt: ctx.at,
      });
    return { counted };
  },
);

/** Records a chat that a campaign started. Refuses invalid_body for an unknown campaign. */
export function noteStartedChat(
  ctx: Context,
  chat: { campaignId: string; visitorId: string; conversationId: string },
): CampaignRecord {
  const campaign =
    findCampaign(ctx.db, chat.campaignId) ??
    refuseField('invalid_body', 'campaignId', 'must be a campaign of this workspace');
  insertCampaignEvent(ctx.db, { ...chat, type: 'start-chat', createdAt: ctx.at });
  return campaign;
}

const ruleFields = [
  'urlMatch',
  'showAfterMs',
  'exitIntent',
  'scrollDepthPct',
  'frequency',
  'officeHoursOnly',
] as const satisfies readonly (keyof TriggerRules)[];
const contentFields = ['body', 'agentName', 'agentAvatarUrl'] as const satisfies readonly (keyof CampaignContent)[];

function contentOf(content: CampaignFields['content']): CampaignContent {
  const { quickReplies = null } = content;
  return {
    ...known<Omit<CampaignContent, 'quickReplies'>>(content, contentFields),
    ...(quickReplies === null
      ? {}
      : { quickReplies: quickReplies.map((reply) => known<QuickReply>(reply, ['label', 'action', 'value'])) }),
  };
}

/** Without null values and without unknown fields, which a request may contain (decisions, general). */
function known<Kept extends object>(given: Written<Kept>, fields: readonly (keyof Kept)[]): Kept {
  // Contains every required field, none of them null.
  return Object.fromEntries(
    fields.filter((field) => (given[field] ?? null) !== null).map((field) => [field, given[field]]),
  ) as Kept;
}

function mayShow(campaign: CampaignRecord, lastShownAt: string | undefined, visitStart: string): boolean {
  if (lastShownAt === undefined) return true;
  switch (campaign.triggerRules.frequency ?? 'session') {
    case 'once':
      return false;
    case 'session':
      return lastShownAt < visitStart;
    case 'always':
      return true;
  }
}

function offerOf({ id, triggerRules, content }: CampaignRecord): CampaignOffer {
  const { showAfterMs = 0, exitIntent = false, scrollDepthPct = 0, frequency = 'session' } = triggerRules;
  return { id, triggerRules: { showAfterMs, exitIntent, scrollDepthPct, frequency }, content };
}

function theLive(view: Pick<View, 'state'>): readonly LiveCampaign[] {
  return view.state(liveCampaignsKind, '') ?? [];
}

function addDraft(ctx: Context, fields: Pick<CampaignRecord, 'name' | 'triggerRules' | 'content'>): CampaignView {
  if (countCampaigns(ctx.db) >= maxCampaigns)
    refuse('semantic_error', {
      message: `A workspace may have at most ${maxCampaigns} campaigns, including archived ones.`,
    });
  const { name, triggerRules, content } = fields;
  const campaign: CampaignRecord = {
    id: ctx.ids.uuid(),
    name,
    status: 'draft',
    triggerRules,
    content,
    createdAt: ctx.at,
    updatedAt: ctx.at,
  };
  insertCampaign(ctx.db, campaign);
  return campaignView(ctx, campaign);
}

function put(ctx: Context, changed: CampaignRecord): CampaignView {
  const campaign: CampaignRecord = { ...changed, updatedAt: ctx.at };
  const others = theLive(ctx).filter((live) => live.campaign.id !== campaign.id);
  if (campaign.status === 'live') {
    const pattern = urlPattern(campaign.triggerRules.urlMatch);
    requireRoom(
      others.map((live) => live.pattern),
      pattern,
      'campaigns',
    );
    const live = [...others, { campaign, pattern }];
    ctx.setState(
      liveCampaignsKind,
      '',
      live.sort((a, b) => (a.campaign.createdAt + a.campaign.id < b.campaign.createdAt + b.campaign.id ? -1 : 1)),
    );
  } else ctx.setState(liveCampaignsKind, '', others);
  updateCampaign(ctx.db, campaign);
  return campaignView(ctx, campaign);
}

function campaignView(view: Pick<View, 'db' | 'nowMs'>, campaign: CampaignRecord): CampaignView {
  return { ...campaign, stats: campaignStatsOf(view.db, campaign.id, statsSince(view)) };
}

function statsSince(view: Pick<View, 'nowMs'>): string {
  return isoTime(view.nowMs - (statsDays - 1) * dayMs).slice(0, 10);
}

function requireCampaignAdmin(ctx: Context): void {
  requireAdmin(ctx);
  requireFeature(ctx, 'campaigns');
}

function requireCampaign(view: Pick<View, 'db'>, campaignId: string): CampaignRecord {
  return findCampaign(view.db, campaignId) ?? refuse('not_found');
}

function requireSound(written: Omit<CampaignFields, 'name'>): Pick<CampaignRecord, 'triggerRules' | 'content'> {
  const triggerRules = known<TriggerRules>(written.triggerRules, ruleFields);
  const content = contentOf(written.content);
  requireUrlMatch(triggerRules.urlMatch, 'triggerRules.urlMatch');
  content.quickReplies?.forEach((reply, index) => {
    // A web page or a path, never a script.
    if (reply.action === 'navigate' && !/^(?:https?:\/\/[^/?#\s]|\/(?![/\\]))/i.test(reply.value ?? ''))
      refuseField(
        'invalid_body',
        `content.quickReplies.${index}.value`,
        'must be a web address or a path that begins with a slash',
      );
  });
  return { triggerRules, content };
}

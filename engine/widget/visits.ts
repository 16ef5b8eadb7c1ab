// Visits: a customer's browser opens a session and views pages, before any message. Every page may complete goals, and
// the reply lists the campaigns that may be shown on it. Decisions 4.12.

import { findVisitorViewedAt, setVisitorViewed } from '../../store/customers/visitor-presence.ts';
import { setVisitorNetwork, type VisitorRecord } from '../../store/customers/visitors.ts';
import { insertVisitor } from '../../store/customers/writes.ts';
import { findVisitStart, putVisitStart } from '../../store/growth/campaigns.ts';
import { findSiteByEmbedId } from '../../store/workspace/sites.ts';
import { blockedFrom, countVisitor } from '../customers/visitor-bounds.ts';
import {
  auditSharedBlock,
  callingVisitor,
  identifyHonestly,
  newVisitor,
  proveEmail,
  putVisitor,
  visitorKind,
} from '../customers/visitors.ts';
import { refuse } from '../errors.ts';
import { emit } from '../events.ts';
import { type CampaignOffer, campaignsFor } from '../growth/campaigns.ts';
import { completeGoals } from '../growth/goals.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import { noteSeen } from '../workspace/site-sightings.ts';
import { chatAudience } from './presence.ts';

/** After this time without a page view, the next one starts a new visit, which a campaign's frequency refers to. */
const visitGapMs = 30 * 60_000;

export interface SessionParams {
  readonly embedId: string;
  /** From a token that the edge verified; undefined starts a new visitor. */
  readonly visitorId: string | undefined;
  readonly url: string;
  /** The host of the page; undefined for the service's own, and for a caller that is no browser. */
  readonly host?: string | undefined;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  /** Of the address that the caller proved, by a link from a mail or the site's signature. */
  readonly emailHash?: string | undefined;
  readonly ip: string | null;
  /** The network that addresses are counted by (http/limits/network-address.ts). */
  readonly network: string;
  /** The same; null if it may be a proxy's, which does not identify a visitor. */
  readonly ownNetwork: string | null;
  /** Its country, if known. */
  readonly country: VisitorRecord['country'];
  readonly geo: VisitorRecord['geo'];
  readonly userAgent: string | null;
  /** That its browser prefers; null if it is none that mails are written in. */
  readonly locale: VisitorRecord['locale'];
}

/** The reply to a page view. */
export interface LoadedPage {
  readonly visitor: VisitorRecord;
  readonly campaigns: readonly CampaignOffer[];
}

/**
 * The returning visitor, or a new one. A token of another site starts a new visitor here. A visitor that appears to be
 * a blocked one is blocked too. Refuses not_found for an unknown site, rate_limited for too many new ones from a
 * network.
 */
export const openSession = command('widget.openSession', (ctx, params: SessionParams): LoadedPage => {
  const site = findSiteByEmbedId(ctx.db, params.embedId) ?? refuse('not_found');
  if (params.host !== undefined) noteSeen(ctx, site, params.host);
  const known = params.visitorId === undefined ? undefined : ctx.state(visitorKind, params.visitorId);
  const returning = known?.siteId === site.id ? known : undefined;
  const blocked = returning === undefined ? blockedFrom(ctx, params) : undefined;
  const visitor: VisitorRecord = {
    ...(returning ?? { ...newVisitor(ctx, site.id), blockedAt: blocked?.blockedAt ?? null }),
    ip: params.ip,
    country: params.country,
    geo: params.geo,
    userAgent: params.userAgent,
    locale: params.locale ?? returning?.locale ?? null,
    currentPageUrl: params.url,
    lastSeenAt: ctx.at,
    visitCount: (returning?.visitCount ?? 0) + 1,
  };
  if (returning === undefined) {
    countVisitor(ctx, params.network);
    insertVisitor(ctx.db, visitor);
  }
  if (params.ownNetwork !== null) setVisitorNetwork(ctx.db, visitor.id, params.ownNetwork);
  if (blocked !== undefined) auditSharedBlock(ctx, visitor, blocked);
  noteVisit(ctx, visitor.id);
  // A blocked visitor cannot change its details here either.
  const named = identifyHonestly(
    ctx,
    visitor,
    visitor.blockedAt === null ? { name: params.name, email: params.email } : {},
  );
  if (params.emailHash !== undefined && named.blockedAt === null) proveEmail(ctx, named, params.emailHash);
  emit(ctx, { type: 'visitor.online', audience: chatAudience, data: { visitor: named } });
  return loadPage(ctx, named, params.url);
});

/** Refuses forbidden if blocked. */
export const viewPage = command('widget.viewPage', (ctx, params: { url: string }): LoadedPage => {
  const visitor = callingVisitor(ctx);
  noteVisit(ctx, visitor.id);
  const seen: VisitorRecord = { ...visitor, currentPageUrl: params.url, lastSeenAt: ctx.at };
  putVisitor(ctx, seen);
  emit(ctx, { type: 'visitor.page_viewed', audience: chatAudience, data: { visitor: seen } });
  return loadPage(ctx, seen, params.url);
});

/** A blocked visitor gets no offers and completes no goals. */
function loadPage(ctx: Context, visitor: VisitorRecord, url: string): LoadedPage {
  if (visitor.blockedAt !== null) return { visitor, campaigns: [] };
  completeGoals(ctx, visitor, url);
  return { visitor, campaigns: campaignsFor(ctx, visitor, url) };
}

function noteVisit(ctx: Context, visitorId: string): void {
  const viewedAt = findVisitorViewedAt(ctx.db, visitorId);
  const isSame =
    viewedAt !== undefined &&
    ctx.nowMs - Date.parse(viewedAt) < visitGapMs &&
    findVisitStart(ctx.db, visitorId) !== undefined;
  if (!isSame) putVisitStart(ctx.db, visitorId, ctx.at);
  setVisitorViewed(ctx.db, visitorId, ctx.at);
}

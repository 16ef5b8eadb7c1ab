// What a customer's browser does before anybody writes: it opens a session, it goes from page to page. Every page may
// complete goals and is answered with the campaigns that may be shown on it. Decisions 4.12.

import { insertVisitor, setVisitorNetwork, type VisitorRecord } from '../../store/customers/visitors.ts';
import { findVisitStart, putVisitStart } from '../../store/growth/campaigns.ts';
import { findSiteByEmbedId } from '../../store/workspace/sites.ts';
import { blockedFrom, takeRoomForVisitor } from '../customers/visitor-bounds.ts';
import {
  auditSharedBlock,
  callingVisitor,
  identifyHonestly,
  newVisitor,
  putVisitor,
  visitorKind,
} from '../customers/visitors.ts';
import { refuse } from '../errors.ts';
import { tell } from '../events.ts';
import { type CampaignOffer, campaignsFor } from '../growth/campaigns.ts';
import { completeGoals } from '../growth/goals.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';

/**
 * Who does nothing for so long has gone; what it does next is a new visit, which is the session that a campaign's
 * frequency means.
 */
const visitGapMs = 30 * 60_000;

/** Everything about pages and presence concerns whoever answers chats. */
const chatAudience = { kind: 'channel', channel: 'chat' } as const;

export interface SessionParams {
  readonly embedId: string;
  /** From a token that was verified at the edge; undefined starts a new visitor. */
  readonly visitorId: string | undefined;
  readonly url: string;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly ip: string | null;
  /** What the address is counted by (http/limits/network-address.ts). */
  readonly network: string;
  /** The same; null where it may be that of a proxy, which tells nobody from another. */
  readonly ownNetwork: string | null;
  /** Where that is, as far as it is known. */
  readonly country: VisitorRecord['country'];
  readonly geo: VisitorRecord['geo'];
  readonly userAgent: string | null;
}

/** What a page is answered with. */
export interface LoadedPage {
  readonly visitor: VisitorRecord;
  readonly campaigns: readonly CampaignOffer[];
}

/**
 * The visitor that comes back, or a new one. A token of another site starts a new visitor here. One that comes as a
 * blocked one did is blocked with it. Refuses not_found for an unknown site, rate_limited for too many new ones of a
 * network.
 */
export const openSession = command('widget.openSession', (ctx, params: SessionParams): LoadedPage => {
  const site = findSiteByEmbedId(ctx.db, params.embedId) ?? refuse('not_found');
  const known = params.visitorId === undefined ? undefined : ctx.state(visitorKind, params.visitorId);
  const returning = known?.siteId === site.id ? known : undefined;
  const blocked = returning === undefined ? blockedFrom(ctx, params) : undefined;
  const visitor: VisitorRecord = {
    ...(returning ?? { ...newVisitor(ctx, site.id), blockedAt: blocked?.blockedAt ?? null }),
    ip: params.ip,
    country: params.country,
    geo: params.geo,
    userAgent: params.userAgent,
    currentPageUrl: params.url,
    lastSeenAt: ctx.at,
    visitCount: (returning?.visitCount ?? 0) + 1,
  };
  if (returning === undefined) {
    takeRoomForVisitor(ctx, params.network);
    insertVisitor(ctx.db, visitor);
  }
  if (params.ownNetwork !== null) setVisitorNetwork(ctx.db, visitor.id, params.ownNetwork);
  if (blocked !== undefined) auditSharedBlock(ctx, visitor, blocked);
  noteVisit(ctx, visitor.id, returning?.lastSeenAt);
  // A blocked one stays who it was: it may not say otherwise here either.
  const named = identifyHonestly(
    ctx,
    visitor,
    visitor.blockedAt === null ? { name: params.name, email: params.email } : {},
  );
  tell(ctx, { type: 'visitor.online', audience: chatAudience, data: { visitor: named } });
  return loadPage(ctx, named, params.url);
});

/** Refuses forbidden when blocked. */
export const viewPage = command('widget.viewPage', (ctx, params: { url: string }): LoadedPage => {
  const visitor = callingVisitor(ctx);
  noteVisit(ctx, visitor.id, visitor.lastSeenAt);
  const seen: VisitorRecord = { ...visitor, currentPageUrl: params.url, lastSeenAt: ctx.at };
  putVisitor(ctx, seen);
  tell(ctx, { type: 'visitor.page_viewed', audience: chatAudience, data: { visitor: seen } });
  return loadPage(ctx, seen, params.url);
});

/** A blocked visitor is offered nothing and completes nothing. */
function loadPage(ctx: Context, visitor: VisitorRecord, url: string): LoadedPage {
  if (visitor.blockedAt !== null) return { visitor, campaigns: [] };
  completeGoals(ctx, visitor, url);
  return { visitor, campaigns: campaignsFor(ctx, visitor, url) };
}

function noteVisit(ctx: Context, visitorId: string, lastSeenAt: string | undefined): void {
  const isSame =
    lastSeenAt !== undefined &&
    ctx.nowMs - Date.parse(lastSeenAt) < visitGapMs &&
    findVisitStart(ctx.db, visitorId) !== undefined;
  if (!isSame) putVisitStart(ctx.db, visitorId, ctx.at);
}

// Presence of customers. A visitor is online from its first socket until a few seconds after its last one, so that the
// next page of a visit is no leave. Whether one would see a message now: store/customers/visitor-presence.ts.
// Decisions "Presence of customers".

import {
  findVisitorPresence,
  isThere,
  onlineVisitorIds,
  setVisitorAsked,
  setVisitorGone,
} from '../../store/customers/visitor-presence.ts';
import type { VisitorRecord } from '../../store/customers/visitors.ts';
import { expectUnreachable, setUnreachable } from '../conversations/unreachable.ts';
import { expectUnseenOf } from '../conversations/unseen.ts';
import { callingVisitor, putVisitor, visitorKind } from '../customers/visitors.ts';
import { emit } from '../events.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';

/** Pages and presence are for agents who answer chats. */
export const chatAudience = { kind: 'channel', channel: 'chat' } as const;

/** Visitors of an ended process that one command records as gone. */
const lostPage = 200;
/** Asking again within this time is not recorded: it keeps a customer who polls there, by one write in a while. */
const askedAgainMs = 10_000;

/**
 * Call when a visitor's first socket opened, or some seconds after its last one closed, at `goneAt`. Does nothing if
 * that was known. Only the edge calls this.
 */
export const noteVisitorSockets = command(
  'visitor.noteSockets',
  (ctx, params: { visitorId: string; goneAt: string | null }): void => {
    const visitor = ctx.state(visitorKind, params.visitorId);
    if (visitor === undefined) return;
    if (params.goneAt !== null) go(ctx, visitor, params.goneAt);
    else if (!visitor.isOnline) come(ctx, visitor);
  },
);

/**
 * The process that had their sockets has ended; those of `thereIds` have new ones. Records a page of the others as gone,
 * and returns where the next page begins, undefined after the last.
 */
export const endLostVisits = command(
  'visitor.endLostSockets',
  (ctx, params: { thereIds: ReadonlySet<string>; after: string }): string | undefined => {
    const ids = onlineVisitorIds(ctx.db, { after: params.after, limit: lostPage });
    for (const id of ids) {
      const visitor = params.thereIds.has(id) ? undefined : ctx.state(visitorKind, id);
      if (visitor !== undefined) go(ctx, visitor, ctx.at);
    }
    return ids.length < lostPage ? undefined : ids.at(-1);
  },
);

/** The caller asked over HTTP what is new. */
export const noteAsking = command('visitor.noteAsking', (ctx, _: object): void => {
  const { id } = callingVisitor(ctx);
  setVisitorAsked(ctx.db, id, ctx.at);
  noteMoment(ctx, id);
});

/** The visitor was there for a moment, without a socket. */
export function noteMoment(ctx: Context, visitorId: string): void {
  setUnreachable(ctx, visitorId, false);
  expectUnreachable(ctx, visitorId, ctx.nowMs);
}

/** Whether noteAsking would change what others are told about the caller. */
export function isAskingNews(view: View, visitorId: string): boolean {
  const { isOnline, askedAt } = findVisitorPresence(view.db, visitorId);
  return !isOnline && (askedAt === null || view.nowMs - Date.parse(askedAt) >= askedAgainMs);
}

/** Whether the visitor would see a message that is sent now. */
export function isVisitorThere(view: Pick<View, 'db' | 'nowMs'>, visitorId: string): boolean {
  return isThere(findVisitorPresence(view.db, visitorId), view.nowMs);
}

function come(ctx: Context, visitor: VisitorRecord): void {
  const come: VisitorRecord = { ...visitor, isOnline: true, lastSeenAt: ctx.at };
  putVisitor(ctx, come);
  setVisitorGone(ctx.db, visitor.id, null);
  setUnreachable(ctx, visitor.id, false);
  emit(ctx, { type: 'visitor.online', audience: chatAudience, data: { visitor: come } });
}

function go(ctx: Context, visitor: VisitorRecord, goneAt: string): void {
  if (!visitor.isOnline) return;
  const lastSeenAt = goneAt > visitor.lastSeenAt ? goneAt : visitor.lastSeenAt;
  const gone: VisitorRecord = { ...visitor, isOnline: false, lastSeenAt };
  putVisitor(ctx, gone);
  setVisitorGone(ctx.db, visitor.id, goneAt);
  expectUnseenOf(ctx, visitor.id);
  expectUnreachable(ctx, visitor.id, Date.parse(goneAt));
  emit(ctx, { type: 'visitor.offline', audience: chatAudience, data: { visitor: gone } });
}

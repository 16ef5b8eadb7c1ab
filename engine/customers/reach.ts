// Decides whether a visitor who left can be reached. Decisions "Unreachable".

import { findVisitorPresence, thereUntilMs } from '../../store/customers/visitor-presence.ts';
import {
  expectUnreachable,
  goneForMs,
  rescheduleUnreachableDeadline,
  setUnreachable,
  unreachableDeadline,
} from '../conversations/unreachable.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import { reschedule } from '../runtime/rescheduling.ts';
import { addressOf, visitorKind } from './visitors.ts';

/** Runs when a visitor may have been gone for long enough. */
export const noteUnreachable = command('visitor.noteUnreachable', (ctx, { subjectId }: DeadlineParams): void => {
  const visitor = ctx.state(visitorKind, subjectId);
  if (visitor === undefined || addressOf(ctx, visitor) !== undefined) return;
  const presence = findVisitorPresence(ctx.db, visitor.id);
  // Its leaving sets the deadline again.
  if (presence.isOnline) return;
  const goneMs = Math.max(thereUntilMs(presence), presence.goneAt === null ? 0 : Date.parse(presence.goneAt));
  if (goneMs + goneForMs(ctx) > ctx.nowMs) expectUnreachable(ctx, visitor.id, goneMs);
  else setUnreachable(ctx, visitor.id, true);
});

/** The workspace's number of minutes changed: it applies to visitors who have left already, too. */
export function rescheduleUnreachable(ctx: Context, afterId = ''): void {
  reschedule(ctx, { of: unreachableDeadline, next: rescheduleUnreachableDeadline, afterId }, (id) => {
    const visitor = ctx.state(visitorKind, id);
    if (visitor !== undefined) expectUnreachable(ctx, id, Date.parse(visitor.lastSeenAt));
  });
}

/** Continues where rescheduleUnreachable stopped. */
export const continueUnreachable = command('workspace.unreachableAnew', (ctx, params: DeadlineParams): void =>
  rescheduleUnreachable(ctx, params.subjectId),
);

// Keeps what reports read in step with the conversations, in the command that changes them, and can prove that it did. Whoever writes
// a conversation calls foldChange(): conversation.ts, messages.ts, and call.ts for calls that end.

import { callPhaseOf, type CallRecord } from '../store/calls.ts';
import { campaignDifferences } from '../store/campaigns.ts';
import type { ConversationRecord } from '../store/conversations.ts';
import type { Database } from '../store/database.ts';
import { differencesOfMonth, foldConversation, rebuildMonth, type ReportedConversation, reportedMonths } from '../store/rollups.ts';
import { command } from './runtime/command.ts';
import type { Context } from './runtime/context.ts';
import type { DeadlineParams } from './runtime/deadlines.ts';

export const rebuildDeadline = 'reports.rebuild';

/** Folds a change of a conversation in; `before` undefined: it is new. */
export function foldChange(ctx: Context, before: ConversationRecord | undefined, after: ConversationRecord): void {
  const isCallOver = after.channel === 'call' && before !== undefined && callPhaseOf(ctx.db, after.id) === 'ended';
  foldConversation(ctx.db, before && reported(before, isCallOver), reported(after, isCallOver));
}

/** Folds in that a call of this conversation ended. */
export function foldCallChange(ctx: Context, conversation: ConversationRecord, call: { before: CallRecord; after: CallRecord }): void {
  foldConversation(ctx.db, reported(conversation, call.before.phase === 'ended'), reported(conversation, call.after.phase === 'ended'));
}

function reported(conversation: ConversationRecord, isCallOver: boolean): ReportedConversation {
  const { id, channel, status, departmentId, assignedAgentId, rating, firstResponseAt, solvedAt, createdAt } = conversation;
  return { id, channel, status, departmentId, assignedAgentId, rating, firstResponseAt, solvedAt, createdAt, isCallOver };
}

/** Makes the rollups of a month again, then those of the month before, down to the first. Begins with the last when its subject is no month. */
export const rebuildReports = command('reports.rebuild', (ctx, params: DeadlineParams): void => {
  const months = reportedMonths(ctx.db);
  if (months === undefined) return;
  const month = /^\d+$/.test(params.subjectId) ? Number(params.subjectId) : months.last;
  rebuildMonth(ctx.db, month);
  if (month > months.first) ctx.setDeadline(rebuildDeadline, String(month - 1), ctx.nowMs);
});

/** What in the rollups and counts of a workspace its rows do not bear out. Empty: reports are right. Reads everything, once. */
export function* verifyReports(db: Database): Generator<string> {
  const months = reportedMonths(db);
  if (months !== undefined) for (let month = months.first; month <= months.last; month += 1) yield* differencesOfMonth(db, month);
  yield* campaignDifferences(db);
}

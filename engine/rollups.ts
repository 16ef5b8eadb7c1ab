// Keeps the reports' rollups in step with the conversations, in the command that changes them, and can verify them.
// Every write of a conversation calls foldChange(): conversation.ts, messages.ts, and call.ts when a call ends. Every
// write of a completion calls foldCompletionOf(): goals.ts.

import { type CallRecord, callPhaseOf } from '../store/calls/calls.ts';
import type { ConversationRecord } from '../store/conversations/conversations.ts';
import type { Database } from '../store/database.ts';
import { campaignDifferences } from '../store/growth/campaigns.ts';
import { foldCompletion, type ReportedCompletion } from '../store/reports/goal-rollups.ts';
import {
  beginRebuild,
  buildNext,
  differencesOfMonth,
  progressFrom,
  rebuildDeadline,
  reportedMonths,
  textOfProgress,
} from '../store/reports/rebuild.ts';
import { dayMs, foldConversation, type ReportedConversation } from '../store/reports/rollups.ts';
import { deadlineSubjects } from '../store/runtime/deadlines.ts';
import { command } from './runtime/command.ts';
import type { Context } from './runtime/context.ts';
import type { DeadlineParams } from './runtime/deadlines.ts';
import { deadline } from './runtime/kinds.ts';

/** Folds in a change of a conversation; `before` is undefined for a new one. */
export function foldChange(ctx: Context, before: ConversationRecord | undefined, after: ConversationRecord): void {
  if (willBeCounted(ctx.db, after.createdAt)) return;
  const isCallOver = after.channel === 'call' && before !== undefined && callPhaseOf(ctx.db, after.id) === 'ended';
  foldConversation(ctx.db, before && reported(before, isCallOver), reported(after, isCallOver));
}

/** Folds in the end of a conversation's call. */
export function foldCallChange(
  ctx: Context,
  conversation: ConversationRecord,
  call: { before: CallRecord; after: CallRecord },
): void {
  if (willBeCounted(ctx.db, conversation.createdAt)) return;
  foldConversation(
    ctx.db,
    reported(conversation, call.before.phase === 'ended'),
    reported(conversation, call.after.phase === 'ended'),
  );
}

/** Folds in a new completion. */
export function foldCompletionOf(ctx: Context, completion: ReportedCompletion): void {
  if (!willBeCounted(ctx.db, completion.completedAt)) foldCompletion(ctx.db, completion);
}

/** True while a rebuild is under way and has not reached that day, whose current rows it will then count. */
function willBeCounted(db: Database, at: string): boolean {
  return deadlineSubjects(db, rebuildDeadline).some(
    (subjectId) => Math.floor(Date.parse(at) / dayMs) < (progressFrom(subjectId)?.day ?? Number.POSITIVE_INFINITY),
  );
}

function reported(conversation: ConversationRecord, isCallOver: boolean): ReportedConversation {
  const {
    id,
    channel,
    status,
    departmentId,
    assignedAgentId,
    rating,
    ratedAgentId,
    firstResponseAt,
    firstResponderId,
    solvedAt,
    mergedInto,
    createdAt,
  } = conversation;
  return {
    id,
    channel,
    status,
    departmentId,
    assignedAgentId,
    rating,
    ratedAgentId,
    firstResponseAt,
    firstResponderId,
    solvedAt,
    createdAt,
    isMerged: mergedInto !== null,
    isCallOver,
  };
}

export const reportsDeadline = deadline(rebuildDeadline);

/**
 * Rebuilds the rollups day by day, newest first, a part of a month at a time, so that each command stays short. Deletes
 * them all first.
 */
export const rebuildReports = command('reports.rebuild', (ctx, params: DeadlineParams): void => {
  const progress = buildNext(ctx.db, progressFrom(params.subjectId) ?? beginRebuild(ctx.db));
  if (progress !== undefined) ctx.setDeadline(reportsDeadline, textOfProgress(progress), ctx.nowMs);
});

/**
 * Yields every difference between the rollups and the workspace's rows; none means that reports are right. Reads
 * everything once.
 */
export function* verifyReports(db: Database): Generator<string> {
  const months = reportedMonths(db);
  if (months !== undefined)
    for (let month = months.first; month <= months.last; month += 1) yield* differencesOfMonth(db, month);
  yield* campaignDifferences(db);
}

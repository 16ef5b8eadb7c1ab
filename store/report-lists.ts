// The parts of reports that are lists: the conversations behind a figure, what waits now, what goals were worth. Asked on the reader
// thread; plain data in and out.

import type { Channel, ConversationRecord, ConversationStatus } from './conversations.ts';
import { type ConversationRow, conversationFromRow } from './conversations.ts';
import type { Database } from './database.ts';
import type { GoalStatus } from './goals.ts';
import { type ReportRange, type ReportScope, rangeValues, scopeValues, totalsOf, withinChannels, withinRange, withinScope } from './report-reads.ts';
import type { Counts } from './rollups.ts';

export interface DrillDown {
  readonly scope: ReportScope;
  readonly range: ReportRange;
  /** Undefined: all but spam. */
  readonly status: ConversationStatus | undefined;
  readonly isRated: boolean;
  readonly isMissed: boolean;
}

const isOver = `(status IN ('solved', 'closed') OR channel = 'call' AND EXISTS (SELECT 1 FROM call WHERE call.conversationId = conversation.id AND call.phase = 'ended'))`;

function conditionOf(asked: DrillDown): string {
  return [
    withinRange,
    // What a look at the index's entry tells comes first.
    ...(asked.isRated ? ['rating IS NOT NULL'] : []),
    ...(asked.isMissed ? [`firstResponseAt IS NULL`] : []),
    asked.status === undefined ? `status <> 'spam'` : 'status = @status',
    withinScope(asked.scope),
    withinChannels(asked.scope),
    ...(asked.isMissed ? [`status <> 'spam' AND ${isOver}`] : []),
  ].join(' AND ');
}

function valuesOf(asked: DrillDown): Record<string, string | null> {
  return { ...rangeValues(asked.range), ...scopeValues(asked.scope), status: asked.status ?? null };
}

/** Newest first. Ids come from the index alone; only the page's own rows are read. */
export function reportedConversations(db: Database, asked: DrillDown, page: { limit: number; offset: number }): ConversationRecord[] {
  return db
    .all<ConversationRow>(
      `SELECT whole.* FROM (SELECT id, createdAt FROM conversation INDEXED BY conversationInReports WHERE ${conditionOf(asked)} ORDER BY createdAt DESC, id DESC LIMIT @limit OFFSET @offset) AS found
       JOIN conversation AS whole ON whole.id = found.id ORDER BY found.createdAt DESC, found.id DESC`,
      { ...valuesOf(asked), ...page },
    )
    .map(conversationFromRow);
}

export function countReported(db: Database, asked: DrillDown): number {
  const rolledUp = rolledUpCount(asked);
  if (rolledUp !== undefined) return totalsOf(db, asked.scope, asked.range)[rolledUp];
  return db.get<{ count: number }>(`SELECT count(*) AS count FROM conversation INDEXED BY conversationInReports WHERE ${conditionOf(asked)}`, valuesOf(asked))?.count ?? 0;
}

/** What rollups count, where it is just that. */
function rolledUpCount({ status, isRated, isMissed }: DrillDown): keyof Counts | undefined {
  if (status === undefined) return isRated && isMissed ? undefined : isRated ? 'rated' : isMissed ? 'missed' : 'conversations';
  return isRated || isMissed || status === 'spam' ? undefined : status;
}

/** The next of them in the same order, for lists that are read to their end. */
export function reportedAfter(db: Database, asked: DrillDown, after: { at: string; id: string } | undefined, limit: number): ConversationRecord[] {
  return db
    .all<ConversationRow>(
      `SELECT whole.* FROM (SELECT id, createdAt FROM conversation INDEXED BY conversationInReports WHERE ${conditionOf(asked)} AND (@at IS NULL OR createdAt < @at OR createdAt = @at AND id < @id)
         AND createdAt <= coalesce(@at, '9999') ORDER BY createdAt DESC, id DESC LIMIT @limit) AS found
       JOIN conversation AS whole ON whole.id = found.id ORDER BY found.createdAt DESC, found.id DESC`,
      { ...valuesOf(asked), at: after?.at ?? null, id: after?.id ?? null, limit },
    )
    .map(conversationFromRow);
}

/** Open ones that nobody has, now. */
export function queuedByChannel(db: Database, scope: ReportScope): Map<Channel, number> {
  const rows = db.all<{ channel: Channel; count: number }>(
    `SELECT channel, count(*) AS count FROM conversation WHERE status = 'open' AND assignedAgentId IS NULL AND handshake IS NULL AND ${withinScope({ ...scope, agentId: null })} GROUP BY channel`,
    { ...scopeValues({ ...scope, agentId: null }) },
  );
  return new Map(rows.map(({ channel, count }) => [channel, count]));
}

export interface GoalTotals {
  readonly goalId: string;
  readonly name: string;
  /** `deleted` is a goal that is gone but was reached in the range. */
  readonly status: GoalStatus | 'deleted';
  readonly completions: number;
  readonly valueCents: number;
}

const completionsWithin = (scope: ReportScope): string => `completedAt >= @fromAt AND completedAt < @toAt AND ${withinScope(scope, { departmentId: 'departmentId', agentId: 'attributedAgentId' })}`;

interface GoalRow {
  readonly goalId: string;
  readonly name: string;
  readonly status: GoalStatus;
  readonly isDeleted: number;
}

/** Every goal that is there, and deleted ones with completions in the range; the oldest first. */
export function goalTotals(db: Database, scope: ReportScope, range: ReportRange): GoalTotals[] {
  const rows = db.all<GoalRow>('SELECT id AS goalId, name, status, deletedAt IS NOT NULL AS isDeleted FROM goal ORDER BY createdAt, id');
  return rows.flatMap(({ goalId, name, status, isDeleted }) => {
    const reached = db.get<{ completions: number; valueCents: number }>(
      `SELECT count(*) AS completions, coalesce(sum(valueCents), 0) AS valueCents FROM goalCompletion INDEXED BY goalCompletionByGoal WHERE goalId = @goalId AND ${completionsWithin(scope)}`,
      { goalId, ...rangeValues(range), ...scopeValues(scope) },
    );
    const { completions = 0, valueCents = 0 } = reached ?? {};
    return isDeleted === 1 && completions === 0 ? [] : [{ goalId, name, status: isDeleted === 1 ? ('deleted' as const) : status, completions, valueCents }];
  });
}

/** How many in each bucket, as bucketTotals() has them. */
export function completionsByBucket(db: Database, scope: ReportScope, buckets: { readonly starts: readonly number[]; readonly toMs: number }): number[] {
  return buckets.starts.map(
    (fromMs, index) =>
      db.get<{ count: number }>(`SELECT count(*) AS count FROM goalCompletion INDEXED BY goalCompletionByTime WHERE ${completionsWithin(scope)}`, {
        ...rangeValues({ fromMs, toMs: buckets.starts[index + 1] ?? buckets.toMs }),
        ...scopeValues(scope),
      })?.count ?? 0,
  );
}

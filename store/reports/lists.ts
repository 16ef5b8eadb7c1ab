// Report lists: the conversations behind a figure, the current queue, and the value of goals. Used on the reader
// thread; plain data in and out.

import type { Channel, ConversationRecord, ConversationStatus } from '../conversations/conversations.ts';
import { type ConversationRow, conversationFromRow } from '../conversations/conversations.ts';
import type { Database } from '../database.ts';
import { toJsonOrNull } from '../json.ts';
import { BucketPlan, type Buckets } from './buckets.ts';
import { figuresPerGoalQuarter } from './goal-rollups.ts';
import { cutRange, type Periods, type ReportRange } from './pieces.ts';
import { isRebuilding } from './rebuild.ts';
import { type Counts, type Days, dayMs, everyone } from './rollups.ts';
import {
  countsByDay,
  type ReportScope,
  rangeValues,
  scopeValues,
  totalsOf,
  withinChannels,
  withinRange,
  withinScope,
} from './sums.ts';
import type { GoalRow, GoalSums, GoalTotals } from './types.ts';

export interface DrillDown {
  readonly scope: ReportScope;
  readonly range: ReportRange;
  /** Undefined: all but spam. */
  readonly status: ConversationStatus | undefined;
  readonly isRated: boolean;
  readonly isMissed: boolean;
  /**
   * For an agent's own report: a conversation that has moved to another department and another agent is counted but not
   * shown. Null: everything is shown.
   */
  readonly shownDepartmentIds: readonly string[] | null;
}

const isOver = `(status IN ('solved', 'closed') OR channel = 'call' AND EXISTS (SELECT 1 FROM call WHERE call.conversationId = conversation.id AND call.phase = 'ended'))`;

function conditionOf(asked: DrillDown): string {
  return [
    withinRange,
    // Conditions on the index entry come first.
    ...(asked.isRated ? ['rating IS NOT NULL'] : []),
    ...(asked.isRated && asked.scope.agentId !== null ? ['coalesce(ratedAgentId, assignedAgentId) = @agentId'] : []),
    ...(asked.isMissed ? [`firstResponseAt IS NULL`] : []),
    asked.status === undefined ? `status <> 'spam'` : 'status = @status',
    withinScope(asked.scope),
    ...(asked.shownDepartmentIds === null
      ? []
      : [
          `(assignedAgentId = @agentId OR coalesce(departmentId, '') IN (SELECT value FROM json_each(@shownDepartmentIds)))`,
        ]),
    withinChannels(asked.scope),
    ...(asked.isMissed ? [`status <> 'spam' AND ${isOver}`] : []),
  ].join(' AND ');
}

function valuesOf(asked: DrillDown): Record<string, string | null> {
  return {
    ...rangeValues(asked.range),
    ...scopeValues(asked.scope),
    status: asked.status ?? null,
    shownDepartmentIds: toJsonOrNull(asked.shownDepartmentIds),
  };
}

/** Rated conversations without an answer have an index of their own: they are rare and in no rollup. */
const indexOf = ({ isRated, isMissed }: DrillDown): string =>
  isRated && isMissed ? 'conversationRatedUnanswered' : 'conversationInReports';

interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** Newest first. Ids come only from the index; only the page's own rows are read. */
export function reportedConversations(db: Database, whole: DrillDown, wholePage: Page): ConversationRecord[] {
  const { asked, page } = beyondDays(db, whole, wholePage);
  return db
    .all<ConversationRow>(
      `SELECT whole.* FROM (SELECT id, createdAt FROM conversation INDEXED BY ${indexOf(asked)} WHERE ${conditionOf(asked)} ORDER BY createdAt DESC, id DESC LIMIT @limit OFFSET @offset) AS found
       JOIN conversation AS whole ON whole.id = found.id ORDER BY found.createdAt DESC, found.id DESC`,
      { ...valuesOf(asked), ...page },
    )
    .map(conversationFromRow);
}

/** Up to this offset, rows are skipped one by one. */
const skippedOneByOne = 1000;

/** The same page of a shorter range: whole days before it in the list are skipped by their rollup counts. */
function beyondDays(db: Database, asked: DrillDown, page: Page): { asked: DrillDown; page: Page } {
  const counted = rolledUpCount(asked);
  const lastDay = Math.floor(asked.range.toMs / dayMs);
  if (counted === undefined || page.offset < skippedOneByOne || lastDay * dayMs <= asked.range.fromMs)
    return { asked, page };
  const endingOn = (day: number): ReportRange => ({ fromMs: asked.range.fromMs, toMs: day * dayMs });
  // Rows of the day in which the range ends come first.
  let offset = page.offset - countRows(db, { ...asked, range: { fromMs: lastDay * dayMs, toMs: asked.range.toMs } });
  if (offset < 0) return { asked, page };
  let day = lastDay;
  const counts = countsByDay(db, asked.scope, counted, {
    first: Math.ceil(asked.range.fromMs / dayMs),
    next: lastDay,
  });
  for (const [earlier, count] of counts) {
    if (count > offset) break;
    offset -= count;
    day = earlier;
  }
  return { asked: { ...asked, range: endingOn(day) }, page: { ...page, offset } };
}

export function countReported(db: Database, asked: DrillDown): number {
  const rolledUp = rolledUpCount(asked);
  if (rolledUp !== undefined) return totalsOf(db, asked.scope, asked.range)[rolledUp];
  return countRows(db, asked);
}

function countRows(db: Database, asked: DrillDown): number {
  return (
    db.get<{ count: number }>(
      `SELECT count(*) AS count FROM conversation INDEXED BY ${indexOf(asked)} WHERE ${conditionOf(asked)}`,
      valuesOf(asked),
    )?.count ?? 0
  );
}

/** The rollup count for these conditions, if there is one. */
function rolledUpCount({ status, isRated, isMissed, shownDepartmentIds }: DrillDown): keyof Counts | undefined {
  if (shownDepartmentIds !== null) return undefined;
  if (status === undefined)
    return isRated && isMissed ? undefined : isRated ? 'rated' : isMissed ? 'missed' : 'conversations';
  return isRated || isMissed || status === 'spam' ? undefined : status;
}

/** Names for a conversation's ids, for readers of an export. */
export interface ConversationNames {
  readonly siteName: string | null;
  readonly departmentName: string | null;
  readonly assignedAgentName: string | null;
  readonly firstResponderName: string | null;
  /** The contact's, else the visitor's. */
  readonly customerName: string | null;
  readonly customerEmail: string | null;
}

export interface NamedConversation {
  readonly conversation: ConversationRecord;
  readonly names: ConversationNames;
}

/** The next page in the same order, for lists that are read to the end. */
export function reportedAfter(
  db: Database,
  asked: DrillDown,
  after: { at: string; id: string } | undefined,
  limit: number,
): NamedConversation[] {
  return db
    .all<ConversationRow & ConversationNames>(
      `SELECT whole.*, site.name AS siteName, department.name AS departmentName, assignee.name AS assignedAgentName, responder.name AS firstResponderName,
         coalesce(contact.name, visitor.name) AS customerName, coalesce(contact.email, visitor.email) AS customerEmail FROM (SELECT id, createdAt FROM conversation INDEXED BY ${indexOf(asked)} WHERE ${conditionOf(asked)} AND (@at IS NULL OR createdAt < @at OR createdAt = @at AND id < @id)
         AND createdAt <= coalesce(@at, '9999') ORDER BY createdAt DESC, id DESC LIMIT @limit) AS found
       JOIN conversation AS whole ON whole.id = found.id
       LEFT JOIN site ON site.id = whole.siteId LEFT JOIN department ON department.id = whole.departmentId
       LEFT JOIN agent AS assignee ON assignee.id = whole.assignedAgentId LEFT JOIN agent AS responder ON responder.id = whole.firstResponderId
       LEFT JOIN contact ON contact.id = whole.contactId LEFT JOIN visitor ON visitor.id = whole.visitorId
       ORDER BY found.createdAt DESC, found.id DESC`,
      { ...valuesOf(asked), at: after?.at ?? null, id: after?.id ?? null, limit },
    )
    .map(
      ({ siteName, departmentName, assignedAgentName, firstResponderName, customerName, customerEmail, ...row }) => ({
        conversation: conversationFromRow(row),
        names: { siteName, departmentName, assignedAgentName, firstResponderName, customerName, customerEmail },
      }),
    );
}

/** Open unassigned conversations, now. */
export function queuedByChannel(db: Database, scope: ReportScope): Map<Channel, number> {
  const rows = db.all<{ channel: Channel; count: number }>(
    `SELECT channel, count(*) AS count FROM conversation WHERE status = 'open' AND assignedAgentId IS NULL AND handshake IS NULL AND assistant IS NOT 'answering' AND ${withinScope({ ...scope, agentId: null })} GROUP BY channel`,
    { ...scopeValues({ ...scope, agentId: null }) },
  );
  return new Map(rows.map(({ channel, count }) => [channel, count]));
}

const completionsWithin = (scope: ReportScope): string =>
  `completedAt >= @fromAt AND completedAt < @toAt AND ${withinScope(scope, { departmentId: 'departmentId', isOfAgent: 'attributedAgentId = @agentId' })}`;

/** Every goal, and deleted ones with completions in the range; oldest first. */
export function goalTotals(db: Database, scope: ReportScope, range: ReportRange): GoalTotals[] {
  const goals = db.all<GoalRow>(
    'SELECT id AS goalId, name, status, deletedAt IS NOT NULL AS isDeleted FROM goal ORDER BY createdAt, id',
  );
  const sums: GoalSums = new Map();
  // No rollup tells agents apart: theirs are few.
  const { ends, periods } =
    scope.agentId === null ? cutRange(range, { byDay: isRebuilding(db) }) : { ends: [range], periods: [] };
  for (const end of ends)
    for (const { goalId, valueCents } of completionsOf(db, scope, end)) addToGoal(sums, goalId, 1, valueCents ?? 0);
  for (const some of periods) addPeriods(db, scope, some, goals, sums);
  return goals.flatMap(({ goalId, name, status, isDeleted }) => {
    const { completions = 0, valueCents = 0 } = sums.get(goalId) ?? {};
    return isDeleted === 1 && completions === 0
      ? []
      : [{ goalId, name, status: isDeleted === 1 ? ('deleted' as const) : status, completions, valueCents }];
  });
}

function addPeriods(
  db: Database,
  scope: ReportScope,
  { grain, first, next }: Periods,
  goals: readonly GoalRow[],
  sums: GoalSums,
): void {
  for (const { goalId } of goals) {
    for (const departmentId of scope.departmentIds ?? [everyone]) {
      const found = db.allValues(
        'SELECT sum(completions), sum(valueCents) FROM rollupGoal WHERE departmentId = ? AND goalId = ? AND grain = ? AND period >= ? AND period < ? HAVING count(*) > 0',
        [departmentId, goalId, grain, first, next],
      );
      // As the columns are declared in the migration.
      for (const [completions, valueCents] of found as [number, number][])
        addToGoal(sums, goalId, completions, valueCents);
    }
  }
}

const rangeOf = ({ first, next }: Days): ReportRange => ({ fromMs: first * dayMs, toMs: next * dayMs });

function addToGoal(sums: GoalSums, goalId: string, completions: number, valueCents: number): void {
  const sum = sums.get(goalId) ?? { completions: 0, valueCents: 0 };
  sums.set(goalId, { completions: sum.completions + completions, valueCents: sum.valueCents + valueCents });
}

/** By bucket. */
export function completionsByBucket(db: Database, scope: ReportScope, buckets: Buckets): number[] {
  const plan = new BucketPlan(buckets);
  const counts = [
    ...(scope.agentId === null
      ? plan.sumsOf(quartersOfDays(db, scope, plan.days), figuresPerGoalQuarter)
      : plan.countsOf(completionsOf(db, scope, rangeOf(plan.days)).map(({ completedAt }) => Date.parse(completedAt)))),
  ];
  for (const { bucket, ...range } of plan.edges)
    counts[bucket] = (counts[bucket] ?? 0) + completionsOf(db, scope, range).length;
  return counts;
}

function quartersOfDays(db: Database, scope: ReportScope, { first, next }: Days): [day: number, quarters: string][] {
  const sql = `SELECT period, quarters FROM rollupGoal WHERE departmentId = ? AND goalId = ? AND grain = 'day' AND period >= ? AND period < ?`;
  // As the columns are declared in the migration.
  return (scope.departmentIds ?? [everyone]).flatMap(
    (departmentId) => db.allValues(sql, [departmentId, everyone, first, next]) as [number, string][],
  );
}

/** One by one, from a covering index. */
function completionsOf(
  db: Database,
  scope: ReportScope,
  range: ReportRange,
): { goalId: string; valueCents: number | null; completedAt: string }[] {
  if (range.fromMs >= range.toMs) return [];
  const index = scope.agentId === null ? 'goalCompletionByTime' : 'goalCompletionByAgent';
  const sql = `SELECT goalId, valueCents, completedAt FROM goalCompletion INDEXED BY ${index} WHERE ${completionsWithin(scope)}`;
  return db.all(sql, { ...rangeValues(range), ...scopeValues(scope) });
}

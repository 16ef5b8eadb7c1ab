// What reports say, read from rollups where a whole quarter of an hour, day or month lies within their range, and from
// the conversations themselves at its ends, so that every figure is of exactly [fromMs, toMs). Asked on the reader
// thread; plain data in and out.

import type { Channel } from '../conversations/conversations.ts';
import type { Database } from '../database.ts';
import { toJson, toJsonOrNull } from '../json.ts';
import { BucketPlan, type Buckets } from './buckets.ts';
import { Durations } from './histogram.ts';
import { cutRange, type Periods, type ReportRange } from './pieces.ts';
import { isRebuilding } from './rebuild.ts';
import {
  agentsOf,
  type Counts,
  type Days,
  everyone,
  type Figures,
  figuresIn,
  noCounts,
  quarterFigures,
  type ReportedConversation,
  type ReportedRow,
  reportedColumns,
  reportedFromRow,
} from './rollups.ts';
import type { ByAgent, DurationFigures, Totals } from './types.ts';

/** Which conversations count. */
export interface ReportScope {
  readonly channels: readonly Channel[];
  /** Null: all. An empty text: conversations without a department. */
  readonly departmentIds: readonly string[] | null;
  /** Null: all agents, and unassigned. */
  readonly agentId: string | null;
}

/** A number for each bucket. */
export interface BucketTotals {
  readonly conversations: readonly number[];
  readonly rated: readonly number[];
  readonly ratingSum: readonly number[];
}

/** Ranges with at most this many conversations are read row by row, so that their medians are exact. */
const exactUpTo = 500;

interface Sums {
  readonly counts: Counts;
  readonly firstResponses: Durations;
  readonly resolutions: Durations;
}

const emptySums = (): Sums => ({
  counts: { ...noCounts },
  firstResponses: new Durations(),
  resolutions: new Durations(),
});

const emptyByAgent = (agentIds: readonly (string | null)[]): ByAgent<Sums> =>
  new Map(agentIds.map((agentId) => [agentId, emptySums()]));

/** Of the whole range. */
export function totalsOf(db: Database, scope: ReportScope, range: ReportRange): Totals {
  return totalsBy(db, scope, range, [scope.agentId]).get(scope.agentId) ?? noTotals;
}

/** The same for each of these agents, in order. */
export function totalsByAgent(
  db: Database,
  scope: ReportScope,
  range: ReportRange,
  agentIds: readonly string[],
): Totals[] {
  const byAgent = totalsBy(db, { ...scope, agentId: null }, range, agentIds);
  return agentIds.map((agentId) => byAgent.get(agentId) ?? noTotals);
}

function totalsBy(
  db: Database,
  scope: ReportScope,
  range: ReportRange,
  agentIds: readonly (string | null)[],
): ByAgent<Totals> {
  const byAgent = emptyByAgent(agentIds);
  const { ends, periods } = hasFew(db, range)
    ? { ends: [range], periods: [] }
    : cutRange(range, { byDay: isRebuilding(db) });
  for (const some of periods) addPeriods(db, scope, some, byAgent);
  for (const end of ends) addRows(rowsOf(db, scope, end), byAgent);
  return new Map([...byAgent].map(([agentId, sums]) => [agentId, totals(sums)]));
}

/** Of each bucket. */
export function bucketTotals(db: Database, scope: ReportScope, buckets: Buckets): BucketTotals {
  const plan = new BucketPlan(buckets);
  const [conversations, rated, ratingSum] = [0, 1, 2].map(() => new Array<number>(buckets.starts.length).fill(0)) as [
    number[],
    number[],
    number[],
  ];
  const add = (bucket: number, began: number, ratings: number, sum: number): void => {
    conversations[bucket] = (conversations[bucket] ?? 0) + began;
    rated[bucket] = (rated[bucket] ?? 0) + ratings;
    ratingSum[bucket] = (ratingSum[bucket] ?? 0) + sum;
  };
  for (const { bucket, ...range } of plan.edges)
    for (const conversation of rowsOf(db, scope, range))
      add(bucket, ...quarterFigures(figuresIn(conversation, [everyone, scope.agentId ?? everyone]) ?? noCounts));
  const sums = plan.sumsOf(
    cellsOf(scope).flatMap((cell) => quartersOfDays(db, cell, scope, plan.days)),
    figuresPerQuarter,
  );
  for (let bucket = 0, at = 0; at < sums.length; bucket += 1, at += figuresPerQuarter)
    add(bucket, sums[at] ?? 0, sums[at + 1] ?? 0, sums[at + 2] ?? 0);
  return { conversations, rated, ratingSum };
}

function quartersOfDays(
  db: Database,
  cell: readonly [departmentId: string, agentId: string],
  scope: ReportScope,
  { first, next }: Days,
): [day: number, quarters: string][] {
  const sql = `SELECT period, quarters FROM rollupPeriod WHERE departmentId = ? AND agentId = ? AND channel IN (${channelsOf(scope)}) AND grain = 'day' AND period >= ? AND period < ?`;
  // As the columns are declared in the migration.
  return db.allValues(sql, [...cell, ...scope.channels, first, next]) as [number, string][];
}

const figuresPerQuarter = 3;

/** Days with any, last first. */
export function countsByDay(
  db: Database,
  scope: ReportScope,
  name: keyof Counts,
  days: Days,
): [day: number, count: number][] {
  const sql = `SELECT period, ${name} FROM rollupPeriod WHERE departmentId = ? AND agentId = ? AND channel IN (${channelsOf(scope)}) AND grain = 'day' AND period >= ? AND period < ?`;
  const counts = new Map<number, number>();
  for (const cell of cellsOf(scope)) {
    // As the columns are declared in the migration.
    for (const [day, count] of db.allValues(sql, [...cell, ...scope.channels, days.first, days.next]) as [
      number,
      number,
    ][])
      counts.set(day, (counts.get(day) ?? 0) + count);
  }
  return [...counts].sort(([a], [b]) => b - a);
}

function hasFew(db: Database, range: ReportRange): boolean {
  const sql = `SELECT count(*) AS count FROM (SELECT 1 FROM conversation INDEXED BY conversationInReports WHERE ${withinRange} LIMIT @limit)`;
  return (db.get<{ count: number }>(sql, { ...rangeValues(range), limit: exactUpTo + 1 })?.count ?? 0) <= exactUpTo;
}

const sumsOfPeriods = (
  scope: ReportScope,
): string => `SELECT agentId, sum(conversations), sum(open), sum(pending), sum(solved), sum(closed), sum(missed), sum(rated), sum(ratingSum), group_concat(firstResponses, ' '), group_concat(resolutions, ' ')
  FROM rollupPeriod WHERE departmentId = ? AND agentId IN (SELECT value FROM json_each(?)) AND channel IN (${channelsOf(scope)}) AND grain = ? AND period >= ? AND period < ? GROUP BY agentId`;

/** All agents at once: a statement per agent would cost more than its reads. */
function addPeriods(db: Database, scope: ReportScope, { grain, first, next }: Periods, byAgent: ByAgent<Sums>): void {
  const sql = sumsOfPeriods(scope);
  const agents = toJson([...byAgent.keys()].map((agentId) => agentId ?? everyone));
  for (const departmentId of scope.departmentIds ?? [everyone]) {
    // As the columns above are declared in the migration.
    const rows = db.allValues(sql, [departmentId, agents, ...scope.channels, grain, first, next]) as [
      string,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      string,
      string,
    ][];
    for (const [
      agentId,
      conversations,
      open,
      pending,
      solved,
      closed,
      missed,
      rated,
      ratingSum,
      firstResponses,
      resolutions,
    ] of rows) {
      const sums = byAgent.get(agentId === everyone ? null : agentId);
      if (sums === undefined) continue;
      addCounts(sums.counts, { conversations, open, pending, solved, closed, missed, rated, ratingSum });
      sums.firstResponses.addEncoded(firstResponses);
      sums.resolutions.addEncoded(resolutions);
    }
  }
}

/** One by one, from a covering index. */
function rowsOf(db: Database, scope: ReportScope, range: ReportRange): ReportedConversation[] {
  if (range.fromMs >= range.toMs) return [];
  const sql = `SELECT ${reportedColumns} FROM conversation INDEXED BY conversationInReports WHERE ${withinRange} AND status <> 'spam' AND ${withinChannels(scope)} AND ${withinScope(scope)}`;
  return db.all<ReportedRow>(sql, { ...rangeValues(range), ...scopeValues(scope) }).map(reportedFromRow);
}

/** Each adds to the total and to its agents, if requested. */
function addRows(conversations: readonly ReportedConversation[], byAgent: ByAgent<Sums>): void {
  for (const conversation of conversations) {
    for (const agentId of [null, ...agentsOf(conversation)])
      addFigures(byAgent.get(agentId), figuresIn(conversation, [everyone, agentId ?? everyone]));
  }
}

function addFigures(sums: Sums | undefined, figures: Figures | undefined): void {
  if (sums === undefined || figures === undefined) return;
  addCounts(sums.counts, figures);
  if (figures.firstResponseMs !== undefined) sums.firstResponses.add(figures.firstResponseMs);
  if (figures.resolutionMs !== undefined) sums.resolutions.add(figures.resolutionMs);
}

function totals({ counts, firstResponses, resolutions }: Sums): Totals {
  return { ...counts, firstResponse: durationFigures(firstResponses), resolution: durationFigures(resolutions) };
}

const noTotals: Totals = totals(emptySums());

/** A placeholder for each. */
const channelsOf = ({ channels }: ReportScope): string => channels.map(() => '?').join();

/** Departments and agents whose sum, in the scope's channels, is the scope. */
function cellsOf(scope: ReportScope): [departmentId: string, agentId: string][] {
  return (scope.departmentIds ?? [everyone]).map((departmentId) => [departmentId, scope.agentId ?? everyone]);
}

function addCounts(sum: Counts, added: Counts): void {
  sum.conversations += added.conversations;
  sum.open += added.open;
  sum.pending += added.pending;
  sum.solved += added.solved;
  sum.closed += added.closed;
  sum.missed += added.missed;
  sum.rated += added.rated;
  sum.ratingSum += added.ratingSum;
}

function durationFigures(durations: Durations): DurationFigures {
  const { median, quantile } = durations.medianAndQuantile(0.9);
  return { medianSeconds: seconds(median), p90Seconds: seconds(quantile) };
}

function seconds(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms) / 1000;
}

/** The condition of a scope on `conversation`, with only its restrictions. Binds scopeValues(). */
export function withinScope(
  scope: ReportScope,
  columns = {
    departmentId: 'conversation.departmentId',
    isOfAgent: '@agentId IN (conversation.assignedAgentId, conversation.firstResponderId, conversation.ratedAgentId)',
  },
): string {
  const conditions: string[] = [];
  if (scope.agentId !== null) conditions.push(columns.isOfAgent);
  if (scope.departmentIds !== null)
    conditions.push(`coalesce(${columns.departmentId}, '') IN (SELECT value FROM json_each(@departmentIds))`);
  return conditions.length === 0 ? 'TRUE' : conditions.join(' AND ');
}

/** No condition for all channels. */
export function withinChannels({ channels }: ReportScope): string {
  return channels.length === allChannels ? 'TRUE' : 'conversation.channel IN (SELECT value FROM json_each(@channels))';
}

const allChannels = 3;
export const withinRange =
  'conversation.mergedInto IS NULL AND conversation.createdAt >= @fromAt AND conversation.createdAt < @toAt';

export function scopeValues(scope: ReportScope): {
  channels: string;
  departmentIds: string | null;
  agentId: string | null;
} {
  return { channels: toJson(scope.channels), departmentIds: toJsonOrNull(scope.departmentIds), agentId: scope.agentId };
}

export function rangeValues({ fromMs, toMs }: ReportRange): { fromAt: string; toAt: string } {
  return { fromAt: new Date(fromMs).toISOString(), toAt: new Date(toMs).toISOString() };
}

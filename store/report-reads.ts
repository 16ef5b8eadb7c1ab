// What reports say, read from rollups where a whole quarter of an hour, day or month lies within their range, and from the conversations
// themselves at its ends, so that every figure is of exactly [fromMs, toMs). Asked on the reader thread; plain data in and out.

import type { Channel } from './conversations.ts';
import type { Database } from './database.ts';
import { Durations } from './histogram.ts';
import { toJson, toJsonOrNull } from './json.ts';
import { decodeQuarters } from './quarters.ts';
import { BucketPlan, type Buckets } from './report-buckets.ts';
import { isRebuilding } from './rollup-rebuild.ts';
import { type Counts, dayMs, everyone, figuresOf, monthOf, noCounts, quarterFigures, reportedColumns, type ReportedConversation, reportedFromRow, type ReportedRow, startOfMonth } from './rollups.ts';

/** Whose conversations count. */
export interface ReportScope {
  readonly channels: readonly Channel[];
  /** Null: all. An empty text: those of no department. */
  readonly departmentIds: readonly string[] | null;
  /** Null: everybody's, and nobody's. */
  readonly agentId: string | null;
}

export interface ReportRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Seconds, null when there is nothing to go by. */
export interface DurationFigures {
  readonly medianSeconds: number | null;
  readonly p90Seconds: number | null;
}

export interface Totals extends Counts {
  readonly firstResponse: DurationFigures;
  readonly resolution: DurationFigures;
}

/** A number for each bucket. */
export interface BucketTotals {
  readonly conversations: readonly number[];
  readonly rated: readonly number[];
  readonly ratingSum: readonly number[];
}

/** So few conversations in a range are read themselves: their medians are exact. */
const exactUpTo = 500;

interface Sums {
  readonly counts: Counts;
  readonly firstResponses: Durations;
  readonly resolutions: Durations;
}

const emptySums = (): Sums => ({ counts: { ...noCounts }, firstResponses: new Durations(), resolutions: new Durations() });

/** Of the whole range. */
export function totalsOf(db: Database, scope: ReportScope, range: ReportRange): Totals {
  const sums = emptySums();
  const { rows, periods } = partsOf(db, range);
  for (const part of rows) for (const conversation of rowsOf(db, scope, part)) addFigures(sums, conversation);
  for (const part of periods) addPeriods(db, scope, part, sums);
  return totals(sums);
}

/** The same for each of these agents, in their order. */
export function totalsByAgent(db: Database, scope: ReportScope, range: ReportRange, agentIds: readonly string[]): Totals[] {
  const byAgent = new Map(agentIds.map((agentId) => [agentId, emptySums()]));
  const { rows, periods } = partsOf(db, range);
  for (const part of rows) {
    for (const conversation of rowsOf(db, scope, part)) {
      const sums = conversation.assignedAgentId === null ? undefined : byAgent.get(conversation.assignedAgentId);
      if (sums !== undefined) addFigures(sums, conversation);
    }
  }
  for (const [agentId, sums] of byAgent) for (const part of periods) addPeriods(db, { ...scope, agentId }, part, sums);
  return [...byAgent.values()].map(totals);
}

/** Of each bucket. */
export function bucketTotals(db: Database, scope: ReportScope, buckets: Buckets): BucketTotals {
  const plan = new BucketPlan(buckets);
  const [conversations, rated, ratingSum] = [0, 1, 2].map(() => new Array<number>(buckets.starts.length).fill(0)) as [number[], number[], number[]];
  const add = (bucket: number, began: number, ratings: number, sum: number): void => {
    conversations[bucket] = (conversations[bucket] ?? 0) + began;
    rated[bucket] = (rated[bucket] ?? 0) + ratings;
    ratingSum[bucket] = (ratingSum[bucket] ?? 0) + sum;
  };
  for (const { bucket, ...range } of plan.edges) for (const conversation of rowsOf(db, scope, range)) add(bucket, ...quarterFigures(figuresOf(conversation) ?? noCounts));
  for (const cell of cellsOf(scope)) {
    const sql = `SELECT period, quarters FROM rollupPeriod WHERE departmentId = ? AND agentId = ? AND channel IN (${channelsOf(scope)}) AND grain = 'day' AND period >= ? AND period < ?`;
    const rows = db.allValues(sql, [...cell, ...scope.channels, plan.days.first, plan.days.next]);
    // As the columns are declared in the migration.
    for (const [day, quarters] of rows as [number, string][]) {
      const list = decodeQuarters(quarters, figuresPerQuarter);
      for (let index = 0; index < list.length; index += 1 + figuresPerQuarter) {
        const bucket = plan.bucketOf(day, list[index] ?? 0);
        if (bucket !== undefined) add(bucket, list[index + 1] ?? 0, list[index + 2] ?? 0, list[index + 3] ?? 0);
      }
    }
  }
  return { conversations, rated, ratingSum };
}

const figuresPerQuarter = 3;

/** Of days that have any, the last first. */
export function countsByDay(db: Database, scope: ReportScope, name: keyof Counts, days: { readonly first: number; readonly next: number }): [day: number, count: number][] {
  const counts = new Map<number, number>();
  const sql = `SELECT period, ${name} FROM rollupPeriod WHERE departmentId = ? AND agentId = ? AND channel IN (${channelsOf(scope)}) AND grain = 'day' AND period >= ? AND period < ?`;
  for (const cell of cellsOf(scope)) {
    // As the columns are declared in the migration.
    for (const [day, count] of db.allValues(sql, [...cell, ...scope.channels, days.first, days.next]) as [number, number][]) counts.set(day, (counts.get(day) ?? 0) + count);
  }
  return [...counts].sort(([a], [b]) => b - a);
}

/** Some days or months in a row, to be added or, when they stand in a month that was added whole, to be taken away. */
export interface Periods {
  readonly grain: 'day' | 'month';
  readonly first: number;
  readonly next: number;
  readonly times: 1 | -1;
}

function partsOf(db: Database, range: ReportRange): { rows: ReportRange[]; periods: Periods[] } {
  return hasFew(db, range) ? { rows: [range], periods: [] } : periodsOf(db, range);
}

/** A range as whole months, whole days beside them, and what is left at its ends. While rollups are made again: as days alone. */
export function periodsOf(db: Database, { fromMs, toMs }: ReportRange): { rows: ReportRange[]; periods: Periods[] } {
  const firstDay = Math.ceil(fromMs / dayMs);
  const nextDay = Math.floor(toMs / dayMs);
  if (firstDay >= nextDay) return { rows: [{ fromMs, toMs }], periods: [] };
  const rows = [{ fromMs, toMs: firstDay * dayMs }, { fromMs: nextDay * dayMs, toMs }];
  const [firstMonth, lastMonth] = [monthOf(firstDay * dayMs), monthOf(nextDay * dayMs)];
  if (firstMonth === lastMonth || isRebuilding(db)) return { rows, periods: [{ grain: 'day', first: firstDay, next: nextDay, times: 1 }] };
  const periods: Periods[] = [...endOfMonth(firstMonth, firstDay), { grain: 'month', first: firstMonth + 1, next: lastMonth, times: 1 }, ...beginningOfMonth(lastMonth, nextDay)];
  return { rows, periods: periods.filter(({ first, next }) => first < next) };
}

/** The days of the month from `day` on. When they are most of it: the month without the others, which are fewer to read. */
function endOfMonth(month: number, day: number): Periods[] {
  const [first, next] = daysOf(month);
  if (next - day <= day - first) return [{ grain: 'day', first: day, next, times: 1 }];
  return [{ grain: 'month', first: month, next: month + 1, times: 1 }, { grain: 'day', first, next: day, times: -1 }];
}

/** The days of the month before `day`. */
function beginningOfMonth(month: number, day: number): Periods[] {
  const [first, next] = daysOf(month);
  if (day - first <= next - day) return [{ grain: 'day', first, next: day, times: 1 }];
  return [{ grain: 'month', first: month, next: month + 1, times: 1 }, { grain: 'day', first: day, next, times: -1 }];
}

function daysOf(month: number): [first: number, next: number] {
  return [startOfMonth(month) / dayMs, startOfMonth(month + 1) / dayMs];
}

function hasFew(db: Database, range: ReportRange): boolean {
  const sql = `SELECT count(*) AS count FROM (SELECT 1 FROM conversation INDEXED BY conversationInReports WHERE ${withinRange} LIMIT @limit)`;
  return (db.get<{ count: number }>(sql, { ...rangeValues(range), limit: exactUpTo + 1 })?.count ?? 0) <= exactUpTo;
}

const sumsOfPeriods = (scope: ReportScope): string => `SELECT sum(conversations), sum(open), sum(pending), sum(solved), sum(closed), sum(missed), sum(rated), sum(ratingSum), group_concat(firstResponses, ' '), group_concat(resolutions, ' ')
  FROM rollupPeriod WHERE departmentId = ? AND agentId = ? AND channel IN (${channelsOf(scope)}) AND grain = ? AND period >= ? AND period < ? HAVING count(*) > 0`;

function addPeriods(db: Database, scope: ReportScope, { grain, first, next, times }: Periods, sums: Sums): void {
  const sql = sumsOfPeriods(scope);
  for (const cell of cellsOf(scope)) {
    // As the columns above are declared in the migration.
    const rows = db.allValues(sql, [...cell, ...scope.channels, grain, first, next]) as [number, number, number, number, number, number, number, number, string, string][];
    for (const [conversations, open, pending, solved, closed, missed, rated, ratingSum, firstResponses, resolutions] of rows) {
      addCounts(sums.counts, { conversations, open, pending, solved, closed, missed, rated, ratingSum }, times);
      sums.firstResponses.addEncoded(firstResponses, times);
      sums.resolutions.addEncoded(resolutions, times);
    }
  }
}

/** One by one, by the index that holds them whole. */
function rowsOf(db: Database, scope: ReportScope, range: ReportRange): ReportedConversation[] {
  if (range.fromMs >= range.toMs) return [];
  const sql = `SELECT ${reportedColumns} FROM conversation INDEXED BY conversationInReports WHERE ${withinRange} AND status <> 'spam' AND ${withinChannels(scope)} AND ${withinScope(scope)}`;
  return db.all<ReportedRow>(sql, { ...rangeValues(range), ...scopeValues(scope) }).map(reportedFromRow);
}

function addFigures(sums: Sums, conversation: ReportedConversation): void {
  const figures = figuresOf(conversation);
  if (figures === undefined) return;
  addCounts(sums.counts, figures);
  if (figures.firstResponseMs !== undefined) sums.firstResponses.add(figures.firstResponseMs);
  if (figures.resolutionMs !== undefined) sums.resolutions.add(figures.resolutionMs);
}

function totals({ counts, firstResponses, resolutions }: Sums): Totals {
  return { ...counts, firstResponse: durationFigures(firstResponses), resolution: durationFigures(resolutions) };
}

/** A place to bind each of them. */
const channelsOf = ({ channels }: ReportScope): string => channels.map(() => '?').join();

/** Departments and agents whose sum, in the scope's channels, is the scope. */
function cellsOf(scope: ReportScope): [departmentId: string, agentId: string][] {
  return (scope.departmentIds ?? [everyone]).map((departmentId) => [departmentId, scope.agentId ?? everyone]);
}

function addCounts(sum: Counts, added: Counts, times: 1 | -1 = 1): void {
  sum.conversations += times * added.conversations;
  sum.open += times * added.open;
  sum.pending += times * added.pending;
  sum.solved += times * added.solved;
  sum.closed += times * added.closed;
  sum.missed += times * added.missed;
  sum.rated += times * added.rated;
  sum.ratingSum += times * added.ratingSum;
}

function durationFigures(durations: Durations): DurationFigures {
  return { medianSeconds: seconds(durations.quantile(0.5)), p90Seconds: seconds(durations.quantile(0.9)) };
}

function seconds(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms) / 1000;
}

/** The condition of a scope on `conversation`: only what narrows it. Binds what scopeValues() gives. */
export function withinScope(scope: ReportScope, columns = { departmentId: 'conversation.departmentId', agentId: 'conversation.assignedAgentId' }): string {
  const conditions: string[] = [];
  if (scope.agentId !== null) conditions.push(`${columns.agentId} = @agentId`);
  if (scope.departmentIds !== null) conditions.push(`coalesce(${columns.departmentId}, '') IN (SELECT value FROM json_each(@departmentIds))`);
  return conditions.length === 0 ? 'TRUE' : conditions.join(' AND ');
}

/** Conversations of all channels need not be asked for theirs. */
export function withinChannels({ channels }: ReportScope): string {
  return channels.length === allChannels ? 'TRUE' : 'conversation.channel IN (SELECT value FROM json_each(@channels))';
}

const allChannels = 3;
export const withinRange = 'conversation.createdAt >= @fromAt AND conversation.createdAt < @toAt';

export function scopeValues(scope: ReportScope): { channels: string; departmentIds: string | null; agentId: string | null } {
  return { channels: toJson(scope.channels), departmentIds: toJsonOrNull(scope.departmentIds), agentId: scope.agentId };
}

export function rangeValues({ fromMs, toMs }: ReportRange): { fromAt: string; toAt: string } {
  return { fromAt: new Date(fromMs).toISOString(), toAt: new Date(toMs).toISOString() };
}

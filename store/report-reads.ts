// What reports say, read from rollups where a whole quarter, day or month lies within their range, and from the conversations
// themselves at its ends, so that every figure is of exactly [fromMs, toMs). Asked on the reader thread; plain data in and out.

import type { Channel } from './conversations.ts';
import type { Database } from './database.ts';
import { Durations } from './histogram.ts';
import { toJson, toJsonOrNull } from './json.ts';
import { type Counts, dayMs, everyone, figuresOf, monthOf, noCounts, quarterMs, reportedColumns, type ReportedConversation, reportedFromRow, type ReportedRow, startOfMonth } from './rollups.ts';

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

export interface BucketTotals {
  readonly conversations: number;
  readonly rated: number;
  readonly ratingSum: number;
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

/** Of each bucket, which begins at one of `starts` and ends where the next begins, the last at the range's end. */
export function bucketTotals(db: Database, scope: ReportScope, buckets: { readonly starts: readonly number[]; readonly toMs: number }): BucketTotals[] {
  return buckets.starts.map((fromMs, index) => {
    const toMs = buckets.starts[index + 1] ?? buckets.toMs;
    const counts = { ...noCounts };
    const first = Math.ceil(fromMs / quarterMs);
    const next = Math.floor(toMs / quarterMs);
    const ends = first < next ? [{ fromMs, toMs: first * quarterMs }, { fromMs: next * quarterMs, toMs }] : [{ fromMs, toMs }];
    for (const part of ends) for (const conversation of rowsOf(db, scope, part)) addCounts(counts, figuresOf(conversation) ?? noCounts);
    if (first < next) addQuarters(db, scope, { first, next }, counts);
    const { conversations, rated, ratingSum } = counts;
    return { conversations, rated, ratingSum };
  });
}

interface Periods {
  readonly grain: 'day' | 'month';
  readonly first: number;
  readonly next: number;
}

/** A range as whole months, whole days beside them, and what is left at its ends. */
function partsOf(db: Database, { fromMs, toMs }: ReportRange): { rows: ReportRange[]; periods: Periods[] } {
  const firstDay = Math.ceil(fromMs / dayMs);
  const nextDay = Math.floor(toMs / dayMs);
  if (firstDay >= nextDay || hasFew(db, { fromMs, toMs })) return { rows: [{ fromMs, toMs }], periods: [] };
  const rows = [{ fromMs, toMs: firstDay * dayMs }, { fromMs: nextDay * dayMs, toMs }];
  const monthOfFirst = monthOf(firstDay * dayMs);
  const firstMonth = startOfMonth(monthOfFirst) === firstDay * dayMs ? monthOfFirst : monthOfFirst + 1;
  const nextMonth = monthOf(nextDay * dayMs);
  if (firstMonth >= nextMonth) return { rows, periods: [{ grain: 'day', first: firstDay, next: nextDay }] };
  return {
    rows,
    periods: [
      { grain: 'day', first: firstDay, next: startOfMonth(firstMonth) / dayMs },
      { grain: 'month', first: firstMonth, next: nextMonth },
      { grain: 'day', first: startOfMonth(nextMonth) / dayMs, next: nextDay },
    ],
  };
}

function hasFew(db: Database, range: ReportRange): boolean {
  const sql = `SELECT count(*) AS count FROM (SELECT 1 FROM conversation INDEXED BY conversationInReports WHERE ${withinRange} LIMIT @limit)`;
  return (db.get<{ count: number }>(sql, { ...rangeValues(range), limit: exactUpTo + 1 })?.count ?? 0) <= exactUpTo;
}

function addPeriods(db: Database, scope: ReportScope, periods: Periods, sums: Sums): void {
  if (periods.first >= periods.next) return;
  for (const [departmentId, agentId, channel] of cellsOf(scope)) {
    const rows = db.allValues(
      `SELECT conversations, open, pending, solved, closed, missed, rated, ratingSum, firstResponses, resolutions FROM rollupPeriod
       WHERE departmentId = ? AND agentId = ? AND channel = ? AND grain = ? AND period >= ? AND period < ?`,
      [departmentId, agentId, channel, periods.grain, periods.first, periods.next],
    );
    // As the columns above are declared in the migration.
    for (const [conversations, open, pending, solved, closed, missed, rated, ratingSum, firstResponses, resolutions] of rows as [number, number, number, number, number, number, number, number, Uint8Array, Uint8Array][]) {
      addCounts(sums.counts, { conversations, open, pending, solved, closed, missed, rated, ratingSum });
      sums.firstResponses.addEncoded(firstResponses);
      sums.resolutions.addEncoded(resolutions);
    }
  }
}

function addQuarters(db: Database, scope: ReportScope, quarters: { first: number; next: number }, counts: Counts): void {
  for (const [departmentId, agentId, channel] of cellsOf(scope)) {
    const sum = db.get<BucketTotals>(
      `SELECT coalesce(sum(conversations), 0) AS conversations, coalesce(sum(rated), 0) AS rated, coalesce(sum(ratingSum), 0) AS ratingSum FROM rollupQuarter
       WHERE departmentId = ? AND agentId = ? AND channel = ? AND quarter >= ? AND quarter < ?`,
      [departmentId, agentId, channel, quarters.first, quarters.next],
    );
    if (sum !== undefined) addCounts(counts, { ...noCounts, ...sum });
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

/** Departments, agents and channels whose sum is the scope. */
function cellsOf(scope: ReportScope): [departmentId: string, agentId: string, channel: string][] {
  return (scope.departmentIds ?? [everyone]).flatMap((departmentId) => scope.channels.map((channel): [string, string, string] => [departmentId, scope.agentId ?? everyone, channel]));
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

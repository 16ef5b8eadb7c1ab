// What reports say, read from rollups where a whole quarter of an hour, day or month lies within their range, and from
// the conversations themselves at its ends, so that every figure is of exactly [fromMs, toMs). What was read before and
// has not changed is remembered. Asked on the reader thread; plain data in and out.

import type { Channel } from '../conversations/conversations.ts';
import type { Database } from '../database.ts';
import { toJson, toJsonOrNull } from '../json.ts';
import { BucketPlan, type Buckets } from './buckets.ts';
import { changesOf, type Days } from './changes.ts';
import { Durations } from './histogram.ts';
import type { ReportMemory } from './memory.ts';
import { cutRange, daysIn, daysInAll, daysWithin, type Periods, type Piece, type ReportRange } from './pieces.ts';
import { isRebuilding } from './rebuild.ts';
import {
  agentsOf,
  type Counts,
  dayMs,
  everyone,
  type Figures,
  figuresIn,
  nobody,
  noCounts,
  quarterFigures,
  type ReportedConversation,
  type ReportedRow,
  reportedColumns,
  reportedFromRow,
} from './rollups.ts';
import type { ByAgent, DayChanges, DurationFigures, PieceSums, Totals } from './sums.ts';

/** A report's file and its cache. */
export interface ReportSource {
  readonly db: Database;
  readonly memory: ReportMemory;
}

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
export function totalsOf(source: ReportSource, scope: ReportScope, range: ReportRange): Totals {
  return totalsBy(source, scope, range, [scope.agentId]).get(scope.agentId) ?? noTotals;
}

/** The same for each of these agents, in order. */
export function totalsByAgent(
  source: ReportSource,
  scope: ReportScope,
  range: ReportRange,
  agentIds: readonly string[],
): Totals[] {
  const byAgent = totalsBy(source, { ...scope, agentId: null }, range, agentIds);
  return agentIds.map((agentId) => byAgent.get(agentId) ?? noTotals);
}

function totalsBy(
  { db, memory }: ReportSource,
  scope: ReportScope,
  range: ReportRange,
  agentIds: readonly (string | null)[],
): ByAgent<Totals> {
  const ofFile = { what: 'conversations', isRebuilding: isRebuilding(db) } as const;
  const { ends, pieces } = cutRange(range, { byDayAlone: ofFile.isRebuilding });
  const rowsAlone = (): ByAgent<Totals> => totalsOfAll({ pieces: [], rows: rowsOf(db, scope, range) }, agentIds);
  if (pieces.length === 0) return rowsAlone();
  const changes = memory.changes(db, ofFile, daysInAll(pieces));
  if (hasFew({ db, memory }, range, changes)) return rowsAlone();
  const whose = toJson([scope, agentIds]);
  let known: FoundPiece[] | undefined;
  const found = (): FoundPiece[] =>
    (known ??= pieces.map((piece) => ({
      times: piece.times,
      sums: memory.sums.recall({ key: whose + toJson(piece), changes: changes.in(daysIn(piece)) }, () =>
        sumsOfPiece({ db, memory }, scope, piece, { agentIds, changes }),
      ),
    })));
  const between = memory.totals.recall({ key: whose + toJson(pieces), changes: changes.in(daysInAll(pieces)) }, () =>
    totalsOfAll({ pieces: found(), rows: [] }, agentIds),
  );
  const rows = ends.flatMap((end) => rowsOf(db, scope, end));
  const concerned = agentIds.filter((agentId) =>
    rows.some((row) => agentId === null || agentsOf(row).includes(agentId)),
  );
  return concerned.length === 0 ? between : new Map([...between, ...totalsOfAll({ pieces: found(), rows }, concerned)]);
}

interface FoundPiece {
  readonly times: 1 | -1;
  readonly sums: ByAgent<PieceSums>;
}

function totalsOfAll(
  { pieces, rows }: { pieces: readonly FoundPiece[]; rows: readonly ReportedConversation[] },
  agentIds: readonly (string | null)[],
): ByAgent<Totals> {
  const byAgent = emptyByAgent(agentIds);
  for (const { times, sums: found } of pieces)
    for (const [agentId, sums] of byAgent) addPiece(sums, found.get(agentId), times);
  addRows(rows, byAgent);
  return new Map([...byAgent].map(([agentId, sums]) => [agentId, totals(sums)]));
}

function sumsOfPiece(
  { db, memory }: ReportSource,
  scope: ReportScope,
  piece: Piece,
  { agentIds, changes }: { agentIds: readonly (string | null)[]; changes: DayChanges },
): ByAgent<PieceSums> {
  const byAgent = emptyByAgent(agentIds);
  if ('grain' in piece) addPeriods(db, scope, piece, byAgent);
  else {
    // Every report of the same moment reads these rows.
    const all = memory.rows.recall({ key: toJson(piece), changes: changes.in(daysIn(piece)) }, () =>
      rowsOf(db, everyScope, piece),
    );
    addRows(
      all.filter((conversation) => isWithin(scope, conversation)),
      byAgent,
    );
  }
  return new Map(
    [...byAgent].map(([agentId, { counts, firstResponses, resolutions }]) => [
      agentId,
      { counts, firstResponses: firstResponses.counted(), resolutions: resolutions.counted() },
    ]),
  );
}

const everyScope: ReportScope = { channels: ['chat', 'ticket', 'call'], departmentIds: null, agentId: null };

function isWithin({ channels, departmentIds, agentId }: ReportScope, conversation: ReportedConversation): boolean {
  return (
    channels.includes(conversation.channel) &&
    (departmentIds === null || departmentIds.includes(conversation.departmentId ?? nobody)) &&
    (agentId === null || agentsOf(conversation).includes(agentId))
  );
}

/** Of each bucket. */
export function bucketTotals({ db, memory }: ReportSource, scope: ReportScope, buckets: Buckets): BucketTotals {
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
  const changes = memory.changes(db, { what: 'conversations', isRebuilding: isRebuilding(db) }, plan.days);
  for (const month of plan.months) {
    const read = (): Int32Array =>
      plan.sumsOf(
        month,
        cellsOf(scope).flatMap((cell) => quartersOfDays(db, cell, scope, month.days)),
        figuresPerQuarter,
      );
    const sums = memory.buckets.recall(
      { key: toJson(['conversations', scope, month.key]), changes: changes.in(month.days) },
      read,
    );
    for (let bucket = month.firstBucket, at = 0; bucket < month.nextBucket; bucket += 1, at += figuresPerQuarter)
      add(bucket, sums[at] ?? 0, sums[at + 1] ?? 0, sums[at + 2] ?? 0);
  }
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
  { db, memory }: ReportSource,
  scope: ReportScope,
  name: keyof Counts,
  days: Days,
): readonly (readonly [day: number, count: number])[] {
  const sql = `SELECT period, ${name} FROM rollupPeriod WHERE departmentId = ? AND agentId = ? AND channel IN (${channelsOf(scope)}) AND grain = 'day' AND period >= ? AND period < ?`;
  const changes = isRebuilding(db) ? undefined : changesOf(db, 'conversations', days);
  return memory.days.recall({ key: toJson([scope, name, days]), changes }, () => {
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
  });
}

/** If the whole days had many, the whole range does too. */
function hasFew({ db, memory }: ReportSource, range: ReportRange, changes: DayChanges): boolean {
  const days = daysWithin(range);
  const hadMany = memory.many.recall(
    { key: toJson(days), changes: changes.in(days) },
    () => !hasFewRows(db, { fromMs: days.first * dayMs, toMs: days.next * dayMs }),
  );
  return !hadMany && hasFewRows(db, range);
}

function hasFewRows(db: Database, range: ReportRange): boolean {
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

function addPiece(sums: Sums, piece: PieceSums | undefined, times: 1 | -1): void {
  if (piece === undefined) return;
  addCounts(sums.counts, piece.counts, times);
  sums.firstResponses.addCounted(piece.firstResponses, times);
  sums.resolutions.addCounted(piece.resolutions, times);
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
  return { medianSeconds: seconds(durations.median()), p90Seconds: seconds(durations.quantile(0.9)) };
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
export const withinRange = 'conversation.createdAt >= @fromAt AND conversation.createdAt < @toAt';

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

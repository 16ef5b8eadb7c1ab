// Rebuilds the rollups from their source, a day or a part of a month at a time so that each step is short, and verifies
// them. Called by engine/rollups.ts: the first inside commands, the second when a file is verified.

import type { Database } from '../database.ts';
import { deadlineSubjects } from '../runtime/deadlines.ts';
import { buildGoalsOfDay, buildGoalsOfMonth, differencesOfGoals } from './goal-rollups.ts';
import { addBins, type Bins, encodeBins } from './histogram.ts';
import { encodeQuarters, type QuarterFigures } from './quarters.ts';
import {
  addRow,
  type Cell,
  type Change,
  type Counts,
  cellsOf,
  changeOf,
  countNames,
  type Days,
  dayMs,
  daysOfMonth,
  type Encoded,
  figuresIn,
  monthOf,
  noCounts,
  ofCell,
  type PeriodKey,
  quarterFigures,
  quarterOf,
  type ReportedConversation,
  type ReportedRow,
  reportedColumns,
  reportedFromRow,
} from './rollups.ts';

/** The deadline that rebuilds them in steps; it stays set until the last step is done. */
export const rebuildDeadline = 'reports.rebuild';

/** During a rebuild a month is not the sum of its days. */
export function isRebuilding(db: Database): boolean {
  return deadlineSubjects(db, rebuildDeadline).length > 0;
}

/** The progress of a rebuild: a text, so that it can be a deadline's subject. */
export interface Progress {
  /** Rebuilt from this day on, except for months before their first day is. */
  readonly day: number;
  /** While that day's month is being rebuilt: the last cell done. */
  readonly upTo: Cell | undefined;
}

export function textOfProgress({ day, upTo }: Progress): string {
  return upTo === undefined ? String(day) : [day, upTo.departmentId, upTo.agentId, upTo.channel].join(' ');
}

/** Undefined for any other text: nothing is rebuilt yet. */
export function progressFrom(text: string): Progress | undefined {
  const [day = '', departmentId, agentId, channel] = text.split(' ');
  if (!/^\d+$/.test(day)) return undefined;
  return {
    day: Number(day),
    upTo:
      departmentId === undefined || agentId === undefined || channel === undefined
        ? undefined
        : { departmentId, agentId, channel },
  };
}

/** Later than any day with conversations. */
const noDay = Date.UTC(9999, 0) / dayMs;

/** Deletes all rollups. Returns the first progress for buildNext(). */
export function beginRebuild(db: Database): Progress {
  db.run('DELETE FROM rollupPeriod');
  db.run('DELETE FROM rollupGoal');
  return { day: noDay, upTo: undefined };
}

/** Before every other. */
const noCell: Cell = { departmentId: '', agentId: '', channel: '' };

/**
 * Rebuilds the last day before `day` with anything to count; after the first such day of a month, the month, in parts.
 * Returns the next progress, or undefined when done. Changes of conversations from before that day must not be folded
 * in until it is rebuilt.
 */
export function buildNext(db: Database, { day, upTo }: Progress): Progress | undefined {
  if (upTo !== undefined) return { day, upTo: buildMonthAfter(db, monthOf(day * dayMs), upTo) };
  const last = lastDayBefore(db, day);
  if (last === undefined) return undefined;
  for (const [key, sums] of rollupsOf(db, { first: last, next: last + 1 }, ['day']).values())
    addRow(db, key, sums.counts, encoded(sums));
  buildGoalsOfDay(db, last);
  const earlier = lastDayBefore(db, last);
  const isFirstOfMonth = earlier === undefined || monthOf(earlier * dayMs) !== monthOf(last * dayMs);
  return { day: last, upTo: isFirstOfMonth ? noCell : undefined };
}

function lastDayBefore(db: Database, day: number): number | undefined {
  const before = new Date(day * dayMs).toISOString();
  // Two separate subqueries: in one, SQLite reads every row.
  const last = db.get<{ conversation: string | null; completion: string | null }>(
    'SELECT (SELECT max(createdAt) FROM conversation WHERE createdAt < @before) AS conversation, (SELECT max(completedAt) FROM goalCompletion WHERE completedAt < @before) AS completion',
    { before },
  );
  const times = [last?.conversation, last?.completion].flatMap((at) => (at == null ? [] : [Date.parse(at)]));
  return times.length === 0 ? undefined : Math.floor(Math.max(...times) / dayMs);
}

/** With 50 agents these take 10 ms. */
const cellsAtOnce = 16;

/**
 * The next cells of a month, from its days, which must be right; after the last cell, the month's goals. Returns the
 * last cell done, or undefined at the end.
 */
function buildMonthAfter(db: Database, month: number, upTo: Cell): Cell | undefined {
  const next =
    'SELECT departmentId, agentId, channel FROM rollupPeriod WHERE (departmentId, agentId, channel) > (@departmentId, @agentId, @channel) ORDER BY departmentId, agentId, channel LIMIT 1';
  let cell = upTo;
  for (let count = 0; count < cellsAtOnce; count += 1) {
    const found = db.get<Cell>(next, { ...cell });
    if (found === undefined) {
      buildGoalsOfMonth(db, daysOfMonth(month), month);
      return undefined;
    }
    cell = found;
    buildMonthOf(db, month, cell);
  }
  return cell;
}

function buildMonthOf(db: Database, month: number, cell: Cell): void {
  const sumsOfDays = `SELECT ${countNames.map((name) => `sum(${name}) AS ${name}`).join(', ')}, group_concat(firstResponses, ' ') AS firstResponses, group_concat(resolutions, ' ') AS resolutions
    FROM rollupPeriod WHERE ${ofCell} AND grain = 'day' AND period >= @first AND period < @next HAVING count(*) > 0`;
  db.run(`DELETE FROM rollupPeriod WHERE ${ofCell} AND grain = 'month' AND period = @month`, { ...cell, month });
  const row = db.get<Counts & Encoded>(sumsOfDays, { ...cell, ...daysOfMonth(month) });
  if (row === undefined) return;
  const { firstResponses, resolutions, ...counts } = row;
  addRow(db, { ...cell, grain: 'month', period: month }, counts, {
    quarters: '',
    firstResponses: asOneList(firstResponses),
    resolutions: asOneList(resolutions),
  });
}

function asOneList(lists: string): string {
  const bins: Bins = new Map();
  addBins(bins, lists);
  return encodeBins(bins);
}

/** One by one. */
function* conversationsOf(db: Database, { first, next }: Days): Generator<ReportedConversation> {
  const range = [new Date(first * dayMs).toISOString(), new Date(next * dayMs).toISOString()];
  const rows = db.iterate<ReportedRow>(
    `SELECT ${reportedColumns} FROM conversation INDEXED BY conversationInReports WHERE mergedInto IS NULL AND createdAt >= ? AND createdAt < ?`,
    range,
  );
  for (const row of rows) yield reportedFromRow(row);
}

interface Sums extends Change {
  readonly quarters: Map<number, QuarterFigures>;
}

const emptySums = (): Sums => ({
  counts: { ...noCounts },
  quarters: new Map(),
  firstResponses: new Map(),
  resolutions: new Map(),
});

const encoded = ({ quarters, firstResponses, resolutions }: Sums): Encoded => ({
  quarters: encodeQuarters(quarters),
  firstResponses: encodeBins(firstResponses),
  resolutions: encodeBins(resolutions),
});

/** The expected rollups of these days, from the conversations that began on them. */
function rollupsOf(db: Database, days: Days, grains: readonly PeriodKey['grain'][]): Map<string, [PeriodKey, Sums]> {
  const rollups = new Map<string, [PeriodKey, Sums]>();
  for (const conversation of conversationsOf(db, days)) {
    const createdMs = Date.parse(conversation.createdAt);
    for (const cell of cellsOf(conversation)) {
      const change = changeOf(undefined, figuresIn(conversation, cell));
      if (change === undefined) continue;
      const [departmentId, agentId] = cell;
      for (const grain of grains) {
        const key = {
          departmentId,
          agentId,
          channel: conversation.channel,
          grain,
          period: grain === 'day' ? Math.floor(createdMs / dayMs) : monthOf(createdMs),
        };
        const [, sums] = memberOf(rollups, textOf(key), (): [PeriodKey, Sums] => [key, emptySums()]);
        addTo(sums, change);
        if (grain === 'day') addToQuarters(sums.quarters, quarterOf(createdMs), quarterFigures(change.counts));
      }
    }
  }
  return rollups;
}

function addTo(sums: Sums, change: Change): void {
  for (const name of countNames) sums.counts[name] += change.counts[name];
  for (const [bin, count] of change.firstResponses)
    sums.firstResponses.set(bin, (sums.firstResponses.get(bin) ?? 0) + count);
  for (const [bin, count] of change.resolutions) sums.resolutions.set(bin, (sums.resolutions.get(bin) ?? 0) + count);
}

function addToQuarters(quarters: Map<number, QuarterFigures>, quarter: number, figures: QuarterFigures): void {
  const before = quarters.get(quarter);
  quarters.set(
    quarter,
    figures.map((figure, index) => figure + (before?.[index] ?? 0)),
  );
}

function memberOf<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

const textOf = (key: PeriodKey): string =>
  [key.departmentId, key.agentId, key.channel, key.grain, key.period].join('|');

/** The first and last month with anything to count or counted. Undefined if there is neither. Reads all rollups. */
export function reportedMonths(db: Database): { first: number; last: number } | undefined {
  const times = db.all<{ at: string | null }>(
    `SELECT min(createdAt) AS at FROM conversation UNION SELECT max(createdAt) FROM conversation UNION SELECT min(completedAt) FROM goalCompletion UNION SELECT max(completedAt) FROM goalCompletion`,
  );
  const months = times.flatMap(({ at }) => (at === null ? [] : [monthOf(Date.parse(at))]));
  for (const table of ['rollupPeriod', 'rollupGoal']) {
    for (const { grain, first, last } of db.all<{ grain: 'day' | 'month'; first: number; last: number }>(
      `SELECT grain, min(period) AS first, max(period) AS last FROM ${table} GROUP BY grain`,
    )) {
      for (const period of [first, last]) months.push(grain === 'month' ? period : monthOf(period * dayMs));
    }
  }
  return months.length === 0 ? undefined : { first: Math.min(...months), last: Math.max(...months) };
}

/** Differences between a month's rollups and its conversations and completions. Empty if they agree. */
export function* differencesOfMonth(db: Database, month: number): Generator<string> {
  const days = daysOfMonth(month);
  const text = (counts: Counts, { quarters, firstResponses, resolutions }: Encoded): string =>
    [...countNames.map((name) => counts[name]), quarters, firstResponses, resolutions].join();
  const expected = new Map<string, string>();
  for (const [key, sums] of rollupsOf(db, days, ['day', 'month']).values())
    expected.set(textOf(key), text(sums.counts, encoded(sums)));
  const held = new Map<string, string>();
  const rows = db.iterate<PeriodKey & Counts & Encoded>(
    `SELECT * FROM rollupPeriod WHERE (grain = 'month' AND period = @month OR grain = 'day' AND period >= @first AND period < @next)`,
    { month, ...days },
  );
  // A row of zeros is equivalent to no row.
  for (const row of rows) if (/[^0,]/.test(text(row, row))) held.set(textOf(row), text(row, row));
  for (const [key, should] of expected)
    if (held.get(key) !== should) yield `${key} holds ${held.get(key) ?? 'nothing'} and should hold ${should}`;
  for (const [key, is] of held) if (!expected.has(key)) yield `${key} holds ${is} and should hold nothing`;
  yield* differencesOfGoals(db, days, month);
}

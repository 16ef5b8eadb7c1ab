// Writing the rollups that reports read, and making them again. What a conversation adds is a function of its row alone, so a change
// of it folds in as what it adds now less what it added before, and nothing else ever has to be known. Called inside the transaction
// of the change, by engine/rollups.ts.

import type { Channel, ConversationStatus } from './conversations.ts';
import type { Database } from './database.ts';
import { addBins, type Bins, binOf, encodeBins } from './histogram.ts';

export const quarterMs = 15 * 60_000;
export const dayMs = 24 * 3600_000;
/** In place of a department or an agent: all of them, or none. */
export const everyone = '*';
export const nobody = '';

/** What of a conversation reports go by. */
export interface ReportedConversation {
  readonly id: string;
  readonly channel: Channel;
  readonly status: ConversationStatus;
  readonly departmentId: string | null;
  readonly assignedAgentId: string | null;
  readonly rating: number | null;
  readonly firstResponseAt: string | null;
  readonly solvedAt: string | null;
  readonly createdAt: string;
  /** Of a call alone: it has ended. The others are over when they are solved or closed. */
  readonly isCallOver: boolean;
}

export interface Counts {
  conversations: number;
  open: number;
  pending: number;
  solved: number;
  closed: number;
  /** Over, and no agent ever answered. */
  missed: number;
  rated: number;
  ratingSum: number;
}

/** What one conversation adds. */
export interface Figures extends Counts {
  readonly firstResponseMs: number | undefined;
  readonly resolutionMs: number | undefined;
}

export const noCounts: Readonly<Counts> = { conversations: 0, open: 0, pending: 0, solved: 0, closed: 0, missed: 0, rated: 0, ratingSum: 0 };

/** Undefined for spam, which counts nowhere. An agent's own opening message is no response. */
export function figuresOf(conversation: ReportedConversation): Figures | undefined {
  const { status, createdAt, firstResponseAt, solvedAt, rating } = conversation;
  if (status === 'spam') return undefined;
  const isOver = conversation.isCallOver || status === 'solved' || status === 'closed';
  return {
    ...noCounts,
    conversations: 1,
    [status]: 1,
    missed: isOver && firstResponseAt === null ? 1 : 0,
    rated: rating === null ? 0 : 1,
    ratingSum: rating ?? 0,
    firstResponseMs: firstResponseAt === null || firstResponseAt <= createdAt ? undefined : Date.parse(firstResponseAt) - Date.parse(createdAt),
    resolutionMs: solvedAt === null ? undefined : Math.max(0, Date.parse(solvedAt) - Date.parse(createdAt)),
  };
}

/** Where it counts: department and agent. */
function cellsOf({ departmentId, assignedAgentId }: ReportedConversation): [departmentId: string, agentId: string][] {
  const departments = [everyone, departmentId ?? nobody];
  const agents = assignedAgentId === null ? [everyone] : [everyone, assignedAgentId];
  return departments.flatMap((department) => agents.map((agent): [string, string] => [department, agent]));
}

/** Folds a change in; `before` undefined: it is new. Free when nothing that reports go by has changed. */
export function foldConversation(db: Database, before: ReportedConversation | undefined, after: ReportedConversation): void {
  const was = before && figuresOf(before);
  const is = figuresOf(after);
  if (before !== undefined && before.departmentId === after.departmentId && before.assignedAgentId === after.assignedAgentId) {
    const change = changeOf(was, is);
    if (change !== undefined) for (const cell of cellsOf(after)) fold(db, after, cell, change);
    return;
  }
  const removed = before && changeOf(was, undefined);
  if (before !== undefined && removed !== undefined) for (const cell of cellsOf(before)) fold(db, before, cell, removed);
  const added = changeOf(undefined, is);
  if (added !== undefined) for (const cell of cellsOf(after)) fold(db, after, cell, added);
}

interface Change {
  readonly counts: Counts;
  /** Bins to add to, and to take from. */
  readonly firstResponses: Bins;
  readonly resolutions: Bins;
}

/** Undefined when there is none. */
function changeOf(was: Figures | undefined, is: Figures | undefined): Change | undefined {
  if (was === is) return undefined;
  const counts = { ...noCounts };
  for (const name of countNames) counts[name] = (is?.[name] ?? 0) - (was?.[name] ?? 0);
  const firstResponses = movedBin(was?.firstResponseMs, is?.firstResponseMs);
  const resolutions = movedBin(was?.resolutionMs, is?.resolutionMs);
  const isNone = firstResponses.size === 0 && resolutions.size === 0 && countNames.every((name) => counts[name] === 0);
  return isNone ? undefined : { counts, firstResponses, resolutions };
}

const countNames = Object.keys(noCounts) as (keyof Counts)[];

function movedBin(wasMs: number | undefined, isMs: number | undefined): Bins {
  if (wasMs === isMs) return new Map();
  const bins: Bins = new Map();
  if (isMs !== undefined) bins.set(binOf(isMs), 1);
  if (wasMs !== undefined) bins.set(binOf(wasMs), (bins.get(binOf(wasMs)) ?? 0) - 1);
  return bins;
}

function fold(db: Database, conversation: ReportedConversation, [departmentId, agentId]: [string, string], change: Change): void {
  const createdMs = Date.parse(conversation.createdAt);
  const key = { departmentId, agentId, channel: conversation.channel };
  if (change.counts.conversations !== 0 || change.counts.rated !== 0 || change.counts.ratingSum !== 0) addToQuarter(db, { ...key, quarter: Math.floor(createdMs / quarterMs) }, change.counts);
  addToPeriod(db, { ...key, grain: 'day', period: Math.floor(createdMs / dayMs) }, change);
  addToPeriod(db, { ...key, grain: 'month', period: monthOf(createdMs) }, change);
}

/** Months since January 1970, UTC. */
export function monthOf(ms: number): number {
  const date = new Date(ms);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}

export function startOfMonth(month: number): number {
  return Date.UTC(1970 + Math.floor(month / 12), month % 12, 1);
}

interface Cell {
  readonly departmentId: string;
  readonly agentId: string;
  readonly channel: string;
}

function addToQuarter(db: Database, key: Cell & { quarter: number }, { conversations, rated, ratingSum }: Counts): void {
  db.run(
    `INSERT INTO rollupQuarter (departmentId, agentId, channel, quarter, conversations, rated, ratingSum) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET conversations = conversations + excluded.conversations, rated = rated + excluded.rated, ratingSum = ratingSum + excluded.ratingSum`,
    [key.departmentId, key.agentId, key.channel, key.quarter, conversations, rated, ratingSum],
  );
}

type PeriodKey = Cell & { readonly grain: 'day' | 'month'; readonly period: number };

function addToPeriod(db: Database, key: PeriodKey, { counts, firstResponses, resolutions }: Change): void {
  db.run(
    `INSERT INTO rollupPeriod (departmentId, agentId, channel, grain, period, conversations, open, pending, solved, closed, missed, rated, ratingSum)
     VALUES (@departmentId, @agentId, @channel, @grain, @period, @conversations, @open, @pending, @solved, @closed, @missed, @rated, @ratingSum)
     ON CONFLICT DO UPDATE SET conversations = conversations + excluded.conversations, open = open + excluded.open, pending = pending + excluded.pending,
       solved = solved + excluded.solved, closed = closed + excluded.closed, missed = missed + excluded.missed, rated = rated + excluded.rated, ratingSum = ratingSum + excluded.ratingSum`,
    { ...key, ...counts },
  );
  if (firstResponses.size > 0) addToHistogram(db, key, 'firstResponses', firstResponses);
  if (resolutions.size > 0) addToHistogram(db, key, 'resolutions', resolutions);
}

const ofKey = 'departmentId = @departmentId AND agentId = @agentId AND channel = @channel AND grain = @grain AND period = @period';

function addToHistogram(db: Database, key: PeriodKey, column: 'firstResponses' | 'resolutions', added: Bins): void {
  const row = db.get<{ encoded: Uint8Array }>(`SELECT ${column} AS encoded FROM rollupPeriod WHERE ${ofKey}`, { ...key });
  const bins = new Map(added);
  if (row !== undefined) addBins(bins, row.encoded);
  db.run(`UPDATE rollupPeriod SET ${column} = @encoded WHERE ${ofKey}`, { ...key, encoded: encodeBins(bins) });
}

/** A conversation's row as reports go by it, from the index that holds it whole. Binds nothing. */
export const reportedColumns = `conversation.id, conversation.channel, conversation.status, conversation.departmentId, conversation.assignedAgentId, conversation.rating,
  conversation.firstResponseAt, conversation.solvedAt, conversation.createdAt,
  conversation.channel = 'call' AND EXISTS (SELECT 1 FROM call WHERE call.conversationId = conversation.id AND call.phase = 'ended') AS isCallOver`;

export type ReportedRow = Omit<ReportedConversation, 'isCallOver'> & { readonly isCallOver: number };

export const reportedFromRow = (row: ReportedRow): ReportedConversation => ({ ...row, isCallOver: row.isCallOver === 1 });

/** Those that began in the month, one by one. */
function* conversationsOfMonth(db: Database, month: number): Generator<ReportedConversation> {
  const range = [new Date(startOfMonth(month)).toISOString(), new Date(startOfMonth(month + 1)).toISOString()];
  const rows = db.iterate<ReportedRow>(`SELECT ${reportedColumns} FROM conversation INDEXED BY conversationInReports WHERE createdAt >= ? AND createdAt < ?`, range);
  for (const row of rows) yield reportedFromRow(row);
}

/** The first and the last month of which there is a conversation or a rollup. Undefined when there is neither. */
export function reportedMonths(db: Database): { first: number; last: number } | undefined {
  // Each by itself: asked for together, SQLite reads every row.
  const times = db.get<{ first: string | null; last: string | null }>('SELECT (SELECT min(createdAt) FROM conversation) AS first, (SELECT max(createdAt) FROM conversation) AS last');
  const months = db.get<{ first: number | null; last: number | null }>(`SELECT min(period) AS first, max(period) AS last FROM rollupPeriod WHERE grain = 'month'`);
  const all = [times?.first, times?.last].flatMap((at) => (at == null ? [] : [monthOf(Date.parse(at))]));
  for (const month of [months?.first, months?.last]) if (month != null) all.push(month);
  const quarters = db.get<{ first: number | null; last: number | null }>('SELECT min(quarter) AS first, max(quarter) AS last FROM rollupQuarter');
  for (const quarter of [quarters?.first, quarters?.last]) if (quarter != null) all.push(monthOf(quarter * quarterMs));
  return all.length === 0 ? undefined : { first: Math.min(...all), last: Math.max(...all) };
}

interface MonthRollups {
  /** By cell and quarter: conversations, rated, ratingSum. */
  readonly quarters: Map<string, [Cell & { quarter: number }, Counts]>;
  readonly periods: Map<string, [PeriodKey, Change]>;
}

/** What the rollups of the month have to hold, by its conversations. */
function rollupsOf(db: Database, month: number): MonthRollups {
  const quarters: MonthRollups['quarters'] = new Map();
  const periods: MonthRollups['periods'] = new Map();
  for (const conversation of conversationsOfMonth(db, month)) {
    const change = changeOf(undefined, figuresOf(conversation));
    if (change === undefined) continue;
    const createdMs = Date.parse(conversation.createdAt);
    for (const [departmentId, agentId] of cellsOf(conversation)) {
      const key = { departmentId, agentId, channel: conversation.channel };
      const quarter = { ...key, quarter: Math.floor(createdMs / quarterMs) };
      const inQuarter = memberOf(quarters, textOf(quarter), (): [Cell & { quarter: number }, Counts] => [quarter, { ...noCounts }]);
      for (const name of countNames) inQuarter[1][name] += change.counts[name];
      for (const period of [{ ...key, grain: 'day', period: Math.floor(createdMs / dayMs) }, { ...key, grain: 'month', period: month }] as const) {
        const [, sum] = memberOf(periods, textOf(period), (): [PeriodKey, Change] => [period, { counts: { ...noCounts }, firstResponses: new Map(), resolutions: new Map() }]);
        for (const name of countNames) sum.counts[name] += change.counts[name];
        for (const [bin, count] of change.firstResponses) sum.firstResponses.set(bin, (sum.firstResponses.get(bin) ?? 0) + count);
        for (const [bin, count] of change.resolutions) sum.resolutions.set(bin, (sum.resolutions.get(bin) ?? 0) + count);
      }
    }
  }
  return { quarters, periods };
}

function memberOf<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

function textOf(key: Cell & { readonly quarter?: number; readonly grain?: string; readonly period?: number }): string {
  return [key.departmentId, key.agentId, key.channel, key.grain ?? 'quarter', key.period ?? key.quarter].join('|');
}

const quartersOfMonth = 'quarter >= @first AND quarter < @next';
const quarterRange = (month: number): { first: number; next: number } => ({ first: startOfMonth(month) / quarterMs, next: startOfMonth(month + 1) / quarterMs });
const periodsOfMonth = `(grain = 'month' AND period = @month OR grain = 'day' AND period >= @first AND period < @next)`;
const periodRange = (month: number): { month: number; first: number; next: number } => ({ month, first: startOfMonth(month) / dayMs, next: startOfMonth(month + 1) / dayMs });

/** Makes the rollups of one month again. */
export function rebuildMonth(db: Database, month: number): void {
  const { quarters, periods } = rollupsOf(db, month);
  db.run(`DELETE FROM rollupQuarter WHERE ${quartersOfMonth}`, quarterRange(month));
  db.run(`DELETE FROM rollupPeriod WHERE ${periodsOfMonth}`, periodRange(month));
  for (const [key, counts] of quarters.values()) addToQuarter(db, key, counts);
  for (const [key, change] of periods.values()) addToPeriod(db, key, change);
}

type PeriodRow = PeriodKey & Counts & { readonly firstResponses: Uint8Array; readonly resolutions: Uint8Array };

/** What the rollups of a month hold and its conversations do not bear out, or the other way round. Empty when they agree. */
export function* differencesOfMonth(db: Database, month: number): Generator<string> {
  const { quarters, periods } = rollupsOf(db, month);
  const quarterText = ({ conversations, rated, ratingSum }: Pick<Counts, 'conversations' | 'rated' | 'ratingSum'>): string => [conversations, rated, ratingSum].join();
  const periodText = (counts: Counts, firstResponses: Uint8Array, resolutions: Uint8Array): string =>
    [...countNames.map((name) => counts[name]), Buffer.from(firstResponses).toString('hex'), Buffer.from(resolutions).toString('hex')].join();
  const expected = new Map<string, string>();
  for (const [key, counts] of quarters.values()) expected.set(textOf(key), quarterText(counts));
  for (const [key, { counts, firstResponses, resolutions }] of periods.values()) expected.set(textOf(key), periodText(counts, encodeBins(firstResponses), encodeBins(resolutions)));
  const held = new Map<string, string>();
  const hold = (key: string, text: string): void => {
    // A row that nothing is left of says the same as no row.
    if (/[1-9a-f]/.test(text)) held.set(key, text);
  };
  for (const row of db.iterate<Cell & Counts & { quarter: number }>(`SELECT * FROM rollupQuarter WHERE ${quartersOfMonth}`, quarterRange(month))) hold(textOf(row), quarterText(row));
  for (const row of db.iterate<PeriodRow>(`SELECT * FROM rollupPeriod WHERE ${periodsOfMonth}`, periodRange(month))) hold(textOf(row), periodText(row, row.firstResponses, row.resolutions));
  for (const [key, text] of expected) if (held.get(key) !== text) yield `${key} holds ${held.get(key) ?? 'nothing'} and should hold ${text}`;
  for (const [key, text] of held) if (!expected.has(key)) yield `${key} holds ${text} and should hold nothing`;
}

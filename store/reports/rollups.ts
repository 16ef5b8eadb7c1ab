// Writes the rollups of conversations. A conversation counts in its current state, at its start time, in a few cells:
// its department or all, by each of its agents or all. Its contribution is a function of its row, so a change folds in
// as the new contribution minus the old one. Called in the transaction of the change, by engine/rollups.ts.

import type { Channel, ConversationStatus } from '../conversations/conversations.ts';
import type { Database } from '../database.ts';
import { addBins, type Bins, binOf, encodeBins } from './histogram.ts';
import { quarterMs, quartersPerDay, withQuarter } from './quarters.ts';

export const dayMs = 24 * 3600_000;

/** Days since 1970, UTC, from `first` to before `next`. */
export interface Days {
  readonly first: number;
  readonly next: number;
}

/** Instead of a department or an agent: all of them, or none. */
export const everyone = '*';
export const noDepartment = '';

/** The part of a conversation that reports use. */
export interface ReportedConversation {
  readonly id: string;
  readonly channel: Channel;
  readonly status: ConversationStatus;
  readonly departmentId: string | null;
  readonly assignedAgentId: string | null;
  readonly rating: number | null;
  readonly ratedAgentId: string | null;
  readonly firstResponseAt: string | null;
  readonly firstResponderId: string | null;
  readonly solvedAt: string | null;
  readonly createdAt: string;
  /** Its messages are another ticket's, which counts for both. */
  readonly isMerged: boolean;
  /** Only for calls: it has ended. Others are over when they are solved or closed. */
  readonly isCallOver: boolean;
}

export interface Counts {
  conversations: number;
  open: number;
  pending: number;
  solved: number;
  closed: number;
  /** Over without any agent's answer. */
  missed: number;
  rated: number;
  ratingSum: number;
}

/** One conversation's contribution. */
export interface Figures extends Counts {
  readonly firstResponseMs: number | undefined;
  readonly resolutionMs: number | undefined;
}

export const noCounts: Readonly<Counts> = {
  conversations: 0,
  open: 0,
  pending: 0,
  solved: 0,
  closed: 0,
  missed: 0,
  rated: 0,
  ratingSum: 0,
};

/**
 * Undefined for spam and merged tickets, which are never counted. A conversation begun by an agent has its first response at its start: no
 * one waited for one, and it is not missed.
 */
function figuresOf(conversation: ReportedConversation): Figures | undefined {
  const { status, createdAt, firstResponseAt, solvedAt, rating } = conversation;
  if (status === 'spam' || conversation.isMerged) return undefined;
  const isOver = conversation.isCallOver || status === 'solved' || status === 'closed';
  return {
    ...noCounts,
    conversations: 1,
    [status]: 1,
    missed: isOver && firstResponseAt === null ? 1 : 0,
    rated: rating === null ? 0 : 1,
    ratingSum: rating ?? 0,
    firstResponseMs:
      firstResponseAt === null || firstResponseAt <= createdAt
        ? undefined
        : Date.parse(firstResponseAt) - Date.parse(createdAt),
    resolutionMs: solvedAt === null ? undefined : Math.max(0, Date.parse(solvedAt) - Date.parse(createdAt)),
  };
}

/** The agents it counts for: its assignee, its first responder, and the agent its rating is about. */
export function agentsOf({
  assignedAgentId,
  firstResponderId,
  ratedAgentId,
}: Pick<ReportedConversation, 'assignedAgentId' | 'firstResponderId' | 'ratedAgentId'>): string[] {
  return [...new Set([assignedAgentId, firstResponderId, ratedAgentId])].filter((agentId) => agentId !== null);
}

/** A department or all, and an agent or all. */
export type CellOf = readonly [departmentId: string, agentId: string];

/** The cells it counts in. */
export function cellsOf(conversation: ReportedConversation): CellOf[] {
  const agents = [everyone, ...agentsOf(conversation)];
  return [everyone, conversation.departmentId ?? noDepartment].flatMap((departmentId) =>
    agents.map((agentId): CellOf => [departmentId, agentId]),
  );
}

/**
 * Its contribution to a cell: an answer is credited to its author, a rating to the agent it is about, the solution to
 * the assignee. Undefined if there is none.
 */
export function figuresIn(conversation: ReportedConversation, [departmentId, agentId]: CellOf): Figures | undefined {
  const figures = figuresOf(conversation);
  if (
    figures === undefined ||
    (departmentId !== everyone && departmentId !== (conversation.departmentId ?? noDepartment))
  )
    return undefined;
  if (agentId === everyone) return figures;
  if (!agentsOf(conversation).includes(agentId)) return undefined;
  const { assignedAgentId, firstResponderId, ratedAgentId } = conversation;
  return {
    ...figures,
    ...(agentId === (ratedAgentId ?? assignedAgentId) ? {} : { rated: 0, ratingSum: 0 }),
    firstResponseMs: agentId === (firstResponderId ?? assignedAgentId) ? figures.firstResponseMs : undefined,
    resolutionMs: agentId === assignedAgentId ? figures.resolutionMs : undefined,
  };
}

/** Folds a change in; `before` is undefined for a new one. Does nothing if no reported field has changed. */
export function foldConversation(
  db: Database,
  before: ReportedConversation | undefined,
  after: ReportedConversation,
): void {
  if (before !== undefined && reportedFields.every((field) => before[field] === after[field])) return;
  const cells = new Map(
    [...(before === undefined ? [] : cellsOf(before)), ...cellsOf(after)].map((cell) => [cell.join(' '), cell]),
  );
  for (const cell of cells.values()) {
    const change = changeOf(before && figuresIn(before, cell), figuresIn(after, cell));
    if (change !== undefined) fold(db, after, cell, change);
  }
}

/** Fields that can change. */
const reportedFields = [
  'status',
  'departmentId',
  'assignedAgentId',
  'rating',
  'ratedAgentId',
  'firstResponseAt',
  'firstResponderId',
  'solvedAt',
  'isMerged',
  'isCallOver',
] as const satisfies readonly (keyof ReportedConversation)[];

export interface Change {
  readonly counts: Counts;
  /** Bins to add and to subtract. */
  readonly firstResponses: Bins;
  readonly resolutions: Bins;
}

/** Undefined if there is no change. */
export function changeOf(was: Figures | undefined, is: Figures | undefined): Change | undefined {
  if (was === is) return undefined;
  const counts = { ...noCounts };
  for (const name of countNames) counts[name] = (is?.[name] ?? 0) - (was?.[name] ?? 0);
  const firstResponses = movedBin(was?.firstResponseMs, is?.firstResponseMs);
  const resolutions = movedBin(was?.resolutionMs, is?.resolutionMs);
  const isNone = firstResponses.size === 0 && resolutions.size === 0 && countNames.every((name) => counts[name] === 0);
  return isNone ? undefined : { counts, firstResponses, resolutions };
}

export const countNames = Object.keys(noCounts) as (keyof Counts)[];

function movedBin(wasMs: number | undefined, isMs: number | undefined): Bins {
  if (wasMs === isMs) return new Map();
  const bins: Bins = new Map();
  if (isMs !== undefined) bins.set(binOf(isMs), 1);
  if (wasMs !== undefined) bins.set(binOf(wasMs), (bins.get(binOf(wasMs)) ?? 0) - 1);
  return bins;
}

function fold(
  db: Database,
  { channel, createdAt }: ReportedConversation,
  [departmentId, agentId]: CellOf,
  change: Change,
): void {
  const createdMs = Date.parse(createdAt);
  const key = { departmentId, agentId, channel };
  addToPeriod(db, { ...key, grain: 'day', period: Math.floor(createdMs / dayMs) }, change, quarterOf(createdMs));
  addToPeriod(db, { ...key, grain: 'month', period: monthOf(createdMs) }, change);
}

/** Of its day. */
export function quarterOf(ms: number): number {
  return Math.floor(ms / quarterMs) % quartersPerDay;
}

/** The figures of a quarter-hour. */
export const quarterFigures = ({ conversations, rated, ratingSum }: Counts): [number, number, number] => [
  conversations,
  rated,
  ratingSum,
];

/** Months since January 1970, UTC. */
export function monthOf(ms: number): number {
  const date = new Date(ms);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}

export const daysOfMonth = (month: number): Days => ({ first: firstDayOf(month), next: firstDayOf(month + 1) });

function firstDayOf(month: number): number {
  return Date.UTC(1970 + Math.floor(month / 12), month % 12, 1) / dayMs;
}

export interface Cell {
  readonly departmentId: string;
  readonly agentId: string;
  readonly channel: string;
}

export type PeriodKey = Cell & { readonly grain: 'day' | 'month'; readonly period: number };

/** A row's data besides its counts, encoded. */
export interface Encoded {
  readonly quarters: string;
  readonly firstResponses: string;
  readonly resolutions: string;
}

export const ofCell = 'departmentId = @departmentId AND agentId = @agentId AND channel = @channel';

/** `quarter`: for the change of a day. */
function addToPeriod(
  db: Database,
  key: PeriodKey,
  { counts, firstResponses, resolutions }: Change,
  quarter?: number,
): void {
  const { quarters, ...held } =
    db.get<Encoded>(
      `SELECT quarters, firstResponses, resolutions FROM rollupPeriod WHERE ${ofCell} AND grain = @grain AND period = @period`,
      { ...key },
    ) ?? nothingEncoded;
  const figures = quarterFigures(counts);
  addRow(db, key, counts, {
    quarters:
      quarter === undefined || figures.every((figure) => figure === 0)
        ? quarters
        : withQuarter(quarters, { quarter, figures }),
    firstResponses: withBins(held.firstResponses, firstResponses),
    resolutions: withBins(held.resolutions, resolutions),
  });
}

const nothingEncoded: Encoded = { quarters: '', firstResponses: '', resolutions: '' };

function withBins(encoded: string, added: Bins): string {
  if (added.size === 0) return encoded;
  const bins = new Map(added);
  addBins(bins, encoded);
  return encodeBins(bins);
}

/** Adds the counts and replaces the encoded data. */
export function addRow(db: Database, key: PeriodKey, counts: Counts, encoded: Encoded): void {
  db.run(
    `INSERT INTO rollupPeriod (departmentId, agentId, channel, grain, period, conversations, open, pending, solved, closed, missed, rated, ratingSum, quarters, firstResponses, resolutions)
     VALUES (@departmentId, @agentId, @channel, @grain, @period, @conversations, @open, @pending, @solved, @closed, @missed, @rated, @ratingSum, @quarters, @firstResponses, @resolutions)
     ON CONFLICT DO UPDATE SET conversations = conversations + excluded.conversations, open = open + excluded.open, pending = pending + excluded.pending,
       solved = solved + excluded.solved, closed = closed + excluded.closed, missed = missed + excluded.missed, rated = rated + excluded.rated, ratingSum = ratingSum + excluded.ratingSum,
       quarters = excluded.quarters, firstResponses = excluded.firstResponses, resolutions = excluded.resolutions`,
    { ...key, ...counts, ...encoded },
  );
}

/** A conversation's reported columns, from a covering index of those that are not merged. Binds nothing. */
export const reportedColumns = `conversation.id, conversation.channel, conversation.status, conversation.departmentId, conversation.assignedAgentId, conversation.rating,
  conversation.ratedAgentId, conversation.firstResponseAt, conversation.firstResponderId, conversation.solvedAt, conversation.createdAt,
  conversation.channel = 'call' AND EXISTS (SELECT 1 FROM call WHERE call.conversationId = conversation.id AND call.phase = 'ended') AS isCallOver`;

export type ReportedRow = Omit<ReportedConversation, 'isCallOver' | 'isMerged'> & { readonly isCallOver: number };

export const reportedFromRow = (row: ReportedRow): ReportedConversation => ({
  ...row,
  isMerged: false,
  isCallOver: row.isCallOver === 1,
});

// Lists of conversations that an agent may see: the queue in several orders, the others newest first. An agent's reach
// is merged from index ranges, one for each of its channels and departments and one of its own, so that rows it may not
// see are never read, however many there are.

import { above, below, type Cursor, newestOf, oldestOf } from '../cursor.ts';
import type { Database } from '../database.ts';
import { nameKey } from '../folding.ts';
import {
  type Channel,
  type ConversationRecord,
  findConversations,
  type Reach,
  reachValues,
  withinReach,
} from './conversations.ts';

export interface QueueFilter {
  readonly channel?: Channel | undefined;
  readonly departmentId?: string | undefined;
  /** An agent, or `none` for unassigned. */
  readonly assigneeId?: string | undefined;
  /** Only conversations offered to the agent. */
  readonly isOffered?: boolean | undefined;
  readonly siteId?: string | undefined;
  /** Case is ignored. */
  readonly tag?: string | undefined;
}

/** `activity`: by the last message, newest first. */
export type QueueSort = 'activity' | 'newest' | 'oldest' | 'longest_waiting';
/** The queue is counted as far as this. */
export const mostCounted = 1000;

interface Page {
  readonly reach: Reach;
  readonly cursor: Cursor | undefined;
  readonly limit: number;
}

/** A conversation without a message, such as a call, is as old as itself. */
const activityKey = 'coalesce(lastMessageAt, createdAt)';
/** Those that wait, longest first, then the others, oldest first: their time has a year after all others. */
const waitKey = `coalesce(waitingSince, '9' || substr(createdAt, 2))`;

interface Order {
  /** As the indexes express it. */
  readonly key: string;
  readonly ofChannel: string;
  readonly ofDepartment: string;
  /** Behind the cursor. */
  readonly after: string;
  readonly isNewestFirst: boolean;
}

const byCreation = {
  key: 'createdAt',
  ofChannel: 'conversationInQueue',
  ofDepartment: 'conversationInQueueOfDepartment',
} as const;
const orders: Readonly<Record<QueueSort, Order>> = {
  activity: {
    key: activityKey,
    ofChannel: 'conversationByActivity',
    ofDepartment: 'conversationByActivityOfDepartment',
    // SQLite seeks only columns as a row, not an expression.
    after: `${activityKey} <= @at AND (${activityKey}, id) < (@at, @id)`,
    isNewestFirst: true,
  },
  newest: { ...byCreation, after: '(createdAt, id) < (@at, @id)', isNewestFirst: true },
  oldest: { ...byCreation, after: '(createdAt, id) > (@at, @id)', isNewestFirst: false },
  longest_waiting: {
    key: waitKey,
    ofChannel: 'conversationInWait',
    ofDepartment: 'conversationInWaitOfDepartment',
    after: `${waitKey} >= @at AND (${waitKey}, id) > (@at, @id)`,
    isNewestFirst: false,
  },
};

/** Where a conversation is in the queue, as a cursor. */
export function placeInQueue(
  sort: QueueSort,
  {
    id,
    createdAt,
    lastMessageAt,
    waitingSince,
  }: Pick<ConversationRecord, 'id' | 'createdAt' | 'lastMessageAt' | 'waitingSince'>,
): Cursor {
  switch (sort) {
    case 'activity':
      return { at: lastMessageAt ?? createdAt, id };
    case 'longest_waiting':
      return { at: waitingSince ?? `9${createdAt.slice(1)}`, id };
    default:
      return { at: createdAt, id };
  }
}

interface QueueReader {
  readonly reach: Reach;
  readonly filter: QueueFilter;
}

/** Open and pending ones, from just after `cursor`. */
export function queuePage(
  db: Database,
  page: Page & QueueReader & { sort?: QueueSort | undefined },
): ConversationRecord[] {
  const order = orders[page.sort ?? 'newest'];
  const range = { ...(order.isNewestFirst ? below(page.cursor) : above(page.cursor)), limit: page.limit };
  const places = runsOf(page).map((run) => queueAt(db, order, { ...run, range }));
  return recordsAt(db, (order.isNewestFirst ? newestOf : oldestOf)(places, page.limit));
}

/** How many queuePage() finds in all, at most `mostCounted`. */
export function countQueue(db: Database, reader: QueueReader): number {
  let count = 0;
  for (const run of runsOf(reader)) count += countAt(db, run, mostCounted - count);
  return count;
}

/** A part of the queue that one index holds. The parts of a reader have no conversation in common. */
interface Run {
  readonly index: 'ofChannel' | 'ofDepartment' | 'conversationByAssignee' | 'conversationOffered';
  readonly where: string;
  readonly values: Readonly<Record<string, string | number | null>>;
}

function runsOf({ reach, filter }: QueueReader): Run[] {
  const { agentId } = reach;
  const channels = reach.channels.filter((channel) => filter.channel === undefined || channel === filter.channel);
  const narrowed = {
    isUnassigned: filter.assigneeId === 'none' ? 1 : 0,
    siteId: filter.siteId ?? null,
    tagKey: filter.tag === undefined ? null : nameKey(filter.tag),
  };
  const own = {
    ...narrowed,
    channels: JSON.stringify(channels),
    agentId,
    departmentId: filter.departmentId ?? null,
    beyond: JSON.stringify(reach.departmentIds ?? []),
  };
  const offered: Run = { index: 'conversationOffered', where: `${isOffered} AND ${ofOwn}`, values: own };
  if (filter.isOffered === true) return [offered];
  // An agent's open conversations are few, so all are read.
  if (filter.assigneeId !== undefined && filter.assigneeId !== 'none') {
    const where = `assignedAgentId = @assigneeId AND ${inDepartment} AND ${withinReach}`;
    const values = { ...own, ...reachValues({ ...reach, channels }), assigneeId: filter.assigneeId };
    return [{ index: 'conversationByAssignee', where, values }];
  }
  const ofChannel = (channel: Channel): Run => ({
    index: 'ofChannel',
    where: 'channel = @channel',
    values: { ...narrowed, channel },
  });
  const ofDepartment = (channel: Channel, departmentId: string | null): Run => ({
    index: 'ofDepartment',
    where: 'channel = @channel AND departmentId IS @departmentId',
    values: { ...narrowed, channel, departmentId },
  });
  if (reach.departmentIds === null)
    return channels.map((channel) =>
      filter.departmentId === undefined ? ofChannel(channel) : ofDepartment(channel, filter.departmentId),
    );
  const departmentIds = [null, ...reach.departmentIds].filter(
    (id) => filter.departmentId === undefined || id === filter.departmentId,
  );
  return [
    ...channels.flatMap((channel) => departmentIds.map((departmentId) => ofDepartment(channel, departmentId))),
    { index: 'conversationByAssignee', where: `assignedAgentId = @agentId AND ${ofOwn} AND ${beyond}`, values: own },
    { ...offered, where: `${offered.where} AND ${beyond} AND assignedAgentId IS NOT @agentId` },
  ];
}

type Range = { at: string; id: string; limit: number };
const newestFirst = 'ORDER BY createdAt DESC, id DESC LIMIT @limit';

/** The filter needs no row: the indexes of channels and departments cover it. */
const narrowedTo = `status IN ('open', 'pending') AND (@isUnassigned = 0 OR assignedAgentId IS NULL)
       AND (@siteId IS NULL OR siteId = @siteId)
       AND (@tagKey IS NULL OR EXISTS (SELECT 1 FROM json_each(tags) WHERE nameKey(value) = @tagKey))`;

/** Of one run, in the order. */
function queueAt(db: Database, order: Order, { index, where, values, range }: Run & { range: Range }): Cursor[] {
  const { key, after, isNewestFirst } = order;
  const way = isNewestFirst ? 'DESC' : 'ASC';
  return db.all(
    `SELECT ${key} AS at, id FROM conversation INDEXED BY ${indexOf(index, order)}
     WHERE ${where} AND ${narrowedTo} AND ${after} ORDER BY ${key} ${way}, id ${way} LIMIT @limit`,
    { ...values, ...range },
  );
}

function countAt(db: Database, { index, where, values }: Run, limit: number): number {
  const counted = db.get<{ count: number }>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM conversation INDEXED BY ${indexOf(index, orders.newest)}
     WHERE ${where} AND ${narrowedTo} LIMIT @limit)`,
    { ...values, limit },
  );
  return counted?.count ?? 0;
}

function indexOf(index: Run['index'], order: Order): string {
  return index === 'ofChannel' || index === 'ofDepartment' ? order[index] : index;
}

const inDepartment = '(@departmentId IS NULL OR departmentId = @departmentId)';
const ofOwn = `channel IN (SELECT value FROM json_each(@channels)) AND ${inDepartment}`;
/** Not in a department that the agent sees anyway. */
const beyond = 'departmentId IS NOT NULL AND departmentId NOT IN (SELECT value FROM json_each(@beyond))';

/** As its index expresses it. */
const isOffered = `handshake IS NOT NULL AND handshake ->> 'toAgentId' = @agentId`;

type Own = { channels: string; agentId: string };

/** Solved and closed ones, last solved first, from just below `cursor` (of solvedAt). */
export function recentlyClosedPage(db: Database, page: Page): ConversationRecord[] {
  const { channels, departmentIds, agentId } = page.reach;
  const range = { ...below(page.cursor), limit: page.limit };
  if (departmentIds === null)
    return recordsAt(
      db,
      newestOf(
        channels.map((channel) => solvedOfChannel(db, { ...range, channel })),
        page.limit,
      ),
    );
  const runs = channels.flatMap((channel) =>
    [null, ...departmentIds].map((departmentId) => solvedOfDepartment(db, { ...range, channel, departmentId })),
  );
  const own = { ...range, channels: JSON.stringify(channels), agentId };
  return recordsAt(db, newestOf([...runs, solvedOfOwn(db, own), solvedOfOffered(db, own)], page.limit));
}

const isSolved = `status IN ('solved', 'closed') AND (solvedAt, id) < (@at, @id)`;
const lastSolvedFirst = 'ORDER BY solvedAt DESC, id DESC LIMIT @limit';
const inChannels = 'channel IN (SELECT value FROM json_each(@channels))';

function solvedOfChannel(db: Database, values: Range & { channel: Channel }): Cursor[] {
  return db.all(
    `SELECT solvedAt AS at, id FROM conversation INDEXED BY conversationBySolved WHERE channel = @channel AND ${isSolved} ${lastSolvedFirst}`,
    values,
  );
}

function solvedOfDepartment(db: Database, values: Range & { channel: Channel; departmentId: string | null }): Cursor[] {
  return db.all(
    `SELECT solvedAt AS at, id FROM conversation INDEXED BY conversationBySolvedOfDepartment WHERE channel = @channel AND departmentId IS @departmentId AND ${isSolved} ${lastSolvedFirst}`,
    values,
  );
}

function solvedOfOwn(db: Database, values: Range & Own): Cursor[] {
  return db.all(
    `SELECT solvedAt AS at, id FROM conversation INDEXED BY conversationBySolvedOfAssignee WHERE assignedAgentId = @agentId AND ${isSolved} AND ${inChannels} ${lastSolvedFirst}`,
    values,
  );
}

function solvedOfOffered(db: Database, values: Range & Own): Cursor[] {
  return db.all(
    `SELECT solvedAt AS at, id FROM conversation INDEXED BY conversationOffered WHERE ${isOffered} AND ${isSolved} AND ${inChannels} ${lastSolvedFirst}`,
    values,
  );
}

/** Spam, newest first, from just below `cursor`. */
export function spamPage(db: Database, page: Page): ConversationRecord[] {
  const { channels, departmentIds, agentId } = page.reach;
  const range = { ...below(page.cursor), limit: page.limit };
  if (departmentIds === null)
    return recordsAt(
      db,
      newestOf(
        channels.map((channel) => spamOfChannel(db, { ...range, channel })),
        page.limit,
      ),
    );
  const runs = channels.flatMap((channel) =>
    [null, ...departmentIds].map((departmentId) => spamOfDepartment(db, { ...range, channel, departmentId })),
  );
  const own = { ...range, channels: JSON.stringify(channels), agentId };
  return recordsAt(db, newestOf([...runs, spamOfOwn(db, own), spamOfOffered(db, own)], page.limit));
}

const isSpam = `status = 'spam' AND (createdAt, id) < (@at, @id)`;

function spamOfChannel(db: Database, values: Range & { channel: Channel }): Cursor[] {
  return db.all(
    `SELECT createdAt AS at, id FROM conversation INDEXED BY conversationSpam WHERE channel = @channel AND ${isSpam} ${newestFirst}`,
    values,
  );
}

function spamOfDepartment(db: Database, values: Range & { channel: Channel; departmentId: string | null }): Cursor[] {
  return db.all(
    `SELECT createdAt AS at, id FROM conversation INDEXED BY conversationSpamOfDepartment WHERE channel = @channel AND departmentId IS @departmentId AND ${isSpam} ${newestFirst}`,
    values,
  );
}

function spamOfOwn(db: Database, values: Range & Own): Cursor[] {
  return db.all(
    `SELECT createdAt AS at, id FROM conversation INDEXED BY conversationSpamOfAssignee WHERE assignedAgentId = @agentId AND ${isSpam} AND ${inChannels} ${newestFirst}`,
    values,
  );
}

function spamOfOffered(db: Database, values: Range & Own): Cursor[] {
  return db.all(
    `SELECT createdAt AS at, id FROM conversation INDEXED BY conversationOffered WHERE ${isOffered} AND ${isSpam} AND ${inChannels} ${newestFirst}`,
    values,
  );
}

function recordsAt(db: Database, places: readonly Cursor[]): ConversationRecord[] {
  const records = new Map(
    findConversations(
      db,
      places.map(({ id }) => id),
    ).map((record) => [record.id, record]),
  );
  return places.flatMap(({ id }) => records.get(id) ?? []);
}

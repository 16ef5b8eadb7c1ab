// Lists of conversations that an agent may see: the queue in several orders, the others newest first. An agent's reach
// is merged from index ranges, one for each of its channels and departments and one of its own, so that rows it may not
// see are never read, however many there are.

import { above, below, type Cursor, newestOf, oldestOf } from '../cursor.ts';
import type { Database } from '../database.ts';
import { type Channel, type ConversationRecord, findConversations, type Reach } from './conversations.ts';
import { narrowedTo, openOnes, type QueueFilter, type QueueReader, type Run, runsOf, whereOf } from './queue-runs.ts';

/** `activity`: by the last message, newest first. */
export type QueueSort = 'activity' | 'oldest_activity' | 'newest' | 'oldest' | 'longest_waiting';

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
const byActivity = {
  key: activityKey,
  ofChannel: 'conversationByActivity',
  ofDepartment: 'conversationByActivityOfDepartment',
} as const;
const orders: Readonly<Record<QueueSort, Order>> = {
  activity: {
    ...byActivity,
    // SQLite seeks only columns as a row, not an expression.
    after: `${activityKey} <= @at AND (${activityKey}, id) < (@at, @id)`,
    isNewestFirst: true,
  },
  oldest_activity: {
    ...byActivity,
    after: `${activityKey} >= @at AND (${activityKey}, id) > (@at, @id)`,
    isNewestFirst: false,
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
    case 'oldest_activity':
      return { at: lastMessageAt ?? createdAt, id };
    case 'longest_waiting':
      return { at: waitingSince ?? `9${createdAt.slice(1)}`, id };
    default:
      return { at: createdAt, id };
  }
}

/** Open and pending ones, from just after `cursor`. */
export function queuePage(
  db: Database,
  page: Page & QueueReader & { sort?: QueueSort | undefined },
): ConversationRecord[] {
  const order = orders[page.sort ?? 'newest'];
  const range = { ...(order.isNewestFirst ? below(page.cursor) : above(page.cursor)), limit: page.limit };
  const places = runsOf(page).map((run) => queueAt(db, order, { ...run, filter: page.filter, range }));
  return recordsAt(db, (order.isNewestFirst ? newestOf : oldestOf)(places, page.limit));
}

type Range = { at: string; id: string; limit: number };
const newestFirst = 'ORDER BY createdAt DESC, id DESC LIMIT @limit';

/** Of one run, in the order. */
function queueAt(
  db: Database,
  order: Order,
  { values, filter, range, ...run }: Run & { filter: QueueFilter; range: Range },
): Cursor[] {
  const { key, after, isNewestFirst } = order;
  const way = isNewestFirst ? 'DESC' : 'ASC';
  return db.all(
    `SELECT ${key} AS at, id FROM conversation INDEXED BY ${indexOf(run, filter, order)}
     WHERE ${whereOf(run)} AND ${openOnes(filter)} AND ${narrowedTo} AND ${after} ORDER BY ${key} ${way}, id ${way} LIMIT @limit`,
    { ...values, ...range },
  );
}

function indexOf({ of }: Pick<Run, 'of'>, { assigneeId }: QueueFilter, order: Order): string {
  switch (of) {
    case 'offered':
      return 'conversationOffered';
    case 'assignee':
      return 'conversationOfAssignee';
    case 'channel':
      // In this order the unassigned ones are a range of their own.
      return assigneeId === 'none' && order.key === activityKey ? 'conversationOfAssignee' : order.ofChannel;
    case 'department':
      return order.ofDepartment;
  }
}

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

// Lists of conversations that an agent may see, newest first. An agent's reach is merged from index ranges, one for
// each of its channels and departments and one of its own, so that rows it may not see are never read, however many
// there are.

import { below, type Cursor, newestOf } from '../cursor.ts';
import type { Database } from '../database.ts';
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
}

interface Page {
  readonly reach: Reach;
  readonly cursor: Cursor | undefined;
  readonly limit: number;
}

/** Open and pending ones, newest first, from just below `cursor`. */
export function queuePage(db: Database, page: Page & { filter: QueueFilter }): ConversationRecord[] {
  const { reach, filter, limit } = page;
  const channels = reach.channels.filter((channel) => filter.channel === undefined || channel === filter.channel);
  const range = { ...below(page.cursor), limit };
  if (filter.isOffered === true) {
    const own = {
      ...range,
      isUnassigned: filter.assigneeId === 'none' ? 1 : 0,
      channels: JSON.stringify(channels),
      agentId: reach.agentId,
      departmentId: filter.departmentId ?? null,
    };
    return recordsAt(db, queueOfOffered(db, own));
  }
  if (filter.assigneeId !== undefined && filter.assigneeId !== 'none') {
    return recordsAt(
      db,
      queueOfAssignee(db, {
        ...reachValues({ ...reach, channels }),
        ...range,
        assigneeId: filter.assigneeId,
        departmentId: filter.departmentId ?? null,
      }),
    );
  }
  const values = { ...range, isUnassigned: filter.assigneeId === 'none' ? 1 : 0 };
  if (reach.departmentIds === null) {
    const runs = channels.map((channel) =>
      filter.departmentId === undefined
        ? queueOfChannel(db, { ...values, channel })
        : queueOfDepartment(db, { ...values, channel, departmentId: filter.departmentId }),
    );
    return recordsAt(db, newestOf(runs, limit));
  }
  const departmentIds = [null, ...reach.departmentIds].filter(
    (id) => filter.departmentId === undefined || id === filter.departmentId,
  );
  const runs = channels.flatMap((channel) =>
    departmentIds.map((departmentId) => queueOfDepartment(db, { ...values, channel, departmentId })),
  );
  const own = {
    ...values,
    channels: JSON.stringify(channels),
    agentId: reach.agentId,
    departmentId: filter.departmentId ?? null,
  };
  return recordsAt(db, newestOf([...runs, queueOfOwn(db, own), queueOfOffered(db, own)], limit));
}

type Range = { at: string; id: string; limit: number };
type QueueRange = Range & { isUnassigned: number };

const inQueue = `status IN ('open', 'pending') AND (createdAt, id) < (@at, @id)`;
const ifUnassigned = 'AND (@isUnassigned = 0 OR assignedAgentId IS NULL)';
const newestFirst = 'ORDER BY createdAt DESC, id DESC LIMIT @limit';

function queueOfChannel(db: Database, values: QueueRange & { channel: Channel }): Cursor[] {
  return db.all(
    `SELECT createdAt AS at, id FROM conversation INDEXED BY conversationInQueue WHERE channel = @channel AND ${inQueue} ${ifUnassigned} ${newestFirst}`,
    values,
  );
}

function queueOfDepartment(
  db: Database,
  values: QueueRange & { channel: Channel; departmentId: string | null },
): Cursor[] {
  return db.all(
    `SELECT createdAt AS at, id FROM conversation INDEXED BY conversationInQueueOfDepartment
     WHERE channel = @channel AND departmentId IS @departmentId AND ${inQueue} ${ifUnassigned} ${newestFirst}`,
    values,
  );
}

/** An agent's open conversations are few, so all are read. */
function queueOfAssignee(
  db: Database,
  values: ReturnType<typeof reachValues> & Range & { assigneeId: string; departmentId: string | null },
): Cursor[] {
  return db.all(
    `SELECT createdAt AS at, id FROM conversation INDEXED BY conversationByAssignee
     WHERE assignedAgentId = @assigneeId AND ${inQueue} AND (@departmentId IS NULL OR departmentId = @departmentId) AND ${withinReach} ${newestFirst}`,
    values,
  );
}

/** As its index expresses it. */
const isOffered = `handshake IS NOT NULL AND handshake ->> 'toAgentId' = @agentId`;

type Own = { channels: string; agentId: string; departmentId: string | null };
const ofOwn =
  'channel IN (SELECT value FROM json_each(@channels)) AND (@departmentId IS NULL OR departmentId = @departmentId)';

function queueOfOwn(db: Database, values: QueueRange & Own): Cursor[] {
  return db.all(
    `SELECT createdAt AS at, id FROM conversation INDEXED BY conversationByAssignee WHERE assignedAgentId = @agentId AND ${inQueue} ${ifUnassigned} AND ${ofOwn} ${newestFirst}`,
    values,
  );
}

function queueOfOffered(db: Database, values: QueueRange & Own): Cursor[] {
  return db.all(
    `SELECT createdAt AS at, id FROM conversation INDEXED BY conversationOffered WHERE ${isOffered} AND ${inQueue} ${ifUnassigned} AND ${ofOwn} ${newestFirst}`,
    values,
  );
}

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

function solvedOfOwn(db: Database, values: Range & Omit<Own, 'departmentId'>): Cursor[] {
  return db.all(
    `SELECT solvedAt AS at, id FROM conversation INDEXED BY conversationBySolvedOfAssignee WHERE assignedAgentId = @agentId AND ${isSolved} AND ${inChannels} ${lastSolvedFirst}`,
    values,
  );
}

function solvedOfOffered(db: Database, values: Range & Omit<Own, 'departmentId'>): Cursor[] {
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

function spamOfOwn(db: Database, values: Range & Omit<Own, 'departmentId'>): Cursor[] {
  return db.all(
    `SELECT createdAt AS at, id FROM conversation INDEXED BY conversationSpamOfAssignee WHERE assignedAgentId = @agentId AND ${isSpam} AND ${inChannels} ${newestFirst}`,
    values,
  );
}

function spamOfOffered(db: Database, values: Range & Omit<Own, 'departmentId'>): Cursor[] {
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

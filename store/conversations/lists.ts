// Lists of conversations that are over, newest first, as far as an agent may see them. An agent's reach is merged from
// index ranges, one for each of its channels and departments and one of its own, so that rows it may not see are never
// read, however many there are.

import { below, type Cursor } from '../cursor.ts';
import type { Database } from '../database.ts';
import type { Reach } from './conversations.ts';
import type { ListedRow } from './listed-rows.ts';
import { beginReading, type Order, readDepartments, readRange, rowsOf } from './ranges.ts';

interface Page {
  readonly reach: Reach;
  readonly cursor: Cursor | undefined;
  readonly limit: number;
}

interface List {
  readonly order: Order;
  readonly holds: string;
  readonly ofChannel: string;
  readonly ofDepartment: string;
  readonly ofAssignee: string;
}

const solved: List = {
  order: { key: 'solvedAt', after: '(solvedAt, id) < (@at, @id)', isNewestFirst: true },
  holds: `status IN ('solved', 'closed')`,
  ofChannel: 'conversationBySolved',
  ofDepartment: 'conversationBySolvedOfDepartment',
  ofAssignee: 'conversationBySolvedOfAssignee',
};
const spam: List = {
  order: { key: 'createdAt', after: '(createdAt, id) < (@at, @id)', isNewestFirst: true },
  holds: `status = 'spam'`,
  ofChannel: 'conversationSpam',
  ofDepartment: 'conversationSpamOfDepartment',
  ofAssignee: 'conversationSpamOfAssignee',
};

/** Solved and closed ones, last solved first, from just below `cursor` (of solvedAt). */
export function recentlyClosedPage(db: Database, page: Page): ListedRow[] {
  return pageOf(db, solved, page);
}

/** Spam, newest first, from just below `cursor`. */
export function spamPage(db: Database, page: Page): ListedRow[] {
  return pageOf(db, spam, page);
}

/** As its index expresses it. */
const isOffered = `handshake IS NOT NULL AND handshake ->> 'toAgentId' = @agentId`;
const inChannels = 'channel IN (SELECT value FROM json_each(@channels))';

function pageOf(db: Database, list: List, { reach, cursor, limit }: Page): ListedRow[] {
  const { channels, departmentIds, agentId } = reach;
  const { order, holds } = list;
  const reading = beginReading(order, { from: below(cursor), limit });
  if (departmentIds === null) {
    for (const channel of channels)
      readRange(db, reading, {
        index: list.ofChannel,
        where: `channel = @channel AND ${holds}`,
        values: { channel },
      });
    return rowsOf(db, reading);
  }
  readDepartments(db, reading, {
    index: list.ofDepartment,
    where: holds,
    values: {},
    channels,
    departmentIds: [null, ...departmentIds],
  });
  const values = { channels: JSON.stringify(channels), agentId };
  const own = `assignedAgentId = @agentId AND ${holds} AND ${inChannels}`;
  readRange(db, reading, { index: list.ofAssignee, where: own, values });
  readRange(db, reading, {
    index: 'conversationOffered',
    where: `${isOffered} AND ${holds} AND ${inChannels}`,
    values,
  });
  return rowsOf(db, reading);
}

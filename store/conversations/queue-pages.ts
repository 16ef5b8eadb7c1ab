// Pages of the queue: open and pending conversations that an agent may see, in several orders.

import { above, below, type Cursor } from '../cursor.ts';
import type { Database } from '../database.ts';
import type { ConversationRecord } from './conversations.ts';
import type { ListedRow } from './listed-rows.ts';
import { narrowedTo, openOnes, type QueueFilter, type QueueReader, type Run, runsOf, whereOf } from './queue-runs.ts';
import { beginReading, type Order, type Reading, readDepartments, readRange, rowsOf } from './ranges.ts';

/** `activity`: by the last message, newest first. */
export type QueueSort = 'activity' | 'oldest_activity' | 'newest' | 'oldest' | 'longest_waiting';

/** A conversation without a message, such as a call, is as old as itself. */
const activityKey = 'coalesce(lastMessageAt, createdAt)';
/** Those that wait, longest first, then the others, oldest first: their time has a year after all others. */
const waitKey = `coalesce(waitingSince, '9' || substr(createdAt, 2))`;

interface QueueOrder extends Order {
  readonly ofChannel: string;
  readonly ofDepartment: string;
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
const orders: Readonly<Record<QueueSort, QueueOrder>> = {
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

export interface QueueQuestion extends QueueReader {
  readonly sort?: QueueSort | undefined;
}

/**
 * Whether a page is read from the beginnings of ranges, however many conversations are open. Otherwise entries that do
 * not fit are looked at, too, or all of an agent's are sorted: that is for another thread.
 */
export function isReadInRanges({ reach, filter, sort = 'newest' }: QueueQuestion): boolean {
  const { assigneeId, departmentId, siteId, tag } = filter;
  if (siteId !== undefined || tag !== undefined) return false;
  if (filter.isOffered === true) return true;
  const isByActivity = orders[sort].key === activityKey;
  if (assigneeId === 'none') return isByActivity;
  const isAllSeen = reach.departmentIds === null;
  if (assigneeId !== undefined)
    return isByActivity && departmentId === undefined && (isAllSeen || assigneeId === reach.agentId);
  // What an agent has beyond its departments is looked for only among what is newer than the page's end.
  return departmentId === undefined ? isAllSeen || isByActivity : isAllSeen || isOwn(reach, departmentId);
}

function isOwn({ departmentIds }: QueueReader['reach'], departmentId: string): boolean {
  return departmentIds?.includes(departmentId) === true;
}

/** Open and pending ones, from just after `cursor`. */
export function queuePage(
  db: Database,
  { cursor, limit, sort = 'newest', reach, filter }: QueueQuestion & { cursor: Cursor | undefined; limit: number },
): ListedRow[] {
  const order = orders[sort];
  const reading = beginReading(order, { from: (order.isNewestFirst ? below : above)(cursor), limit });
  const runs = runsOf({ reach, filter });
  readSeen(db, reading, { runs, filter, order });
  for (const run of runs)
    if (run.of === 'assignee' || run.of === 'offered')
      readRange(db, reading, {
        index: run.of === 'assignee' ? 'conversationOfAssignee' : 'conversationOffered',
        where: `${whereOf(run)} AND ${openOnes(filter)} AND ${narrowedTo}`,
        values: run.values,
      });
  return rowsOf(db, reading);
}

interface Seen {
  readonly runs: readonly Run[];
  readonly filter: QueueFilter;
  readonly order: QueueOrder;
}

/** Of whole channels or of departments. */
function readSeen(db: Database, reading: Reading, { runs, filter, order }: Seen): void {
  const seen = runs.filter(({ of }) => of === 'channel' || of === 'department');
  const [one] = seen;
  if (one === undefined) return;
  const where = `${openOnes(filter)} AND ${narrowedTo}`;
  const channels = [...new Set(seen.flatMap(({ channel }) => channel ?? []))];
  const isUnassigned = filter.assigneeId === 'none' && order.key === activityKey;
  if (one.of === 'department' || isUnassigned)
    readDepartments(db, reading, {
      index: isUnassigned ? 'conversationUnassigned' : order.ofDepartment,
      where,
      values: one.values,
      channels,
      departmentIds:
        one.of === 'department'
          ? [...new Set(seen.map(({ departmentId = null }) => departmentId))]
          : [null, ...departmentsOfUnassigned(db, channels)],
    });
  else
    for (const { where: ofRun, values } of seen)
      readRange(db, reading, { index: order.ofChannel, where: `${ofRun} AND ${where}`, values });
}

/** Those of open and pending conversations that no one has, from one entry of the index each. */
function departmentsOfUnassigned(db: Database, channels: readonly string[]): string[] {
  const next = (channel: string, than: string): string =>
    `SELECT departmentId FROM conversation INDEXED BY conversationUnassigned
     WHERE channel = ${channel} AND departmentId > ${than} AND ${openOnes({ assigneeId: 'none' })} ORDER BY departmentId LIMIT 1`;
  return db
    .all<{ departmentId: string }>(
      `WITH RECURSIVE found (channel, departmentId) AS (
         SELECT one.value, (${next('one.value', `''`)}) FROM json_each(@channels) AS one
         UNION ALL SELECT channel, (${next('found.channel', 'found.departmentId')}) FROM found WHERE departmentId IS NOT NULL)
       SELECT DISTINCT departmentId FROM found WHERE departmentId IS NOT NULL`,
      { channels: JSON.stringify(channels) },
    )
    .map(({ departmentId }) => departmentId);
}

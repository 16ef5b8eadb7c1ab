// How many conversations the lists of the queue hold, counted from indexes without reading rows.

import type { Database } from '../database.ts';
import type { Channel, Reach } from './conversations.ts';
import { narrowedTo, openOnes, type QueueFilter, type QueueReader, type Run, runsOf, whereOf } from './queue-runs.ts';

/** Lists are counted as far as this: nobody reads a larger number. */
export const mostCounted = 1000;

/** At most `mostCounted` each. */
export interface QueueCounts {
  readonly mine: number;
  readonly unassigned: number;
  readonly all: number;
  readonly unread: number;
  readonly waiting: number;
  readonly waitingCalls: number;
  readonly offered: number;
  readonly channels: readonly { readonly channel: Channel; readonly count: number }[];
  readonly departments: readonly { readonly departmentId: string; readonly count: number }[];
  /** Null: unknown. */
  readonly views: readonly { readonly viewId: string; readonly count: number | null }[];
}

/** The lists that an agent has. */
export interface ListsOfReader {
  readonly reach: Reach;
  readonly departmentIds: readonly string[];
  readonly views: readonly { readonly viewId: string; readonly filter: QueueFilter }[];
}

/**
 * One request counts views as far as this, which is about ten milliseconds each; the numbers of further views are
 * unknown. An agent in 20 departments has 67 ranges in a view without an assignee.
 */
const mostForViews = { ranges: 5000, entries: 5000 };

/** The number of statements does not grow with the departments. Reads up to 1,000 entries for each number. */
export function countLists(db: Database, { reach, departmentIds, views }: ListsOfReader): QueueCounts {
  const count = (filter: QueueFilter): number => countQueue(db, { reach, filter });
  const waitingIn = (channel: Channel): number =>
    reach.channels.includes(channel) ? countForAnyone(db, { reach, channel }) : 0;
  const budget = { ...mostForViews };
  return {
    mine: count({ assigneeId: reach.agentId, isOfferedToo: true }),
    unassigned: count({ assigneeId: 'none' }),
    all: count({}),
    unread: countOwnUnread(db, reach),
    waiting: Math.min(mostCounted, waitingIn('chat') + waitingIn('ticket')),
    waitingCalls: waitingIn('call'),
    offered: count({ isOffered: true }),
    channels: reach.channels.map((channel) => ({ channel, count: count({ channel }) })),
    departments: countByDepartment(db, { reach, departmentIds }),
    views: views.map(({ viewId, filter }) => ({
      viewId,
      count: countQueueWithin(db, { reach, filter }, budget) ?? null,
    })),
  };
}

/** What counting may still cost. */
export interface Budget {
  /** Ranges of indexes, each of them a search. */
  ranges: number;
  /** Entries of ranges in which not every one fits. */
  entries: number;
}

/** How many queuePage() finds in all, at most `mostCounted`. */
export function countQueue(db: Database, { reach, filter }: QueueReader): number {
  return countParts(partsOf(runsOf({ reach, filter })), (part, limit) => countIn(db, part, { filter, limit }));
}

/**
 * The same, within a budget: filters by site and tag look at each entry, so do those by another agent. Undefined if the
 * budget does not reach, so that the number is unknown.
 */
export function countQueueWithin(db: Database, { reach, filter }: QueueReader, budget: Budget): number | undefined {
  const isNarrowed = filter.siteId !== undefined || filter.tag !== undefined;
  let count = 0;
  for (const part of partsOf(runsOf({ reach, filter }))) {
    if (budget.ranges < part.ranges) return undefined;
    budget.ranges -= part.ranges;
    if (!isNarrowed && part.only === undefined) count += countIn(db, part, { filter, limit: mostCounted - count });
    else {
      const { looked, found } = look(db, part, { filter, most: budget.entries });
      const isCut = looked === budget.entries;
      budget.entries -= looked;
      count = Math.min(mostCounted, count + found);
      if (isCut && count < mostCounted) return undefined;
    }
    if (count === mostCounted) break;
  }
  return count;
}

/** Those of each department whose conversations the agent sees all of, at most `mostCounted` each. */
export function countByDepartment(
  db: Database,
  { reach, departmentIds }: Pick<QueueReader, 'reach'> & { readonly departmentIds: readonly string[] },
): { departmentId: string; count: number }[] {
  return db.all(
    `SELECT department.value AS departmentId, (SELECT count(*) FROM (
       SELECT 1 FROM json_each(@channels) AS one CROSS JOIN conversation INDEXED BY conversationInQueueOfDepartment
       WHERE channel = one.value AND departmentId = department.value AND ${openOnes({})} LIMIT @limit)) AS count
     FROM json_each(@departmentIds) AS department`,
    {
      channels: JSON.stringify(reach.channels),
      departmentIds: JSON.stringify(departmentIds),
      limit: mostCounted,
    },
  );
}

/** The agent's own with something unread, and those offered to it that another agent has. */
export function countOwnUnread(db: Database, reach: QueueReader['reach']): number {
  // As its index expresses it.
  const isUnread = `${openOnes({})} AND (lastCustomerMessageAt > coalesce(agentsReadUpTo, '')) = 1 AND assignedAgentId IS NOT NULL`;
  const runs = runsOf({ reach, filter: { assigneeId: reach.agentId, isOfferedToo: true } });
  return countParts(partsOf(runs), (part, limit) =>
    countAt(db, part, {
      index: part.of === 'assignee' ? 'conversationUnread' : 'conversationOffered',
      where: isUnread,
      limit,
    }),
  );
}

/** Of one channel: open ones that no one has and whose customer waits, and calls that no one has. */
export function countForAnyone(
  db: Database,
  { reach, channel }: Pick<QueueReader, 'reach'> & { readonly channel: NonNullable<QueueFilter['channel']> },
): number {
  const waits = `status = 'open' AND assignedAgentId IS NULL AND assistant IS NOT 'answering' AND (channel = 'call' OR waitingSince IS NOT NULL)`;
  return countParts(partsOf(runsOf({ reach, filter: { assigneeId: 'none', channel } })), (part, limit) =>
    countAt(db, part, {
      index: part.of === 'offered' ? 'conversationOffered' : 'conversationForAnyone',
      where: waits,
      limit,
    }),
  );
}

/** One statement counts it, however many ranges it has. */
interface Part extends Run {
  readonly from: string;
  readonly ranges: number;
}

/** All departments are one part, since an agent may be in 200 of them: its channels, each with its departments. */
function partsOf(runs: readonly Run[]): Part[] {
  const ofDepartments = runs.filter(({ of }) => of === 'department');
  const others = runs
    .filter(({ of }) => of !== 'department')
    .map((run): Part => ({ ...run, from: 'conversation', ranges: 1 }));
  const [first] = ofDepartments;
  if (first === undefined) return others;
  const distinct = (name: string): string =>
    JSON.stringify([...new Set(ofDepartments.map(({ values }) => values[name]))]);
  const together: Part = {
    of: 'department',
    from: 'json_each(@inChannels) AS one CROSS JOIN json_each(@inDepartments) AS department CROSS JOIN conversation',
    where: 'channel = one.value AND departmentId IS department.value',
    values: { ...first.values, inChannels: distinct('channel'), inDepartments: distinct('departmentId') },
    ranges: ofDepartments.length,
  };
  return [together, ...others];
}

function countParts(parts: readonly Part[], countOf: (part: Part, limit: number) => number): number {
  let count = 0;
  for (const part of parts) {
    count += countOf(part, mostCounted - count);
    if (count === mostCounted) break;
  }
  return count;
}

function countIn(db: Database, part: Part, { filter, limit }: { filter: QueueFilter; limit: number }): number {
  return countAt(db, part, {
    index: indexOf(part, filter),
    where: `${openOnes(filter)} AND ${narrowedTo}`,
    limit,
  });
}

function countAt(
  db: Database,
  part: Part,
  { index, where, limit }: { readonly index: string; readonly where: string; readonly limit: number },
): number {
  const counted = db.get<{ count: number }>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM ${part.from} INDEXED BY ${index} WHERE ${whereOf(part)} AND ${where} LIMIT @limit)`,
    { ...part.values, limit },
  );
  return counted?.count ?? 0;
}

function look(
  db: Database,
  part: Part,
  { filter, most }: { filter: QueueFilter; most: number },
): { looked: number; found: number } {
  // Only what the index has, and the condition needs.
  const columns = part.only === undefined ? 'siteId, tags' : 'siteId, tags, channel, departmentId, assignedAgentId';
  const counted = db.get<{ looked: number; found: number }>(
    `SELECT count(*) AS looked, count(CASE WHEN ${part.only ?? 'TRUE'} AND ${narrowedTo} THEN 1 END) AS found
     FROM (SELECT ${columns} FROM ${part.from} INDEXED BY ${indexOf(part, filter)} WHERE ${part.where} AND ${openOnes(filter)} LIMIT @most)`,
    { ...part.values, most },
  );
  return counted ?? { looked: 0, found: 0 };
}

function indexOf({ of }: Part, { assigneeId, tag }: QueueFilter): string {
  if (of === 'assignee') return 'conversationOfAssignee';
  if (of === 'offered') return 'conversationOffered';
  if (tag !== undefined) return 'conversationTagged';
  if (assigneeId === 'none') return 'conversationUnassigned';
  return of === 'channel' ? 'conversationInQueue' : 'conversationInQueueOfDepartment';
}

// How many conversations the lists of the queue hold, counted from indexes without reading rows.

import type { Database } from '../database.ts';
import { narrowedTo, openOnes, type QueueFilter, type QueueReader, type Run, runsOf } from './queue-runs.ts';

/** Lists are counted as far as this: nobody reads a larger number. */
export const mostCounted = 1000;

/** How many entries of indexes may still be looked at for filters that no index has in order. */
export interface Budget {
  left: number;
}

/** How many queuePage() finds in all, at most `mostCounted`. */
export function countQueue(db: Database, { reach, filter }: QueueReader): number {
  return countRuns(runsOf({ reach, filter }), (run, limit) =>
    countAt(db, {
      ...run,
      index: indexOf(run, filter),
      where: `${run.where} AND ${openOnes(filter)} AND ${narrowedTo}`,
      limit,
    }),
  );
}

/**
 * The same, within a budget: filters by site and tag look at each entry. Undefined if the budget does not reach, so that
 * the number is unknown.
 */
export function countQueueWithin(db: Database, { reach, filter }: QueueReader, budget: Budget): number | undefined {
  if (filter.siteId === undefined && filter.tag === undefined) return countQueue(db, { reach, filter });
  let count = 0;
  for (const run of runsOf({ reach, filter })) {
    const { looked, found } = look(db, run, { filter, most: budget.left });
    const isCut = looked === budget.left;
    budget.left -= looked;
    count = Math.min(mostCounted, count + found);
    if (count === mostCounted) return count;
    if (isCut) return undefined;
  }
  return count;
}

/** The agent's own with something unread, and those offered to it that another agent has. */
export function countOwnUnread(db: Database, reach: QueueReader['reach']): number {
  // As its index expresses it.
  const isUnread = `${openOnes({})} AND (lastCustomerMessageAt > coalesce(agentsReadUpTo, '')) = 1 AND assignedAgentId IS NOT NULL`;
  return countRuns(runsOf({ reach, filter: { assigneeId: reach.agentId, isOfferedToo: true } }), (run, limit) =>
    countAt(db, {
      ...run,
      index: run.of === 'assignee' ? 'conversationUnread' : 'conversationOffered',
      where: `${run.where} AND ${isUnread}`,
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
  return countRuns(runsOf({ reach, filter: { assigneeId: 'none', channel } }), (run, limit) =>
    countAt(db, {
      ...run,
      index: run.of === 'offered' ? 'conversationOffered' : 'conversationForAnyone',
      where: `${run.where} AND ${waits}`,
      limit,
    }),
  );
}

function countRuns(runs: readonly Run[], countOf: (run: Run, limit: number) => number): number {
  let count = 0;
  for (const run of runs) {
    count += countOf(run, mostCounted - count);
    if (count === mostCounted) break;
  }
  return count;
}

type Counted = Pick<Run, 'values' | 'where'> & { readonly index: string; readonly limit: number };

function countAt(db: Database, { index, where, values, limit }: Counted): number {
  const counted = db.get<{ count: number }>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM conversation INDEXED BY ${index} WHERE ${where} LIMIT @limit)`,
    { ...values, limit },
  );
  return counted?.count ?? 0;
}

function look(
  db: Database,
  run: Run,
  { filter, most }: { filter: QueueFilter; most: number },
): { looked: number; found: number } {
  const counted = db.get<{ looked: number; found: number }>(
    `SELECT count(*) AS looked, count(CASE WHEN ${narrowedTo} THEN 1 END) AS found
     FROM (SELECT siteId, tags FROM conversation INDEXED BY ${indexOf(run, filter)} WHERE ${run.where} AND ${openOnes(filter)} LIMIT @most)`,
    { ...run.values, most },
  );
  return counted ?? { looked: 0, found: 0 };
}

function indexOf({ of }: Run, { assigneeId, tag }: QueueFilter): string {
  if (of === 'assignee') return 'conversationOfAssignee';
  if (of === 'offered') return 'conversationOffered';
  if (tag !== undefined) return 'conversationTagged';
  if (assigneeId === 'none') return 'conversationUnassigned';
  return of === 'channel' ? 'conversationInQueue' : 'conversationInQueueOfDepartment';
}

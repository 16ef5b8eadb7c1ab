// The parts of the queue that an agent may see, each of them a range of one index, so that rows it may not see are never
// read, however many there are. Lists merge their pages, counts add up.

import { nameKey } from '../folding.ts';
import type { Channel, Reach } from './conversations.ts';

export interface QueueFilter {
  readonly channel?: Channel | undefined;
  readonly departmentId?: string | undefined;
  /** An agent, or `none` for unassigned. */
  readonly assigneeId?: string | undefined;
  /** Only conversations offered to the agent. */
  readonly isOffered?: boolean | undefined;
  /** With an `assigneeId`: also those offered to the agent who asks. */
  readonly isOfferedToo?: boolean | undefined;
  readonly siteId?: string | undefined;
  /** Case is ignored. */
  readonly tag?: string | undefined;
}

export interface QueueReader {
  readonly reach: Reach;
  readonly filter: QueueFilter;
}

/** The parts of a reader have no conversation in common. */
export interface Run {
  readonly of: 'channel' | 'department' | 'assignee' | 'offered';
  /** A range of its index. */
  readonly where: string;
  /** Which of the entries in the range; undefined for all. */
  readonly only?: string;
  readonly values: Readonly<Record<string, string | number | null>>;
  /** Of a channel's run, and a department's. */
  readonly channel?: Channel;
  /** Of a department's run; null without a department. */
  readonly departmentId?: string | null;
}

const inDepartment = '(@departmentId IS NULL OR departmentId = @departmentId)';
const inChannels = 'channel IN (SELECT value FROM json_each(@channels))';
const ofOwn = `${inChannels} AND ${inDepartment}`;
/** Not in a department that the agent sees anyway. */
const beyond = 'departmentId IS NOT NULL AND departmentId NOT IN (SELECT value FROM json_each(@beyond))';
/** As its index expresses it. */
const isOffered = `handshake IS NOT NULL AND handshake ->> 'toAgentId' = @agentId`;

export function runsOf({ reach, filter }: QueueReader): Run[] {
  const { agentId } = reach;
  const channels = reach.channels.filter((channel) => filter.channel === undefined || channel === filter.channel);
  const narrowed = {
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
  if (filter.isOffered === true) return [offeredIf(own)];
  const { assigneeId } = filter;
  if (assigneeId !== undefined && assigneeId !== 'none')
    return runsOfAssignee({ reach, filter }, { channels, values: { ...own, assigneeId } });
  const ofChannel = (channel: Channel): Run => ({
    of: 'channel',
    where: 'channel = @channel',
    values: { ...narrowed, channel },
    channel,
  });
  const ofDepartment = (channel: Channel, departmentId: string | null): Run => ({
    of: 'department',
    where: 'channel = @channel AND departmentId IS @departmentId',
    values: { ...narrowed, channel, departmentId },
    channel,
    departmentId,
  });
  if (reach.departmentIds === null)
    return channels.map((channel) =>
      filter.departmentId === undefined ? ofChannel(channel) : ofDepartment(channel, filter.departmentId),
    );
  const departmentIds = [null, ...reach.departmentIds].filter(
    (id) => filter.departmentId === undefined || id === filter.departmentId,
  );
  const seen = channels.flatMap((channel) => departmentIds.map((departmentId) => ofDepartment(channel, departmentId)));
  if (filter.departmentId !== undefined && departmentIds.length > 0) return seen;
  const ownBeyond = channels.map(
    (channel): Run => ({
      of: 'assignee',
      where: 'assignedAgentId = @agentId AND channel = @channel',
      only: `${inDepartment} AND ${beyond}`,
      values: { ...own, channel },
    }),
  );
  return [
    ...seen,
    ...(assigneeId === 'none' ? [] : ownBeyond),
    offeredIf(own, ` AND ${beyond} AND assignedAgentId IS NOT @agentId`),
  ];
}

function runsOfAssignee(
  { reach, filter }: QueueReader,
  { channels, values }: { channels: readonly Channel[]; values: Run['values'] },
): Run[] {
  // Its own are always within its reach, and everyone's within that of an admin.
  const isAllSeen = filter.assigneeId === reach.agentId || reach.departmentIds === null;
  const only = [
    ...(filter.departmentId === undefined ? [] : [inDepartment]),
    ...(isAllSeen ? [] : [`NOT (${beyond})`]),
  ].join(' AND ');
  const assigned = channels.map(
    (channel): Run => ({
      of: 'assignee',
      where: 'assignedAgentId = @assigneeId AND channel = @channel',
      ...(only === '' ? {} : { only }),
      values: { ...values, channel },
    }),
  );
  // What an assigned run leaves out, since it is beyond the reader's reach, may be offered to the reader.
  if (filter.isOfferedToo === true) {
    const others = isAllSeen
      ? 'assignedAgentId IS NOT @assigneeId'
      : `(assignedAgentId IS NOT @assigneeId OR (${beyond}))`;
    return [...assigned, offeredIf(values, ` AND ${others}`)];
  }
  if (isAllSeen) return assigned;
  return [...assigned, offeredIf(values, ` AND ${beyond} AND assignedAgentId = @assigneeId`)];
}

function offeredIf(values: Run['values'], only = ''): Run {
  return { of: 'offered', where: isOffered, only: `${ofOwn}${only}`, values };
}

/** All of its condition. */
export function whereOf({ where, only }: Pick<Run, 'where' | 'only'>): string {
  return only === undefined ? where : `${where} AND ${only}`;
}

/** Open or pending, and what the indexes of runs need to be used. */
export function openOnes({ assigneeId, tag }: QueueFilter): string {
  const unassigned = assigneeId === 'none' ? ' AND assignedAgentId IS NULL' : '';
  return `status IN ('open', 'pending')${unassigned}${tag === undefined ? '' : ` AND tags <> '[]'`}`;
}

/** By site and tag. It needs no row: the indexes cover it. */
export const narrowedTo = `(@siteId IS NULL OR siteId = @siteId)
       AND (@tagKey IS NULL OR EXISTS (SELECT 1 FROM json_each(tags) WHERE nameKey(value) = @tagKey))`;

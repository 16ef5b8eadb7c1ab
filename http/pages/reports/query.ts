// A report's query, from the address, limited to what the reader may see: admins everything, supervisors their
// departments and conversations without one, agents their own. Only this file turns it into an API query.

import { query } from '../location.ts';
import { departments, joinedAgents } from '../people.ts';
import type { Agent, Channel, Department } from '../records.ts';
import { me } from '../session.ts';
import { type ChosenRange, type RangeQuery, rangeOf, rangeQuery } from './range.ts';
import { channels, type ReportPlace } from './report-list.ts';

export interface ReportQuery extends ChosenRange {
  readonly departmentId: string | undefined;
  readonly agentId: string | undefined;
  readonly channel: Channel | undefined;
}

/** Reads the address, so a component that calls it is redrawn when the address changes. */
export function currentQuery(): ReportQuery {
  const channel = query.value.get('channel');
  return {
    ...rangeOf(query.value),
    departmentId: query.value.get('department') ?? undefined,
    agentId: query.value.get('agent') ?? undefined,
    channel: channels.find((one) => one === channel),
  };
}

export function timeZone(): string {
  return me.value?.workspace.timezone ?? 'UTC';
}

/** The channels whose figures the reader may see. */
export function ownChannels(): readonly Channel[] {
  const agent = me.value?.agent;
  if (agent === undefined) return [];
  return channels.filter(
    (channel) =>
      agent.role === 'admin' ||
      agent.channels.includes(({ chat: 'chats', ticket: 'tickets', call: 'calls' } as const)[channel]),
  );
}

export function isOpenTo(place: ReportPlace): boolean {
  const own = ownChannels();
  return place.channel === 'all' || (place.channel === 'one' ? own.length > 0 : own.includes(place.channel));
}

/** The channel of a report that has one: the chosen one, or the first possible. */
export function channelOf(place: ReportPlace, { channel }: ReportQuery): Channel | undefined {
  if (place.channel !== 'one') return place.channel === 'all' ? channel : undefined;
  const own = ownChannels();
  if (channel !== undefined && own.includes(channel)) return channel;
  return own[0];
}

/** Undefined while the days of a custom range are invalid. */
export function apiQuery(
  place: ReportPlace,
  request: ReportQuery,
  range: RangeQuery | undefined = rangeQuery(request, timeZone()),
): Record<string, string | undefined> | undefined {
  if (range === undefined) return undefined;
  return {
    ...range,
    departmentId: request.departmentId,
    agentId: request.agentId,
    channel: channelOf(place, request),
    ...(place.hasSeries ? { granularity: request.granularity } : {}),
  };
}

/** The agents that a supervisor or an admin can choose; none for an agent, who only sees its own figures. */
export function agentsToChoose(): readonly Agent[] {
  const own = me.value?.agent;
  if (own === undefined || own.role === 'agent') return [];
  return joinedAgents.value.filter(
    (one) =>
      own.role === 'admin' ||
      one.id === own.id ||
      one.groupIds.length === 0 ||
      one.groupIds.some((id) => own.groupIds.includes(id)),
  );
}

export function departmentsToChoose(): readonly Department[] {
  const own = me.value?.agent;
  if (own === undefined || own.role === 'agent') return [];
  return [...departments.value.values()]
    .filter(({ id }) => own.role === 'admin' || own.groupIds.includes(id))
    .sort((a, b) => a.name.localeCompare(b.name));
}

/** The address of a report with the present query, with these changes. */
export function reportHref(slug: string, changes: Readonly<Record<string, string | undefined>> = {}): string {
  const next = new URLSearchParams(query.value);
  for (const name of ['offset', 'status', 'rated', 'missed']) next.delete(name);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  return `/reports${slug === '' ? '' : `/${slug}`}${text === '' ? '' : `?${text}`}`;
}

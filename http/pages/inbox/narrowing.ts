// How a list of open conversations is narrowed and sorted: by its address, and by views. Plain functions, without a page.

import { nameKey } from '../folding.ts';
import type { Agent, Conversation, View } from '../records.ts';

export type Filter = View['filter'];
export type Sort = View['sort'];

export interface Narrowing {
  readonly filter: Filter;
  /** Undefined: the list's own order. */
  readonly sort: Sort | undefined;
}

export const sortNames: Readonly<Record<Sort, string>> = {
  newest: 'Newest first',
  oldest: 'Oldest first',
  longest_waiting: 'Longest waiting first',
};

/** The names in the address, in the order in which they are shown. */
const parameters = {
  channel: 'channel',
  assigneeId: 'agent',
  departmentId: 'department',
  siteId: 'site',
  tag: 'tag',
} as const satisfies Record<keyof Filter, string>;

export type FilterName = keyof Filter;
// Object.keys returns plain texts.
export const filterNames = Object.keys(parameters) as readonly FilterName[];

const channels: readonly string[] = ['chat', 'ticket', 'call'];
const maxChars = 50;

/** From an address. Unknown channels and orders are ignored; an unknown id matches nothing. */
export function narrowingOf(query: URLSearchParams): Narrowing {
  const given = filterNames.flatMap((name) => {
    const value = query.get(parameters[name])?.slice(0, maxChars) ?? '';
    return value === '' || (name === 'channel' && !channels.includes(value)) ? [] : [[name, value] as const];
  });
  const sort = query.get('sort') ?? '';
  // Each name with its own value; channels were compared.
  return { filter: Object.fromEntries(given) as Filter, sort: isSort(sort) ? sort : undefined };
}

/** What to put into the address, or to leave out of it. */
export function queryOf({ filter, sort }: Narrowing): Record<string, string | undefined> {
  return { sort, ...Object.fromEntries(filterNames.map((name) => [parameters[name], filter[name]])) };
}

/** The same as a text, empty if the list is whole and in its own order. */
export function searchOf(narrowing: Narrowing): string {
  const given = Object.entries(queryOf(narrowing)).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return new URLSearchParams(given).toString();
}

function isSort(text: string): text is Sort {
  return Object.hasOwn(sortNames, text);
}

/** The server's rule for `GET /conversations/queue`; a test runs both over the same cases. */
export function isIn(filter: Filter, one: Conversation, agent: Pick<Agent, 'id'>): boolean {
  const { channel, assigneeId, departmentId, siteId, tag } = filter;
  const wanted = assigneeId === 'none' ? null : assigneeId === 'me' ? agent.id : assigneeId;
  return (
    (channel === undefined || one.channel === channel) &&
    (wanted === undefined || one.assignedAgentId === wanted) &&
    (departmentId === undefined || one.departmentId === departmentId) &&
    (siteId === undefined || one.siteId === siteId) &&
    (tag === undefined || one.tags.some((own) => nameKey(own) === nameKey(tag)))
  );
}

/** Whether a list is fixed to another value than it is narrowed to, so that nothing is in both. */
export function excludes(
  { filter: fixed = {}, isWithOffered = false }: { readonly filter?: Filter; readonly isWithOffered?: boolean },
  narrowed: Filter,
  ownId: string,
): boolean {
  const ofAgent = ({ assigneeId }: Filter): string | undefined => (assigneeId === 'me' ? ownId : assigneeId);
  const isOther = (one: string | undefined, other: string | undefined): boolean =>
    one !== undefined && other !== undefined && one !== other;
  return (
    isOther(fixed.channel, narrowed.channel) ||
    isOther(fixed.departmentId, narrowed.departmentId) ||
    isOther(fixed.siteId, narrowed.siteId) ||
    // Offers to the agent are another's, or no one's.
    (!isWithOffered && isOther(ofAgent(fixed), ofAgent(narrowed)))
  );
}

/** A text that orders open conversations, greatest first for `newest`, least first for the others. */
export function placeIn(sort: Sort, { waitingSince, lastMessageAt, createdAt }: Conversation): string {
  // Those that do not wait follow, oldest first: their time has a year after all others.
  if (sort === 'longest_waiting') return waitingSince ?? `9${createdAt.slice(1)}`;
  return lastMessageAt ?? createdAt;
}

const orders: Readonly<Record<Sort, string>> = {
  newest: 'activity',
  oldest: 'oldest_activity',
  longest_waiting: 'longest_waiting',
};
const isId = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

/** The parameters of `GET /conversations/queue`; undefined if an id cannot be one, so that nothing matches. */
export function askedFor(
  { filter, sort, isWithOffered }: { filter: Filter; sort: Sort; isWithOffered: boolean | undefined },
  ownId: string,
): Record<string, string | undefined> | undefined {
  const { assigneeId: named, departmentId, siteId } = filter;
  const assigneeId = named === 'me' ? ownId : named;
  const ids = [assigneeId === 'none' ? undefined : assigneeId, departmentId, siteId];
  if (ids.some((id) => id !== undefined && !isId(id))) return undefined;
  return { ...filter, assigneeId, sort: orders[sort], withOffered: isWithOffered === true ? 'true' : undefined };
}

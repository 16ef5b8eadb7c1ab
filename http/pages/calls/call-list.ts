// The list of calls: the query of its filters, and where a changed call belongs. Plain functions, without a page.

import type { Call, ConversationStatus } from '../records.ts';
import { waitsForCallBack } from './call-story.ts';

export type CallView = 'all' | 'callback' | 'voicemails';

export interface CallFilter {
  readonly view: CallView;
  readonly state: 'ringing' | 'answered' | 'on_hold' | undefined;
  readonly status: ConversationStatus | undefined;
  readonly phoneNumberId: string | undefined;
  /** An agent, or `none`. */
  readonly assigneeId: string | undefined;
  readonly departmentId: string | undefined;
  /** Days in the reader's time zone, YYYY-MM-DD, the last one included. */
  readonly from: string | undefined;
  readonly to: string | undefined;
}

const states: readonly string[] = ['ringing', 'answered', 'on_hold'];
const statuses: readonly string[] = ['open', 'pending', 'solved', 'spam', 'closed'];
const dayPattern = /^\d{4}-\d\d-\d\d$/;

/** From an address. Unknown values are ignored. */
export function filterOf(query: URLSearchParams): CallFilter {
  const view = query.get('view');
  const oneOf = <Value extends string>(name: string, values: readonly string[]): Value | undefined => {
    const value = query.get(name);
    // The list has the type's values.
    return value !== null && values.includes(value) ? (value as Value) : undefined;
  };
  const day = (name: string): string | undefined => {
    const value = query.get(name);
    return value !== null && dayPattern.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined;
  };
  return {
    view: view === 'callback' || view === 'voicemails' ? view : 'all',
    state: oneOf('state', states),
    status: oneOf('status', statuses),
    phoneNumberId: query.get('number') ?? undefined,
    assigneeId: query.get('agent') ?? undefined,
    departmentId: query.get('department') ?? undefined,
    from: day('from'),
    to: day('to'),
  };
}

export function hasFilters({ state, status, phoneNumberId, assigneeId, departmentId, from, to }: CallFilter): boolean {
  return [state, status, phoneNumberId, assigneeId, departmentId, from, to].some((one) => one !== undefined);
}

/** The API's query. Days begin at midnight in the reader's time zone. */
export function callQuery({
  view,
  state,
  status,
  phoneNumberId,
  assigneeId,
  departmentId,
  from,
  to,
}: CallFilter): Record<string, string | undefined> {
  return {
    state,
    status: view === 'callback' ? 'open' : status,
    phoneNumberId,
    assigneeId,
    departmentId,
    from: from === undefined ? undefined : startOf(from, 0),
    to: to === undefined ? undefined : startOf(to, 1),
  };
}

function startOf(day: string, laterDays: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + laterDays).toISOString();
}

/** Whether the list includes this call, as far as the record tells. */
export function isListed(call: Call, filter: CallFilter): boolean {
  const { from, to, status } = callQuery(filter);
  return (
    (filter.view !== 'callback' || waitsForCallBack(call)) &&
    (filter.state === undefined || call.state === filter.state) &&
    (status === undefined || call.status === status) &&
    (filter.phoneNumberId === undefined || call.phoneNumberId === filter.phoneNumberId) &&
    (filter.assigneeId === undefined ||
      (filter.assigneeId === 'none' ? call.assignedAgentId === null : call.assignedAgentId === filter.assigneeId)) &&
    (filter.departmentId === undefined || call.departmentId === filter.departmentId) &&
    (from === undefined || call.createdAt >= from) &&
    (to === undefined || call.createdAt < to)
  );
}

/**
 * The list with this call's present record: newest first, without duplicates. A call that is older than all loaded ones
 * is not added.
 */
export function withCall(
  rows: readonly Call[],
  call: Call,
  options: { readonly filter: CallFilter; readonly isWhole: boolean },
): readonly Call[] {
  const rest = rows.filter(({ id }) => id !== call.id);
  if (!isListed(call, options.filter)) return rest.length === rows.length ? rows : rest;
  const isKnown = rest.length < rows.length;
  const place = rest.findIndex(
    (one) => one.createdAt < call.createdAt || (one.createdAt === call.createdAt && one.id < call.id),
  );
  if (place === -1) return isKnown || options.isWhole ? [...rest, call] : rows;
  return [...rest.slice(0, place), call, ...rest.slice(place)];
}

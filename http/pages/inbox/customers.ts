// The customers: visitors by id, read in batches when they are first shown, then kept current by the socket.

import { effect, type Signal, signal } from '@preact/signals';
import { call, token } from '../api.ts';
import { nameOfCustomer } from '../customer-name.ts';
import { onEvent, onResync } from '../live.ts';
import { notify } from '../notices.ts';
import type { Conversation, ListedConversation, Visitor } from '../records.ts';
import { type Stop, stopAll } from '../subscriptions.ts';

/** The most ids that one request may name. */
const maxIds = 50;
const gatherMs = 15;
/** The pause between two requests, so that scrolling past hundreds of rows does not ask for each. */
const restMs = 120;
const retryMs = 5000;
const patienceMs = 1500;
/** Beyond 5,000 the oldest fifth is dropped, except those that are shown. */
const maxKept = 5000;

const kept = new Map<string, Signal<Visitor | undefined>>();
/** By the rows of lists, so that a row has its name before its visitor is read. It may be that of its contact. */
const listed = new Map<string, { readonly name: string | null; readonly contactId: string | null }>();
const followed = new Set<string>();
/** Shown, and not loaded yet. */
const wanted = new Set<string>();
/** May be shown soon. */
const expected = new Set<string>();
/** In the request under way. */
const asking = new Set<string>();
let timer: ReturnType<typeof setTimeout> | undefined;
let lastAskedMs = -restMs;

/** Follows the signal of that visitor, and reads it if it is not known yet. Undefined until then. */
export function visitorOf(visitorId: string | null): Visitor | undefined {
  if (visitorId === null) return undefined;
  const known = kept.get(visitorId);
  if (known !== undefined) return known.value;
  const made = keep(visitorId, undefined);
  if (!asking.has(visitorId)) want(visitorId);
  return made.value;
}

function keep(visitorId: string, visitor: Visitor | undefined): Signal<Visitor | undefined> {
  for (const id of kept.size < maxKept
    ? []
    : [...kept.keys()].filter((one) => !followed.has(one)).slice(0, maxKept / 5))
    kept.delete(id);
  const made = signal(visitor, {
    watched: () => void followed.add(visitorId),
    unwatched: () => void followed.delete(visitorId),
  });
  kept.set(visitorId, made);
  return made;
}

/** Reads customers that may be shown soon, so that nothing is drawn twice, but after those that are shown. */
export function expectCustomers(conversations: Iterable<Pick<Conversation, 'visitorId'> | undefined>): void {
  expected.clear();
  for (const conversation of conversations) {
    const visitorId = conversation?.visitorId ?? null;
    if (visitorId !== null && !kept.has(visitorId) && !asking.has(visitorId)) expected.add(visitorId);
  }
  if (expected.size > 0) readSoon();
}

export function rememberVisitor(visitor: Visitor): void {
  const known = kept.get(visitor.id);
  if (known === undefined) keep(visitor.id, visitor);
  else known.value = visitor;
}

/** Keeps the names that come with the rows of a list. */
export function rememberNames(
  rows: Iterable<Pick<ListedConversation, 'visitorId' | 'contactId' | 'customerName'>>,
): void {
  for (const { visitorId, contactId, customerName: name } of rows) {
    if (visitorId === null) continue;
    listed.delete(visitorId);
    listed.set(visitorId, { name, contactId });
  }
  for (const visitorId of listed.keys()) {
    if (listed.size <= maxKept) break;
    listed.delete(visitorId);
  }
}

/** The customer's name, else its contact's, else its address or number, else a part of its id. */
export function customerName(conversation: Pick<Conversation, 'visitorId' | 'contactId' | 'channel'>): string {
  const { visitorId, channel } = conversation;
  if (visitorId === null && channel === 'call') return 'A withheld number';
  const visitor = visitorOf(visitorId);
  const name = visitor?.name ?? '';
  const known = name.trim() === '' ? listedName(conversation, visitor) : name;
  if (known !== undefined && known !== '') return known;
  if (visitor === undefined) return 'Customer';
  return nameOfCustomer({ ...visitor, phone: visitor.phoneE164, visitorId: visitor.id });
}

/** The same, of one that may be a row of a list. Reads no customer for it, so it is for rows of which many may come. */
export function nameInRow(conversation: Pick<Conversation, 'visitorId' | 'contactId' | 'channel'>): string {
  const { visitorId, contactId } = conversation;
  const row = visitorId === null ? undefined : listed.get(visitorId);
  const isRead = visitorId !== null && kept.get(visitorId)?.value !== undefined;
  if (row === undefined || row.contactId !== contactId || isRead) return customerName(conversation);
  return row.name ?? nameOfCustomer({ name: null, email: null, visitorId });
}

/** Unless the customer is of another contact since the row came, or of none: its name is the visitor's own then. */
function listedName(
  { visitorId, contactId }: Pick<Conversation, 'visitorId' | 'contactId'>,
  visitor: Visitor | undefined,
): string | undefined {
  const row = visitorId === null ? undefined : listed.get(visitorId);
  const isFormer = row?.contactId !== contactId || (visitor !== undefined && visitor.contactId === null);
  return isFormer ? undefined : (row?.name ?? undefined);
}

/** Resolves once the customer was read, or after 1.5 s. */
export function customerRead({ visitorId }: Pick<Conversation, 'visitorId'>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, patienceMs);
    const stop = effect(() => {
      if (visitorId === null || visitorOf(visitorId) !== undefined) queueMicrotask(done);
    });
    function done(): void {
      clearTimeout(timer);
      stop();
      resolve();
    }
  });
}

function want(visitorId: string): void {
  wanted.add(visitorId);
  expected.delete(visitorId);
  readSoon();
}

function readSoon(): void {
  timer ??= setTimeout(() => void readWanted(), Math.max(gatherMs, lastAskedMs + restMs - performance.now()));
}

async function readWanted(): Promise<void> {
  timer = undefined;
  // The most recent first: they are on the screen.
  const ids = [...[...expected].reverse(), ...wanted].slice(-maxIds);
  const asked = token.peek();
  if (ids.length === 0 || asked === null) return;
  for (const id of ids) {
    wanted.delete(id);
    expected.delete(id);
    asking.add(id);
  }
  lastAskedMs = performance.now();
  try {
    const { visitors } = await call<{ visitors: Visitor[] }>('GET', '/visitors', { query: { ids: ids.join(',') } });
    if (token.peek() !== asked) return;
    for (const visitor of visitors) rememberVisitor(visitor);
    // Those that do not exist are not asked for again.
    for (const id of ids) if (!kept.has(id)) keep(id, undefined);
  } catch {
    // They are shown without a name until the retry.
    for (const id of ids) if (kept.has(id)) wanted.add(id);
    timer ??= setTimeout(() => void readWanted(), retryMs);
    return;
  } finally {
    for (const id of ids) asking.delete(id);
  }
  if (wanted.size + expected.size > 0) timer ??= setTimeout(() => void readWanted(), restMs);
}

export function startCustomers(): Stop {
  return stopAll([
    token.subscribe(() => {
      kept.clear();
      listed.clear();
      wanted.clear();
      expected.clear();
      asking.clear();
    }),
    onResync(() => {
      for (const visitorId of kept.keys()) want(visitorId);
    }),
    // Only visitors that were shown are kept.
    onEvent(['visitor.online', 'visitor.offline', 'visitor.page_viewed', 'visitor.updated'], ({ data }) => {
      const { visitor } = data as { visitor: Visitor };
      if (kept.has(visitor.id)) rememberVisitor(visitor);
    }),
    () => {
      clearTimeout(timer);
      timer = undefined;
    },
  ]);
}

export async function setBlocked({ visitorId }: Pick<Conversation, 'visitorId'>, isBlocked: boolean): Promise<void> {
  if (visitorId === null) return;
  const { visitor } = await call<{ visitor: Visitor }>(
    'POST',
    `/visitors/${visitorId}/${isBlocked ? 'block' : 'unblock'}`,
  );
  rememberVisitor(visitor);
  notify({ kind: 'done', text: isBlocked ? 'Blocked.' : 'Unblocked.' });
}

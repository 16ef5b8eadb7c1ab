// The lists of the inbox, made of the conversations that are known: a rule says what is in a list, a time orders it. A
// view is a list, too, and the address narrows and sorts the list that is shown. Open and pending conversations are read
// in the background, by their last message, so that their lists are in order and the counts are right.
// Solved and spam are read page by page while scrolling. The socket keeps all of them current.

import { batch, computed, effect, type Signal, signal, untracked } from '@preact/signals';
import { token } from '../api.ts';
import { ApiError } from '../api-error.ts';
import { onceLive, socketOrTimeout } from '../await-socket.ts';
import type { IconName } from '../design/icon.tsx';
import { Pager } from '../design/pager.ts';
import { connection, onResync } from '../live.ts';
import { match, query } from '../location.ts';
import { readPage } from '../paging.ts';
import { departments } from '../people.ts';
import type { Agent, Conversation } from '../records.ts';
import { me } from '../session.ts';
import { type Stop, stopAll } from '../subscriptions.ts';
import {
  conversationOf,
  forget,
  forgetUnfollowed,
  knownConversations,
  loadConversation,
  onConversation,
  remember,
} from './conversations.ts';
import { isUnread, waitsForAnyone } from './merging.ts';
import { type Filter, isIn, narrowingOf, placeIn, type Sort, searchOf } from './narrowing.ts';
import { SortedRows } from './sorted-rows.ts';
import { views } from './views.ts';

export interface ListDefinition {
  /** In the address. */
  readonly key: string;
  readonly label: string;
  readonly icon: IconName;
  readonly group: 'yours' | 'views' | 'channels' | 'departments' | 'over';
  readonly source: Source;
  /** What a view of the list would filter by. */
  readonly filter?: Filter;
  /** `newest` if it is left out. */
  readonly sort?: Sort;
  /** It is a view. */
  readonly viewId?: string;
  holds(conversation: Conversation, agent: Agent): boolean;
}

const sources = ['queue', 'solved', 'spam'] as const;
type Source = (typeof sources)[number];

const isOpen = ({ status }: Conversation): boolean => status === 'open' || status === 'pending';
const isOver = ({ status }: Conversation): boolean => status === 'solved' || status === 'closed';
const inChannel = (channel: Conversation['channel']): Pick<ListDefinition, 'filter' | 'holds'> => ({
  filter: { channel },
  holds: (one) => isOpen(one) && one.channel === channel,
});

const fixed: readonly ListDefinition[] = [
  {
    key: 'mine',
    label: 'Yours',
    icon: 'person',
    group: 'yours',
    source: 'queue',
    filter: { assigneeId: 'me' },
    holds: (one, agent) => isOpen(one) && (one.assignedAgentId === agent.id || one.handshake?.toAgentId === agent.id),
  },
  {
    key: 'unassigned',
    label: 'Unassigned',
    icon: 'inbox',
    group: 'yours',
    source: 'queue',
    filter: { assigneeId: 'none' },
    holds: (one) => isOpen(one) && one.assignedAgentId === null,
  },
  { key: 'all', label: 'All open', icon: 'list', group: 'yours', source: 'queue', holds: isOpen },
  { key: 'chats', label: 'Chats', icon: 'chat', group: 'channels', source: 'queue', ...inChannel('chat') },
  { key: 'tickets', label: 'Tickets', icon: 'ticket', group: 'channels', source: 'queue', ...inChannel('ticket') },
  { key: 'calls', label: 'Calls', icon: 'call', group: 'channels', source: 'queue', ...inChannel('call') },
  { key: 'solved', label: 'Solved', icon: 'check', group: 'over', source: 'solved', holds: isOver },
  {
    key: 'spam',
    label: 'Spam',
    icon: 'block',
    group: 'over',
    source: 'spam',
    holds: ({ status }) => status === 'spam',
  },
];

const channelOf: Readonly<Record<string, Agent['channels'][number]>> = {
  chats: 'chats',
  tickets: 'tickets',
  calls: 'calls',
};

/** The parts of the agent's record that decide what it may see. */
const reach = computed(() =>
  JSON.stringify([me.value?.agent.id, me.value?.agent.role, me.value?.agent.channels, me.value?.agent.groupIds]),
);

/** The lists in which this agent can have conversations. */
export const definitions = computed<readonly ListDefinition[]>(() => {
  void reach.value;
  const agent = me.peek()?.agent;
  const own = [...departments.value.values()]
    .filter(({ id }) => agent?.role === 'admin' || agent?.groupIds.includes(id) === true)
    .sort((a, b) => a.name.localeCompare(b.name));
  const ofDepartments = own.map(
    ({ id, name }): ListDefinition => ({
      key: `department-${id}`,
      label: name,
      icon: 'people',
      group: 'departments',
      source: 'queue',
      filter: { departmentId: id },
      holds: (one) => isOpen(one) && one.departmentId === id,
    }),
  );
  const shown = fixed.filter(({ key }) => {
    const channel = channelOf[key];
    return channel === undefined || agent?.role === 'admin' || agent?.channels.includes(channel) === true;
  });
  const ofViews = views.value.map(
    ({ id, name, filter, sort }): ListDefinition => ({
      key: `view-${id}`,
      label: name,
      icon: 'filter',
      group: 'views',
      source: 'queue',
      filter,
      sort,
      viewId: id,
      holds: (one, reader) => isOpen(one) && isIn(filter, one, reader),
    }),
  );
  return [
    ...shown.filter(({ group }) => group === 'yours'),
    ...ofViews,
    ...shown.filter(({ group }) => group === 'channels'),
    ...ofDepartments,
    ...shown.filter(({ group }) => group === 'over'),
  ];
});

/** The server's rule for what an agent may see (`engine/workspace/access.ts`); a test runs both over the same cases. */
export function isReachable(one: Conversation, agent: Agent): boolean {
  if (agent.role === 'admin') return true;
  if (!agent.channels.includes(`${one.channel}s`)) return false;
  return (
    one.departmentId === null ||
    agent.groupIds.includes(one.departmentId) ||
    one.assignedAgentId === agent.id ||
    one.handshake?.toAgentId === agent.id
  );
}

export class List {
  readonly definition: ListDefinition;
  readonly #sorted: SortedRows;
  readonly #changes: Signal<number>;
  #isFollowed = false;

  constructor(definition: ListDefinition) {
    this.definition = definition;
    this.#sorted = new SortedRows({ isOldestFirst: (definition.sort ?? 'newest') !== 'newest' });
    this.#changes = signal(0, {
      watched: () => void (this.#isFollowed = true),
      unwatched: () => {
        this.#isFollowed = false;
        forgetOverSoon();
      },
    });
  }

  /** It is not shown, and keeps more than it should. */
  get isTooLong(): boolean {
    return !this.#isFollowed && this.#sorted.rows.length > maxOver;
  }

  /** Follows the list. The array is reused: do not keep it. */
  get rows(): readonly { readonly id: string }[] {
    void this.#changes.value;
    return this.#sorted.rows;
  }

  indexOf(conversationId: string): number {
    return this.#sorted.indexOf(conversationId);
  }

  /** The one below it, or above the last. */
  neighbourOf(conversationId: string): string | undefined {
    const index = this.indexOf(conversationId);
    if (index < 0) return undefined;
    return (this.#sorted.rows[index + 1] ?? this.#sorted.rows[index - 1])?.id;
  }

  take(conversationId: string, conversation: Conversation | undefined, agent: Agent | undefined): void {
    const isIn =
      conversation !== undefined &&
      agent !== undefined &&
      this.definition.holds(conversation, agent) &&
      isReachable(conversation, agent);
    if (this.#sorted.put(conversationId, isIn ? this.#placeOf(conversation) : undefined)) this.#changes.value += 1;
  }

  rebuild(agent: Agent | undefined): void {
    this.#sorted.clear();
    if (agent !== undefined)
      for (const one of knownConversations())
        if (this.definition.holds(one, agent) && isReachable(one, agent)) this.#sorted.put(one.id, this.#placeOf(one));
    this.#changes.value += 1;
  }

  #placeOf(one: Conversation): string {
    if (this.definition.source === 'solved') return one.solvedAt ?? one.updatedAt;
    return this.definition.source === 'spam' ? one.createdAt : placeIn(this.definition.sort ?? 'newest', one);
  }
}

const lists = computed<ReadonlyMap<string, List>>(
  () => new Map(definitions.value.map((definition) => [definition.key, new List(definition)])),
);

/** Undefined if this agent has no such list. */
export function listOf(key: string): List | undefined {
  return lists.value.get(key);
}

const shownKey = computed(() => match.value?.params['list']);
/** How the address narrows and sorts the list that is shown; empty if it does not. */
const narrowed = computed(() => searchOf(narrowingOf(query.value)));

/** The list that is shown, if its address narrows or sorts it. Only open conversations are all known. */
const narrowedList = computed(() => {
  const whole = definitions.value.find(({ key }) => key === shownKey.value);
  if (whole === undefined || whole.source !== 'queue' || narrowed.value === '') return undefined;
  const { filter, sort = whole.sort } = narrowingOf(new URLSearchParams(narrowed.value));
  return new List({
    ...whole,
    ...(sort === undefined ? {} : { sort }),
    holds: (one, agent) => whole.holds(one, agent) && isIn(filter, one, agent),
  });
});

/** The list as its address narrows and sorts it. */
export function shownListOf(key: string): List | undefined {
  const list = narrowedList.value;
  return list?.definition.key === key ? list : listOf(key);
}

/** The address of the list, or of a conversation in it, narrowed and sorted as it is shown. */
export function addressIn(key: string, conversationId?: string): string {
  const search = narrowedList.value?.definition.key === key ? `?${narrowed.value}` : '';
  return `/inbox/${key}${conversationId === undefined ? '' : `/${conversationId}`}${search}`;
}

/** At most 500 solved or spam conversations are kept while their list is not shown. */
const maxOver = 500;
let isForgetting = false;

/**
 * Forgets what is over, once all listeners know of the change: it would pile up for as long as the page is open. Its
 * list is read again when it is shown.
 */
function forgetOverSoon(): void {
  if (isForgetting) return;
  isForgetting = true;
  queueMicrotask(() => {
    isForgetting = false;
    const long = sources.filter((source) => source !== 'queue' && listOf(source)?.isTooLong === true);
    if (long.length === 0) return;
    for (const source of long) pagers[source].reset();
    const agent = me.peek()?.agent;
    const isWanted = (one: Conversation): boolean =>
      agent !== undefined &&
      isReachable(one, agent) &&
      !long.some((source) => listOf(source)?.definition.holds(one, agent) === true);
    batch(() => forgetUnfollowed(isWanted));
  });
}

function among(key: string, isMeant: (conversation: Conversation) => boolean): string[] {
  return (lists.value.get(key)?.rows ?? []).flatMap(({ id }) => {
    const conversation = conversationOf(id);
    return conversation !== undefined && isMeant(conversation) ? [id] : [];
  });
}

/** The agent's own conversations with something unread, and those that wait for anyone. */
export const waiting = computed(
  () =>
    among('mine', (one) => one.assignedAgentId !== null && isUnread(one)).length +
    among('unassigned', (one) => one.channel !== 'call' && waitsForAnyone(one)).length,
);

/** Calls that no one has, those that still ring included. */
export const callsWithoutAgent = computed(() =>
  among('unassigned', (one) => one.channel === 'call' && waitsForAnyone(one)),
);

const maxIdleWaitMs = 250;

/** Resolves when the browser is idle, or after 250 ms. */
function idle(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof requestIdleCallback === 'undefined') setTimeout(resolve, 0);
    else requestIdleCallback(() => resolve(), { timeout: maxIdleWaitMs });
  });
}

/** This many pages of open conversations are read in the background; the rest while scrolling. */
const maxPages = 50;

export const pagers: Readonly<Record<Source, Pager<Conversation>>> = {
  queue: pagerOf('/conversations/queue', 200, { sort: 'activity' }),
  solved: pagerOf('/conversations/recently-closed', 50),
  spam: pagerOf('/conversations/spam', 100),
};

function pagerOf(path: string, limit: number, given: Readonly<Record<string, string>> = {}): Pager<Conversation> {
  return new Pager(
    async (cursor, signal) => {
      const page = await readPage<Conversation>(path, 'conversations', { cursor, signal, limit, query: given });
      // Later pages must not hold up a reader who is scrolling.
      if (cursor !== null) await idle();
      return page;
    },
    (conversations) => {
      for (const conversation of conversations) remember(conversation);
    },
  );
}

/** Open when the read of the queue began, and not among what was read since. */
let unseen = new Set<string>();
let queueRound = 0;

/** Reads what is open. What is shown stays until something newer is known. */
async function readQueue(): Promise<void> {
  await socketOrTimeout();
  onceLive(reread);
  unseen = new Set([...knownConversations()].filter(isOpen).map(({ id }) => id));
  await goOn();
}

/** Reads on from the next page, or from the one that failed. */
async function goOn(): Promise<void> {
  // The agent may have signed out meanwhile.
  if (token.peek() === null) return;
  const round = (queueRound += 1);
  for (let page = 0; page < maxPages; page += 1) {
    const read = await pagers.queue.next();
    // Another round took over meanwhile.
    if (round !== queueRound) return;
    for (const { id } of read) unseen.delete(id);
    if (pagers.queue.state.peek() !== 'more') break;
  }
  if (pagers.queue.state.peek() !== 'complete') return;
  // No longer open: solved, spam, or out of this agent's reach.
  for (const id of unseen)
    await loadConversation(id).catch(
      (error: unknown) => error instanceof ApiError && (error.status === 403 || error.status === 404) && forget(id),
    );
}

/** Reads the next page of a list. If the read of what is open failed, reads the rest of it. */
export function readOn(source: Source): void {
  if (source === 'queue' && pagers.queue.state.peek() === 'failed') void goOn();
  else void pagers[source].next();
}

/** Goes on where the background stopped, page by page, until all that is open is known. */
export function readRest(): Stop {
  return effect(() => {
    if (pagers.queue.state.value !== 'more') return undefined;
    // Between two pages in the background this holds for less than a turn.
    const timer = setTimeout(() => readOn('queue'), 0);
    return () => clearTimeout(timer);
  });
}

export function startLists(): Stop {
  return stopAll([
    effect(() => {
      void reach.value;
      const all = lists.value;
      untracked(() => {
        for (const list of all.values()) list.rebuild(me.peek()?.agent);
      });
    }),
    effect(() => {
      void reach.value;
      const list = narrowedList.value;
      untracked(() => list?.rebuild(me.peek()?.agent));
    }),
    onConversation(({ before, after }) => {
      const id = after?.id ?? before?.id;
      if (id === undefined) return;
      batch(() => {
        const agent = me.peek()?.agent;
        for (const list of lists.peek().values()) list.take(id, after, agent);
        narrowedList.peek()?.take(id, after, agent);
      });
      if (after !== undefined && !isOpen(after)) forgetOverSoon();
    }),
    effect(() => {
      void reach.value;
      untracked(() => {
        for (const pager of Object.values(pagers)) pager.reset();
        if (me.peek() !== undefined) void readQueue();
      });
    }),
    onResync(reread),
    // A failed read is repeated when the connection is back.
    effect(() => {
      if (connection.value !== 'live') return;
      untracked(() => {
        for (const source of sources) if (pagers[source].state.peek() === 'failed') readOn(source);
      });
    }),
  ]);
}

function reread(): void {
  const read = Object.entries(pagers).filter(([, pager]) => pager.state.peek() !== 'waiting');
  for (const [, pager] of read) pager.reset();
  void readQueue();
  for (const [source, pager] of read) if (source !== 'queue') void pager.next();
}

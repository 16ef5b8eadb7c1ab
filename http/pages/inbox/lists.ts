// The lists of the inbox, made of the conversations that are known: who is in one is a rule, its order a time. What is
// open or pending is read whole, in the background, so that every list of it is in the order of what was said last and
// its count is right; what is over is read page by page as somebody scrolls there. The socket keeps them all.

import { batch, computed, effect, type Signal, signal, untracked } from '@preact/signals';
import { ApiError, call, token } from '../api.ts';
import { onceLive, socketOrTimeout } from '../await-socket.ts';
import type { IconName } from '../design/icon.tsx';
import { connection, onResync } from '../live.ts';
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
import { isUnread } from './merging.ts';
import { SortedRows } from './sorted-rows.ts';

export interface ListDefinition {
  /** As the address names it. */
  readonly key: string;
  readonly label: string;
  readonly icon: IconName;
  readonly group: 'yours' | 'channels' | 'departments' | 'over';
  readonly source: Source;
  holds(conversation: Conversation, agent: Agent): boolean;
}

const sources = ['queue', 'solved', 'spam'] as const;
type Source = (typeof sources)[number];

const isOpen = ({ status }: Conversation): boolean => status === 'open' || status === 'pending';
const isOver = ({ status }: Conversation): boolean => status === 'solved' || status === 'closed';
const inChannel =
  (channel: Conversation['channel']) =>
  (one: Conversation): boolean =>
    isOpen(one) && one.channel === channel;

const fixed: readonly ListDefinition[] = [
  {
    key: 'mine',
    label: 'Yours',
    icon: 'person',
    group: 'yours',
    source: 'queue',
    holds: (one, agent) => isOpen(one) && (one.assignedAgentId === agent.id || one.handshake?.toAgentId === agent.id),
  },
  {
    key: 'unassigned',
    label: 'Unassigned',
    icon: 'inbox',
    group: 'yours',
    source: 'queue',
    holds: (one) => isOpen(one) && one.assignedAgentId === null,
  },
  { key: 'all', label: 'All open', icon: 'list', group: 'yours', source: 'queue', holds: isOpen },
  { key: 'chats', label: 'Chats', icon: 'chat', group: 'channels', source: 'queue', holds: inChannel('chat') },
  { key: 'tickets', label: 'Tickets', icon: 'ticket', group: 'channels', source: 'queue', holds: inChannel('ticket') },
  { key: 'calls', label: 'Calls', icon: 'call', group: 'channels', source: 'queue', holds: inChannel('call') },
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

/** What of who is signed in decides which conversations it may see: its name and its status do not. */
const reach = computed(() =>
  JSON.stringify([me.value?.agent.id, me.value?.agent.role, me.value?.agent.channels, me.value?.agent.groupIds]),
);

/** Those that the agent who is signed in may have anything in. */
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
      holds: (one) => isOpen(one) && one.departmentId === id,
    }),
  );
  const shown = fixed.filter(({ key }) => {
    const channel = channelOf[key];
    return channel === undefined || agent?.role === 'admin' || agent?.channels.includes(channel) === true;
  });
  return [
    ...shown.filter(({ group }) => group !== 'over'),
    ...ofDepartments,
    ...shown.filter(({ group }) => group === 'over'),
  ];
});

/**
 * As the service decides it; a conversation that moved out of reach is told of once more, so that it goes, and then
 * never again.
 */
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
  readonly #sorted = new SortedRows();
  readonly #changes: Signal<number>;
  #isFollowed = false;

  constructor(definition: ListDefinition) {
    this.definition = definition;
    this.#changes = signal(0, {
      watched: () => void (this.#isFollowed = true),
      unwatched: () => {
        this.#isFollowed = false;
        forgetOverSoon();
      },
    });
  }

  /** More is known of it than anybody needs who does not look at it. */
  get isTooLong(): boolean {
    return !this.#isFollowed && this.#sorted.rows.length > maxOver;
  }

  /** Follows the list. The same array for as long as the list is there: do not keep it. */
  get rows(): readonly { readonly id: string }[] {
    void this.#changes.value;
    return this.#sorted.rows;
  }

  indexOf(conversationId: string): number {
    return this.#sorted.indexOf(conversationId);
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
    return this.definition.source === 'spam' ? one.createdAt : (one.lastMessageAt ?? one.createdAt);
  }
}

const lists = computed<ReadonlyMap<string, List>>(
  () => new Map(definitions.value.map((definition) => [definition.key, new List(definition)])),
);

/** Undefined when there is no such list for this agent. */
export function listOf(key: string): List | undefined {
  return lists.value.get(key);
}

/** Of what is over, as much is kept while nobody looks at a list of it. */
const maxOver = 500;
let isForgetting = false;

/**
 * Once all have been told of what changed: what is over would pile up for as long as the page is open. Its list begins
 * anew when it is looked at.
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

/** Of the agent's own, those with something unread. */
export const unreadOwn = computed(() => {
  const mine = lists.value.get('mine')?.rows ?? [];
  return mine.filter(({ id }) => {
    const conversation = conversationOf(id);
    return conversation !== undefined && isUnread(conversation);
  }).length;
});

const maxIdleWaitMs = 250;

/** Resolves once the browser has nothing to draw, or a moment has passed. */
function idle(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof requestIdleCallback === 'undefined') setTimeout(resolve, 0);
    else requestIdleCallback(() => resolve(), { timeout: maxIdleWaitMs });
  });
}

/** Reads one source page by page. */
class Pager {
  readonly #path: string;
  readonly #limit: number;
  readonly state: Signal<'waiting' | 'reading' | 'more' | 'complete' | 'failed'> = signal('waiting');
  failure: unknown;
  #cursor: string | null = null;
  #round = 0;

  constructor(path: string, limit: number) {
    this.#path = path;
    this.#limit = limit;
  }

  /** The next page; resolves to what was in it. Nothing while one is read, and after the last. */
  async next(): Promise<readonly Conversation[]> {
    if (this.state.peek() === 'reading' || this.state.peek() === 'complete' || token.peek() === null) return [];
    const round = this.#round;
    this.state.value = 'reading';
    try {
      const { conversations, nextCursor } = await call<{ conversations: Conversation[]; nextCursor: string | null }>(
        'GET',
        this.#path,
        { query: { limit: this.#limit, cursor: this.#cursor } },
      );
      // Who scrolls already is not held up by what comes behind.
      if (this.#cursor !== null) await idle();
      if (round !== this.#round) return [];
      batch(() => {
        for (const conversation of conversations) remember(conversation);
      });
      this.#cursor = nextCursor;
      this.state.value = nextCursor === null ? 'complete' : 'more';
      return conversations;
    } catch (error) {
      if (round !== this.#round) return [];
      this.failure = error;
      this.state.value = 'failed';
      return [];
    }
  }

  /** From the beginning again. */
  reset(): void {
    this.#round += 1;
    this.#cursor = null;
    this.state.value = 'waiting';
  }
}

/** So many pages of what is open are read by themselves; more than that as somebody scrolls. */
const maxPages = 50;

export const pagers: Readonly<Record<Source, Pager>> = {
  queue: new Pager('/conversations/queue', 200),
  solved: new Pager('/conversations/recently-closed', 50),
  spam: new Pager('/conversations/spam', 100),
};

/** Open as far as was known when the queue was begun, and not among what was read of it since. */
let unseen = new Set<string>();
let queueRound = 0;

/**
 * Reads what is open, once; and all that was read again, when events were missed for good. What is shown stays until
 * better is known.
 */
async function readQueue(): Promise<void> {
  await socketOrTimeout();
  onceLive(reread);
  unseen = new Set([...knownConversations()].filter(isOpen).map(({ id }) => id));
  await goOn();
}

/** From the page on that comes next, or that failed. */
async function goOn(): Promise<void> {
  const round = (queueRound += 1);
  for (let page = 0; page < maxPages; page += 1) {
    const read = await pagers.queue.next();
    // Begun anew meanwhile, by whom it is gone on with.
    if (round !== queueRound) return;
    for (const { id } of read) unseen.delete(id);
    if (pagers.queue.state.peek() !== 'more') break;
  }
  if (pagers.queue.state.peek() !== 'complete') return;
  // What was open and is not any more: solved, spam, or out of reach.
  for (const id of unseen)
    await loadConversation(id).catch(
      (error: unknown) => error instanceof ApiError && (error.status === 403 || error.status === 404) && forget(id),
    );
}

/** The next page of a list; of what is open all the rest, where it could not be read. */
export function readOn(source: Source): void {
  if (source === 'queue' && pagers.queue.state.peek() === 'failed') void goOn();
  else void pagers[source].next();
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
    onConversation(({ before, after }) => {
      const id = after?.id ?? before?.id;
      if (id === undefined) return;
      batch(() => {
        for (const list of lists.peek().values()) list.take(id, after, me.peek()?.agent);
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

// The lists of the inbox, each a window on a list of the service: read page by page, the first page when it is shown and
// the others while scrolling, then kept current by the socket. The address narrows and sorts the list that is shown.

import { batch, computed, effect, type Signal, signal, untracked } from '@preact/signals';
import { token } from '../api.ts';
import { ApiError } from '../api-error.ts';
import { onceLive, socketOrTimeout } from '../await-socket.ts';
import { type Page, type PagePlace, Pager } from '../design/pager.ts';
import { connection, onResync } from '../live.ts';
import { match, query } from '../location.ts';
import { readPage } from '../paging.ts';
import type { Agent, Conversation, ListedConversation } from '../records.ts';
import { me } from '../session.ts';
import { type Stop, stopAll } from '../subscriptions.ts';
import {
  forget,
  forgetUnfollowed,
  knownConversations,
  knownCount,
  loadConversation,
  onConversation,
  remember,
} from './conversations.ts';
import { rememberNames } from './customers.ts';
import { definitions, isReachable, type ListDefinition, reach } from './list-definitions.ts';
import { ListWindow } from './list-window.ts';
import { askedFor, isIn, narrowingOf, placeIn, searchOf } from './narrowing.ts';

/** The first page: what is on the largest screens, and a little more. */
const firstRows = 50;
const nextRows = 100;
/** What was shown is read again in one page, at most the service's largest. */
const mostRows = 200;
/** A list that is not shown keeps at most 200 rows; a longer one is read again when it is shown. */
const maxHidden = 200;
/** Conversations that are known beside those of the list that is shown. Beyond that they are read again when shown. */
const maxKnown = 2000;

export class List {
  definition: ListDefinition;
  readonly pager: Pager<ListedConversation>;
  readonly #window: ListWindow;
  readonly #changes: Signal<number>;
  #isShown = false;
  /** Held when it is read again, and not among what came since. */
  #unconfirmed: readonly string[] = [];

  constructor(definition: ListDefinition) {
    this.definition = definition;
    this.#window = new ListWindow({ isOldestFirst: (definition.sort ?? 'newest') !== 'newest' });
    this.#changes = signal(0, {
      watched: () => void (this.#isShown = true),
      unwatched: () => {
        this.#isShown = false;
        trimSoon();
      },
    });
    this.pager = new Pager(
      (cursor, abort) => this.#readPage(cursor, abort),
      (rows, place) => this.#takePage(rows, place),
    );
  }

  get isShown(): boolean {
    return this.#isShown;
  }

  /** Follows the list: its rows as far as it was read. The array is reused: do not keep it. */
  get rows(): readonly { readonly id: string }[] {
    void this.#changes.value;
    return this.#window.rows;
  }

  /** The same, without following. */
  get length(): number {
    return this.#window.rows.length;
  }

  indexOf(conversationId: string): number {
    return this.#window.indexOf(conversationId);
  }

  /** The one below it, or above the last. */
  neighbourOf(conversationId: string): string | undefined {
    const index = this.indexOf(conversationId);
    if (index < 0) return undefined;
    return (this.#window.rows[index + 1] ?? this.#window.rows[index - 1])?.id;
  }

  take(conversationId: string, conversation: Conversation | undefined, agent: Agent | undefined): void {
    if (this.#window.isEmpty) return;
    if (this.#put(conversationId, conversation, agent)) this.#changes.value += 1;
  }

  /** What is held stays until something newer is known. */
  readAgain(): void {
    this.#unconfirmed = this.#window.rows.map(({ id }) => id);
    this.pager.reset();
    void this.pager.next();
  }

  /** Holds nothing, until its first page is read. */
  reset(): void {
    this.pager.reset();
    this.#unconfirmed = [];
    this.#window.clear();
    this.#changes.value += 1;
  }

  async #readPage(cursor: string | null, abort: AbortSignal): Promise<Page<ListedConversation>> {
    if (cursor === null) await socketOrTimeout();
    const { source, filter = {}, sort = 'newest', isWithOffered } = this.definition;
    const limit = cursor === null ? Math.min(mostRows, Math.max(firstRows, this.length)) : nextRows;
    if (source === 'queue') {
      const asked = askedFor({ filter, sort, isWithOffered }, me.peek()?.agent.id ?? '');
      if (asked === undefined) return { rows: [], nextCursor: null };
      return readPage('/conversations/queue', 'conversations', { cursor, signal: abort, limit, query: asked });
    }
    const path = source === 'solved' ? '/conversations/recently-closed' : '/conversations/spam';
    return readPage(path, 'conversations', { cursor, signal: abort, limit: Math.min(limit, firstRows) });
  }

  #takePage(rows: readonly ListedConversation[], { isFirst, isLast }: PagePlace): void {
    rememberNames(rows);
    for (const { customerName: _, ...row } of rows) remember(row);
    const last = rows.at(-1);
    // The service's own order: what moved since is known by events and stands elsewhere.
    if (isLast) this.#window.endAt(undefined);
    else if (last !== undefined) this.#window.endAt({ id: last.id, at: this.#placeOf(last) });
    const agent = me.peek()?.agent;
    for (const one of knownConversations()) this.#put(one.id, one, agent);
    this.#changes.value += 1;
    // Nothing that scrolling could reach: the page was looked through for rows that fit.
    if (this.#isShown && !isLast && !rows.some(({ id }) => this.indexOf(id) >= 0))
      queueMicrotask(() => void this.pager.next());
    if (!isFirst) return;
    const came = new Set(rows.map(({ id }) => id));
    void confirm(this.#unconfirmed.filter((id) => !came.has(id) && this.indexOf(id) >= 0));
    this.#unconfirmed = [];
  }

  #put(conversationId: string, conversation: Conversation | undefined, agent: Agent | undefined): boolean {
    const isHeld =
      conversation !== undefined &&
      agent !== undefined &&
      this.definition.holds(conversation, agent) &&
      isReachable(conversation, agent);
    return this.#window.put(conversationId, isHeld ? this.#placeOf(conversation) : undefined);
  }

  #placeOf(one: Conversation): string {
    if (this.definition.source === 'solved') return one.solvedAt ?? one.updatedAt;
    return this.definition.source === 'spam' ? one.createdAt : placeIn(this.definition.sort ?? 'newest', one);
  }
}

/** They are no longer in the list, though no event said so: changed, or out of this agent's reach. */
async function confirm(conversationIds: readonly string[]): Promise<void> {
  for (const id of conversationIds)
    await loadConversation(id).catch(
      (error: unknown) => error instanceof ApiError && (error.status === 403 || error.status === 404) && forget(id),
    );
}

/** A list stays the same while it is the same question, whatever its name. */
class Kept {
  #lists = new Map<string, List>();

  clear(): void {
    this.#lists.clear();
  }

  only(wanted: readonly ListDefinition[], asks: (definition: ListDefinition) => unknown): List[] {
    const before = this.#lists;
    this.#lists = new Map();
    return wanted.map((definition) => {
      const asked = JSON.stringify([reach.peek(), definition.key, definition.sort, asks(definition)]);
      const list = before.get(asked) ?? new List(definition);
      list.definition = definition;
      this.#lists.set(asked, list);
      return list;
    });
  }
}

const keptWhole = new Kept();
const keptNarrowed = new Kept();

const lists = computed<ReadonlyMap<string, List>>(() => {
  void reach.value;
  const all = keptWhole.only(definitions.value, ({ filter }) => filter);
  return new Map(all.map((list) => [list.definition.key, list]));
});

/** Undefined if this agent has no such list. */
export function listOf(key: string): List | undefined {
  return lists.value.get(key);
}

const shownKey = computed(() => match.value?.params['list']);
/** How the address narrows and sorts the list that is shown; empty if it does not. */
const narrowed = computed(() => searchOf(narrowingOf(query.value)));

/** The list that is shown, if its address narrows or sorts it. */
const narrowedList = computed(() => {
  void reach.value;
  const whole = definitions.value.find(({ key }) => key === shownKey.value);
  if (whole === undefined || whole.source !== 'queue' || narrowed.value === '') {
    keptNarrowed.clear();
    return undefined;
  }
  const { filter, sort = whole.sort } = narrowingOf(new URLSearchParams(narrowed.value));
  const definition: ListDefinition = {
    ...whole,
    ...(sort === undefined ? {} : { sort }),
    // Where both name the same, the page looks through the rows of the one.
    filter: { ...filter, ...whole.filter },
    holds: (one, agent) => whole.holds(one, agent) && isIn(filter, one, agent),
  };
  const [list] = keptNarrowed.only([definition], () => [filter, whole.filter]);
  return list;
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

function* allLists(): Generator<List> {
  yield* lists.peek().values();
  const list = narrowedList.peek();
  if (list !== undefined) yield list;
}

let isTrimming = false;

/** Drops what no list shows, once all listeners know of the change: it would pile up for as long as the page is open. */
function trimSoon(): void {
  if (isTrimming) return;
  isTrimming = true;
  queueMicrotask(() => {
    isTrimming = false;
    batch(trim);
  });
}

function trim(): void {
  let shown = 0;
  for (const list of allLists())
    if (list.isShown) shown += list.length;
    else if (list.length > maxHidden) list.reset();
  if (knownCount() <= maxKnown + shown) return;
  for (const list of allLists()) if (!list.isShown) list.reset();
  forgetHidden();
}

/** Forgets what no list shows. */
function forgetHidden(): void {
  const shown = [...allLists()].filter(({ isShown }) => isShown);
  forgetUnfollowed(({ id }) => shown.some((list) => list.indexOf(id) >= 0));
}

export function startLists(): Stop {
  return stopAll([
    onConversation(({ before, after }) => {
      const id = after?.id ?? before?.id;
      if (id === undefined) return;
      batch(() => {
        const agent = me.peek()?.agent;
        for (const list of allLists()) list.take(id, after, agent);
      });
      if (knownCount() > maxKnown) trimSoon();
    }),
    effect(() => {
      void reach.value;
      untracked(() => {
        if (token.peek() !== null && me.peek() !== undefined) onceLive(reread);
      });
    }),
    onResync(reread),
    // A failed read is repeated when the connection is back.
    effect(() => {
      if (connection.value !== 'live') return;
      untracked(() => {
        for (const list of allLists()) if (list.pager.state.peek() === 'failed') void list.pager.next();
      });
    }),
  ]);
}

/** Events were missed: only what is shown stays, until it is read again. */
function reread(): void {
  batch(() => {
    for (const list of allLists())
      if (!list.isShown) list.reset();
      else if (list.pager.state.peek() !== 'waiting') list.readAgain();
    forgetHidden();
  });
}

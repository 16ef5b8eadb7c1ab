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
import { askedFor, excludes, isIn, narrowingOf, placeIn, searchOf } from './narrowing.ts';

/** The first page: what is on the largest screens, and a little more. */
const firstRows = 50;
const nextRows = 100;
/** What was shown is read again in pages of the service's largest, at most 10: 2,000 rows. Further rows are dropped. */
const mostRows = 200;
const maxPagesAgain = 10;
/** Of those that a list no longer holds, as many are read one by one; further ones are dropped. */
const maxConfirmed = 200;
/** Pages in which no row fits are read one after the other without being asked for, at most 5. */
const maxInVain = 5;
/** A list that is not shown keeps at most 200 rows; a longer one is read again when it is shown. */
const maxHidden = 200;
/** Conversations that are known beside those of the list that is shown. Beyond that they are read again when shown. */
const maxKnown = 2000;

export class List {
  definition: ListDefinition;
  readonly pager: Pager<ListedConversation>;
  readonly #window: ListWindow;
  readonly #changes: Signal<number>;
  readonly #count = signal(0);
  /** Nothing that fits was found for so long that the next page is read on request, by readOn(). */
  readonly isPaused = signal(false);
  #isShown = false;
  #inVain = 0;
  /** How many pages may still come to read it again. */
  #pagesAgain = 0;
  readonly #came = new Set<string>();
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

  /** Follows how many rows it has. Unlike `rows`, that does not show it. */
  get count(): number {
    return this.#count.value;
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
    if (this.#put(conversationId, conversation, agent)) this.#noteChange();
  }

  /** What is held stays until something newer is known. */
  readAgain(): void {
    this.#restart();
    this.#unconfirmed = this.#window.rows.map(({ id }) => id);
    this.#pagesAgain = maxPagesAgain;
    void this.pager.next();
  }

  /** Reads on where it paused. */
  readOn(): void {
    this.#inVain = 0;
    this.isPaused.value = false;
    void this.pager.next();
  }

  /** Holds nothing, until its first page is read. */
  reset(): void {
    this.#restart();
    this.#window.clear();
    this.#noteChange();
  }

  #restart(): void {
    this.pager.reset();
    this.#unconfirmed = [];
    this.#came.clear();
    this.#pagesAgain = 0;
    this.#inVain = 0;
    this.isPaused.value = false;
  }

  #noteChange(): void {
    this.#changes.value += 1;
    this.#count.value = this.length;
  }

  async #readPage(cursor: string | null, abort: AbortSignal): Promise<Page<ListedConversation>> {
    const asked = token.peek();
    const page = await this.#ask(cursor, abort);
    // Another agent signed in meanwhile: it is not for them.
    if (token.peek() !== asked) this.pager.reset();
    return page;
  }

  async #ask(cursor: string | null, abort: AbortSignal): Promise<Page<ListedConversation>> {
    if (cursor === null) await socketOrTimeout();
    const { source, filter = {}, sort = 'newest', isWithOffered, isNothing } = this.definition;
    if (isNothing === true) return { rows: [], nextCursor: null };
    const isAgain = this.#pagesAgain > 0 && this.length > firstRows;
    const limit = isAgain ? mostRows : cursor === null ? firstRows : nextRows;
    if (source === 'queue') {
      const asked = askedFor({ filter, sort, isWithOffered }, me.peek()?.agent.id ?? '');
      if (asked === undefined) return { rows: [], nextCursor: null };
      return readPage('/conversations/queue', 'conversations', { cursor, signal: abort, limit, query: asked });
    }
    const path = source === 'solved' ? '/conversations/recently-closed' : '/conversations/spam';
    return readPage(path, 'conversations', { cursor, signal: abort, limit: Math.min(limit, firstRows) });
  }

  #takePage(rows: readonly ListedConversation[], { isLast }: PagePlace): void {
    rememberNames(rows);
    for (const { customerName: _, ...row } of rows) remember(row);
    const last = rows.at(-1);
    const end = last === undefined || isLast ? undefined : { id: last.id, at: this.#placeOf(last) };
    // Read again as far as it was: the rows below stay until their page comes.
    this.#pagesAgain -= 1;
    const isWithin = this.#pagesAgain > 0 && end !== undefined && this.#window.covers(end);
    // The service's own order: what moved since is known by events and stands elsewhere.
    if (isLast || (end !== undefined && !isWithin)) this.#window.endAt(end);
    const agent = me.peek()?.agent;
    for (const one of knownConversations()) this.#put(one.id, one, agent);
    this.#noteChange();
    if (this.#unconfirmed.length > 0) for (const { id } of rows) this.#came.add(id);
    if (!isWithin) this.#confirmOthers();
    // Nothing that scrolling could reach: the page was looked through for rows that fit.
    const isInVain = !isLast && !rows.some(({ id }) => this.indexOf(id) >= 0);
    this.#inVain = isInVain ? this.#inVain + 1 : 0;
    this.isPaused.value = this.#inVain >= maxInVain;
    if (isWithin || (this.#isShown && isInVain && !this.isPaused.value)) queueMicrotask(() => void this.pager.next());
  }

  /** It was read as far as before. Those that did not come are elsewhere now, or came into it since. */
  #confirmOthers(): void {
    this.#pagesAgain = 0;
    const others = this.#unconfirmed.filter((id) => !this.#came.has(id) && this.indexOf(id) >= 0);
    this.#unconfirmed = [];
    this.#came.clear();
    void confirm(others.slice(0, maxConfirmed));
    const dropped = new Set(others.slice(maxConfirmed));
    if (dropped.size > 0) queueMicrotask(() => forgetUnfollowed(({ id }) => !dropped.has(id)));
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
    // Where both name a tag, and where offers are in the list, the page looks through the rows of the one.
    filter: { ...filter, ...whole.filter },
    isNothing: excludes(whole, filter, me.peek()?.agent.id ?? ''),
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

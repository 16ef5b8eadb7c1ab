// The messages and notes of the conversation that is shown and of the last few that were: the newest page at once, older
// pages while scrolling up, everything later by the socket. A message is shown once, however often and in whatever order
// it arrives. An event that arrives during a read is applied again after it, since the reply may be older.

import { batch, effect, type Signal, signal, untracked } from '@preact/signals';
import { call, token } from '../api.ts';
import { onceLive, socketOrTimeout } from '../await-socket.ts';
import { connection, onEvent, onResync } from '../live.ts';
import type { Message, Note, Read } from '../records.ts';
import { type Stop, stopAll } from '../subscriptions.ts';
import { loadConversation } from './conversations.ts';
import { markRead, mergeMessages, mergeNotes } from './timeline.ts';

export interface Thread {
  readonly conversationId: string;
  readonly messages: Signal<readonly Message[]>;
  readonly notes: Signal<readonly Note[]>;
  /** Whether there are messages before the first of `messages`. */
  readonly older: Signal<'unknown' | 'more' | 'reading' | 'none'>;
  /** Why it could not be loaded, or loaded again. */
  readonly failure: Signal<unknown>;
}

type Change = (thread: Thread) => void;

const pageSize = 60;
const maxKept = 25;
const threads = new Map<string, Thread>();
/** For each read of a thread under way: the changes since it began. */
const changesSince = new Map<string, Set<Change[]>>();

/** Starts reading it if it is not known yet. */
export function threadOf(conversationId: string): Thread {
  const known = threads.get(conversationId);
  const thread = known ?? {
    conversationId,
    messages: signal([]),
    notes: signal([]),
    older: signal<'unknown' | 'more' | 'reading' | 'none'>('unknown'),
    failure: signal<unknown>(undefined),
  };
  // The least recently shown is dropped first.
  threads.delete(conversationId);
  threads.set(conversationId, thread);
  for (const id of threads.keys()) if (threads.size > maxKept) threads.delete(id);
  if (known === undefined) void begin(thread);
  return thread;
}

async function begin(thread: Thread): Promise<void> {
  await socketOrTimeout();
  onceLive(() => void readNewest(thread));
  await readNewest(thread);
}

/**
 * Reads the newest page and the notes. What was read before stays, unless there is a gap in between, or `isAnew`: messages
 * came or went in its midst, or may have.
 */
export async function readNewest(thread: Thread, { isAnew = false }: { isAnew?: boolean } = {}): Promise<void> {
  const path = `/conversations/${encodeURIComponent(thread.conversationId)}`;
  const wasThere = thread.older.peek() !== 'unknown';
  const newestBefore = thread.messages.peek().at(-1)?.createdAt ?? '';
  thread.failure.value = undefined;
  const changes: Change[] = [];
  const underWay = changesSince.get(thread.conversationId) ?? new Set();
  changesSince.set(thread.conversationId, underWay.add(changes));
  try {
    const [{ messages, nextCursor }, { notes }] = await Promise.all([
      call<{ messages: Message[]; nextCursor: string | null }>('GET', `${path}/messages`, {
        query: { limit: pageSize },
      }),
      call<{ notes: Note[] }>('GET', `${path}/notes`),
    ]);
    batch(() => {
      const oldest = messages[0]?.createdAt ?? '';
      const hasGap = isAnew || (wasThere && newestBefore < oldest && nextCursor !== null);
      if (hasGap || thread.older.peek() === 'unknown') thread.older.value = nextCursor === null ? 'none' : 'more';
      thread.messages.value = mergeMessages(hasGap ? [] : thread.messages.peek(), messages);
      thread.notes.value = mergeNotes([], notes);
      for (const how of changes) how(thread);
    });
  } catch (error) {
    thread.failure.value = error;
  } finally {
    underWay.delete(changes);
    if (underWay.size === 0) changesSince.delete(thread.conversationId);
  }
}

/** Reads the page before the first message. */
export async function readOlder(thread: Thread): Promise<void> {
  const first = thread.messages.peek()[0];
  if (thread.older.peek() !== 'more' || first === undefined) return;
  thread.older.value = 'reading';
  try {
    const { messages, nextCursor } = await call<{ messages: Message[]; nextCursor: string | null }>(
      'GET',
      `/conversations/${encodeURIComponent(thread.conversationId)}/messages`,
      { query: { limit: 200, before: first.createdAt } },
    );
    // The thread was read again meanwhile, so this page no longer comes right before it.
    if (thread.messages.peek()[0]?.id !== first.id) return;
    batch(() => {
      thread.messages.value = mergeMessages(thread.messages.peek(), messages);
      thread.older.value = nextCursor === null ? 'none' : 'more';
    });
  } catch {
    // Scrolling on tries again.
    if (thread.older.peek() === 'reading') thread.older.value = 'more';
  }
}

/** Changes a thread now, and again after each read of it that is under way. */
function change(conversationId: string, how: Change): void {
  const thread = threads.get(conversationId);
  if (thread === undefined) return;
  how(thread);
  for (const changes of changesSince.get(conversationId) ?? []) changes.push(how);
}

/** Adds or changes a message. One from before the first page that was read comes with its own page. */
export function takeMessage(message: Message): void {
  change(message.conversationId, ({ messages, older }) => {
    const known = messages.peek();
    const isBefore = known[0] !== undefined && message.createdAt < known[0].createdAt;
    if (!isBefore || older.peek() === 'none') messages.value = mergeMessages(known, [message]);
  });
}

/** Changes a message that is there; any other comes with its page. */
function changeMessage(message: Message): void {
  change(message.conversationId, ({ messages }) => {
    if (messages.peek().some(({ id }) => id === message.id)) messages.value = mergeMessages(messages.peek(), [message]);
  });
}

/** Adds or changes a note. */
export function takeNote(note: Note): void {
  change(note.conversationId, ({ notes }) => void (notes.value = mergeNotes(notes.peek(), [note])));
}

export function dropNote(conversationId: string, noteId: string): void {
  change(conversationId, ({ notes }) => void (notes.value = notes.peek().filter(({ id }) => id !== noteId)));
}

export function startThreads(): Stop {
  return stopAll([
    token.subscribe(() => threads.clear()),
    onResync(() => {
      for (const thread of threads.values()) {
        void readNewest(thread, { isAnew: true });
        loadConversation(thread.conversationId).catch(() => undefined);
      }
    }),
    // A failed read is repeated when the connection is back.
    effect(() => {
      if (connection.value !== 'live') return;
      untracked(() => {
        for (const thread of threads.values()) if (thread.failure.peek() !== undefined) void readNewest(thread);
      });
    }),
    // The data of each event, by the AsyncAPI document.
    onEvent(['message.created'], ({ data }) => takeMessage((data as { message: Message }).message)),
    // Sent for both tickets.
    onEvent(['message.moved'], ({ conversationId }) => {
      const thread = threads.get(conversationId ?? '');
      if (thread !== undefined) void readNewest(thread, { isAnew: true });
    }),
    onEvent(['message.updated'], ({ data }) => changeMessage((data as { message: Message }).message)),
    onEvent(['message.read'], ({ data }) => {
      const { read } = data as { read: Read };
      change(read.conversationId, ({ messages }) => void (messages.value = markRead(messages.peek(), read)));
    }),
    onEvent(['note.created', 'note.updated'], ({ data }) => takeNote((data as { note: Note }).note)),
    onEvent(['note.deleted'], ({ data }) => {
      const { note } = data as { note: Note };
      dropNote(note.conversationId, note.id);
    }),
  ]);
}

// What was said in the conversations that are shown, and in the last few that were: the newest page at once, older ones
// as somebody scrolls up, everything after by the socket. A message comes once, however often and in whatever order it
// is told; what is told while an answer is awaited is told again after it, since the answer may be older.

import { batch, effect, type Signal, signal, untracked } from '@preact/signals';
import { call, token } from '../api.ts';
import { onceLive, socketOrTimeout } from '../await-socket.ts';
import { connection, onEvent, onResync } from '../live.ts';
import type { Message, Note, Read } from '../records.ts';
import { loadConversation } from './conversations.ts';
import { markRead, mergeMessages, mergeNotes } from './timeline.ts';

export interface Thread {
  readonly conversationId: string;
  readonly messages: Signal<readonly Message[]>;
  readonly notes: Signal<readonly Note[]>;
  /** Whether there is something before the first of `messages`. */
  readonly older: Signal<'unknown' | 'more' | 'reading' | 'none'>;
  /** Why it could not be read, or read again. */
  readonly failure: Signal<unknown>;
}

type Change = (thread: Thread) => void;

const pageSize = 60;
const maxKept = 25;
const threads = new Map<string, Thread>();
/** What was told of a thread since each answer that is awaited was asked for. */
const toldSince = new Map<string, Set<Change[]>>();

/** Begins to read it when it is not there yet. */
export function threadOf(conversationId: string): Thread {
  const known = threads.get(conversationId);
  const thread = known ?? {
    conversationId,
    messages: signal([]),
    notes: signal([]),
    older: signal<'unknown' | 'more' | 'reading' | 'none'>('unknown'),
    failure: signal<unknown>(undefined),
  };
  // What was looked at last is kept longest.
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

/** The newest page and the notes; whatever was read before stays, unless there is a gap between. */
export async function readNewest(thread: Thread): Promise<void> {
  const path = `/conversations/${encodeURIComponent(thread.conversationId)}`;
  const wasThere = thread.older.peek() !== 'unknown';
  const newestBefore = thread.messages.peek().at(-1)?.createdAt ?? '';
  thread.failure.value = undefined;
  const told: Change[] = [];
  const awaited = toldSince.get(thread.conversationId) ?? new Set();
  toldSince.set(thread.conversationId, awaited.add(told));
  try {
    const [{ messages, nextCursor }, { notes }] = await Promise.all([
      call<{ messages: Message[]; nextCursor: string | null }>('GET', `${path}/messages`, {
        query: { limit: pageSize },
      }),
      call<{ notes: Note[] }>('GET', `${path}/notes`),
    ]);
    batch(() => {
      const oldest = messages[0]?.createdAt ?? '';
      const hasGap = wasThere && newestBefore < oldest && nextCursor !== null;
      if (hasGap || thread.older.peek() === 'unknown') thread.older.value = nextCursor === null ? 'none' : 'more';
      thread.messages.value = mergeMessages(hasGap ? [] : thread.messages.peek(), messages);
      thread.notes.value = mergeNotes([], notes);
      for (const change of told) change(thread);
    });
  } catch (error) {
    thread.failure.value = error;
  } finally {
    awaited.delete(told);
    if (awaited.size === 0) toldSince.delete(thread.conversationId);
  }
}

/** The page before. */
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
    // A newer page has taken the place of what this one came before.
    if (thread.messages.peek()[0]?.id !== first.id) return;
    batch(() => {
      thread.messages.value = mergeMessages(thread.messages.peek(), messages);
      thread.older.value = nextCursor === null ? 'none' : 'more';
    });
  } catch {
    // Scrolling on asks again.
    if (thread.older.peek() === 'reading') thread.older.value = 'more';
  }
}

function tell(conversationId: string, change: Change): void {
  const thread = threads.get(conversationId);
  if (thread === undefined) return;
  change(thread);
  for (const told of toldSince.get(conversationId) ?? []) told.push(change);
}

/**
 * What an answer or the socket said of a message. One before all that was read belongs to a page that is not there yet.
 */
export function takeMessage(message: Message): void {
  tell(message.conversationId, ({ messages, older }) => {
    const known = messages.peek();
    const isBefore = known[0] !== undefined && message.createdAt < known[0].createdAt;
    if (!isBefore || older.peek() === 'none') messages.value = mergeMessages(known, [message]);
  });
}

/** What became of a message: of one that is not there, its page will say it. */
function changeMessage(message: Message): void {
  tell(message.conversationId, ({ messages }) => {
    if (messages.peek().some(({ id }) => id === message.id)) messages.value = mergeMessages(messages.peek(), [message]);
  });
}

/** What an answer or the socket said of a note. */
export function takeNote(note: Note): void {
  tell(note.conversationId, ({ notes }) => void (notes.value = mergeNotes(notes.peek(), [note])));
}

export function dropNote(conversationId: string, noteId: string): void {
  tell(conversationId, ({ notes }) => void (notes.value = notes.peek().filter(({ id }) => id !== noteId)));
}

token.subscribe(() => threads.clear());
onResync(() => {
  for (const thread of threads.values()) {
    void readNewest(thread);
    loadConversation(thread.conversationId).catch(() => undefined);
  }
});
// What could not be read while the connection was gone.
effect(() => {
  if (connection.value !== 'live') return;
  untracked(() => {
    for (const thread of threads.values()) if (thread.failure.peek() !== undefined) void readNewest(thread);
  });
});
// The data of each event is as the sockets' document gives it.
onEvent(['message.created'], ({ data }) => takeMessage((data as { message: Message }).message));
onEvent(['message.updated'], ({ data }) => changeMessage((data as { message: Message }).message));
onEvent(['message.read'], ({ data }) => {
  const { read } = data as { read: Read };
  tell(read.conversationId, ({ messages }) => void (messages.value = markRead(messages.peek(), read)));
});
onEvent(['note.created', 'note.updated'], ({ data }) => takeNote((data as { note: Note }).note));
onEvent(['note.deleted'], ({ data }) => {
  const { note } = data as { note: Note };
  dropNote(note.conversationId, note.id);
});

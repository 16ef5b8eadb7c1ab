// What was said in the conversations that are shown, and in the last few that were: the newest page at once, older ones as somebody
// scrolls up, everything after by the socket. A message comes once, however often and in whatever order it is told.

import { batch, type Signal, signal } from '@preact/signals';
import { call, token } from '../api.ts';
import { onEvent, onResync } from '../live.ts';
import type { Message, Note, Read } from '../records.ts';
import { onceLive, socketOrPatience } from './beginning.ts';
import { loadConversation } from './conversations.ts';
import { markRead, mergeMessages, mergeNotes } from './timeline.ts';

export interface Thread {
  readonly conversationId: string;
  readonly messages: Signal<readonly Message[]>;
  readonly notes: Signal<readonly Note[]>;
  /** Whether there is something before the first of `messages`. */
  readonly older: Signal<'unknown' | 'more' | 'reading' | 'none'>;
  readonly failure: Signal<unknown>;
}

const pageSize = 60;
const maxKept = 25;
const threads = new Map<string, Thread>();

/** Begins to read it when it is not there yet. */
export function threadOf(conversationId: string): Thread {
  const known = threads.get(conversationId);
  const thread = known ?? { conversationId, messages: signal([]), notes: signal([]), older: signal<'unknown' | 'more' | 'reading' | 'none'>('unknown'), failure: signal<unknown>(undefined) };
  // What was looked at last is kept longest.
  threads.delete(conversationId);
  threads.set(conversationId, thread);
  for (const id of threads.keys()) if (threads.size > maxKept) threads.delete(id);
  if (known === undefined) void begin(thread);
  return thread;
}

async function begin(thread: Thread): Promise<void> {
  await socketOrPatience();
  onceLive(() => void readNewest(thread));
  await readNewest(thread);
}

/** The newest page and the notes; whatever was read before stays, unless there is a gap between. */
export async function readNewest(thread: Thread): Promise<void> {
  const path = `/conversations/${encodeURIComponent(thread.conversationId)}`;
  thread.failure.value = undefined;
  try {
    const [{ messages, nextCursor }, { notes }] = await Promise.all([
      call<{ messages: Message[]; nextCursor: string | null }>('GET', `${path}/messages`, { query: { limit: pageSize } }),
      call<{ notes: Note[] }>('GET', `${path}/notes`),
    ]);
    batch(() => {
      const oldest = messages[0]?.createdAt ?? '';
      const hasGap = thread.older.peek() !== 'unknown' && (thread.messages.peek().at(-1)?.createdAt ?? '') < oldest && nextCursor !== null;
      if (hasGap || thread.older.peek() === 'unknown') thread.older.value = nextCursor === null ? 'none' : 'more';
      thread.messages.value = mergeMessages(hasGap ? [] : thread.messages.peek(), messages);
      thread.notes.value = mergeNotes([], notes);
    });
  } catch (error) {
    thread.failure.value = error;
  }
}

/** The page before. */
export async function readOlder(thread: Thread): Promise<void> {
  const first = thread.messages.peek()[0];
  if (thread.older.peek() !== 'more' || first === undefined) return;
  thread.older.value = 'reading';
  try {
    const { messages, nextCursor } = await call<{ messages: Message[]; nextCursor: string | null }>('GET', `/conversations/${encodeURIComponent(thread.conversationId)}/messages`, { query: { limit: 200, before: first.createdAt } });
    batch(() => {
      thread.messages.value = mergeMessages(thread.messages.peek(), messages);
      thread.older.value = nextCursor === null ? 'none' : 'more';
    });
  } catch {
    // Scrolling on asks again.
    thread.older.value = 'more';
  }
}

/** What an answer said of a message or a note of ours. */
export function takeMessage(message: Message): void {
  const thread = threads.get(message.conversationId);
  if (thread !== undefined) thread.messages.value = mergeMessages(thread.messages.peek(), [message]);
}

export function takeNote(note: Note): void {
  const thread = threads.get(note.conversationId);
  if (thread !== undefined) thread.notes.value = mergeNotes(thread.notes.peek(), [note]);
}

export function dropNote(conversationId: string, noteId: string): void {
  const thread = threads.get(conversationId);
  if (thread !== undefined) thread.notes.value = thread.notes.peek().filter(({ id }) => id !== noteId);
}

token.subscribe(() => threads.clear());
onResync(() => {
  for (const thread of threads.values()) {
    void readNewest(thread);
    loadConversation(thread.conversationId).catch(() => undefined);
  }
});
// The data of each event is as the sockets' document gives it.
onEvent(['message.created', 'message.updated'], ({ data }) => takeMessage((data as { message: Message }).message));
onEvent(['message.read'], ({ data }) => {
  const { read } = data as { read: Read };
  const thread = threads.get(read.conversationId);
  if (thread !== undefined) thread.messages.value = markRead(thread.messages.peek(), read);
});
onEvent(['note.created', 'note.updated'], ({ data }) => takeNote((data as { note: Note }).note));
onEvent(['note.deleted'], ({ data }) => {
  const { note } = data as { note: Note };
  dropNote(note.conversationId, note.id);
});

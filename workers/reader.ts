// The main thread's side of the reader thread: searches, exports, and the word that a workspace has grown. The thread starts with
// the first question, so a service that is never asked never pays for it.

import type { Cursor } from '../store/cursor.ts';
import type { EventRow } from '../store/events.ts';
import type { MessageRecord } from '../store/messages.ts';
import type { NoteRecord } from '../store/notes.ts';
import type { OfConversation, questions, ReaderData } from './reader-thread.ts';
import type { SearchAnswer, SearchQuestion } from './search/search-index.ts';
import { createThread } from './thread.ts';

/** Every call rejects with ThreadBusy, ThreadFailed or ThreadUnavailable when it cannot be answered now. Pages are of workers/reader-thread.ts. */
export interface Reader {
  search(workspaceId: string, question: SearchQuestion): Promise<SearchAnswer>;
  messages(page: OfConversation & { after: string; upTo: string }): Promise<MessageRecord[]>;
  notes(page: OfConversation & { after: Cursor; upTo: Cursor }): Promise<NoteRecord[]>;
  events(page: OfConversation & { afterSeq: number; upToSeq: number }): Promise<EventRow[]>;
  /** Says that so many messages were written and are durable. Now and then that has the search index follow. */
  noteMessages(workspaceId: string, count: number): void;
  /** Questions without an answer yet. */
  readonly waiting: number;
  stop(): Promise<void>;
}

/** At 5 ms a search, the last of the queue waits a second. */
const maxWaiting = 200;
/** Nothing takes so long but a thread that is stuck. */
const timeoutMs = 30_000;
/** A search takes in what is new by itself; so many messages take it 5 ms. */
const messagesPerIndexing = 500;

export function createReader(data: ReaderData): Reader {
  const thread = createThread<typeof questions>({ file: new URL('./reader-thread.ts', import.meta.url), title: 'reader', maxWaiting, timeoutMs, data });
  const unindexed = new Map<string, number>();
  return {
    search: (workspaceId, question) => thread.ask('search', { workspaceId, question }),
    messages: (page) => thread.ask('messages', page),
    notes: (page) => thread.ask('notes', page),
    events: (page) => thread.ask('events', page),
    noteMessages(workspaceId, count) {
      if (count === 0) return;
      const waiting = (unindexed.get(workspaceId) ?? 0) + count;
      if (waiting < messagesPerIndexing) {
        unindexed.set(workspaceId, waiting);
        return;
      }
      unindexed.delete(workspaceId);
      thread.ask('index', { workspaceId }).catch(() => {
        // Busy or failed: the next search does it.
      });
    },
    get waiting() {
      return thread.waiting;
    },
    stop: () => thread.stop(),
  };
}

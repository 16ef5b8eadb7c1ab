// The main thread's side of the thread that searches chunks.

import type { Seen } from '../../store/database.ts';
import { createThread } from '../thread.ts';
import type { FoundChunk, FoundReply, methods, ReplySearch, Search } from './retriever-thread.ts';

export type { FoundChunk, FoundReply } from './retriever-thread.ts';

export interface Retriever {
  /**
   * Best first, perhaps not durable yet. Undefined if the base's model is not the question's. Rejects if the thread is
   * busy or failed.
   */
  search(search: Search): Promise<Seen<FoundChunk[] | undefined>>;
  /** Saved replies that probably answer a question, best first. Perhaps not durable yet. Rejects like search(). */
  searchReplies(search: ReplySearch): Promise<Seen<FoundReply[]>>;
  /** The safe HTML of an article's Markdown. Rejects like search(). */
  articleHtml(markdown: string): Promise<string>;
  stop(): Promise<void>;
}

/** At 15 ms each over 100,000 chunks, the last one waits three seconds. */
const maxWaiting = 200;
/** The first search of 100,000 chunks builds the index in half a second. */
const timeoutMs = 10_000;
const idleMs = 10 * 60_000;

export function createRetriever(): Retriever {
  const thread = createThread<typeof methods>({
    file: 'workers/knowledge/retriever-thread.ts',
    title: 'retrieval',
    maxWaiting,
    timeoutMs,
    idleMs,
  });
  return {
    search: (search) => thread.call('search', search),
    searchReplies: (search) => thread.call('searchReplies', search),
    articleHtml: (markdown) => thread.call('articleHtml', markdown),
    stop: () => thread.stop(),
  };
}

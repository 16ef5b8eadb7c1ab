// The main thread's side of the thread that searches chunks.

import type { Seen } from '../../store/database.ts';
import type { KbMatch } from '../../store/knowledge/index.ts';
import { createThread } from '../thread.ts';
import type { methods, Search } from './retriever-thread.ts';

export interface Retriever {
  /**
   * Best first, perhaps not durable yet. Undefined if the base's model is not the question's. Rejects if the thread is
   * busy or failed.
   */
  search(search: Search): Promise<Seen<KbMatch[] | undefined>>;
  stop(): Promise<void>;
}

/** At 15 ms each over 100,000 chunks, the last one waits three seconds. */
const maxWaiting = 200;
/** The first search of 100,000 chunks builds the index in half a second. */
const timeoutMs = 10_000;
const idleMs = 10 * 60_000;

export function createRetriever(): Retriever {
  const thread = createThread<typeof methods>({
    file: new URL('./retriever-thread.ts', import.meta.url),
    title: 'retrieval',
    maxWaiting,
    timeoutMs,
    idleMs,
  });
  return { search: (search) => thread.call('search', search), stop: () => thread.stop() };
}

// The main thread's side of the thread that reads pages.

import { createThread } from '../thread.ts';
import type { PageSource, questions, ReadPage } from './page-reader-thread.ts';

export type { PageSource, ReadPage } from './page-reader-thread.ts';

export interface PageReader {
  /** Rejects when the page cannot be read within its bounds of time and memory. */
  read(page: PageSource): Promise<ReadPage>;
  stop(): Promise<void>;
}

/** One per crawl under way at the most. */
const maxWaiting = 100;
/**
 * A page of 2 MiB takes under a second of a core, which this thread may have to wait for; one that takes longer was
 * made to.
 */
const timeoutMs = 20_000;
const heapMb = { old: 256 };
const idleMs = 60_000;

export function createPageReader(): PageReader {
  const thread = createThread<typeof questions>({
    file: new URL('./page-reader-thread.ts', import.meta.url),
    title: 'page reading',
    maxWaiting,
    timeoutMs,
    heapMb,
    idleMs,
  });
  return { read: (page): Promise<ReadPage> => thread.ask('read', page), stop: () => thread.stop() };
}

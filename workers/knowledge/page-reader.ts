// The main thread's side of the thread that reads pages.

import { createThread } from '../thread.ts';
import type { methods, PageSource, ReadPage } from './page-reader-thread.ts';

export type { PageSource, ReadPage } from './page-reader-thread.ts';

export interface PageReader {
  /** Rejects if the page exceeds its limits of time or memory. */
  read(page: PageSource): Promise<ReadPage>;
  stop(): Promise<void>;
}

/** At most one per crawl under way. */
const maxWaiting = 100;
/**
 * A page of 2 MiB takes under a second of a core, which this thread may have to wait for, a book as PDF some seconds; a
 * slower one is malicious.
 */
const timeoutMs = 40_000;
const heapMb = { old: 384 };
const idleMs = 60_000;

export function createPageReader(): PageReader {
  const thread = createThread<typeof methods>({
    file: 'workers/knowledge/page-reader-thread.ts',
    title: 'page reading',
    maxWaiting,
    timeoutMs,
    heapMb,
    idleMs,
  });
  return { read: (page): Promise<ReadPage> => thread.call('read', page), stop: () => thread.stop() };
}

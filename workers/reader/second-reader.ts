// The second reader thread, which takes searches that would wait for the first one. It answers from copies of the search
// indexes that the first one writes. No search waits for its start or for the opening of a copy: until then, the first
// thread answers, and so it does when this one fails. It stops when it is unused.

import type { Seen } from '../../store/database.ts';
import type { SearchQuestion } from '../search/search-index.ts';
import { closed, createThread, type Thread, type ThreadOptions } from '../thread.ts';
import type { methods } from './reader-thread.ts';

type Copy =
  | { readonly state: 'opening' }
  | { readonly state: 'open'; readonly usedAtMs: number }
  | { readonly state: 'failed'; readonly retryAtMs: number }
  /** The first thread is still making the index: no copy would catch up. */
  | { readonly state: 'indexing' };

/** As many as the thread has files open. */
const maxCopies = 8;
const idleMs = 5 * 60_000;
/** A copy is opened for this many calls that wait, which are mostly short: the thread takes 30 MB. */
const callsForCopy = 4;
/** An open copy that was not used for this long may have been closed; less than the thread's own times. */
const trustMs = idleMs / 2;
/** A copy that could not be opened is tried again after this. */
const retryMs = 1000;
/** So is one whose file lagged too far behind: each try reads every conversation of its workspace. */
const retryWornMs = 30_000;

export class SecondReader {
  readonly #thread: Thread<typeof methods>;
  readonly #copies = new Map<string, Copy>();

  constructor(options: Omit<ThreadOptions, 'title' | 'idleMs' | 'onEnd'>) {
    this.#thread = createThread<typeof methods>({
      ...options,
      title: 'second reader',
      idleMs,
      onEnd: () => this.#copies.clear(),
    });
  }

  get waiting(): number {
    return this.#thread.waiting;
  }

  /** True if it can answer at once, while so many calls wait for the first thread. */
  canTake(workspaceId: string, waitingForFirst: number): boolean {
    return this.#thread.waiting < waitingForFirst && this.#isOpen(workspaceId, waitingForFirst);
  }

  /** Undefined if the copy has to catch up or was closed meanwhile, or if the thread is busy or failed. */
  async search(workspaceId: string, question: SearchQuestion): Promise<Seen<string> | undefined> {
    this.#note(workspaceId, { state: 'open', usedAtMs: performance.now() });
    try {
      const answer = await this.#thread.call('searchCopy', { workspaceId, question });
      if (answer === undefined && this.#copies.get(workspaceId)?.state === 'open') void this.#open(workspaceId);
      return answer;
    } catch {
      // The first thread is asked the same, and its failure is the caller's.
      return undefined;
    }
  }

  /** Of an answer of the first thread: no copy is opened from one that covers only a part until one that covers all. */
  noteIndexing(workspaceId: string, { isIndexing }: { isIndexing: boolean }): void {
    const state = this.#copies.get(workspaceId)?.state;
    if (isIndexing && state !== 'open') this.#note(workspaceId, { state: 'indexing' });
    if (!isIndexing && state === 'indexing') this.#copies.delete(workspaceId);
  }

  /** Closes the copies of these workspaces. */
  async forget(workspaceIds: readonly string[]): Promise<void> {
    for (const workspaceId of workspaceIds) this.#copies.delete(workspaceId);
    if (this.#thread.isRunning) await closed(this.#thread.call('forget', { workspaceIds }));
  }

  stop(): Promise<void> {
    return this.#thread.stop();
  }

  /** Begins to open it if it is not, and enough calls wait. */
  #isOpen(workspaceId: string, waitingForFirst: number): boolean {
    const copy = this.#copies.get(workspaceId);
    const nowMs = performance.now();
    if (copy?.state === 'open' && nowMs - copy.usedAtMs < trustMs) return true;
    const isTried = copy?.state === 'failed' && nowMs < copy.retryAtMs;
    const isUnderWay = copy?.state === 'opening' || copy?.state === 'indexing';
    if (!isUnderWay && !isTried && waitingForFirst >= callsForCopy) void this.#open(workspaceId);
    return false;
  }

  async #open(workspaceId: string): Promise<void> {
    this.#note(workspaceId, { state: 'opening' });
    // A thread that is busy or fails leaves the searches to the first one.
    const opened = await this.#thread.call('openCopy', { workspaceId }).catch(() => 'none' as const);
    const nowMs = performance.now();
    if (opened === 'open') return this.#note(workspaceId, { state: 'open', usedAtMs: nowMs });
    // The first thread has answered meanwhile that the index is being made.
    if (this.#copies.get(workspaceId)?.state === 'indexing') return;
    this.#note(workspaceId, { state: 'failed', retryAtMs: nowMs + (opened === 'worn' ? retryWornMs : retryMs) });
  }

  /** As the one used last, in place of the one used least recently. */
  #note(workspaceId: string, copy: Copy): void {
    this.#copies.delete(workspaceId);
    const [oldest] = this.#copies.keys();
    if (this.#copies.size >= maxCopies && oldest !== undefined) this.#copies.delete(oldest);
    this.#copies.set(workspaceId, copy);
  }
}

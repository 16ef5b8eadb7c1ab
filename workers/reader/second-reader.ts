// The second reader thread, which takes searches that would wait for the first one. It answers from copies of the search
// indexes that the first one writes. No search waits for its start or for the opening of a copy: until then, the first
// thread answers. It stops when it is unused.

import type { Seen } from '../../store/database.ts';
import type { SearchQuestion } from '../search/search-index.ts';
import { createThread, type Thread, type ThreadOptions } from '../thread.ts';
import type { methods } from './reader-thread.ts';

type Copy =
  | { readonly state: 'opening' }
  | { readonly state: 'open'; readonly usedAtMs: number }
  | { readonly state: 'failed'; readonly triedAtMs: number };

/** As many as the thread has files open. */
const maxCopies = 8;
const idleMs = 5 * 60_000;
/** An open copy that was not used for this long may have been closed; less than the thread's own times. */
const trustMs = idleMs / 2;
/** A copy that could not be opened is tried again after this. */
const retryMs = 1000;

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
    return this.#thread.waiting < waitingForFirst && this.#isOpen(workspaceId);
  }

  /** Undefined if the copy has to catch up, or was closed meanwhile. Rejects with ThreadBusy or ThreadFailed. */
  async search(workspaceId: string, question: SearchQuestion): Promise<Seen<string> | undefined> {
    this.#copies.set(workspaceId, { state: 'open', usedAtMs: performance.now() });
    const answer = await this.#thread.call('searchCopy', { workspaceId, question });
    if (answer === undefined && this.#copies.get(workspaceId)?.state === 'open') void this.#open(workspaceId);
    return answer;
  }

  stop(): Promise<void> {
    return this.#thread.stop();
  }

  /** Begins to open it if it is not. */
  #isOpen(workspaceId: string): boolean {
    const copy = this.#copies.get(workspaceId);
    const nowMs = performance.now();
    if (copy?.state === 'open' && nowMs - copy.usedAtMs < trustMs) return true;
    const isTried = copy?.state === 'failed' && nowMs - copy.triedAtMs < retryMs;
    if (copy?.state !== 'opening' && !isTried) void this.#open(workspaceId);
    return false;
  }

  async #open(workspaceId: string): Promise<void> {
    this.#copies.delete(workspaceId);
    const [oldest] = this.#copies.keys();
    if (this.#copies.size >= maxCopies && oldest !== undefined) this.#copies.delete(oldest);
    this.#copies.set(workspaceId, { state: 'opening' });
    // A thread that is busy or fails leaves the searches to the first one.
    const isOpen = await this.#thread.call('openCopy', { workspaceId }).catch(() => false);
    const atMs = performance.now();
    this.#copies.set(workspaceId, isOpen ? { state: 'open', usedAtMs: atMs } : { state: 'failed', triedAtMs: atMs });
  }
}

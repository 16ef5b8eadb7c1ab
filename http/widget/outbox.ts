// The visitor's unacknowledged messages, stored in the browser. Each has its final id from the start, so any tab can
// retry it without duplicates. They are sent one at a time, in the order of writing.

import { backoffMs, CallFailed } from './api.ts';
import { guarded, later } from './guard.ts';
import type { Attachment } from './protocol.ts';
import type { BrowserStorage } from './storage.ts';

export interface Draft {
  /** The message's final id. */
  readonly id: string;
  readonly body: string;
  readonly attachments: readonly Attachment[];
  /** Null: the visitor's conversation at the time of sending, or a new one. */
  readonly conversationId: string | null;
  readonly campaignId?: string | undefined;
  readonly writtenAtMs: number;
  readonly state: 'pending' | 'failed';
}

export interface OutboxOptions {
  readonly storage: BrowserStorage;
  readonly lockName: string;
  /** Resolves when the service has acknowledged it. Rejects with CallFailed. */
  deliver(draft: Draft): Promise<void>;
  onChange(): void;
}

const prefix = 'outbox:';
/** An older draft is not sent without asking the visitor. */
const staleMs = 24 * 3600_000;

export class Outbox {
  readonly #options: OutboxOptions;
  #isDraining = false;
  #attempt = 0;
  #timer: { cancel(): void } | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
    options.storage.onOtherTab((name) => name.startsWith(prefix) && options.onChange());
    window.addEventListener(
      'online',
      guarded(() => this.hurry()),
    );
  }

  /** In the order of writing. */
  get drafts(): readonly Draft[] {
    const { storage } = this.#options;
    const drafts = storage
      .names(prefix)
      .map((name) => storage.read<Draft>(name))
      .filter((draft) => draft !== undefined);
    return drafts.sort((a, b) => a.writtenAtMs - b.writtenAtMs || (a.id < b.id ? -1 : 1));
  }

  add(draft: Omit<Draft, 'state' | 'writtenAtMs'>): void {
    // Keeps the order of two drafts written in the same millisecond.
    const last = this.drafts.at(-1)?.writtenAtMs ?? 0;
    this.#put({ ...draft, writtenAtMs: Math.max(Date.now(), last + 1), state: 'pending' });
    this.hurry();
  }

  retry(id: string): void {
    const draft = this.drafts.find((one) => one.id === id);
    if (draft === undefined) return;
    this.#put({ ...draft, state: 'pending', writtenAtMs: Date.now() });
    this.hurry();
  }

  /** After the acknowledgement, or if the visitor discards it. */
  remove(id: string): void {
    this.#options.storage.remove(prefix + id);
    this.#options.onChange();
  }

  /** Sends pending drafts now. */
  hurry(): void {
    this.#timer?.cancel();
    guarded(() => this.#drain())();
  }

  async #drain(): Promise<void> {
    if (this.#isDraining) return;
    this.#isDraining = true;
    let waitMs: number | undefined;
    try {
      // Without locks, all tabs send; the id prevents duplicates.
      const { locks } = navigator as { locks?: LockManager };
      waitMs = await (locks === undefined
        ? this.#sendAll()
        : locks.request(this.#options.lockName, () => this.#sendAll()));
    } finally {
      this.#isDraining = false;
    }
    if (waitMs !== undefined) this.#timer = later(waitMs, () => this.#drain());
    else if (this.#next() !== undefined) this.hurry();
  }

  /** Resolves to the delay before the next try; undefined if nothing is left. */
  async #sendAll(): Promise<number | undefined> {
    for (let draft = this.#next(); draft !== undefined; draft = this.#next()) {
      const failure = await this.#send(draft);
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  async #send(draft: Draft): Promise<number | undefined> {
    if (Date.now() - draft.writtenAtMs > staleMs) {
      this.#put({ ...draft, state: 'failed' });
      return undefined;
    }
    try {
      await this.#options.deliver(draft);
      this.#attempt = 0;
      this.remove(draft.id);
      return undefined;
    } catch (error) {
      if (!(error instanceof CallFailed) || !error.mayPass) {
        this.#put({ ...draft, state: 'failed' });
        return undefined;
      }
      this.#attempt += 1;
      // After a 429: the time the service gave, and a little more.
      return error.retryAfterMs === undefined
        ? backoffMs(this.#attempt)
        : error.retryAfterMs + 50 + Math.random() * 250;
    }
  }

  #next(): Draft | undefined {
    return this.drafts.find((draft) => draft.state === 'pending');
  }

  #put(draft: Draft): void {
    this.#options.storage.write(prefix + draft.id, draft);
    this.#options.onChange();
  }
}

/** A random UUID, also on pages without a secure context, where crypto.randomUUID is missing. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte, index) =>
    (index === 6 ? (byte & 0x0f) | 0x40 : index === 8 ? (byte & 0x3f) | 0x80 : byte).toString(16).padStart(2, '0'),
  ).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

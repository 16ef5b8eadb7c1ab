// What the visitor wrote and the service has not acknowledged yet. It is kept in the browser until then, each message
// with the id that it will have, so that it can be sent again, by any tab, without being there twice. Messages leave in
// the order in which they were written, one after the other.

import { backoffMs, CallFailed } from './api.ts';
import { guarded, later } from './guard.ts';
import type { Attachment } from './protocol.ts';
import type { BrowserStorage } from './storage.ts';

export interface Draft {
  /** The message's id from the beginning. */
  readonly id: string;
  readonly body: string;
  readonly attachments: readonly Attachment[];
  /** Null: where the visitor writes by then, or a new conversation. */
  readonly conversationId: string | null;
  readonly campaignId?: string | undefined;
  readonly writtenAtMs: number;
  readonly state: 'pending' | 'failed';
}

export interface OutboxOptions {
  readonly storage: BrowserStorage;
  readonly lockName: string;
  /** Resolves when the service has it. Rejects with CallFailed. */
  deliver(draft: Draft): Promise<void>;
  onChange(): void;
}

const prefix = 'outbox:';
/** What waited longer is not sent behind its writer's back; the writer is asked. */
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

  /** In the order in which they were written. */
  get drafts(): readonly Draft[] {
    const { storage } = this.#options;
    const drafts = storage
      .names(prefix)
      .map((name) => storage.read<Draft>(name))
      .filter((draft) => draft !== undefined);
    return drafts.sort((a, b) => a.writtenAtMs - b.writtenAtMs || (a.id < b.id ? -1 : 1));
  }

  add(draft: Omit<Draft, 'state' | 'writtenAtMs'>): void {
    // Two that were written in one millisecond keep their order.
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

  /** The service has it, or the visitor does not want it any more. */
  remove(id: string): void {
    this.#options.storage.remove(prefix + id);
    this.#options.onChange();
  }

  /** Sends what waits, now. */
  hurry(): void {
    this.#timer?.cancel();
    guarded(() => this.#drain())();
  }

  async #drain(): Promise<void> {
    if (this.#isDraining) return;
    this.#isDraining = true;
    let waitMs: number | undefined;
    try {
      // Where tabs cannot agree on who sends, all do: the id makes it one message.
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

  /** Resolves to how long to wait before the rest is tried, undefined when nothing is left. */
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
      // As the contract asks after a 429: what it says, and a little more.
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

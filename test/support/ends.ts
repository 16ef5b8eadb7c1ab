// What a program of its own, not a test, has to end: in the opposite order, however it ends.

import type { Teardown } from './service.ts';

type End = () => void | Promise<void>;

export class Ends implements Teardown {
  readonly #ends: End[] = [];
  #isClosed = false;

  /** After close(), at once: what was still starting then ends, too. */
  teardown(end: End): void {
    if (this.#isClosed) void end();
    else this.#ends.push(end);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const end of this.#ends.splice(0).reverse()) await end();
  }
}

/** Resolves at the first SIGINT or SIGTERM, which then ends nothing by itself. */
export function interrupted(): Promise<'interrupted'> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve('interrupted'));
  });
}

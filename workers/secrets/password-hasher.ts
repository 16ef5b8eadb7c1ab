// Hashes and verifies passwords with argon2id, in the libuv pool. The only importer of argon2. At most two at once:
// each takes 19 MiB and 20 ms of a core, and the pool also syncs the disk. Askers take turns, so that one with many
// requests delays only itself.

import argon2 from 'argon2';
import { Unavailable } from '../failures.ts';

export interface PasswordHasher {
  /**
   * `asker` identifies the client, such as a network. Rejects with HasherBusy if the queue is full, dropping first from
   * the asker with the most waiting.
   */
  hash(password: string, asker?: string): Promise<string>;
  /** Without a hash it takes the same time and returns false. Rejects as hash(). */
  verify(hash: string | undefined, password: string, asker?: string): Promise<boolean>;
}

export class HasherBusy extends Unavailable {
  override readonly name = 'HasherBusy';
  override readonly isOverload = true;
}

/** OWASP's recommended minimum for argon2id. */
const cost = { type: argon2.argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const maxAtOnce = 2;
/** At 20 ms each, the last one waits a second. */
const maxWaiting = 100;
/** A hash of random bytes at the same cost, against which unknown emails are compared. */
export const decoy =
  '$argon2id$v=19$m=19456,p=1,t=2$Ss2v2AA2r4N1naqqGBv/bw$ih5er7Tnsudr0fJFnuZYJM3gFuQYQZFrIWvw9R+yXJs';

export function createPasswordHasher(): PasswordHasher {
  const waiting = new TurnsByAsker();
  let running = 0;

  async function inTurn<Result>(asker: string, work: () => Promise<Result>): Promise<Result> {
    if (running < maxAtOnce) running += 1;
    else await waiting.wait(asker);
    try {
      return await work();
    } finally {
      // The slot passes directly to the next waiter, if there is one.
      if (!waiting.callNext()) running -= 1;
    }
  }

  return {
    hash: (password, asker = '') => inTurn(asker, () => argon2.hash(password, cost)),
    async verify(hash, password, asker = '') {
      const matches = await inTurn(asker, () => argon2.verify(hash ?? decoy, password));
      return hash !== undefined && matches;
    },
  };
}

interface Waiting {
  readonly call: () => void;
  readonly refuse: (error: HasherBusy) => void;
}

/** The queue: one of each asker in turn, each asker's oldest first. */
class TurnsByAsker {
  /** In order of turn. No line is empty. */
  readonly #lines = new Map<string, Waiting[]>();
  #count = 0;

  /** Resolves at its turn. */
  wait(asker: string): Promise<void> {
    if (this.#count >= maxWaiting) this.#makeRoomFor(asker);
    return new Promise((resolve, reject) => {
      const line = this.#lines.get(asker) ?? [];
      line.push({ call: resolve, refuse: reject });
      this.#lines.set(asker, line);
      this.#count += 1;
    });
  }

  /** Returns false if the queue is empty. */
  callNext(): boolean {
    const [first] = this.#lines;
    if (first === undefined) return false;
    const [asker, line] = first;
    const next = line.shift();
    this.#lines.delete(asker);
    if (line.length > 0) this.#lines.set(asker, line);
    this.#count -= 1;
    next?.call();
    return true;
  }

  /** Drops the newest request of the asker with the most waiting, even if it is this one. */
  #makeRoomFor(asker: string): void {
    const busy = new HasherBusy('too many passwords wait to be hashed');
    let longest: readonly [string, Waiting[]] | undefined;
    for (const line of this.#lines) if (longest === undefined || line[1].length > longest[1].length) longest = line;
    if (longest === undefined || longest[1].length <= (this.#lines.get(asker)?.length ?? 0) + 1) throw busy;
    // Another's line is the longest, so this request stays.
    longest[1].pop()?.refuse(busy);
    this.#count -= 1;
  }
}

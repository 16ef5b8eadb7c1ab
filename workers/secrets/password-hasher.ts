// Passwords to argon2id hashes and back to yes or no, in the libuv pool. The only importer of argon2. At most two at
// once: each takes 19 MiB and 20 ms of a core, and the pool also syncs the disk. Those who ask take turns, so that who
// asks much waits for itself.

import argon2 from 'argon2';

export interface PasswordHasher {
  /**
   * `asker` is whom the work is done for, such as a network. Rejects with HasherBusy when too many wait, first of all
   * those of who has most waiting.
   */
  hash(password: string, asker?: string): Promise<string>;
  /** With no hash it takes the same time and answers false. Rejects as hash(). */
  verify(hash: string | undefined, password: string, asker?: string): Promise<boolean>;
}

export class HasherBusy extends Error {
  override readonly name = 'HasherBusy';
}

/** OWASP's recommended minimum for argon2id. */
const cost = { type: argon2.argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const maxAtOnce = 2;
/** At 20 ms each, the last of the queue waits a second. */
const maxWaiting = 100;
/** Of random bytes that nobody knows, at the same cost: what an unknown email is compared with. */
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
      // The place goes to the next in line, if there is one, without being free in between.
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

/** Who waits: one of each asker in turn, the oldest of each first. */
class TurnsByAsker {
  /** Whose turn is next stands first. None is empty. */
  readonly #lines = new Map<string, Waiting[]>();
  #count = 0;

  /** Resolves when called. */
  wait(asker: string): Promise<void> {
    if (this.#count >= maxWaiting) this.#makeRoomFor(asker);
    return new Promise((resolve, reject) => {
      const line = this.#lines.get(asker) ?? [];
      line.push({ call: resolve, refuse: reject });
      this.#lines.set(asker, line);
      this.#count += 1;
    });
  }

  /** False when nobody waits. */
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

  /** Who has most waiting loses the last of them, be it the newcomer. */
  #makeRoomFor(asker: string): void {
    const busy = new HasherBusy('too many passwords wait to be hashed');
    let longest: readonly [string, Waiting[]] | undefined;
    for (const line of this.#lines) if (longest === undefined || line[1].length > longest[1].length) longest = line;
    if (longest === undefined || longest[1].length <= (this.#lines.get(asker)?.length ?? 0) + 1) throw busy;
    // Longer than another's, so it stays.
    longest[1].pop()?.refuse(busy);
    this.#count -= 1;
  }
}

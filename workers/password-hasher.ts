// Passwords to argon2id hashes and back to yes or no, in the libuv pool. The only importer of argon2. At most two at once: each
// takes 19 MiB and 20 ms of a core, and the pool also syncs the disk.

import argon2 from 'argon2';

export interface PasswordHasher {
  /** Rejects with HasherBusy when too many wait. */
  hash(password: string): Promise<string>;
  /** With no hash it takes the same time and answers false. */
  verify(hash: string | undefined, password: string): Promise<boolean>;
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
export const decoy = '$argon2id$v=19$m=19456,p=1,t=2$Ss2v2AA2r4N1naqqGBv/bw$ih5er7Tnsudr0fJFnuZYJM3gFuQYQZFrIWvw9R+yXJs';

export function createPasswordHasher(): PasswordHasher {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (running < maxAtOnce) running += 1;
    else if (waiting.length >= maxWaiting) throw new HasherBusy('too many passwords wait to be hashed');
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The place goes to the next in line, if there is one, without being free in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  }

  return {
    hash: (password) => inTurn(() => argon2.hash(password, cost)),
    async verify(hash, password) {
      const matches = await inTurn(() => argon2.verify(hash ?? decoy, password));
      return hash !== undefined && matches;
    },
  };
}

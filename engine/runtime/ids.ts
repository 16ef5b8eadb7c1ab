// Ids for new things (UUID v7, in order of creation) and secrets. Both use one source of randomness, so that a
// simulation can seed it.

import { randomFillSync } from 'node:crypto';
import type { Clock } from './clock.ts';

export type FillRandom = (bytes: Uint8Array) => void;

export interface Ids {
  /** UUID v7 (RFC 9562 §5.7), greater than every earlier one of this process. */
  uuid(): string;
  /** Unguessable text of `byteCount` random bytes, in base64url. */
  secret(byteCount: number): string;
}

const poolBytes = 4096;
const hexOf = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export function createIds(clock: Pick<Clock, 'now'>, fillRandom: FillRandom = randomFillSync): Ids {
  const pool = new Uint8Array(poolBytes);
  let used = poolBytes;
  let lastMs = 0;
  let prefix = '';
  let counter = 0;

  function take(count: number): number {
    if (used + count > poolBytes) {
      fillRandom(pool);
      used = 0;
    }
    used += count;
    return used - count;
  }
  const byteAt = (index: number): number => pool[index] ?? 0;
  const hexAt = (index: number): string => hexOf[byteAt(index)] ?? '00';

  return {
    uuid() {
      const now = clock.now();
      counter += 1;
      // A fixed-length counter that starts at random in the lower half of its range (RFC 9562 §6.2, method 1). When it
      // overflows, the timestamp runs ahead of the clock.
      if (now > lastMs || counter > 0xfff) {
        lastMs = Math.max(now, lastMs + 1);
        const seed = take(2);
        counter = ((byteAt(seed) << 8) | byteAt(seed + 1)) & 0x7ff;
        const time = lastMs.toString(16).padStart(12, '0');
        prefix = `${time.slice(0, 8)}-${time.slice(8)}-7`;
      }
      const at = take(8);
      const variant = hexOf[(byteAt(at) & 0x3f) | 0x80] ?? '80';
      return `${prefix}${counter.toString(16).padStart(3, '0')}-${variant}${hexAt(at + 1)}-${hexAt(at + 2)}${hexAt(at + 3)}${hexAt(at + 4)}${hexAt(at + 5)}${hexAt(at + 6)}${hexAt(at + 7)}`;
    },
    secret(byteCount) {
      const bytes = Buffer.alloc(byteCount);
      fillRandom(bytes);
      return bytes.toString('base64url');
    },
  };
}

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
const digits = Buffer.from('0123456789abcdef', 'latin1');

export function createIds(clock: Pick<Clock, 'now'>, fillRandom: FillRandom = randomFillSync): Ids {
  const pool = new Uint8Array(poolBytes);
  let used = poolBytes;
  /** The last id, written digit by digit: joined of parts, it would be a tree of texts, to be joined by each reader. */
  const text = Buffer.from('00000000-0000-7000-8000-000000000000', 'latin1');
  let lastMs = 0;
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
  const putDigit = (at: number, digit: number): void => {
    text[at] = digits[digit & 0xf] ?? 0;
  };
  const putByte = (at: number, byte: number): void => {
    putDigit(at, byte >> 4);
    putDigit(at + 1, byte);
  };
  const putTime = (ms: number): void => {
    const [high, low] = [Math.floor(ms / 0x10000), ms & 0xffff];
    for (let byte = 0; byte < 4; byte += 1) putByte(2 * byte, high >>> (24 - 8 * byte));
    putByte(9, low >> 8);
    putByte(11, low);
  };

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
        putTime(lastMs);
      }
      putDigit(15, counter >> 8);
      putByte(16, counter);
      const at = take(8);
      putByte(19, (byteAt(at) & 0x3f) | 0x80);
      putByte(21, byteAt(at + 1));
      for (let byte = 0; byte < 6; byte += 1) putByte(24 + 2 * byte, byteAt(at + 2 + byte));
      return text.toString('latin1');
    },
    secret(byteCount) {
      const bytes = Buffer.alloc(byteCount);
      fillRandom(bytes);
      return bytes.toString('base64url');
    },
  };
}

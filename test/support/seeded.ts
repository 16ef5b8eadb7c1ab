// Repeatable randomness: a test names its seed, and prints it on failure.

export interface Random {
  /** From 0 to 1, exclusive. */
  next(): number;
  /** A whole number from 0 to `bound`, exclusive. */
  below(bound: number): number;
  /** True with this probability. */
  chance(share: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** The items in a random order. */
  shuffled<Item>(items: readonly Item[]): Item[];
  fill(bytes: Uint8Array): void;
}

/** mulberry32. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    next,
    below,
    chance: (share) => next() < share,
    pick: (items) => {
      if (items.length === 0) throw new Error('nothing to pick from');
      // The index is within the list; undefined may be one of its items.
      return items[below(items.length)] as (typeof items)[number];
    },
    shuffled(items) {
      const copy = [...items];
      for (let index = copy.length - 1; index > 0; index -= 1) {
        const other = below(index + 1);
        const [a, b] = [copy[index], copy[other]];
        if (a !== undefined && b !== undefined) [copy[index], copy[other]] = [b, a];
      }
      return copy;
    },
    fill(bytes) {
      for (let index = 0; index < bytes.length; index += 1) bytes[index] = below(256);
    },
  };
}

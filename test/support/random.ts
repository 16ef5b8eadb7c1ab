// Chance that can be had again: the same seed gives the same numbers.

/** From 0 up to but not 1. Mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function pick<Item>(random: () => number, items: readonly Item[]): Item {
  if (items.length === 0) throw new Error('nothing to pick from');
  // Within the list, by the line above; undefined may be one of its items.
  return items[Math.floor(random() * items.length)] as Item;
}

/** A new list in another order. */
export function shuffled<Item>(random: () => number, items: readonly Item[]): Item[] {
  const list = [...items];
  for (let last = list.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [list[last], list[other]] = [list[other] as Item, list[last] as Item];
  }
  return list;
}

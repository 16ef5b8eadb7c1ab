// Assigns the rows of a long list to elements. A row that stays visible keeps its element wherever it moves; a new one
// takes the element of one that left, so scrolling changes texts and creates no elements. Plain arithmetic, testable
// without a browser.

export interface Drawn {
  /** The element's. */
  readonly slot: number;
  readonly key: string;
  readonly index: number;
}

export interface Wanted {
  readonly key: string;
  readonly index: number;
}

export class Slots {
  #drawn: readonly Drawn[] = [];
  #next = 0;

  /** The drawn rows, in the document order of their elements. */
  get drawn(): readonly Drawn[] {
    return this.#drawn;
  }

  /**
   * Draws exactly these rows. The element of `pinned` is never reused; if `pinned` is not among the rows, its element
   * is removed.
   */
  draw(wanted: readonly Wanted[], pinned: string | undefined): void {
    const missing = new Map(wanted.map((row) => [row.key, row]));
    const kept = this.#drawn.map((one) => {
      const row = missing.get(one.key);
      missing.delete(one.key);
      return row === undefined ? (one.key === pinned ? undefined : one.slot) : { ...row, slot: one.slot };
    });
    const waiting = missing.values();
    const drawn: Drawn[] = [];
    for (const one of kept) {
      if (one === undefined) continue;
      if (typeof one === 'object') drawn.push(one);
      else {
        const { value } = waiting.next();
        if (value !== undefined) drawn.push({ ...value, slot: one });
      }
    }
    for (const row of waiting) drawn.push({ ...row, slot: (this.#next += 1) });
    this.#drawn = drawn;
  }

  /**
   * Orders the elements like their rows, for screen readers and keyboard navigation. Returns true if the order changed.
   */
  sort(): boolean {
    const before = this.#drawn;
    this.#drawn = before.toSorted((one, other) => one.index - other.index);
    return this.#drawn.some((one, place) => one !== before[place]);
  }
}

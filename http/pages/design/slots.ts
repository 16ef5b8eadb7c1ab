// Which elements of a long list draw which of its rows. A row that goes on being drawn keeps its element, whatever
// place it moves to; one that comes into sight takes the element of one that went, so that scrolling changes texts and
// makes nothing. Plain arithmetic, so that it can be tested without a browser.

export interface Drawn {
  /** Of the element. */
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

  /** What is drawn, in the order of the elements in the document. */
  get drawn(): readonly Drawn[] {
    return this.#drawn;
  }

  /**
   * Draws these rows and no others. The element of `pinned` is given to no other row: when it is not among them, it
   * goes.
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
   * The elements in the order of their rows, as they are read aloud and gone through by keys. True when they were not.
   */
  sort(): boolean {
    const before = this.#drawn;
    this.#drawn = before.toSorted((one, other) => one.index - other.index);
    return this.#drawn.some((one, place) => one !== before[place]);
  }
}

// Ids sorted by a key, newest or oldest first. Adding, moving or removing one takes a binary search.

export interface Row {
  readonly id: string;
  /** A text that sorts by comparison, such as a time. */
  readonly at: string;
}

export class SortedRows {
  readonly #rows: Row[] = [];
  readonly #places = new Map<string, Row>();
  readonly #isOldestFirst: boolean;

  constructor(options: { readonly isOldestFirst?: boolean } = {}) {
    this.#isOldestFirst = options.isOldestFirst === true;
  }

  get rows(): readonly Row[] {
    return this.#rows;
  }

  /** Undefined removes it. Returns true if anything changed. */
  put(id: string, at: string | undefined): boolean {
    const known = this.#places.get(id);
    if (known?.at === at) return false;
    if (known !== undefined) {
      this.#rows.splice(this.#placeOf(known), 1);
      this.#places.delete(id);
    }
    if (at !== undefined) {
      const row = { id, at };
      this.#rows.splice(this.#placeOf(row), 0, row);
      this.#places.set(id, row);
    }
    return true;
  }

  /** −1 if it is missing. */
  indexOf(id: string): number {
    const row = this.#places.get(id);
    return row === undefined ? -1 : this.#placeOf(row);
  }

  clear(): void {
    this.#rows.length = 0;
    this.#places.clear();
  }

  /** Its index, or where it would be inserted. */
  #placeOf(row: Row): number {
    let [low, high] = [0, this.#rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#rows[middle];
      if (other !== undefined && this.isBefore(other, row)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** In the order of the rows. */
  isBefore(one: Row, other: Row): boolean {
    const [first, second] = this.#isOldestFirst ? [other, one] : [one, other];
    return first.at === second.at ? first.id > second.id : first.at > second.at;
  }
}

// The part of a list that was read: its rows from the first to the last of the pages that came, in the list's order.
// A row that changes moves within it, into it or out of it. What is below its end is not held, so the rows are always
// those of the whole list down to the end. Plain, without a page.

import { type Row, SortedRows } from './sorted-rows.ts';

export class ListWindow {
  readonly #rows: SortedRows;
  #end: Row | 'nothing is read' | 'all is read' = 'nothing is read';

  constructor(options: { readonly isOldestFirst: boolean }) {
    this.#rows = new SortedRows(options);
  }

  get rows(): readonly Row[] {
    return this.#rows.rows;
  }

  get isEmpty(): boolean {
    return this.#end === 'nothing is read';
  }

  /** −1 if it is not held. */
  indexOf(id: string): number {
    return this.#rows.indexOf(id);
  }

  covers(row: Row): boolean {
    if (this.#end === 'nothing is read') return false;
    return this.#end === 'all is read' || !this.#rows.isBefore(this.#end, row);
  }

  /** Where it is in the list; undefined if it is not in it. Returns true if anything changed. */
  put(id: string, at: string | undefined): boolean {
    return this.#rows.put(id, at !== undefined && this.covers({ id, at }) ? at : undefined);
  }

  /** Down to this row, the last one that was read; undefined is the list's end. Drops what is below. */
  endAt(end: Row | undefined): void {
    this.#end = end ?? 'all is read';
    for (let last = this.rows.at(-1); last !== undefined && !this.covers(last); last = this.rows.at(-1))
      this.#rows.put(last.id, undefined);
  }

  clear(): void {
    this.#end = 'nothing is read';
    this.#rows.clear();
  }
}

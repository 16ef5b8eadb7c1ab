// Reads a list page by page, one page at a time. Holds the place, not the rows: who makes one takes each page.

import { batch, type Signal, signal } from '@preact/signals';

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Of the page after this one; null after the last. */
  readonly nextCursor: string | null;
}

/** `cursor` is null for the first page. */
export type ReadPage<Row> = (cursor: string | null, signal: AbortSignal) => Promise<Page<Row>>;

export interface PagePlace {
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

export class Pager<Row> {
  readonly state: Signal<'waiting' | 'reading' | 'more' | 'complete' | 'failed'> = signal('waiting');
  /** Why the state is `failed`. */
  failure: unknown;
  readonly #read: ReadPage<Row>;
  readonly #take: (rows: readonly Row[], place: PagePlace) => void;
  #cursor: string | null = null;
  #underWay: Promise<readonly Row[]> = Promise.resolve([]);
  #abort = new AbortController();

  constructor(read: ReadPage<Row>, take: (rows: readonly Row[], place: PagePlace) => void) {
    this.#read = read;
    this.#take = take;
  }

  /**
   * Reads the next page, or again the one that failed, and resolves to its rows. While a page is read, resolves to the
   * rows of that one; after the last page to none.
   */
  next(): Promise<readonly Row[]> {
    if (this.state.peek() !== 'reading') this.#underWay = this.#readNext();
    return this.#underWay;
  }

  async #readNext(): Promise<readonly Row[]> {
    if (this.state.peek() === 'complete') return [];
    const { signal } = this.#abort;
    const isFirst = this.#cursor === null;
    this.state.value = 'reading';
    try {
      const { rows, nextCursor } = await this.#read(this.#cursor, signal);
      if (signal.aborted) return [];
      this.#cursor = nextCursor;
      batch(() => {
        this.#take(rows, { isFirst, isLast: nextCursor === null });
        this.state.value = nextCursor === null ? 'complete' : 'more';
      });
      return rows;
    } catch (error) {
      if (signal.aborted) return [];
      this.failure = error;
      this.state.value = 'failed';
      return [];
    }
  }

  /** Drops a read under way. The next page is the first again. */
  reset(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#cursor = null;
    this.state.value = 'waiting';
  }
}

// A list that a component shows and reads page by page. Changes that arrive while a page is read are applied again after
// it, since the page may be older.

import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { Pager, type ReadPage } from './pager.ts';
import { useGiven } from './steady.ts';

/** `isWhole`: the last page was read. Applied twice, it does the same as once. */
export type Change<Row> = (rows: readonly Row[], isWhole: boolean) => readonly Row[];

export class PagedList<Row> {
  readonly #pager: Pager<Row>;
  readonly #rows: Signal<readonly Row[] | undefined> = signal(undefined);
  readonly #isWhole = signal(true);
  /** Since the page under way was asked for. */
  #changes: Change<Row>[] = [];

  constructor(read: ReadPage<Row>) {
    this.#pager = new Pager(read, (added, { isFirst, isLast }) => {
      const all = isFirst ? added : [...(this.#rows.peek() ?? []), ...added];
      this.#rows.value = this.#changes.reduce((rows, how) => how(rows, isLast), all);
      this.#isWhole.value = isLast;
    });
  }

  /** Undefined until the first page was read. */
  get rows(): readonly Row[] | undefined {
    return this.#rows.value;
  }

  get hasMore(): boolean {
    return !this.#isWhole.value;
  }

  get loading(): boolean {
    const state = this.#pager.state.value;
    return state === 'reading' || state === 'waiting';
  }

  get failure(): unknown {
    return this.#pager.state.value === 'failed' ? this.#pager.failure : undefined;
  }

  readonly more = (): void => {
    if (this.#pager.state.peek() === 'reading') return;
    this.#changes = [];
    void this.#pager.next();
  };

  /** Reads the page that failed again. */
  readonly retry = this.more;

  /** Reads the first page again. What is shown stays until it is there. */
  readonly reload = (): void => {
    this.#pager.reset();
    this.more();
  };

  /** Changes the rows that were read, and those of the page under way. */
  readonly change = (how: Change<Row>): void => {
    if (this.#pager.state.peek() === 'reading') this.#changes.push(how);
    const rows = this.#rows.peek();
    if (rows !== undefined) this.#rows.value = how(rows, this.#isWhole.peek());
  };

  readonly stop = (): void => this.#pager.reset();
}

/** `on` is what `read` depends on. When it changes, the list starts over and forgets its rows. */
export function usePaged<Row>(read: ReadPage<Row>, on: readonly unknown[]): PagedList<Row> {
  const given = useGiven(read, on);
  const list = useMemo(() => new PagedList(given), [given]);
  useEffect(() => {
    list.reload();
    return list.stop;
  }, [list]);
  return list;
}

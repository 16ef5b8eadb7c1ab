// A list loaded page by page, which events may change in the meantime.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { onResync } from '../live.ts';

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly nextCursor: string | null;
}

export interface Paged<Row> {
  /** Undefined before the first page arrives. */
  readonly rows: readonly Row[] | undefined;
  readonly failure: unknown;
  readonly loading: boolean;
  readonly hasMore: boolean;
  more(): void;
  reload(): void;
  /** Changes the loaded rows, and those of a page on its way. */
  change(how: Change<Row>): void;
}

/** `isWhole` if there are no more pages. Must be idempotent. */
type Change<Row> = (rows: readonly Row[], isWhole: boolean) => readonly Row[];

interface State<Row> {
  readonly rows: readonly Row[] | undefined;
  readonly cursor: string | null;
  readonly failure: unknown;
  readonly loading: boolean;
}

/** `on`: the values that the query depends on. */
export function usePaged<Row>(
  read: (cursor: string | null, signal: AbortSignal) => Promise<Page<Row>>,
  on: readonly unknown[],
): Paged<Row> {
  const [state, setState] = useState<State<Row>>({ rows: undefined, cursor: null, failure: undefined, loading: true });
  const abort = useRef(new AbortController());
  /** Changes since the pending page was requested, whose rows may be older; undefined if none is pending. */
  const meanwhile = useRef<Change<Row>[] | undefined>(undefined);

  const ask = (cursor: string | null): void => {
    const { signal } = abort.current;
    meanwhile.current = [];
    setState((current) => ({ ...current, failure: undefined, loading: true }));
    read(cursor, signal).then(
      (page) => {
        if (signal.aborted) return;
        const changes = meanwhile.current ?? [];
        meanwhile.current = undefined;
        setState((current) => {
          const read = cursor === null ? page.rows : [...(current.rows ?? []), ...page.rows];
          return {
            rows: changes.reduce((rows, how) => how(rows, page.nextCursor === null), read),
            cursor: page.nextCursor,
            failure: undefined,
            loading: false,
          };
        });
      },
      (failure: unknown) => {
        if (signal.aborted) return;
        meanwhile.current = undefined;
        setState((current) => ({ ...current, failure, loading: false }));
      },
    );
  };
  const again = (): void => {
    abort.current.abort();
    abort.current = new AbortController();
    ask(null);
  };
  useEffect(() => {
    setState({ rows: undefined, cursor: null, failure: undefined, loading: true });
    again();
    return () => abort.current.abort();
  }, on);
  useEffect(() => onResync(again), on);

  return {
    rows: state.rows,
    failure: state.failure,
    loading: state.loading,
    hasMore: state.cursor !== null,
    more: () => {
      if (!state.loading && state.cursor !== null) ask(state.cursor);
    },
    reload: () => (state.rows === undefined || state.cursor === null ? again() : ask(state.cursor)),
    change: useCallback((how) => {
      meanwhile.current?.push(how);
      setState((current) =>
        current.rows === undefined ? current : { ...current, rows: how(current.rows, current.cursor === null) },
      );
    }, []),
  };
}

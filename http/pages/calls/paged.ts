// A list that is read a page at a time and shown as one, which what happens meanwhile may change.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { onResync } from '../live.ts';

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly nextCursor: string | null;
}

export interface Paged<Row> {
  /** Undefined before the first page. */
  readonly rows: readonly Row[] | undefined;
  readonly failure: unknown;
  readonly loading: boolean;
  readonly hasMore: boolean;
  more(): void;
  reload(): void;
  /** Changes what was read so far; `isWhole` once there is no more. */
  change(how: (rows: readonly Row[], isWhole: boolean) => readonly Row[]): void;
}

interface State<Row> {
  readonly rows: readonly Row[] | undefined;
  readonly cursor: string | null;
  readonly failure: unknown;
  readonly loading: boolean;
}

/** `on` is what the question depends on. */
export function usePaged<Row>(read: (cursor: string | null, signal: AbortSignal) => Promise<Page<Row>>, on: readonly unknown[]): Paged<Row> {
  const [state, setState] = useState<State<Row>>({ rows: undefined, cursor: null, failure: undefined, loading: true });
  const abort = useRef(new AbortController());

  const ask = (cursor: string | null): void => {
    const { signal } = abort.current;
    setState((current) => ({ ...current, failure: undefined, loading: true }));
    read(cursor, signal).then(
      (page) => {
        if (!signal.aborted) setState((current) => ({ rows: cursor === null ? page.rows : [...(current.rows ?? []), ...page.rows], cursor: page.nextCursor, failure: undefined, loading: false }));
      },
      (failure: unknown) => {
        if (!signal.aborted) setState((current) => ({ ...current, failure, loading: false }));
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
    change: useCallback((how) => setState((current) => (current.rows === undefined ? current : { ...current, rows: how(current.rows, current.cursor === null) })), []),
  };
}

// A list that is read page by page, as far as somebody asks for more.

import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../api.ts';

export interface Paged<Row> {
  /** Undefined until the first page is there. */
  readonly rows: readonly Row[] | undefined;
  readonly hasMore: boolean;
  readonly loading: boolean;
  readonly failure: unknown;
  more(): Promise<void>;
  /** Begins anew; what is shown stays until the first page is there. */
  reload(): void;
  /** Asks once more for what could not be read. */
  retry(): void;
  change(change: (rows: readonly Row[]) => readonly Row[]): void;
}

interface State<Row> {
  readonly rows: readonly Row[] | undefined;
  readonly cursor: string | null;
  /** Of the page that was asked for last. */
  readonly asked: string | null;
  readonly loading: boolean;
  readonly failure: unknown;
}

/** `key` is the name that the rows stand under in the answer. Another path begins anew. */
export function usePaged<Row>(path: string, key: string, limit = 50): Paged<Row> {
  const [state, setState] = useState<State<Row>>({
    rows: undefined,
    cursor: null,
    asked: null,
    loading: true,
    failure: undefined,
  });
  const [round, setRound] = useState(0);
  const current = useRef(0);

  const read = async (cursor: string | null): Promise<void> => {
    const asked = current.current;
    setState((now) => ({ ...now, asked: cursor, loading: true, failure: undefined }));
    try {
      const page: Readonly<Record<string, unknown>> = await call('GET', path, { query: { limit, cursor } });
      if (asked !== current.current) return;
      // Lists stand under their plural name, decisions, Wrapping.
      const added = page[key] as readonly Row[];
      setState((now) => ({
        ...now,
        rows: cursor === null ? added : [...(now.rows ?? []), ...added],
        cursor: (page['nextCursor'] as string | null | undefined) ?? null,
        loading: false,
        failure: undefined,
      }));
    } catch (failure) {
      if (asked === current.current) setState((now) => ({ ...now, loading: false, failure }));
    }
  };

  useEffect(() => {
    current.current += 1;
    void read(null);
    return () => {
      current.current += 1;
    };
  }, [path, round]);

  return {
    rows: state.rows,
    hasMore: state.cursor !== null,
    loading: state.loading,
    failure: state.failure,
    more: () => (state.cursor === null ? Promise.resolve() : read(state.cursor)),
    reload: () => setRound((now) => now + 1),
    retry: () => void read(state.asked),
    change: (change) => setState((now) => (now.rows === undefined ? now : { ...now, rows: change(now.rows) })),
  };
}

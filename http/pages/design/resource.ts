// Something that a component reads from the server: loading, there or failed, and read again on demand. A reply that
// comes after the next request was sent is dropped. One that `set` overtook is requested again, since it may be older.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useGiven } from './steady.ts';

export interface Resource<Value> {
  /** The last one that was read. It stays while it is read again. */
  readonly value: Value | undefined;
  readonly failure: unknown;
  readonly loading: boolean;
  /** Reads it again. */
  reload(): void;
  /** Shows this value without reading again. */
  set(value: Value): void;
}

/** `on` is what `read` depends on. When it changes, the former value is forgotten. */
export function useResource<Value>(
  read: (signal: AbortSignal) => Promise<Value>,
  on: readonly unknown[],
): Resource<Value> {
  const [state, setState] = useState<{ value: Value | undefined; failure: unknown; loading: boolean }>({
    value: undefined,
    failure: undefined,
    loading: true,
  });
  const given = useGiven(read, on);
  const [round, setRound] = useState(0);
  const lastRound = useRef(0);
  const isOvertaken = useRef(false);
  const reload = useCallback(() => setRound((current) => current + 1), []);

  useEffect(() => {
    const abort = new AbortController();
    const isReload = round !== lastRound.current;
    lastRound.current = round;
    isOvertaken.current = false;
    setState((current) => ({ value: isReload ? current.value : undefined, failure: undefined, loading: true }));
    given(abort.signal).then(
      (value) => {
        if (abort.signal.aborted) return;
        if (isOvertaken.current) reload();
        else setState({ value, failure: undefined, loading: false });
      },
      (failure: unknown) => {
        if (!abort.signal.aborted) setState((current) => ({ value: current.value, failure, loading: false }));
      },
    );
    return () => abort.abort();
  }, [given, round, reload]);

  const set = useCallback((value: Value) => {
    isOvertaken.current = true;
    setState({ value, failure: undefined, loading: false });
  }, []);
  return { ...state, reload, set };
}

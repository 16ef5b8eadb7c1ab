// Something read from the service for as long as a component shows it: loading, there, or failed, and read again on
// demand. An answer that comes after the next question was asked is dropped; one that was overtaken by what is known
// better is asked for anew.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Resource<Value> {
  /** The last that was read; kept while it is read again. */
  readonly value: Value | undefined;
  readonly failure: unknown;
  readonly loading: boolean;
  /** Reads it again. */
  reload(): void;
  /** Shows what an answer said without reading again. */
  set(value: Value): void;
}

/** `on` is what the question depends on: another one forgets the former value. */
export function useResource<Value>(
  read: (signal: AbortSignal) => Promise<Value>,
  on: readonly unknown[],
): Resource<Value> {
  const [state, setState] = useState<{ value: Value | undefined; failure: unknown; loading: boolean }>({
    value: undefined,
    failure: undefined,
    loading: true,
  });
  const [round, setRound] = useState(0);
  const isReload = useRef(false);
  const isOvertaken = useRef(false);
  const reload = useCallback(() => {
    isReload.current = true;
    setRound((current) => current + 1);
  }, []);

  useEffect(() => {
    const abort = new AbortController();
    const keep = isReload.current;
    isReload.current = false;
    isOvertaken.current = false;
    setState((current) => ({ value: keep ? current.value : undefined, failure: undefined, loading: true }));
    read(abort.signal).then(
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
  }, [...on, round]);

  const set = useCallback((value: Value) => {
    isOvertaken.current = true;
    setState({ value, failure: undefined, loading: false });
  }, []);
  return { ...state, reload, set };
}

// The loaded contacts of a search, page by page. A change of the search starts over; the previous results stay until
// the first new page arrives.

import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../api.ts';
import type { Contact } from '../records.ts';

const pageRows = 50;
const pauseMs = 150;

export interface Directory {
  /** Undefined until the first page arrives. */
  readonly contacts: readonly Contact[] | undefined;
  readonly failure: unknown;
  readonly loading: boolean;
  readonly isWhole: boolean;
  more(): void;
  retry(): void;
}

interface State {
  readonly contacts: readonly Contact[] | undefined;
  readonly isWhole: boolean;
  readonly failure: unknown;
  readonly loading: boolean;
}

export function useDirectory(search: string): Directory {
  const [state, setState] = useState<State>({ contacts: undefined, isWhole: false, failure: undefined, loading: true });
  const [round, setRound] = useState(0);
  const asked = useRef<AbortController>(undefined);
  const isFirst = useRef(true);

  const read = async (offset: number): Promise<void> => {
    asked.current?.abort();
    const abort = new AbortController();
    asked.current = abort;
    setState((current) => ({ ...current, failure: undefined, loading: true }));
    try {
      const { contacts } = await call<{ contacts: Contact[] }>('GET', '/contacts', {
        query: { search, limit: pageRows, offset },
        signal: abort.signal,
      });
      if (abort.signal.aborted) return;
      setState((current) => ({
        contacts: offset === 0 ? contacts : joined(current.contacts ?? [], contacts),
        isWhole: contacts.length < pageRows,
        failure: undefined,
        loading: false,
      }));
    } catch (failure) {
      if (!abort.signal.aborted) setState((current) => ({ ...current, failure, loading: false }));
    }
  };

  useEffect(() => {
    const timer = setTimeout(() => void read(0), isFirst.current ? 0 : pauseMs);
    isFirst.current = false;
    return () => {
      clearTimeout(timer);
      asked.current?.abort();
    };
  }, [search, round]);

  return {
    ...state,
    more: () => void (state.loading || state.isWhole ? undefined : read(state.contacts?.length ?? 0)),
    retry: () => setRound(round + 1),
  };
}

/** A contact added meanwhile pushes others onto the next page; none is shown twice. */
export function joined(before: readonly Contact[], next: readonly Contact[]): Contact[] {
  const known = new Set(before.map(({ id }) => id));
  return [...before, ...next.filter(({ id }) => !known.has(id))];
}

// What the server finds while someone types. It is asked 150 ms after the last letter, and a request for former words is
// dropped. The former results stay until the new ones are there.

import { useEffect, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { nameOfCustomer } from '../customer-name.ts';
import { useLatest } from '../design/steady.ts';
import type { Contact, SearchRow } from '../records.ts';

const pauseMs = 150;

export interface SearchState<Value> {
  /** The last answer; undefined before the first, and if nothing is searched. */
  readonly value: Value | undefined;
  readonly failure: unknown;
  /** A request is in progress. */
  readonly asking: boolean;
}

const nothing = { value: undefined, failure: undefined, asking: false };

/** Asks when `question` changes, which is all that `ask` depends on, as text. An empty one asks nothing. */
export function useSearch<Value>(question: string, ask: (signal: AbortSignal) => Promise<Value>): SearchState<Value> {
  const askLatest = useLatest(ask);
  const [state, setState] = useState<SearchState<Value>>(nothing);
  useEffect(() => {
    if (question === '') {
      setState(nothing);
      return undefined;
    }
    const abort = new AbortController();
    setState((current) => ({ ...current, asking: true }));
    const timer = setTimeout(() => {
      askLatest(abort.signal).then(
        (value) => {
          if (!abort.signal.aborted) setState({ value, failure: undefined, asking: false });
        },
        (failure: unknown) => {
          if (!abort.signal.aborted) setState({ value: undefined, failure, asking: false });
        },
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [question]);
  return state;
}

/** The filters of the search of conversations. */
export interface SearchFilter {
  readonly channel?: string | undefined;
  readonly status?: string | undefined;
  readonly tag?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface SearchAnswer {
  readonly rows: readonly SearchRow[];
  readonly total: number;
  /** While older messages are being indexed: the number done, and the total. */
  readonly indexing?: { readonly done: number; readonly total: number };
}

/** Whether the service accepts this search: it needs a letter or a digit. */
export function isSearchable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

export function findConversations(options: {
  readonly q: string;
  readonly limit: number;
  readonly filter?: SearchFilter;
  readonly signal: AbortSignal;
}): Promise<SearchAnswer> {
  const { q, limit, filter = {}, signal } = options;
  return call<SearchAnswer>('GET', '/conversations/search', { query: { q, limit, ...filter }, signal });
}

export async function findContacts(search: string, limit: number, signal: AbortSignal): Promise<readonly Contact[]> {
  return (await call<{ contacts: readonly Contact[] }>('GET', '/contacts', { query: { search, limit }, signal }))
    .contacts;
}

/** The customer of a result, as the inbox calls it. */
export function nameInRow({ visitorId, visitorName, visitorEmail, visitorPhoneE164 }: SearchRow): string {
  return nameOfCustomer({ name: visitorName, email: visitorEmail, phone: visitorPhoneE164, visitorId });
}

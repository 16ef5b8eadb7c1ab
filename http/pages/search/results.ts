// What the service finds while somebody types: asked a moment after the last letter, and the question before is
// dropped, so that what is shown is always of what is typed. An answer of the same words with one more is awaited with
// the former still shown.

import { useEffect, useState } from 'preact/hooks';
import { call } from '../api.ts';
import type { Contact, SearchRow } from '../records.ts';

const pauseMs = 150;

export interface SearchState<Value> {
  /** Of the last question that was answered; undefined before the first and when nothing is asked. */
  readonly value: Value | undefined;
  readonly failure: unknown;
  /** An answer is awaited. */
  readonly asking: boolean;
}

const nothing = { value: undefined, failure: undefined, asking: false };

/** `question` is what is asked, as text; an empty one asks nothing. `round` asks again. */
export function useSearch<Value>(
  question: string,
  ask: (signal: AbortSignal) => Promise<Value>,
  round = 0,
): SearchState<Value> {
  const [state, setState] = useState<SearchState<Value>>(nothing);
  useEffect(() => {
    if (question === '') {
      setState(nothing);
      return undefined;
    }
    const abort = new AbortController();
    setState((current) => ({ ...current, asking: true }));
    const timer = setTimeout(() => {
      ask(abort.signal).then(
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
  }, [question, round]);
  return state;
}

/** What the search of conversations takes beside its words. */
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
  /** While older messages are still being read: how many are, of all. */
  readonly indexing?: { readonly done: number; readonly total: number };
}

/** Whether the service would search for this: it needs a letter or a digit. */
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

/** What a customer is called where little is known of it. */
export function nameOfCustomer(of: {
  readonly name: string | null;
  readonly email: string | null;
  readonly phone?: string | null;
}): string {
  return of.name ?? of.email ?? of.phone ?? 'Unnamed';
}

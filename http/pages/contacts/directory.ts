// The contacts that match the search, read page by page. While the search is typed, the former contacts stay until the
// first page of the new ones is there.

import { useEffect, useMemo, useRef } from 'preact/hooks';
import { call } from '../api.ts';
import { usePaged } from '../design/paged.ts';
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

export function useDirectory(search: string): Directory {
  const latest = useRef(search);
  const list = usePaged<Contact>(async (cursor, signal) => {
    const offset = Number(cursor ?? 0);
    const { contacts } = await call<{ contacts: Contact[] }>('GET', '/contacts', {
      query: { search: latest.current, limit: pageRows, offset },
      signal,
    });
    return { rows: contacts, nextCursor: contacts.length < pageRows ? null : String(offset + contacts.length) };
  }, []);
  const isFirst = useRef(true);

  useEffect(() => {
    latest.current = search;
    if (isFirst.current) {
      isFirst.current = false;
      return undefined;
    }
    list.stop();
    const timer = setTimeout(list.reload, pauseMs);
    return () => clearTimeout(timer);
  }, [search, list]);

  const { rows, failure, loading, hasMore, more, retry } = list;
  const contacts = useMemo(() => (rows === undefined ? undefined : distinct(rows)), [rows]);
  return { contacts, failure, loading, isWhole: !hasMore, more, retry };
}

/** A contact that was added meanwhile moves others to the next page, where they come again. */
function distinct(rows: readonly Contact[]): Contact[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

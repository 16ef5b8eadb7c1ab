// How the API's lists are read: a page, or all of them.

import { call } from './api.ts';
import type { Page } from './design/pager.ts';

interface PageOptions {
  readonly cursor: string | null;
  readonly signal?: AbortSignal;
  readonly limit?: number;
  readonly query?: Readonly<Record<string, string | undefined>>;
}

/** `key` is the name of the list in the reply. */
export async function readPage<Row>(
  path: string,
  key: string,
  { cursor, signal, limit = 50, query = {} }: PageOptions,
): Promise<Page<Row>> {
  const page: Readonly<Record<string, unknown>> = await call('GET', path, {
    query: { ...query, limit, cursor },
    ...(signal === undefined ? {} : { signal }),
  });
  // Lists are wrapped under their plural name, with `nextCursor` if there may be more.
  const { [key]: rows, nextCursor = null } = page as Record<string, Row[]> & { nextCursor?: string | null };
  return { rows: rows ?? [], nextCursor };
}

export async function readAll<Row>(
  path: string,
  key: string,
  query: Readonly<Record<string, string>> = {},
): Promise<Row[]> {
  const all: Row[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Row> = await readPage(path, key, { cursor, limit: 200, query });
    all.push(...page.rows);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return all;
}

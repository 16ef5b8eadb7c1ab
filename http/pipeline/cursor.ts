// Cursors and times in requests. A cursor is literally `<ISO timestamp>|<uuid>` of the last row of a page.
// Specification 9.

import { refuseField } from '../../engine/errors.ts';
import { isoTime } from '../../engine/runtime/clock.ts';
import type { Cursor } from '../../store/cursor.ts';

const shape = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z)\|([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
export const defaultLimit = 50;

/** Refuses invalid_query. */
function parseCursor(text: string | undefined): Cursor | undefined {
  if (text === undefined) return undefined;
  const [, at = '', id = ''] = shape.exec(text) ?? [];
  if (Number.isNaN(Date.parse(at))) refuseField('invalid_query', 'cursor', 'must be the nextCursor of an earlier page');
  return { at, id };
}

/**
 * Any RFC 3339 time, with or without an offset and fractions, as the text that rows are compared with. Refuses
 * invalid_query.
 */
export function parseTime(text: string | undefined, name: string): string | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? refuseField('invalid_query', name, 'must be a time that exists') : isoTime(ms);
}

interface PageQuery {
  readonly limit?: number;
  readonly cursor?: string;
}

interface Rows<Row> {
  readonly rows: Row[];
  readonly nextCursor: string | null;
}

/** Reads one row more than requested, to learn whether there are more. */
export function pageOf<Row>(
  query: PageQuery,
  read: (page: { cursor: Cursor | undefined; limit: number }) => Row[],
  placeOf: (row: Row) => Cursor,
): Rows<Row> {
  return pageIn(query, read(pageAsked(query)), placeOf);
}

/** The same in two parts, for rows that come later: what to read, one row more than requested. */
export function pageAsked(query: PageQuery): { cursor: Cursor | undefined; limit: number } {
  return { cursor: parseCursor(query.cursor), limit: (query.limit ?? defaultLimit) + 1 };
}

/** And the page in the rows that were read. */
export function pageIn<Row>(
  { limit = defaultLimit }: PageQuery,
  rows: readonly Row[],
  placeOf: (row: Row) => Cursor,
): Rows<Row> {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  const place = last === undefined ? undefined : placeOf(last);
  return { rows: rows.slice(0, limit), nextCursor: place === undefined ? null : `${place.at}|${place.id}` };
}

export const byCreated = (row: { readonly createdAt: string; readonly id: string }): Cursor => ({
  at: row.createdAt,
  id: row.id,
});

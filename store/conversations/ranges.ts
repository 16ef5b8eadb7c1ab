// Lists of conversations, read range by range from an index whose ranges end in the list's order. An agent may have
// hundreds of ranges, one for each of its channels and departments: only those whose first row is on the page are read.

import { type Cursor, FirstPlaces } from '../cursor.ts';
import type { Database, Value } from '../database.ts';
import type { Channel } from './conversations.ts';
import { findListed, type ListedRow } from './listed-rows.ts';

export interface Order {
  /** As the index expresses it. */
  readonly key: string;
  /** Behind the cursor; binds @at and @id. */
  readonly after: string;
  readonly isNewestFirst: boolean;
}

export interface Range {
  readonly index: string;
  readonly where: string;
  readonly values: Readonly<Record<string, Value>>;
}

export interface DepartmentRanges extends Range {
  readonly channels: readonly Channel[];
  /** Null: those without a department. */
  readonly departmentIds: readonly (string | null)[];
}

/** A page being read. */
export interface Reading {
  readonly order: Order;
  readonly from: Cursor;
  readonly first: FirstPlaces;
}

export function beginReading(order: Order, { from, limit }: { from: Cursor; limit: number }): Reading {
  return { order, from, first: new FirstPlaces({ limit, isNewestFirst: order.isNewestFirst }) };
}

/** Adds the rows of one range that are on the page. */
export function readRange(db: Database, { order, from, first }: Reading, { index, where, values }: Range): void {
  const { key, after, isNewestFirst } = order;
  first.add(
    db.all<Cursor>(
      `SELECT ${key} AS at, id FROM conversation INDEXED BY ${index}
       WHERE ${where} AND ${after} AND ${key} ${isNewestFirst ? '>=' : '<='} @until ORDER BY ${inOrder(order)} LIMIT @limit`,
      { ...values, ...from, until: first.until, limit: first.limit },
    ),
  );
}

/** The same of one range for each channel and department. */
export function readDepartments(db: Database, reading: Reading, ranges: DepartmentRanges): void {
  const { first } = reading;
  const begun = beginnings(db, reading, ranges).sort((a, b) => (first.isBefore(a, b) ? -1 : 1));
  for (const { channel, departmentId, ...beginning } of begun) {
    if (!first.couldHold(beginning)) break;
    readRange(db, reading, {
      index: ranges.index,
      where: `channel = @channel AND departmentId IS @departmentId AND ${ranges.where}`,
      values: { ...ranges.values, channel, departmentId },
    });
  }
}

interface Beginning extends Cursor {
  readonly channel: Channel;
  readonly departmentId: string | null;
}

/** The first row of each range that has one. */
function beginnings(
  db: Database,
  { order, from }: Pick<Reading, 'order' | 'from'>,
  { index, where, values, channels, departmentIds }: DepartmentRanges,
): Beginning[] {
  return db
    .all<{ channel: Channel; departmentId: string | null; place: string | null }>(
      `SELECT one.value AS channel, department.value AS departmentId, (
         SELECT ${order.key} || '|' || id FROM conversation INDEXED BY ${index}
         WHERE channel = one.value AND departmentId IS department.value AND ${where} AND ${order.after} ORDER BY ${inOrder(order)} LIMIT 1) AS place
       FROM json_each(@inChannels) AS one CROSS JOIN json_each(@inDepartments) AS department`,
      { ...values, ...from, inChannels: JSON.stringify(channels), inDepartments: JSON.stringify(departmentIds) },
    )
    .flatMap(({ channel, departmentId, place }) => {
      if (place === null) return [];
      const [at = '', id = ''] = place.split('|');
      return [{ channel, departmentId, at, id }];
    });
}

function inOrder({ key, isNewestFirst }: Order): string {
  const way = isNewestFirst ? 'DESC' : 'ASC';
  return `${key} ${way}, id ${way}`;
}

/** The rows of the page. */
export function rowsOf(db: Database, { first: { places } }: Reading): ListedRow[] {
  const rows = new Map(
    findListed(
      db,
      places.map(({ id }) => id),
    ).map((row) => [row.id, row]),
  );
  return places.flatMap(({ id }) => rows.get(id) ?? []);
}

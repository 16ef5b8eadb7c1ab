// A workspace's rows, table by table, for an export. Leaves out secrets and internal tables; every other table,
// including any new one, is included.

import type { Database } from '../database.ts';
import { fromJson, jsonColumns } from '../json.ts';

/** Internal tables, and those with credentials. */
const leftOut: ReadonlySet<string> = new Set([
  'deadline',
  'outbox',
  'oneTimeToken',
  'agentSession',
  'pushSubscription',
  'unseenNotice',
  'knownOrigin',
  'accountNotice',
  'agentTotp',
  'passkey',
  'recoveryCode',
  'oauthCode',
  'oauthToken',
  'sealedSecret',
  // A contact names its addresses itself.
  'contactEmail',
  'conversationChange',
  'visitorChange',
  'rollupPeriod',
  'rollupGoal',
  'storageUse',
  'tally',
]);
const secretColumn = /^(?:passwordHash|tokenVersion)$|hash$|^sealed|secret$/i;

/** In insertion order: referenced tables come first. */
export function exportedTables(db: Database): string[] {
  return db
    .all<{ name: string }>(
      `SELECT name FROM sqlite_schema WHERE name IN (SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid`,
    )
    .map(({ name }) => name)
    .filter((name) => !leftOut.has(name));
}

/** One by one. JSON columns are parsed; bytes are base64. */
export function* rowsOf(db: Database, table: string): Generator<Record<string, unknown>> {
  const columns = db
    .all<{ name: string }>('SELECT name FROM pragma_table_info(?)', [table])
    .map(({ name }) => name)
    .filter((name) => !secretColumn.test(name));
  for (const row of db.iterate<Record<string, unknown>>(`SELECT ${columns.join(', ')} FROM ${table}`)) {
    for (const name of columns) {
      const value = row[name];
      if (value instanceof Uint8Array) row[name] = Buffer.from(value).toString('base64');
      else if (typeof value === 'string' && jsonColumns.test(name)) row[name] = fromJson(value);
    }
    yield row;
  }
}

export function rowCount(db: Database, table: string): number {
  return db.get<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)?.count ?? 0;
}

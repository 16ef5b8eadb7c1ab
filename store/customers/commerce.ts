// The workspace's commerce connector: at most one row.

import type { Database } from '../database.ts';

export interface CommerceRecord {
  readonly url: string;
  /** The name of the shop's software. */
  readonly source: string;
  /** Store code cannot open it. */
  readonly sealedSecret: string;
  readonly updatedAt: string;
}

export function findCommerce(db: Database): CommerceRecord | undefined {
  return db.get<CommerceRecord>('SELECT url, source, sealedSecret, updatedAt FROM commerce');
}

export function putCommerce(db: Database, commerce: CommerceRecord): void {
  db.run(
    `INSERT INTO commerce (id, url, source, sealedSecret, updatedAt) VALUES (1, @url, @source, @sealedSecret, @updatedAt)
     ON CONFLICT DO UPDATE SET url = excluded.url, source = excluded.source, sealedSecret = excluded.sealedSecret, updatedAt = excluded.updatedAt`,
    { ...commerce },
  );
}

export function deleteCommerce(db: Database): void {
  db.run('DELETE FROM commerce');
}

// Suppressed addresses: mail to them bounced or was refused for good.

import { below, type Cursor } from '../cursor.ts';
import type { Database } from '../database.ts';

export interface SuppressionRecord {
  readonly id: string;
  readonly email: string;
  readonly reason: 'bounce' | 'rejected';
  readonly createdAt: string;
}

export function findSuppression(db: Database, email: string): SuppressionRecord | undefined {
  return db.get<SuppressionRecord>('SELECT id, email, reason, createdAt FROM suppression WHERE email = ?', [email]);
}

export function insertSuppression(db: Database, suppression: SuppressionRecord): void {
  db.run('INSERT INTO suppression (id, email, reason, createdAt) VALUES (@id, @email, @reason, @createdAt)', {
    ...suppression,
  });
}

export function deleteSuppression(db: Database, email: string): void {
  db.run('DELETE FROM suppression WHERE email = ?', [email]);
}

/** Newest first, from just below `cursor`. */
export function suppressionPage(
  db: Database,
  page: { cursor: Cursor | undefined; limit: number },
): SuppressionRecord[] {
  return db.all<SuppressionRecord>(
    'SELECT id, email, reason, createdAt FROM suppression WHERE (createdAt, id) < (@at, @id) ORDER BY createdAt DESC, id DESC LIMIT @limit',
    { ...below(page.cursor), limit: page.limit },
  );
}

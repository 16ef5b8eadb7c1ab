// Secrets that must be used again, by name, as workers/secret-box.ts sealed them. Nothing here can open one.

import type { Database } from './database.ts';

/** `inbound-email` signs inbound mail, `carrier` the carrier's events. */
export type SecretName = 'inbound-email' | 'carrier';

export function findSealedSecret(db: Database, name: SecretName): string | undefined {
  return db.get<{ sealed: string }>('SELECT sealed FROM sealedSecret WHERE name = ?', [name])?.sealed;
}

export function putSealedSecret(db: Database, secret: { name: SecretName; sealed: string; createdAt: string }): void {
  db.run('INSERT INTO sealedSecret (name, sealed, createdAt) VALUES (@name, @sealed, @createdAt) ON CONFLICT DO UPDATE SET sealed = excluded.sealed, createdAt = excluded.createdAt', { ...secret });
}

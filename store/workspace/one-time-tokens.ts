// Join codes and reset tokens, by hash. An ended one stays, so that a used link differs from an unknown one.

import type { Database } from '../database.ts';

export type OneTimeTokenKind = 'join' | 'reset';

export interface OneTimeToken {
  readonly hash: string;
  readonly kind: OneTimeTokenKind;
  readonly agentId: string;
  readonly expiresAt: string;
  readonly endedAt: string | null;
}

export function insertOneTimeToken(db: Database, token: OneTimeToken): void {
  db.run('INSERT INTO oneTimeToken (hash, kind, agentId, expiresAt, endedAt) VALUES (?, ?, ?, ?, ?)', [
    token.hash,
    token.kind,
    token.agentId,
    token.expiresAt,
    token.endedAt,
  ]);
}

export function findOneTimeToken(db: Database, hash: string, kind: OneTimeTokenKind): OneTimeToken | undefined {
  return db.get<OneTimeToken>('SELECT * FROM oneTimeToken WHERE hash = ? AND kind = ?', [hash, kind]);
}

/** Ends every token of the agent: used, superseded, or withdrawn. */
export function endOneTimeTokens(db: Database, agentId: string, kind: OneTimeTokenKind, at: string): void {
  db.run('UPDATE oneTimeToken SET endedAt = ? WHERE agentId = ? AND kind = ? AND endedAt IS NULL', [at, agentId, kind]);
}

export function deleteOneTimeTokensBefore(db: Database, at: string): void {
  db.run('DELETE FROM oneTimeToken WHERE expiresAt < ?', [at]);
}

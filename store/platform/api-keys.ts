// API keys by the hash of their text, which is nowhere stored. A revoked one stays, so that the same text can never
// count again.

import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';

export interface ApiKeyRecord {
  readonly id: string;
  readonly name: string;
  /** The text's beginning, by which people tell keys apart. Of no use to whoever has it alone. */
  readonly prefix: string;
  readonly hash: string;
  readonly scopes: readonly string[];
  readonly mode: 'live' | 'test';
  readonly createdByAgentId: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}

type Row = Omit<ApiKeyRecord, 'scopes'> & { scopes: string };

const fromRow = (row: Row): ApiKeyRecord => ({ ...row, scopes: fromJson<string[]>(row.scopes) });

export function insertApiKey(db: Database, key: ApiKeyRecord): void {
  db.run(
    `INSERT INTO apiKey (id, name, prefix, hash, scopes, mode, createdByAgentId, createdAt, lastUsedAt, revokedAt)
     VALUES (@id, @name, @prefix, @hash, @scopes, @mode, @createdByAgentId, @createdAt, @lastUsedAt, @revokedAt)`,
    { ...key, scopes: toJson(key.scopes) },
  );
}

export function findApiKeyByHash(db: Database, hash: string): ApiKeyRecord | undefined {
  const row = db.get<Row>('SELECT * FROM apiKey WHERE hash = ?', [hash]);
  return row && fromRow(row);
}

/** Of those that count. */
export function findApiKey(db: Database, keyId: string): ApiKeyRecord | undefined {
  const row = db.get<Row>('SELECT * FROM apiKey WHERE id = ? AND revokedAt IS NULL', [keyId]);
  return row && fromRow(row);
}

/** Those that count, newest first. */
export function liveApiKeys(db: Database): ApiKeyRecord[] {
  return db.all<Row>('SELECT * FROM apiKey WHERE revokedAt IS NULL ORDER BY createdAt DESC, id DESC').map(fromRow);
}

/** Those of one admin that count. */
export function apiKeysOf(db: Database, agentId: string): ApiKeyRecord[] {
  return db.all<Row>('SELECT * FROM apiKey WHERE createdByAgentId = ? AND revokedAt IS NULL', [agentId]).map(fromRow);
}

export function updateApiKey(db: Database, key: Pick<ApiKeyRecord, 'id' | 'lastUsedAt' | 'revokedAt'>): void {
  db.run('UPDATE apiKey SET lastUsedAt = @lastUsedAt, revokedAt = @revokedAt WHERE id = @id', {
    id: key.id,
    lastUsedAt: key.lastUsedAt,
    revokedAt: key.revokedAt,
  });
}

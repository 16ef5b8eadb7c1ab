// API keys by the hash of their text, which is not stored. A revoked key stays, so that the same text can never be
// valid again.

import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';

export interface ApiKeyRecord {
  readonly id: string;
  readonly name: string;
  /** The start of the text, for people to recognise a key by. Useless by itself. */
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

/** Only valid ones. */
export function findApiKey(db: Database, keyId: string): ApiKeyRecord | undefined {
  const row = db.get<Row>('SELECT * FROM apiKey WHERE id = ? AND revokedAt IS NULL', [keyId]);
  return row && fromRow(row);
}

/** Valid keys, newest first. */
export function liveApiKeys(db: Database): ApiKeyRecord[] {
  return db.all<Row>('SELECT * FROM apiKey WHERE revokedAt IS NULL ORDER BY createdAt DESC, id DESC').map(fromRow);
}

/** One admin's valid keys. */
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

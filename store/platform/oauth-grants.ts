// Grants of agents to apps, the codes that begin one, and the tokens that use it.

import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';

export interface OAuthGrantRecord {
  readonly id: string;
  readonly clientId: string;
  readonly agentId: string;
  readonly scopes: readonly string[];
  readonly createdAt: string;
  /** To the minute. */
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}

export interface OAuthCodeRecord {
  readonly hash: string;
  readonly clientId: string;
  readonly agentId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly codeChallenge: string | null;
  readonly expiresAt: string;
  /** The grant it was exchanged for; null until then. */
  readonly grantId: string | null;
}

export interface OAuthTokenRecord {
  readonly hash: string;
  readonly kind: 'access' | 'refresh';
  readonly grantId: string;
  readonly scopes: readonly string[];
  readonly expiresAt: string;
  /** When a refresh token was exchanged for the next. */
  readonly usedAt: string | null;
}

type Row<Record> = Omit<Record, 'scopes'> & { scopes: string };

function fromRow<Record>(row: Row<Record> | undefined): Record | undefined {
  // A row is the record with its list as text.
  return row === undefined ? undefined : ({ ...row, scopes: fromJson<string[]>(row.scopes) } as Record);
}

export function insertOAuthGrant(db: Database, grant: OAuthGrantRecord): void {
  db.run(
    'INSERT INTO oauthGrant (id, clientId, agentId, scopes, createdAt, lastUsedAt, revokedAt) VALUES (@id, @clientId, @agentId, @scopes, @createdAt, @lastUsedAt, @revokedAt)',
    { ...grant, scopes: toJson(grant.scopes) },
  );
}

export function findOAuthGrant(db: Database, grantId: string): OAuthGrantRecord | undefined {
  return fromRow<OAuthGrantRecord>(db.get('SELECT * FROM oauthGrant WHERE id = ?', [grantId]));
}

/** It has a token that can still be used. */
const isLive = `revokedAt IS NULL AND EXISTS (SELECT 1 FROM oauthToken WHERE grantId = oauthGrant.id AND usedAt IS NULL AND expiresAt > @at)`;

/** One agent's grants, or all, newest first. */
export function liveOAuthGrants(
  db: Database,
  of: { agentId: string | null; at: string; limit: number },
): OAuthGrantRecord[] {
  const rows = db.all<Row<OAuthGrantRecord>>(
    `SELECT * FROM oauthGrant WHERE (@agentId IS NULL OR agentId = @agentId) AND ${isLive} ORDER BY createdAt DESC, id DESC LIMIT @limit`,
    { ...of },
  );
  return rows.map((row) => ({ ...row, scopes: fromJson<string[]>(row.scopes) }));
}

export function noteOAuthGrantUse(db: Database, grantId: string, at: string): void {
  db.run('UPDATE oauthGrant SET lastUsedAt = ? WHERE id = ?', [at, grantId]);
}

/** The scopes of this agent's grants to the app that still have a usable token. */
export function liveScopesOfApp(db: Database, of: { clientId: string; agentId: string; at: string }): string[] {
  const rows = db.all<{ scopes: string }>(
    `SELECT scopes FROM oauthGrant WHERE clientId = @clientId AND agentId = @agentId AND ${isLive}`,
    { ...of },
  );
  return [...new Set(rows.flatMap(({ scopes }) => fromJson<string[]>(scopes)))];
}

export function revokeOAuthGrant(db: Database, grantId: string, at: string): void {
  db.run('UPDATE oauthGrant SET revokedAt = ? WHERE id = ? AND revokedAt IS NULL', [at, grantId]);
}

/** Every grant of this agent, including unexchanged codes. */
export function revokeOAuthOfAgent(db: Database, agentId: string, at: string): void {
  db.run('UPDATE oauthGrant SET revokedAt = ? WHERE agentId = ? AND revokedAt IS NULL', [at, agentId]);
  db.run('DELETE FROM oauthCode WHERE agentId = ? AND grantId IS NULL', [agentId]);
}

/** The app's unexchanged codes for this agent. */
export function deleteUnusedOAuthCodes(db: Database, of: { clientId: string; agentId: string }): void {
  db.run('DELETE FROM oauthCode WHERE clientId = @clientId AND agentId = @agentId AND grantId IS NULL', { ...of });
}

export function insertOAuthCode(db: Database, code: OAuthCodeRecord): void {
  db.run(
    `INSERT INTO oauthCode (hash, clientId, agentId, redirectUri, scopes, codeChallenge, expiresAt, grantId)
     VALUES (@hash, @clientId, @agentId, @redirectUri, @scopes, @codeChallenge, @expiresAt, @grantId)`,
    { ...code, scopes: toJson(code.scopes) },
  );
}

export function findOAuthCode(db: Database, hash: string): OAuthCodeRecord | undefined {
  return fromRow<OAuthCodeRecord>(db.get('SELECT * FROM oauthCode WHERE hash = ?', [hash]));
}

/** After a wrong attempt, the code can no longer be exchanged. */
export function deleteOAuthCode(db: Database, hash: string): void {
  db.run('DELETE FROM oauthCode WHERE hash = ?', [hash]);
}

export function useOAuthCode(db: Database, hash: string, grantId: string): void {
  db.run('UPDATE oauthCode SET grantId = ? WHERE hash = ?', [grantId, hash]);
}

export function insertOAuthToken(db: Database, token: OAuthTokenRecord): void {
  db.run(
    'INSERT INTO oauthToken (hash, kind, grantId, scopes, expiresAt, usedAt) VALUES (@hash, @kind, @grantId, @scopes, @expiresAt, @usedAt)',
    { ...token, scopes: toJson(token.scopes) },
  );
}

export function findOAuthToken(db: Database, hash: string): OAuthTokenRecord | undefined {
  return fromRow<OAuthTokenRecord>(db.get('SELECT * FROM oauthToken WHERE hash = ?', [hash]));
}

export function useOAuthToken(db: Database, hash: string, at: string): void {
  db.run('UPDATE oauthToken SET usedAt = ? WHERE hash = ?', [at, hash]);
}

export function deleteOAuthToken(db: Database, hash: string): void {
  db.run('DELETE FROM oauthToken WHERE hash = ?', [hash]);
}

/** Deletes what expired before `at`, and grants without any token. Returns the number of tokens. */
export function deleteExpiredOAuth(db: Database, at: string, limit: number): number {
  const tokens = db.run(
    'DELETE FROM oauthToken WHERE hash IN (SELECT hash FROM oauthToken WHERE expiresAt < ? LIMIT ?)',
    [at, limit],
  );
  db.run('DELETE FROM oauthCode WHERE hash IN (SELECT hash FROM oauthCode WHERE expiresAt < ? LIMIT ?)', [at, limit]);
  db.run(
    `DELETE FROM oauthGrant WHERE id IN (SELECT id FROM oauthGrant AS one WHERE createdAt < ? AND NOT EXISTS (SELECT 1 FROM oauthToken WHERE grantId = one.id) LIMIT ?)`,
    [at, limit],
  );
  return tokens;
}

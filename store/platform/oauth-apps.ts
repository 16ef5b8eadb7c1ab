// Apps registered by a workspace. Secrets are sealed; store code cannot open them.

import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';

export interface OAuthAppRecord {
  readonly id: string;
  /** Names its workspace. */
  readonly clientId: string;
  /** Null for a public client. */
  readonly sealedSecret: string | null;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
  readonly createdByAgentId: string;
  readonly createdAt: string;
}

type Row = Omit<OAuthAppRecord, 'redirectUris' | 'scopes'> & { redirectUris: string; scopes: string };

const fromRow = (row: Row): OAuthAppRecord => ({
  ...row,
  redirectUris: fromJson<string[]>(row.redirectUris),
  scopes: fromJson<string[]>(row.scopes),
});
const toRow = (app: OAuthAppRecord): Row => ({
  ...app,
  redirectUris: toJson(app.redirectUris),
  scopes: toJson(app.scopes),
});

export function insertOAuthApp(db: Database, app: OAuthAppRecord): void {
  db.run(
    `INSERT INTO oauthApp (id, clientId, sealedSecret, name, redirectUris, scopes, createdByAgentId, createdAt)
     VALUES (@id, @clientId, @sealedSecret, @name, @redirectUris, @scopes, @createdByAgentId, @createdAt)`,
    { ...toRow(app) },
  );
}

export function updateOAuthApp(db: Database, app: OAuthAppRecord): void {
  const { id, sealedSecret, name, redirectUris, scopes } = toRow(app);
  db.run(
    'UPDATE oauthApp SET sealedSecret = @sealedSecret, name = @name, redirectUris = @redirectUris, scopes = @scopes WHERE id = @id',
    { id, sealedSecret, name, redirectUris, scopes },
  );
}

export function deleteOAuthApp(db: Database, appId: string): void {
  db.run('DELETE FROM oauthApp WHERE id = ?', [appId]);
}

export function findOAuthApp(db: Database, appId: string): OAuthAppRecord | undefined {
  const row = db.get<Row>('SELECT * FROM oauthApp WHERE id = ?', [appId]);
  return row && fromRow(row);
}

export function findOAuthAppByClientId(db: Database, clientId: string): OAuthAppRecord | undefined {
  const row = db.get<Row>('SELECT * FROM oauthApp WHERE clientId = ?', [clientId]);
  return row && fromRow(row);
}

/** Newest first. */
export function allOAuthApps(db: Database): OAuthAppRecord[] {
  return db.all<Row>('SELECT * FROM oauthApp ORDER BY createdAt DESC, id DESC').map(fromRow);
}

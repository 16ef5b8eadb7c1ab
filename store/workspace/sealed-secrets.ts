// Sealed secrets, by name; workers/secrets/secret-box.ts seals them. Store code cannot open them.

import type { Database } from '../database.ts';

/** `inbound-email` signs inbound mail, `carrier` the carrier's events, `push` pushes to agents' browsers. */
export type SecretName = 'inbound-email' | 'carrier' | 'push';

export function findSealedSecret(db: Database, name: SecretName): string | undefined {
  return db.get<{ sealed: string }>('SELECT sealed FROM sealedSecret WHERE name = ?', [name])?.sealed;
}

export function putSealedSecret(db: Database, secret: { name: SecretName; sealed: string; createdAt: string }): void {
  db.run(
    'INSERT INTO sealedSecret (name, sealed, createdAt) VALUES (@name, @sealed, @createdAt) ON CONFLICT DO UPDATE SET sealed = excluded.sealed, createdAt = excluded.createdAt',
    { ...secret },
  );
}

/** A sealed secret in any table, to be resealed when its workspace moves to another key. */
export interface SealedRow {
  readonly key: string;
  readonly sealed: string;
  /** What it is sealed as; `*` is replaced by the workspace's id. */
  readonly about: string;
}

/** Any sealed secret in a file of the current schema, or undefined. */
export function aSealedSecret(db: Database): SealedRow | undefined {
  for (const place of sealedPlaces) {
    const [row] = place.all(db);
    if (row !== undefined) return row;
  }
  return undefined;
}

/** Every sealed secret in the file, even one from an older version. */
export function* everySealedSecret(db: Database): Generator<SealedRow, undefined> {
  for (const place of sealedPlaces) {
    if (
      db.get('SELECT 1 FROM sqlite_schema WHERE type = ? AND name = ? AND instr(sql, ?) > 0', [
        'table',
        place.table,
        place.column,
      ]) !== undefined
    )
      yield* place.all(db);
  }
  return undefined;
}

interface SealedPlace {
  readonly table: string;
  readonly column: string;
  all(db: Database): SealedRow[];
  put(db: Database, key: string, sealed: string): void;
}

/** A column `sealed` of the table; `key` identifies the row and `about`, an expression, what it is sealed as. */
function inColumn(place: { table: string; key: string; sealed: string; about: string }): SealedPlace {
  const { table, key, sealed, about } = place;
  return {
    table,
    column: sealed,
    all: (db) =>
      db.all<SealedRow>(
        `SELECT CAST(${key} AS TEXT) AS key, ${sealed} AS sealed, ${about} AS about FROM ${table} WHERE ${sealed} IS NOT NULL`,
      ),
    put: (db, name, text) =>
      void db.run(`UPDATE ${table} SET ${sealed} = ? WHERE CAST(${key} AS TEXT) = ?`, [text, name]),
  };
}

/** Every place of sealed secrets in a workspace's file, each as its writer seals it. */
export const sealedPlaces: readonly SealedPlace[] = [
  inColumn({ table: 'sealedSecret', key: 'name', sealed: 'sealed', about: `'*:' || name` }),
  inColumn({ table: 'emailDomain', key: 'id', sealed: 'sealedPrivateKey', about: `'*:dkim:' || name` }),
  inColumn({ table: 'agentTotp', key: 'agentId', sealed: 'sealedSecret', about: `'*:agent-totp:' || agentId` }),
  inColumn({ table: 'commerce', key: 'id', sealed: 'sealedSecret', about: `'*:commerce'` }),
  inColumn({ table: 'importJob', key: 'id', sealed: 'sealedToken', about: `'*:import:' || id` }),
  inColumn({ table: 'mailbox', key: 'id', sealed: 'sealedSecret', about: `'*:mailbox:' || id` }),
  inColumn({ table: 'mailServer', key: 'id', sealed: 'sealedPassword', about: `'*:mail-server'` }),
  inColumn({ table: 'aiModel', key: 'id', sealed: 'sealedKey', about: `'*:ai-model'` }),
  inColumn({ table: 'webhook', key: 'id', sealed: 'sealedSecret', about: `'*:webhook:' || id` }),
  inColumn({ table: 'webhook', key: 'id', sealed: 'formerSecret', about: `'*:webhook:' || id` }),
  inColumn({ table: 'oauthApp', key: 'id', sealed: 'sealedSecret', about: `'oauth:' || clientId` }),
  inColumn({ table: 'verifyFactor', key: 'id', sealed: 'sealedSecret', about: `'*:totp:' || id` }),
  {
    // Queued codes.
    table: 'outbox',
    column: 'payload',
    all: (db) =>
      db.all<SealedRow>(
        `SELECT id AS key, payload ->> 'sealedCode' AS sealed, '*:verification:' || subjectId AS about FROM outbox WHERE kind = 'verification' AND state = 'queued' AND payload ->> 'sealedCode' IS NOT NULL`,
      ),
    put: (db, key, sealed) =>
      void db.run(`UPDATE outbox SET payload = json_set(payload, '$.sealedCode', ?) WHERE id = ?`, [sealed, key]),
  },
];

// Passkeys of agents: public keys, which are not secret.

import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';

export interface PasskeyRecord {
  readonly id: string;
  readonly agentId: string;
  /** The authenticator's id for it, in base64url. */
  readonly credentialId: string;
  readonly name: string;
  /** COSE. */
  readonly publicKey: Uint8Array;
  /** Its signature counter; 0 for authenticators without one. */
  readonly counter: number;
  /** How it can be reached, such as `internal` or `usb`. */
  readonly transports: readonly string[];
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

type Row = Omit<PasskeyRecord, 'transports'> & { transports: string };

/** Oldest first. */
export function passkeysOf(db: Database, agentId: string): PasskeyRecord[] {
  return db
    .all<Row>('SELECT * FROM passkey WHERE agentId = ? ORDER BY createdAt, id', [agentId])
    .map((row) => ({ ...row, transports: fromJson<string[]>(row.transports) }));
}

export function hasCredential(db: Database, credentialId: string): boolean {
  return db.get('SELECT 1 FROM passkey WHERE credentialId = ?', [credentialId]) !== undefined;
}

export function insertPasskey(db: Database, passkey: PasskeyRecord): void {
  db.run(
    `INSERT INTO passkey (id, agentId, credentialId, name, publicKey, counter, transports, createdAt, lastUsedAt)
     VALUES (@id, @agentId, @credentialId, @name, @publicKey, @counter, @transports, @createdAt, @lastUsedAt)`,
    { ...passkey, transports: toJson(passkey.transports) },
  );
}

export function updatePasskey(db: Database, { id, name, counter, lastUsedAt }: PasskeyRecord): void {
  db.run('UPDATE passkey SET name = @name, counter = @counter, lastUsedAt = @lastUsedAt WHERE id = @id', {
    id,
    name,
    counter,
    lastUsedAt,
  });
}

export function deletePasskey(db: Database, passkeyId: string): void {
  db.run('DELETE FROM passkey WHERE id = ?', [passkeyId]);
}

// Uploaded objects, how many bytes of each kind there are, and what came lately from whom.

import type { Database } from '../database.ts';

export type UploadKind = 'attachment' | 'logo' | 'team_attachment';

export interface UploadRecord {
  readonly id: string;
  readonly key: string;
  /** As people call it; null for uploads from before that was kept, which are called as their key ends. */
  readonly filename: string | null;
  readonly kind: UploadKind;
  readonly contentType: string;
  /** As it was announced; once stored, as it is. */
  readonly size: number;
  readonly state: 'reserved' | 'receiving' | 'stored';
  /** Who uploads: one of the two; nobody of what came by mail. */
  readonly agentId: string | null;
  readonly visitorId: string | null;
  /** Where a visitor's came from. */
  readonly network: string | null;
  /** Of its bytes, in hex, once they are there. */
  readonly sha256: string | null;
  /** The first message that named it. */
  readonly messageId: string | null;
  /** Of the link. */
  readonly expiresAt: string;
  readonly createdAt: string;
}

const columns =
  'id, key, filename, kind, contentType, size, state, agentId, visitorId, network, sha256, messageId, expiresAt, createdAt';

/** Inserts it and counts its size. */
export function insertUpload(db: Database, upload: UploadRecord): void {
  db.run(
    `INSERT INTO upload (${columns})
     VALUES (@id, @key, @filename, @kind, @contentType, @size, @state, @agentId, @visitorId, @network, @sha256, @messageId, @expiresAt, @createdAt)`,
    { ...upload },
  );
  addUse(db, upload.kind, upload.size);
}

export function findUpload(db: Database, uploadId: string): UploadRecord | undefined {
  return db.get<UploadRecord>(`SELECT ${columns} FROM upload WHERE id = ?`, [uploadId]);
}

/** Sets what it names, and counts the difference in size. */
export function updateUpload(
  db: Database,
  before: UploadRecord,
  changes: Partial<Pick<UploadRecord, 'state' | 'size' | 'sha256' | 'messageId'>>,
): void {
  const { id, state, size, sha256, messageId } = { ...before, ...changes };
  db.run('UPDATE upload SET state = @state, size = @size, sha256 = @sha256, messageId = @messageId WHERE id = @id', {
    id,
    state,
    size,
    sha256,
    messageId,
  });
  if (size !== before.size) addUse(db, before.kind, size - before.size);
}

export function deleteUpload(db: Database, upload: UploadRecord): void {
  db.run('DELETE FROM upload WHERE id = ?', [upload.id]);
  addUse(db, upload.kind, -upload.size);
}

/** Bytes of a kind, reserved and stored. */
export function bytesUsed(db: Database, kind: UploadKind): number {
  return db.get<{ bytes: number }>('SELECT bytes FROM storageUse WHERE kind = ?', [kind])?.bytes ?? 0;
}

export interface UploadsSince {
  readonly count: number;
  readonly bytes: number;
  /** Null when there are none. */
  readonly oldestAt: string | null;
}

const totals = 'count(*) AS count, coalesce(sum(size), 0) AS bytes, min(createdAt) AS oldestAt';

/**
 * Of one visitor, of one network's visitors, or of all people of the workspace: what was reserved or stored later than
 * `at`.
 */
export function uploadsSince(
  db: Database,
  of: { readonly visitorId: string } | { readonly network: string } | 'workspace',
  at: string,
): UploadsSince {
  const none: UploadsSince = { count: 0, bytes: 0, oldestAt: null };
  if (of === 'workspace')
    return (
      db.get<UploadsSince>(
        `SELECT ${totals} FROM upload WHERE createdAt > ? AND (agentId IS NOT NULL OR visitorId IS NOT NULL)`,
        [at],
      ) ?? none
    );
  if ('visitorId' in of)
    return (
      db.get<UploadsSince>(`SELECT ${totals} FROM upload WHERE visitorId = ? AND createdAt > ?`, [of.visitorId, at]) ??
      none
    );
  return (
    db.get<UploadsSince>(`SELECT ${totals} FROM upload WHERE network = ? AND createdAt > ?`, [of.network, at]) ?? none
  );
}

function addUse(db: Database, kind: UploadKind, bytes: number): void {
  if (db.run('UPDATE storageUse SET bytes = bytes + @bytes WHERE kind = @kind', { kind, bytes }) > 0) return;
  db.run('INSERT INTO storageUse (kind, bytes) VALUES (@kind, @bytes)', { kind, bytes });
}

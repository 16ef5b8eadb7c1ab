// Uploaded objects, the bytes used by each kind, and recent uploads by their source.

import type { Database } from '../database.ts';

export type UploadKind = 'attachment' | 'logo' | 'team_attachment' | 'picture';

export interface UploadRecord {
  readonly id: string;
  readonly key: string;
  /** The display name; null for older uploads, which are named after their key. */
  readonly filename: string | null;
  readonly kind: UploadKind;
  readonly contentType: string;
  /** As announced; once stored, the actual size. */
  readonly size: number;
  readonly state: 'reserved' | 'receiving' | 'stored';
  /** The uploader: at most one of the two; none for mail. */
  readonly agentId: string | null;
  readonly visitorId: string | null;
  /** The network of a visitor's upload. */
  readonly network: string | null;
  /** Of its content, in hex, once it is stored. */
  readonly sha256: string | null;
  /** The first message that named it. */
  readonly messageId: string | null;
  /** Of the link. */
  readonly expiresAt: string;
  readonly createdAt: string;
}

const columns =
  'id, key, filename, kind, contentType, size, state, agentId, visitorId, network, sha256, messageId, expiresAt, createdAt';

/** Inserts it and adds its size. */
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

/** Writes the named fields and adjusts the total size. */
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
  /** Null if there are none. */
  readonly oldestAt: string | null;
}

const totals = 'count(*) AS count, coalesce(sum(size), 0) AS bytes, min(createdAt) AS oldestAt';

/** Of one visitor, of one network's visitors, or of all agents: what was reserved or stored after `at`. */
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

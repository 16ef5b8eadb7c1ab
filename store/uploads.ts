// Uploaded objects, and how many bytes of each kind there are.

import type { Database } from './database.ts';

export type UploadKind = 'attachment' | 'logo' | 'team_attachment';

export interface UploadRecord {
  readonly id: string;
  readonly key: string;
  readonly kind: UploadKind;
  readonly contentType: string;
  /** As it was announced; once stored, as it is. */
  readonly size: number;
  readonly state: 'reserved' | 'receiving' | 'stored';
  /** Who uploads: one of the two. */
  readonly agentId: string | null;
  readonly visitorId: string | null;
  /** Of the link. */
  readonly expiresAt: string;
  readonly createdAt: string;
}

/** Inserts it and counts its size. */
export function insertUpload(db: Database, upload: UploadRecord): void {
  db.run(
    `INSERT INTO upload (id, key, kind, contentType, size, state, agentId, visitorId, expiresAt, createdAt)
     VALUES (@id, @key, @kind, @contentType, @size, @state, @agentId, @visitorId, @expiresAt, @createdAt)`,
    { ...upload },
  );
  addUse(db, upload.kind, upload.size);
}

export function findUpload(db: Database, uploadId: string): UploadRecord | undefined {
  return db.get<UploadRecord>('SELECT * FROM upload WHERE id = ?', [uploadId]);
}

/** Sets state and size, and counts the difference. */
export function updateUpload(db: Database, before: UploadRecord, changes: Partial<Pick<UploadRecord, 'state' | 'size'>>): void {
  const { state, size } = { ...before, ...changes };
  db.run('UPDATE upload SET state = ?, size = ? WHERE id = ?', [state, size, before.id]);
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

function addUse(db: Database, kind: UploadKind, bytes: number): void {
  if (db.run('UPDATE storageUse SET bytes = bytes + @bytes WHERE kind = @kind', { kind, bytes }) > 0) return;
  db.run('INSERT INTO storageUse (kind, bytes) VALUES (@kind, @bytes)', { kind, bytes });
}

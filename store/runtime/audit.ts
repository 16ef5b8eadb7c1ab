// The audit log: who changed what. Written in the change's own transaction, never edited; old entries are hidden, then
// deleted.

import { below, type Cursor } from '../cursor.ts';
import type { Database } from '../database.ts';

export interface AuditRow {
  readonly id: string;
  readonly actorAgentId: string | null;
  readonly action: string;
  readonly targetKind: string;
  readonly targetId: string | null;
  /** `before`, `after` and `context` are JSON or null. */
  readonly before: string | null;
  readonly after: string | null;
  readonly context: string | null;
  readonly createdAt: string;
}

export function insertAudit(db: Database, row: AuditRow): void {
  db.run(
    `INSERT INTO audit (id, actorAgentId, action, targetKind, targetId, before, after, context, createdAt)
     VALUES (@id, @actorAgentId, @action, @targetKind, @targetId, @before, @after, @context, @createdAt)`,
    { ...row },
  );
}

/** Newest first, from just below `cursor`. */
export function auditPage(db: Database, page: { cursor: Cursor | undefined; limit: number }): AuditRow[] {
  return db.all<AuditRow>(
    `SELECT id, actorAgentId, action, targetKind, targetId, before, after, context, createdAt FROM audit
     WHERE deletedAt IS NULL AND (createdAt, id) < (@at, @id) ORDER BY createdAt DESC, id DESC LIMIT @limit`,
    { ...below(page.cursor), limit: page.limit },
  );
}

/**
 * Hides entries from before `olderThan`, and deletes those hidden before `hiddenBefore`. Returns the greater of the two
 * counts.
 */
export function expireAudit(
  db: Database,
  times: { now: string; olderThan: string; hiddenBefore: string },
  limit: number,
): number {
  const removed = db.run(
    'DELETE FROM audit WHERE rowid IN (SELECT rowid FROM audit WHERE deletedAt < ? ORDER BY deletedAt LIMIT ?)',
    [times.hiddenBefore, limit],
  );
  const hidden = db.run(
    'UPDATE audit SET deletedAt = ? WHERE rowid IN (SELECT rowid FROM audit WHERE deletedAt IS NULL AND createdAt < ? ORDER BY createdAt LIMIT ?)',
    [times.now, times.olderThan, limit],
  );
  return Math.max(removed, hidden);
}

export function isAudited(db: Database, { action, targetId }: { action: string; targetId: string }): boolean {
  return db.get('SELECT 1 FROM audit WHERE action = ? AND targetId = ?', [action, targetId]) !== undefined;
}

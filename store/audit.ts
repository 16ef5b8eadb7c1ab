// The audit log: who changed what. Written in the change's own transaction, never edited; old entries are hidden, then removed.

import type { Database } from './database.ts';
import type { Cursor } from './cursor.ts';

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
  const columns = 'id, actorAgentId, action, targetKind, targetId, before, after, context, createdAt';
  return page.cursor === undefined
    ? db.all<AuditRow>(`SELECT ${columns} FROM audit WHERE deletedAt IS NULL ORDER BY createdAt DESC, id DESC LIMIT ?`, [page.limit])
    : db.all<AuditRow>(`SELECT ${columns} FROM audit WHERE deletedAt IS NULL AND (createdAt, id) < (?, ?) ORDER BY createdAt DESC, id DESC LIMIT ?`, [page.cursor.at, page.cursor.id, page.limit]);
}

/** Hides entries from before `olderThan`, and removes those that were hidden before `hiddenBefore`. */
export function expireAudit(db: Database, times: { now: string; olderThan: string; hiddenBefore: string }): void {
  db.run('DELETE FROM audit WHERE deletedAt < ?', [times.hiddenBefore]);
  db.run('UPDATE audit SET deletedAt = ? WHERE deletedAt IS NULL AND createdAt < ?', [times.now, times.olderThan]);
}

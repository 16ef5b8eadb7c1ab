// Deadlines: one row per kind and subject.

import type { Database } from '../database.ts';

export interface DeadlineRow {
  readonly kind: string;
  readonly subjectId: string;
  readonly dueAt: string;
}

/** Sets or moves the deadline of this kind for this subject. */
export function putDeadline(db: Database, row: DeadlineRow): void {
  db.run(
    'INSERT INTO deadline (kind, subjectId, dueAt) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET dueAt = excluded.dueAt',
    [row.kind, row.subjectId, row.dueAt],
  );
}

/** True if there was one. */
export function deleteDeadline(db: Database, kind: string, subjectId: string): boolean {
  return db.run('DELETE FROM deadline WHERE kind = ? AND subjectId = ?', [kind, subjectId]) > 0;
}

export function findDeadline(db: Database, kind: string, subjectId: string): DeadlineRow | undefined {
  return db.get<DeadlineRow>('SELECT kind, subjectId, dueAt FROM deadline WHERE kind = ? AND subjectId = ?', [
    kind,
    subjectId,
  ]);
}

/** Of all deadlines of this kind. */
export function deadlineSubjects(db: Database, kind: string): string[] {
  return db
    .all<{ subjectId: string }>('SELECT subjectId FROM deadline WHERE kind = ?', [kind])
    .map(({ subjectId }) => subjectId);
}

/** Subjects of this kind after `afterId`, in order. */
export function deadlineSubjectsAfter(db: Database, page: { kind: string; afterId: string; limit: number }): string[] {
  return db
    .all<{ subjectId: string }>(
      'SELECT subjectId FROM deadline WHERE kind = ? AND subjectId > ? ORDER BY subjectId LIMIT ?',
      [page.kind, page.afterId, page.limit],
    )
    .map(({ subjectId }) => subjectId);
}

export function dueDeadlines(db: Database, at: string, limit: number): DeadlineRow[] {
  return db.all<DeadlineRow>('SELECT kind, subjectId, dueAt FROM deadline WHERE dueAt <= ? ORDER BY dueAt LIMIT ?', [
    at,
    limit,
  ]);
}

export function earliestDeadlineAt(db: Database): string | undefined {
  return db.get<{ dueAt: string | null }>('SELECT min(dueAt) AS dueAt FROM deadline')?.dueAt ?? undefined;
}

// Operators' command-line actions, in directory.db. Append-only.

import type { Database } from '../database.ts';
import { fromJsonOrNull, toJsonOrNull } from '../json.ts';

export interface OperatorAuditRow {
  readonly id: string;
  readonly action:
    | 'workspace.restored'
    | 'workspace.repaired'
    | 'workspace.erased'
    | 'contact.erased'
    | 'agent.second_factors_reset';
  readonly targetKind: 'workspace' | 'contact' | 'agent';
  readonly targetId: string;
  readonly context: object | null;
  readonly createdAt: string;
}

export function insertOperatorAudit(db: Database, row: OperatorAuditRow): void {
  db.run(
    'INSERT INTO operatorAudit (id, action, targetKind, targetId, context, createdAt) VALUES (@id, @action, @targetKind, @targetId, @context, @createdAt)',
    { ...row, context: toJsonOrNull(row.context) },
  );
}

export function isOperatorAudited(db: Database, id: string): boolean {
  return db.get('SELECT 1 FROM operatorAudit WHERE id = ?', [id]) !== undefined;
}

/** Oldest first. */
export function operatorAudit(db: Database): OperatorAuditRow[] {
  return db
    .all<Omit<OperatorAuditRow, 'context'> & { context: string | null }>(
      'SELECT * FROM operatorAudit ORDER BY createdAt, id',
    )
    .map((row) => ({ ...row, context: fromJsonOrNull<object>(row.context) }));
}

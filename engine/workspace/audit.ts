// The audit log: lists entries and computes differences. Entries are written where things change, by Context.audit(),
// or by auditChange() where a request may change nothing. Specification 4.11, 6.

import type { Cursor } from '../../store/cursor.ts';
import { auditPage } from '../../store/runtime/audit.ts';
import type { AuditDraft, Context, View } from '../runtime/context.ts';
import { requireAdmin } from './access.ts';

export interface AuditView {
  readonly id: string;
  readonly actorAgentId: string | null;
  readonly action: string;
  readonly targetKind: string;
  readonly targetId: string | null;
  readonly before: object | null;
  readonly after: object | null;
  readonly context: object | null;
  readonly createdAt: string;
}

/** Newest first. Refuses admin_required. */
export function listAudit(view: View, page: { cursor: Cursor | undefined; limit: number }): AuditView[] {
  requireAdmin(view);
  return auditPage(view.db, page).map((row) => ({
    ...row,
    before: parsed(row.before),
    after: parsed(row.after),
    context: parsed(row.context),
  }));
}

/** Records only fields that differ. `before` and `after` have the same shape. */
export function auditChange(
  ctx: Context,
  draft: AuditDraft & { readonly before: object; readonly after: object },
): void {
  if (JSON.stringify(draft.before) !== JSON.stringify(draft.after)) ctx.audit(draft);
}

function parsed(json: string | null): object | null {
  return json === null ? null : (JSON.parse(json) as object);
}

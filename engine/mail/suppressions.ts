// Suppressed addresses, and removing them from the list. They are added automatically: by engine/tickets/delivery.ts
// when a server refuses them for good, by engine/tickets/bounces.ts when mail bounces. Decisions "Inbound email".

import type { Cursor } from '../../store/cursor.ts';
import {
  deleteSuppression,
  findSuppression,
  insertSuppression,
  type SuppressionRecord,
  suppressionPage,
} from '../../store/mail/suppressions.ts';
import { refuse } from '../errors.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { requireAdmin } from '../workspace/access.ts';

/** Once per address; the first reason stays. */
export function suppress(ctx: Context, email: string, reason: SuppressionRecord['reason'], answer: string): void {
  if (findSuppression(ctx.db, email) !== undefined) return;
  insertSuppression(ctx.db, { id: ctx.ids.uuid(), email: email.toLowerCase(), reason, createdAt: ctx.at });
  ctx.audit({
    action: 'suppression.added',
    targetKind: 'suppression',
    targetId: email.toLowerCase(),
    after: { reason },
    context: { answer },
  });
}

/** Newest first. Refuses admin_required. */
export function listSuppressions(view: View, page: { cursor: Cursor | undefined; limit: number }): SuppressionRecord[] {
  requireAdmin(view);
  return suppressionPage(view.db, page);
}

/** Allows mail to the address again. Refuses admin_required, not_found. */
export const removeSuppression = command('suppression.delete', (ctx, params: { email: string }): void => {
  requireAdmin(ctx);
  const { email, reason, createdAt } = findSuppression(ctx.db, params.email) ?? refuse('not_found');
  deleteSuppression(ctx.db, email);
  ctx.audit({
    action: 'suppression.removed',
    targetKind: 'suppression',
    targetId: email,
    before: { email, reason, createdAt },
  });
});

// Secrets that a workspace shares with its mail provider and its carrier. They are sealed here; only the edge opens
// them. Decisions 4.10.

import { findSealedSecret, putSealedSecret, type SecretName } from '../../store/workspace/sealed-secrets.ts';
import { command } from '../runtime/command.ts';
import type { View } from '../runtime/context.ts';
import { requireAdmin } from './access.ts';

const names = ['inbound-email', 'carrier'] as const satisfies readonly SecretName[];
type SharedName = (typeof names)[number];
export type SealedSecrets = Readonly<Record<SharedName, string>>;

/** Undefined until the workspace has all of them. */
export function sealedSecrets(view: Pick<View, 'db'>): SealedSecrets | undefined {
  const inboundEmail = findSealedSecret(view.db, 'inbound-email');
  const carrier = findSealedSecret(view.db, 'carrier');
  return inboundEmail === undefined || carrier === undefined ? undefined : { 'inbound-email': inboundEmail, carrier };
}

/**
 * Stores the fresh secrets that the workspace does not have yet, and replaces the one to be changed, whose former value
 * is invalid from then on. Refuses admin_required.
 */
export const storeSecrets = command(
  'integrations.storeSecrets',
  (ctx, params: { fresh: SealedSecrets; rotate?: SharedName }): SealedSecrets => {
    requireAdmin(ctx);
    const { fresh, rotate } = params;
    for (const name of names) {
      if (name === rotate || findSealedSecret(ctx.db, name) === undefined)
        putSealedSecret(ctx.db, { name, sealed: fresh[name], createdAt: ctx.at });
    }
    if (rotate !== undefined)
      ctx.audit({
        action: 'workspace.updated',
        targetKind: 'workspace',
        targetId: ctx.workspaceId,
        context: { rotatedSecret: rotate },
      });
    return sealedSecrets(ctx) ?? fresh;
  },
);

// The secrets that a workspace shares with whoever speaks to it from outside: its mail provider and its carrier. They come here
// sealed and leave sealed; only the edge opens them. Decisions 4.10.

import { findSealedSecret, putSealedSecret, type SecretName } from '../store/sealed-secrets.ts';
import { requireAdmin } from './access.ts';
import { command } from './runtime/command.ts';
import type { View } from './runtime/context.ts';

export type SealedSecrets = Readonly<Record<SecretName, string | undefined>>;

export function sealedSecrets(view: Pick<View, 'db'>): SealedSecrets {
  return { 'inbound-email': findSealedSecret(view.db, 'inbound-email'), carrier: findSealedSecret(view.db, 'carrier') };
}

/** Keeps those that the workspace has not yet. Refuses admin_required. */
export const addMissingSecrets = command('integrations.addSecrets', (ctx, fresh: Readonly<Record<SecretName, string>>): SealedSecrets => {
  requireAdmin(ctx);
  for (const name of ['inbound-email', 'carrier'] as const) {
    if (findSealedSecret(ctx.db, name) === undefined) putSealedSecret(ctx.db, { name, sealed: fresh[name], createdAt: ctx.at });
  }
  return sealedSecrets(ctx);
});

/** The former secret signs nothing from here on. Refuses admin_required. */
export const rotateInboundSecret = command('integrations.rotateInboundSecret', (ctx, params: { sealed: string }): void => {
  requireAdmin(ctx);
  putSealedSecret(ctx.db, { name: 'inbound-email', sealed: params.sealed, createdAt: ctx.at });
  ctx.audit({ action: 'workspace.updated', targetKind: 'workspace', targetId: ctx.workspaceId, context: { rotated: 'inbound-email secret' } });
});

// Webhooks for a code that was guessed at too often, the only event of the verification API. Deliveries work like every
// webhook's. Specification 6, decisions 4.21.

import { addWebhook, type NewWebhook, type WebhookView, webhookView } from '../platform/webhooks.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import { feedWebhooks } from '../webhook-deliveries.ts';
import { requireAdmin } from '../workspace/access.ts';
import type { VerificationView } from './view.ts';

export const verifyEvents = ['verify.failed'] as const;

/** Refuses admin_required, invalid_body for an address with a user name, semantic_error for too many. */
export const createVerifyWebhook = command(
  'verifyWebhook.create',
  (ctx, params: Omit<NewWebhook, 'events'> & { events: readonly (typeof verifyEvents)[number][] }): WebhookView => {
    requireAdmin(ctx);
    return webhookView(ctx, addWebhook(ctx, 'verify', params));
  },
);

export function emitVerifyFailed(ctx: Context, verification: VerificationView, mode: 'live' | 'test'): void {
  feedWebhooks(ctx, 'verify', { type: 'verify.failed', mode, data: { verification, mode } });
}

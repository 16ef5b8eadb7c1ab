// Who is told when a code was guessed at too often, the one thing that the verification API tells by itself; and the telling. The
// deliveries are those of every webhook. Specification 6, decisions 4.21.

import { requireAdmin } from './access.ts';
import { command } from './runtime/command.ts';
import type { Context } from './runtime/context.ts';
import type { VerificationView } from './verification.ts';
import { feedWebhooks } from './webhook-feed.ts';
import { addWebhook, type WebhookView, webhookView } from './webhooks.ts';

export const verifyEvents = ['verify.failed'] as const;

/** Refuses admin_required, invalid_body for an address with a user name, semantic_error when there are too many. */
export const createVerifyWebhook = command('verifyWebhook.create', (ctx, params: { webhookId: string; url: string; events: readonly (typeof verifyEvents)[number][]; description: string | null; sealedSecret: string }): WebhookView => {
  requireAdmin(ctx);
  return webhookView(addWebhook(ctx, 'verify', { ...params, appId: null }));
});

export function tellVerifyFailed(ctx: Context, verification: VerificationView, mode: 'live' | 'test'): void {
  feedWebhooks(ctx, 'verify', { type: 'verify.failed', data: { verification, mode } });
}

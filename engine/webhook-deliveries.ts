// What becomes of each delivery: the log that admins read, the retry that they ask for, and the end of a webhook whose receiver has
// taken nothing for five days. The sending itself is outside work; http/webhook-sending.ts does it. Decisions 4.2.

import type { Cursor } from '../store/cursor.ts';
import { findOutbox } from '../store/outbox.ts';
import { deliveryPage, findDelivery, updateDelivery, type WebhookDelivery } from '../store/webhook-deliveries.ts';
import { updateWebhook, type WebhookFeed, type WebhookRecord } from '../store/webhooks.ts';
import { requireAdmin } from './access.ts';
import { refuse } from './errors.ts';
import { command } from './runtime/command.ts';
import type { Context, View } from './runtime/context.ts';
import type { DeadlineParams } from './runtime/deadlines.ts';
import type { OutboxItem, OutboxOutcome } from './runtime/outbox.ts';
import type { Grant } from './scopes.ts';
import { theWebhooks, webhookDeliveryKind } from './webhook-feed.ts';
import { requireWebhook, setWebhooks, webhookView } from './webhooks.ts';

export interface DeliveryView {
  readonly id: string;
  readonly event: string;
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly lastAnswer: string | null;
  readonly lastAttemptAt: string | null;
  readonly nextAttemptAt: string | null;
  readonly deliveredAt: string | null;
  readonly createdAt: string;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** At once, then with longer and longer pauses, over a day. */
export const webhookRetryDelaysMs: readonly number[] = [5000, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 5 * hourMs, 8 * hourMs, 8 * hourMs];

/** A receiver that took nothing for so long is told nothing more. */
const disableAfterMs = 5 * 24 * hourMs;
export const disableDeadline = 'webhook.disable';

/** Newest first. Refuses admin_required, not_found. */
export function listDeliveries(view: View, of: { webhookId: string; feed: WebhookFeed; grant: Grant | undefined }, page: { cursor: Cursor | undefined; limit: number }): DeliveryView[] {
  requireAdmin(view);
  const webhook = requireWebhook(view, of);
  return deliveryPage(view.db, { webhookId: webhook.id, ...page }).map(deliveryView);
}

/**
 * Sends it again, under the same id: what is over begins anew, what waits goes out now, after what waits before it. Refuses
 * admin_required, not_found, conflict when the webhook is disabled.
 */
export const retryDelivery = command('webhook.retryDelivery', (ctx, params: { webhookId: string; deliveryId: string; feed: WebhookFeed; grant: Grant | undefined }): DeliveryView => {
  requireAdmin(ctx);
  const webhook = requireWebhook(ctx, params);
  const delivery = findDelivery(ctx.db, params.deliveryId);
  if (delivery === undefined || delivery.webhookId !== webhook.id) refuse('not_found');
  if (webhook.status === 'disabled') refuse('conflict', { message: 'This webhook is disabled. Create it anew to go on.' });
  if (delivery.status === 'pending') ctx.hasten(delivery.target);
  else ctx.enqueue({ kind: webhookDeliveryKind, target: delivery.target, subjectId: delivery.id, payload: {} });
  return deliveryView(put(ctx, { ...delivery, status: 'pending', nextAttemptAt: ctx.at }));
});

/** In the transaction that records the outcome of an attempt. */
export function settleDelivery(ctx: Context, item: OutboxItem, outcome: OutboxOutcome): void {
  const delivery = findDelivery(ctx.db, item.subjectId ?? '');
  // Deleted with its webhook meanwhile.
  if (delivery === undefined) return;
  const attempted = { ...delivery, attempts: delivery.attempts + 1, lastAnswer: outcome.answer, lastAttemptAt: ctx.at };
  switch (outcome.state) {
    case 'sent':
      put(ctx, { ...attempted, status: 'delivered', nextAttemptAt: null, deliveredAt: ctx.at });
      break;
    case 'retry':
      put(ctx, { ...attempted, nextAttemptAt: findOutbox(ctx.db, item.id)?.nextAt ?? null });
      break;
    case 'failed':
      put(ctx, { ...attempted, status: 'failed', nextAttemptAt: null });
      break;
  }
  const webhook = theWebhooks(ctx).find(({ id }) => id === delivery.webhookId);
  if (webhook?.status === 'active') noteHealth(ctx, webhook, outcome.state === 'sent');
}

/** Five days after the first failure, unless something was taken since. */
export const disableFailing = command('webhook.disable', (ctx, params: DeadlineParams): void => {
  const webhook = theWebhooks(ctx).find(({ id }) => id === params.subjectId);
  if (webhook === undefined || webhook.failingSince === null || webhook.status === 'disabled') return;
  const disabled: WebhookRecord = { ...webhook, status: 'disabled' };
  replace(ctx, disabled);
  ctx.audit({ action: 'webhook.disabled', targetKind: 'webhook', targetId: webhook.id, before: webhookView(webhook), after: webhookView(disabled), context: { failingSince: webhook.failingSince } });
});

function noteHealth(ctx: Context, webhook: WebhookRecord, isTaken: boolean): void {
  if (isTaken === (webhook.failingSince === null)) return;
  replace(ctx, { ...webhook, failingSince: isTaken ? null : ctx.at });
  if (isTaken) ctx.clearDeadline(disableDeadline, webhook.id);
  else ctx.setDeadline(disableDeadline, webhook.id, ctx.nowMs + disableAfterMs);
}

function replace(ctx: Context, webhook: WebhookRecord): void {
  updateWebhook(ctx.db, webhook);
  setWebhooks(ctx, theWebhooks(ctx).map((one) => (one.id === webhook.id ? webhook : one)));
}

function put(ctx: Context, delivery: WebhookDelivery): WebhookDelivery {
  updateDelivery(ctx.db, delivery);
  return delivery;
}

function deliveryView({ id, event, status, attempts, lastAnswer, lastAttemptAt, nextAttemptAt, deliveredAt, createdAt }: WebhookDelivery): DeliveryView {
  return { id, event, status, attempts, lastAnswer, lastAttemptAt, nextAttemptAt, deliveredAt, createdAt };
}

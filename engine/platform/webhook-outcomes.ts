// Outcomes of webhook deliveries: the log for admins, their retries and tests, and disabling a webhook whose receiver
// accepted nothing for five days or says that it is gone. http/webhooks/sending.ts sends them from the outbox.
// Decisions 4.2.

import type { Cursor } from '../../store/cursor.ts';
import {
  deliveryPage,
  findDelivery,
  updateDelivery,
  type WebhookDelivery,
} from '../../store/platform/webhook-deliveries.ts';
import type { WebhookRecord } from '../../store/platform/webhooks.ts';
import { findOutbox } from '../../store/runtime/outbox.ts';
import { refuse } from '../errors.ts';
import { localRightsOf, whyPaused } from '../rights/webhook-rights.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import type { OutboxItem, OutboxOutcome } from '../runtime/outbox.ts';
import { queueDelivery, theWebhooks, webhookDeliveryKind } from '../webhook-deliveries.ts';
import { requireAdmin } from '../workspace/access.ts';
import { mailDisabled } from './webhook-notices.ts';
import { disableDeadline, dropWebhook, putWebhook, requireWebhook, type WebhookOf, webhookView } from './webhooks.ts';

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

const hourMs = 60 * 60_000;
/** A webhook is disabled after failing for this long. */
const disableAfterMs = 5 * 24 * hourMs;
/** The longest delay that a receiver's Retry-After can ask for. */
export const maxRetryAfterMs = 8 * hourMs;

/**
 * Codes of attempts that end without an answer to retry, for settleDelivery(): 410; no right to receive the event; the
 * app no longer exists.
 */
export const deliveryEnds = { gone: 'gone', notAllowed: 'not_allowed', appGone: 'app_gone' } as const;

const testEvent = 'webhook.test';

/** Newest first. Refuses admin_required, not_found. */
export function listDeliveries(
  view: View,
  of: WebhookOf & { webhookId: string },
  page: { cursor: Cursor | undefined; limit: number },
): DeliveryView[] {
  requireAdmin(view);
  const webhook = requireWebhook(view, of);
  return deliveryPage(view.db, { webhookId: webhook.id, ...page }).map(deliveryView);
}

/**
 * A delivery with its request and response; the edge shows as much as the reader may read. Refuses admin_required,
 * not_found.
 */
export function readDelivery(
  view: View,
  of: WebhookOf & { webhookId: string; deliveryId: string },
): { delivery: DeliveryView; body: string; responseBody: string | null } {
  requireAdmin(view);
  const delivery = requireDelivery(view, of);
  return { delivery: deliveryView(delivery), body: delivery.body, responseBody: delivery.responseBody };
}

/**
 * Sends it again under the same id: a settled one starts over, a pending one goes out now, in order. Refuses
 * admin_required, not_found, conflict if the webhook is disabled or paused.
 */
export const retryDelivery = command(
  'webhook.retryDelivery',
  (ctx, params: WebhookOf & { webhookId: string; deliveryId: string }): DeliveryView => {
    requireAdmin(ctx);
    const delivery = requireDelivery(ctx, params);
    requireAtWork(ctx, requireWebhook(ctx, params));
    if (delivery.status === 'pending') ctx.retryNow(delivery.target);
    else ctx.enqueue(webhookDeliveryKind, { target: delivery.target, subjectId: delivery.id, payload: {} });
    return deliveryView(put(ctx, { ...delivery, status: 'pending', nextAttemptAt: ctx.at }));
  },
);

/**
 * Sends an event without content, apart from the queue. Refuses admin_required, not_found, conflict as retryDelivery.
 */
export const testWebhook = command('webhook.test', (ctx, params: WebhookOf & { webhookId: string }): DeliveryView => {
  requireAdmin(ctx);
  const webhook = requireWebhook(ctx, params);
  requireAtWork(ctx, webhook);
  return deliveryView(queueDelivery(ctx, webhook, { type: testEvent, data: { webhookId: webhook.id } }, testEvent));
});

function requireDelivery(
  view: Pick<View, 'db' | 'state'>,
  of: WebhookOf & { webhookId: string; deliveryId: string },
): WebhookDelivery {
  const webhook = requireWebhook(view, of);
  const delivery = findDelivery(view.db, of.deliveryId);
  return delivery === undefined || delivery.webhookId !== webhook.id ? refuse('not_found') : delivery;
}

function requireAtWork(ctx: Context, webhook: WebhookRecord): void {
  if (webhook.status === 'disabled')
    refuse('conflict', { message: 'This webhook is disabled. Set its status to active first.' });
  const pausedReason = whyPaused(webhook, localRightsOf(ctx, webhook));
  if (pausedReason !== undefined)
    refuse('conflict', {
      message:
        'The creator of this webhook no longer has the rights it needs. Save it again to become responsible for it.',
      detail: { pausedReason },
    });
}

/** Runs in the transaction that records an attempt's outcome. */
export function settleDelivery(ctx: Context, item: OutboxItem, outcome: OutboxOutcome): void {
  const delivery = findDelivery(ctx.db, item.subjectId ?? '');
  // Deleted with its webhook meanwhile.
  if (delivery === undefined) return;
  const attempted = {
    ...delivery,
    attempts: delivery.attempts + 1,
    lastAnswer: outcome.answer,
    responseBody: outcome.detail ?? null,
    lastAttemptAt: ctx.at,
  };
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
  if (webhook === undefined) return;
  switch (outcome.state === 'sent' ? undefined : outcome.code) {
    case deliveryEnds.appGone:
      dropWebhook(ctx, webhook);
      break;
    case deliveryEnds.notAllowed:
      // The receiver was not called.
      break;
    case deliveryEnds.gone:
      if (webhook.status === 'active') disable(ctx, webhook, { answer: outcome.answer });
      break;
    default:
      if (webhook.status === 'active') noteHealth(ctx, webhook, outcome.state === 'sent');
  }
}

/** Five days after the first failure, unless a delivery succeeded since. */
export const disableFailing = command('webhook.disable', (ctx, params: DeadlineParams): void => {
  const webhook = theWebhooks(ctx).find(({ id }) => id === params.subjectId);
  if (webhook === undefined || webhook.failingSince === null || webhook.status === 'disabled') return;
  disable(ctx, webhook, { failingSince: webhook.failingSince });
});

function disable(
  ctx: Context,
  webhook: WebhookRecord,
  why: { readonly failingSince: string } | { readonly answer: string },
): void {
  const disabled: WebhookRecord = { ...webhook, status: 'disabled' };
  putWebhook(ctx, disabled);
  ctx.clearDeadline(disableDeadline, webhook.id);
  ctx.audit({
    action: 'webhook.disabled',
    targetKind: 'webhook',
    targetId: webhook.id,
    before: webhookView(ctx, webhook),
    after: webhookView(ctx, disabled),
    context: why,
  });
  mailDisabled(ctx, webhook, 'answer' in why);
}

function noteHealth(ctx: Context, webhook: WebhookRecord, isTaken: boolean): void {
  if (isTaken === (webhook.failingSince === null)) return;
  putWebhook(ctx, { ...webhook, failingSince: isTaken ? null : ctx.at });
  if (isTaken) ctx.clearDeadline(disableDeadline, webhook.id);
  else ctx.setDeadline(disableDeadline, webhook.id, ctx.nowMs + disableAfterMs);
}

function put(ctx: Context, delivery: WebhookDelivery): WebhookDelivery {
  updateDelivery(ctx.db, delivery);
  return delivery;
}

function deliveryView({
  id,
  event,
  status,
  attempts,
  lastAnswer,
  lastAttemptAt,
  nextAttemptAt,
  deliveredAt,
  createdAt,
}: WebhookDelivery): DeliveryView {
  return { id, event, status, attempts, lastAnswer, lastAttemptAt, nextAttemptAt, deliveredAt, createdAt };
}

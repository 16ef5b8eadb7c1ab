// Turns an event into deliveries: a row and an outbox item for every subscribed webhook, in the transaction that made
// the event, so that no delivery is lost and none is about an event that was rolled back. Called by emit() for each
// event. Rights are checked here, and again when it is sent.

import { insertDelivery, type WebhookDelivery } from '../store/platform/webhook-deliveries.ts';
import { allWebhooks, type WebhookFeed, type WebhookRecord } from '../store/platform/webhooks.ts';
import { type Deliverable, localRightsOf, mayReceive } from './rights/webhook-rights.ts';
import type { Context, View } from './runtime/context.ts';
import { type NoPayload, outboxKind } from './runtime/kinds.ts';
import type { ActorKind } from './runtime/registry.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

export const webhookDeliveryKind = outboxKind<NoPayload>('webhook', {
  // At once, then with growing delays, over a day.
  retryDelaysMs: [5000, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 5 * hourMs, 8 * hourMs, 8 * hourMs],
  isApart: true,
});

/** All of the workspace's, newest first. In memory, because every event reads it. */
export const webhooksKind: ActorKind<readonly WebhookRecord[]> = { name: 'webhooks', load: allWebhooks };

export function theWebhooks(view: Pick<View, 'state'>): readonly WebhookRecord[] {
  return view.state(webhooksKind, '') ?? [];
}

export interface FedEvent extends Deliverable {
  readonly type: string;
  readonly data: object;
  /** Events of one conversation are delivered in order. */
  readonly conversationId?: string | undefined;
  /** Its sequence number on the sockets, if any. */
  readonly seq?: number | undefined;
}

/** Queues the event for every active webhook of the feed that subscribed to its type. */
export function feedWebhooks(ctx: Context, feed: WebhookFeed, event: FedEvent): void {
  for (const webhook of theWebhooks(ctx)) {
    if (
      webhook.feed === feed &&
      webhook.status === 'active' &&
      wants(webhook, event.type) &&
      mayReceive(webhook, localRightsOf(ctx, webhook), event)
    )
      queueDelivery(ctx, webhook, event);
  }
}

function wants(webhook: WebhookRecord, type: string): boolean {
  return webhook.events.includes('*') || webhook.events.includes(type);
}

/** The prefix of a webhook's outbox targets. */
export function targetsOf(webhookId: string): string {
  return `${webhookDeliveryKind.name}:${webhookId}:`;
}

/** `lane`: orders the delivery with others of the same lane, instead of with those of its conversation. */
export function queueDelivery(
  ctx: Context,
  webhook: WebhookRecord,
  { type, data, conversationId, seq }: FedEvent,
  lane = conversationId ?? '',
): WebhookDelivery {
  const id = ctx.ids.uuid();
  const target = `${targetsOf(webhook.id)}${lane}`;
  const delivery: WebhookDelivery = {
    id,
    webhookId: webhook.id,
    event: type,
    target,
    body: JSON.stringify({ type, timestamp: ctx.at, workspaceId: ctx.workspaceId, seq, conversationId, data }),
    status: 'pending',
    attempts: 0,
    lastAnswer: null,
    responseBody: null,
    lastAttemptAt: null,
    nextAttemptAt: ctx.at,
    deliveredAt: null,
    createdAt: ctx.at,
  };
  insertDelivery(ctx.db, delivery);
  ctx.enqueue(webhookDeliveryKind, { target, subjectId: id, payload: {} });
  return delivery;
}

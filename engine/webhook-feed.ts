// From an event to its deliveries: for every webhook that wants it a row and a piece of outside work, in the
// transaction that made the event, so that none is lost and none is told of what never was. Called by tell() for each
// event. Who may be told is asked here, and again when it is sent.

import { insertDelivery, type WebhookDelivery } from '../store/platform/webhook-deliveries.ts';
import { allWebhooks, type WebhookFeed, type WebhookRecord } from '../store/platform/webhooks.ts';
import { localRightsOf, mayBeTold, type Telling } from './rights/webhook-rights.ts';
import type { Context, View } from './runtime/context.ts';
import type { ActorKind } from './runtime/registry.ts';

export const webhookDeliveryKind = 'webhook';

/** All of the workspace's, newest first; asked of at every event, so held in memory. */
export const webhooksKind: ActorKind<readonly WebhookRecord[]> = { name: 'webhooks', load: allWebhooks };

export function theWebhooks(view: Pick<View, 'state'>): readonly WebhookRecord[] {
  return view.state(webhooksKind, '') ?? [];
}

export interface FedEvent extends Telling {
  readonly type: string;
  readonly data: object;
  /** What is told of one conversation is told in order. */
  readonly conversationId?: string | undefined;
  /** Its number on the sockets, where it has one. */
  readonly seq?: number | undefined;
}

/** Queues the event for every active webhook of the feed that asked for its type. */
export function feedWebhooks(ctx: Context, feed: WebhookFeed, event: FedEvent): void {
  for (const webhook of theWebhooks(ctx)) {
    if (
      webhook.feed === feed &&
      webhook.status === 'active' &&
      wants(webhook, event.type) &&
      mayBeTold(webhook, localRightsOf(ctx, webhook), event)
    )
      queueDelivery(ctx, webhook, event);
  }
}

function wants(webhook: WebhookRecord, type: string): boolean {
  return webhook.events.includes('*') || webhook.events.includes(type);
}

/** Targets of its deliveries begin so. */
export function targetsOf(webhookId: string): string {
  return `${webhookDeliveryKind}:${webhookId}:`;
}

/** `lane`: what is sent in order with it, in place of what is of its conversation. */
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
  ctx.enqueue({ kind: webhookDeliveryKind, target, subjectId: id, payload: {} });
  return delivery;
}

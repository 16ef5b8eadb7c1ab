// From an event to its deliveries: for every webhook that wants it a row and a piece of outside work, in the transaction that
// made the event, so that none is lost and none is told of what never was. Called by tell() for each event; knows no rule about
// who may subscribe.

import { insertDelivery } from '../store/webhook-deliveries.ts';
import { allWebhooks, type WebhookFeed, type WebhookRecord } from '../store/webhooks.ts';
import type { Context, View } from './runtime/context.ts';
import type { ActorKind } from './runtime/registry.ts';

export const webhookDeliveryKind = 'webhook';

/** All of the workspace's, newest first; asked of at every event, so held in memory. */
export const webhooksKind: ActorKind<readonly WebhookRecord[]> = { name: 'webhooks', load: allWebhooks };

export function theWebhooks(view: Pick<View, 'state'>): readonly WebhookRecord[] {
  return view.state(webhooksKind, '') ?? [];
}

export interface FedEvent {
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
    if (webhook.feed === feed && webhook.status === 'active' && wants(webhook, event.type)) queue(ctx, webhook, event);
  }
}

function wants(webhook: WebhookRecord, type: string): boolean {
  return webhook.events.includes('*') || webhook.events.includes(type);
}

function queue(ctx: Context, webhook: WebhookRecord, { type, data, conversationId, seq }: FedEvent): void {
  const id = ctx.ids.uuid();
  const target = `${webhookDeliveryKind}:${webhook.id}:${conversationId ?? ''}`;
  insertDelivery(ctx.db, {
    id,
    webhookId: webhook.id,
    event: type,
    target,
    body: JSON.stringify({ type, timestamp: ctx.at, workspaceId: ctx.workspaceId, seq, conversationId, data }),
    status: 'pending',
    attempts: 0,
    lastAnswer: null,
    lastAttemptAt: null,
    nextAttemptAt: ctx.at,
    deliveredAt: null,
    createdAt: ctx.at,
  });
  ctx.enqueue({ kind: webhookDeliveryKind, target, subjectId: id, payload: {} });
}

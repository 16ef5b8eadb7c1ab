// One attempt at one delivery: its body as it was queued, signed anew with the time of the attempt, as Standard Webhooks says
// (webhook-id, webhook-timestamp, webhook-signature: v1). Called by the outbox.

import { createHmac } from 'node:crypto';
import type { Clock } from '../engine/runtime/clock.ts';
import { systemCaller } from '../engine/runtime/command.ts';
import type { Engine } from '../engine/runtime/engine.ts';
import type { Ids } from '../engine/runtime/ids.ts';
import { type OutboxItem, OutsideFailure } from '../engine/runtime/outbox.ts';
import { theWebhooks } from '../engine/webhook-feed.ts';
import { webhookSecretName } from '../engine/webhooks.ts';
import { findDelivery } from '../store/webhook-deliveries.ts';
import type { WebhookRecord } from '../store/webhooks.ts';
import type { WebhookSender } from '../workers/providers/webhook-sender.ts';
import type { SecretBox } from '../workers/secret-box.ts';

export interface WebhookSending {
  readonly engine: Pick<Engine, 'workspace'>;
  readonly sender: WebhookSender;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  /** Of the app that subscribed; undefined when there is none that may still be told. */
  appSecret(clientId: string, workspaceId: string): string | undefined;
}

/** Before the base64 of a secret's bytes (Standard Webhooks). */
const secretPrefix = 'whsec_';
/** Standard Webhooks: 24 to 64. */
const secretBytes = 32;

export function freshWebhookSecret(ids: Pick<Ids, 'secret'>): string {
  return secretPrefix + Buffer.from(ids.secret(secretBytes), 'base64url').toString('base64');
}

/** Resolves to the receiver's answer. Rejects with OutsideFailure where nothing is to be sent any more. */
export async function sendWebhook(sending: WebhookSending, item: Pick<OutboxItem, 'workspaceId' | 'subjectId'>): Promise<string> {
  const view = sending.engine.workspace(item.workspaceId)?.view(systemCaller);
  const delivery = view && findDelivery(view.db, item.subjectId ?? '');
  const webhook = view && theWebhooks(view).find(({ id }) => id === delivery?.webhookId);
  if (delivery === undefined || webhook === undefined) throw new OutsideFailure('the webhook was deleted', { permanent: true });
  if (webhook.status === 'disabled') throw new OutsideFailure('the webhook is disabled', { permanent: true });
  const timestamp = String(Math.floor(sending.clock.now() / 1000));
  const signature = signatureOf(signingKey(sending, item.workspaceId, webhook), { id: delivery.id, timestamp, body: delivery.body });
  return sending.sender.send({
    url: webhook.url,
    headers: { 'content-type': 'application/json', 'webhook-id': delivery.id, 'webhook-timestamp': timestamp, 'webhook-signature': signature },
    body: delivery.body,
  });
}

export function signatureOf(key: Uint8Array, message: { id: string; timestamp: string; body: string }): string {
  return `v1,${createHmac('sha256', key).update(`${message.id}.${message.timestamp}.${message.body}`).digest('base64')}`;
}

/** An app's is the bytes of its client secret (decisions "OAuth"). */
function signingKey({ secrets, appSecret }: WebhookSending, workspaceId: string, webhook: WebhookRecord): Uint8Array {
  if (webhook.sealedSecret === null) {
    const secret = webhook.appId === null ? undefined : appSecret(webhook.appId, workspaceId);
    if (secret === undefined) throw new OutsideFailure('its app is gone', { permanent: true });
    return Buffer.from(secret);
  }
  return Buffer.from(secrets.open(webhook.sealedSecret, webhookSecretName(workspaceId, webhook.id)).slice(secretPrefix.length), 'base64');
}

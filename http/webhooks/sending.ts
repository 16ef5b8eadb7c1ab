// One attempt at one delivery: the body, limited to what the receiver may see now, signed with the time of the attempt
// according to Standard Webhooks (webhook-id, webhook-timestamp, webhook-signature: v1). Called by the outbox.

import { createHmac } from 'node:crypto';
import { deliveryEnds, maxRetryAfterMs } from '../../engine/platform/webhook-outcomes.ts';
import { webhookSecretName } from '../../engine/platform/webhooks.ts';
import type { Grant } from '../../engine/rights/scopes.ts';
import { holderOfWebhook, type PausedReason, whyPaused } from '../../engine/rights/webhook-rights.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { isoTime } from '../../engine/runtime/clock.ts';
import type { Ids } from '../../engine/runtime/ids.ts';
import { type Delivered, DeliveryError, type OutboxItem } from '../../engine/runtime/outbox.ts';
import { theWebhooks } from '../../engine/webhook-deliveries.ts';
import { findDelivery } from '../../store/platform/webhook-deliveries.ts';
import type { WebhookRecord } from '../../store/platform/webhooks.ts';
import type { WebhookAnswer, WebhookSender } from '../../workers/providers/webhook-sender.ts';
import { rightsNow } from '../pipeline/rights-now.ts';
import { readableData } from '../schemas/event-records.ts';
import { appSecret, clientOf, haveClient } from '../secrets/oauth-clients.ts';
import type { Services } from '../services.ts';

export interface WebhookSending extends Pick<Services, 'engine' | 'config' | 'secrets' | 'clock'> {
  readonly sender: Pick<WebhookSender, 'send'>;
}

/** Prefix of the base64 of a secret's bytes (Standard Webhooks). */
const secretPrefix = 'whsec_';
/** Standard Webhooks allows 24 to 64. */
const secretBytes = 32;

export function freshWebhookSecret(ids: Pick<Ids, 'secret'>): string {
  return secretPrefix + Buffer.from(ids.secret(secretBytes), 'base64url').toString('base64');
}

/** Resolves to the receiver's answer. Rejects with DeliveryError, or any error to be tried again. */
export async function sendWebhook(
  sending: WebhookSending,
  item: Pick<OutboxItem, 'workspaceId' | 'subjectId'>,
): Promise<Delivered> {
  const view = sending.engine.workspace(item.workspaceId)?.view(systemCaller);
  const delivery = view && findDelivery(view.db, item.subjectId ?? '');
  const webhook = view && theWebhooks(view).find(({ id }) => id === delivery?.webhookId);
  if (delivery === undefined || webhook === undefined)
    throw new DeliveryError('the webhook was deleted', { permanent: true });
  if (webhook.status === 'disabled') throw new DeliveryError('the webhook is disabled', { permanent: true });
  if (webhook.appId !== null) await haveClient(sending, webhook.appId);
  const body = bodyFor(sending, item.workspaceId, webhook, delivery.body);
  const message = { id: delivery.id, timestamp: String(Math.floor(sending.clock.now() / 1000)), body };
  const signatures = signingKeys(sending, item.workspaceId, webhook).map((key) => signatureOf(key, message));
  const answer = await sending.sender.send({
    url: webhook.url,
    // Signatures are separated by spaces; one valid signature is enough (Standard Webhooks).
    headers: {
      'content-type': 'application/json',
      'webhook-id': message.id,
      'webhook-timestamp': message.timestamp,
      'webhook-signature': signatures.join(' '),
    },
    body,
  });
  return outcomeOf(answer, sending.clock.now());
}

export function signatureOf(key: Uint8Array, message: { id: string; timestamp: string; body: string }): string {
  return `v1,${createHmac('sha256', key).update(`${message.id}.${message.timestamp}.${message.body}`).digest('base64')}`;
}

/** The body that the receiver may see now. Rejects if it may see nothing. */
function bodyFor(sending: WebhookSending, workspaceId: string, webhook: WebhookRecord, body: string): string {
  const holder = holderOfWebhook(webhook);
  const rights = holder && rightsNow(sending, workspaceId, holder);
  if (webhook.appId !== null && clientOf(sending, webhook.appId) === undefined)
    throw new DeliveryError('its app was deleted', { permanent: true, code: deliveryEnds.appGone });
  const pausedReason = whyPaused(webhook, rights);
  if (pausedReason !== undefined)
    throw new DeliveryError(`not sent: ${whyNot[pausedReason]}`, { permanent: true, code: deliveryEnds.notAllowed });
  const told = readableBody(body, rights?.grant);
  if (told === undefined)
    throw new DeliveryError('not sent: its content requires a scope that was removed', {
      permanent: true,
      code: deliveryEnds.notAllowed,
    });
  return told;
}

const whyNot: Record<PausedReason, string> = {
  admin_left: 'the creator of the webhook is no longer an admin',
  key_revoked: 'the key that created the webhook was revoked',
  app_not_allowed: 'no agent allows the app to subscribe any more',
};

/** A delivery's body within a grant; undefined if nothing is left. */
export function readableBody(body: string, grant: Grant | undefined): string | undefined {
  if (grant === undefined) return body;
  // Only queueDelivery() writes it.
  const whole = JSON.parse(body) as { readonly type?: string; readonly data?: unknown };
  if (whole.type === undefined || whole.data === undefined) return body;
  const data = readableData(whole.type, whole.data, grant);
  return data === undefined ? undefined : JSON.stringify({ ...whole, data });
}

/** Any 2xx is success. 410 means permanently gone; 429 and 503 may say how long to wait. */
function outcomeOf({ status, retryAfter, body: detail }: WebhookAnswer, nowMs: number): Delivered {
  const answer = `answered ${status}`;
  if (status >= 200 && status < 300) return { answer, detail };
  if (status === 410) throw new DeliveryError(answer, { permanent: true, code: deliveryEnds.gone, detail });
  const retryAfterMs = status === 429 || status === 503 ? retryAfterOf(retryAfter, nowMs) : undefined;
  throw new DeliveryError(answer, { permanent: false, retryAfterMs, detail });
}

/** Seconds or a date (RFC 9110 §10.2.3); bounded. */
function retryAfterOf(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), maxRetryAfterMs);
}

/** An app's key is the bytes of its client secret (decisions "OAuth"). A replaced secret keeps signing for a while. */
function signingKeys(sending: WebhookSending, workspaceId: string, webhook: WebhookRecord): Uint8Array[] {
  if (webhook.sealedSecret === null) {
    const secret = webhook.appId === null ? undefined : appSecret(sending, webhook.appId);
    if (secret === undefined) throw new DeliveryError('its app has no secret', { permanent: true });
    return [Buffer.from(secret)];
  }
  const { formerSecret, formerSecretUntil } = webhook;
  const isFormerInUse = formerSecretUntil !== null && isoTime(sending.clock.now()) < formerSecretUntil;
  return [webhook.sealedSecret, ...(formerSecret !== null && isFormerInUse ? [formerSecret] : [])].map((sealed) =>
    Buffer.from(
      sending.secrets.open(sealed, webhookSecretName(workspaceId, webhook.id)).slice(secretPrefix.length),
      'base64',
    ),
  );
}

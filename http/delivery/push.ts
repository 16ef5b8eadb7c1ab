// One attempt at one push: opens the workspace's key, builds the message and says what the push service's answer means.
// Called by the outbox.

import { createHash } from 'node:crypto';
import { systemCaller } from '../../engine/runtime/caller.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Engine } from '../../engine/runtime/engine.ts';
import { DeliveryError, type OutboxItem } from '../../engine/runtime/outbox.ts';
import { sealedPushKey } from '../../engine/team/notifications.ts';
import { isPushDue, type Push, subscriptionGone } from '../../engine/team/notifying.ts';
import { findPushSubscription } from '../../store/workspace/notifications.ts';
import type { PushSender } from '../../workers/providers/web-push.ts';
import type { SecretBox } from '../../workers/secrets/secret-box.ts';

export interface PushPorts {
  readonly engine: Engine;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly sender: PushSender;
}

/** The purpose under which the key is sealed. */
export const pushKeyName = (workspaceId: string): string => `${workspaceId}:push`;

/** A push service that asks for more is asked again after this. */
const maxRetryAfterMs = 3600_000;
/** A topic has at most 32 characters (RFC 8030 §5.4). */
const topicChars = 32;

export async function sendPush(ports: PushPorts, item: OutboxItem<Push>): Promise<string> {
  const { workspaceId, subjectId, payload } = item;
  const view = ports.engine.workspace(workspaceId)?.view(systemCaller);
  const subscription = view && findPushSubscription(view.db, payload.subscriptionId);
  const sealed = view && sealedPushKey(view);
  if (view === undefined || subscription === undefined || sealed === undefined)
    throw new DeliveryError('the browser unsubscribed', { permanent: true });
  if (!isPushDue(view, payload, subjectId ?? '')) return 'no longer news';
  const nowMs = ports.clock.now();
  const { notice, expiresAt, isUrgent } = payload;
  const { status, retryAfter } = await ports.sender.send({
    target: subscription,
    text: JSON.stringify(notice),
    key: ports.secrets.open(sealed, pushKeyName(workspaceId)),
    ttlSeconds: Math.max(0, Math.ceil((Date.parse(expiresAt) - nowMs) / 1000)),
    isUrgent,
    topic: createHash('sha256').update(notice.tag).digest('base64url').slice(0, topicChars),
    nowMs,
  });
  return outcomeOf(status, retryAfter);
}

/** Any 2xx is success. 404 and 410: the subscription ended. 408, 429 and 5xx pass; anything else never will. */
function outcomeOf(status: number, retryAfter: string | undefined): string {
  const answer = `answered ${status}`;
  if (status >= 200 && status < 300) return answer;
  if (status === 404 || status === 410) throw new DeliveryError(answer, { permanent: true, code: subscriptionGone });
  const isPassing = status === 408 || status === 429 || status >= 500;
  const seconds = Number(retryAfter ?? Number.NaN);
  throw new DeliveryError(answer, {
    permanent: !isPassing,
    retryAfterMs:
      isPassing && Number.isFinite(seconds) ? Math.min(Math.max(0, seconds * 1000), maxRetryAfterMs) : undefined,
  });
}

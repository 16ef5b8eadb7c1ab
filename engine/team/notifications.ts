// An agent's choices of what it is notified about, and the browsers that push reaches. A browser belongs to the sign-in
// that it subscribed with and is forgotten with it. Decisions "Push".

import {
  deletePushSubscription,
  deletePushSubscriptions,
  findNotifyChoice,
  findPushSubscription,
  findPushSubscriptionAt,
  insertPushSubscription,
  type NotifyChoice,
  notifyReasons,
  type PushSubscriptionRecord,
  pushSubscriptionsOf,
  putNotifyChoice,
} from '../../store/workspace/notifications.ts';
import { findSealedSecret, putSealedSecret } from '../../store/workspace/sealed-secrets.ts';
import { deviceOf } from '../devices.ts';
import { refuse } from '../errors.ts';
import { command } from '../runtime/command.ts';
import type { View } from '../runtime/context.ts';
import { callingAgent } from '../workspace/access.ts';

/** Beyond it, the agent's oldest is forgotten. */
const maxSubscriptionsPerAgent = 20;

/** Pages notify of everything, and so does push once a browser subscribed. Mail is asked for. */
const byDefault: NotifyChoice = {
  push: notifyReasons,
  mail: [],
  show: notifyReasons,
  sound: notifyReasons,
};

export interface PushSubscriptionView {
  readonly id: string;
  /** Whether it is of the caller's sign-in. */
  readonly isCurrent: boolean;
  readonly device: string;
  readonly endpoint: string;
  readonly createdAt: string;
}

export function notifyChoiceOf(view: Pick<View, 'db'>, agentId: string): NotifyChoice {
  return findNotifyChoice(view.db, agentId) ?? byDefault;
}

export function readNotifyChoice(view: View): NotifyChoice {
  return notifyChoiceOf(view, callingAgent(view).id);
}

/** Replaces the lists that are given. */
export const changeNotifyChoice = command(
  'notifications.change',
  (ctx, params: { changes: Partial<NotifyChoice> }): NotifyChoice => {
    const agent = callingAgent(ctx);
    const present = notifyChoiceOf(ctx, agent.id);
    const { push = present.push, mail = present.mail, show = present.show, sound = present.sound } = params.changes;
    const inOrder = (chosen: NotifyChoice['push']): NotifyChoice['push'] =>
      notifyReasons.filter((reason) => chosen.includes(reason));
    const next = { push: inOrder(push), mail: inOrder(mail), show: inOrder(show), sound: inOrder(sound) };
    putNotifyChoice(ctx.db, agent.id, next);
    return next;
  },
);

/** By the link in a mail. No effect on an agent who is gone, or who is not mailed for these reasons. */
export const endNoticeMails = command(
  'notifications.endMails',
  (ctx, { agentId, reasons }: { agentId: string; reasons: NotifyChoice['mail'] }): void => {
    const present = notifyChoiceOf(ctx, agentId);
    const mail = present.mail.filter((reason) => !reasons.includes(reason));
    if (mail.length < present.mail.length) putNotifyChoice(ctx.db, agentId, { ...present, mail });
  },
);

/** The workspace's key for push services, sealed; undefined until it is needed. */
export function sealedPushKey(view: Pick<View, 'db'>): string | undefined {
  return findSealedSecret(view.db, 'push');
}

/**
 * Keeps the key unless there is one: subscriptions are bound to it. `lost`: the present one if it cannot be opened any
 * more; it is replaced, and its subscriptions are forgotten. Returns the present one.
 */
export const keepPushKey = command(
  'push.keepKey',
  (ctx, params: { sealed: string; lost: string | undefined }): string => {
    const present = sealedPushKey(ctx);
    if (present !== undefined && present !== params.lost) return present;
    if (present !== undefined) deletePushSubscriptions(ctx.db);
    putSealedSecret(ctx.db, { name: 'push', sealed: params.sealed, createdAt: ctx.at });
    return params.sealed;
  },
);

export function listPushSubscriptions(view: View, sessionId: string | undefined): PushSubscriptionView[] {
  return pushSubscriptionsOf(view.db, callingAgent(view).id, view.at).map((one) => viewOf(one, sessionId));
}

/**
 * Subscribes a browser, or renews its subscription, which keeps its id. An endpoint belongs to whoever subscribed it
 * last.
 */
export const subscribeToPush = command(
  'push.subscribe',
  (
    ctx,
    params: Pick<PushSubscriptionRecord, 'endpoint' | 'publicKey' | 'authSecret' | 'sessionId' | 'userAgent'>,
  ): PushSubscriptionView => {
    const agent = callingAgent(ctx);
    const former = findPushSubscriptionAt(ctx.db, params.endpoint);
    if (former !== undefined) deletePushSubscription(ctx.db, former.id);
    const others = pushSubscriptionsOf(ctx.db, agent.id, ctx.at);
    const [oldest] = others;
    if (oldest !== undefined && others.length >= maxSubscriptionsPerAgent) deletePushSubscription(ctx.db, oldest.id);
    const subscription: PushSubscriptionRecord = {
      ...params,
      id: former?.agentId === agent.id ? former.id : ctx.ids.uuid(),
      agentId: agent.id,
      createdAt: ctx.at,
    };
    insertPushSubscription(ctx.db, subscription);
    return viewOf(subscription, params.sessionId);
  },
);

/** Refuses not_found. */
export const unsubscribeFromPush = command('push.unsubscribe', (ctx, params: { subscriptionId: string }): void => {
  const agent = callingAgent(ctx);
  const subscription = findPushSubscription(ctx.db, params.subscriptionId);
  if (subscription?.agentId !== agent.id) refuse('not_found');
  deletePushSubscription(ctx.db, subscription.id);
});

function viewOf(
  { id, sessionId, userAgent, endpoint, createdAt }: PushSubscriptionRecord,
  currentId: string | undefined,
): PushSubscriptionView {
  return { id, isCurrent: sessionId === currentId, device: deviceOf(userAgent), endpoint, createdAt };
}

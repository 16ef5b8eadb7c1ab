// The subscription as it stands, and what follows from it. Read at every feature check, so held in memory; changed by
// billing.ts alone. A workspace without one is on the plan it has, with nothing to pay.

import {
  findSubscription,
  putSubscription,
  type SubscriptionRecord,
  type SubscriptionStatus,
} from '../../store/workspace/subscriptions.ts';
import type { Context, View } from '../runtime/context.ts';
import type { ActorKind } from '../runtime/registry.ts';

const dayMs = 24 * 3600_000;
const kind: ActorKind<SubscriptionRecord> = { name: 'subscription', load: findSubscription };

/**
 * Nothing is paid and nothing is on trial: the plan gives nothing. past_due is not among them: the provider still tries
 * to collect.
 */
const locking: readonly SubscriptionStatus[] = ['canceled', 'unpaid', 'paused', 'incomplete', 'incomplete_expired'];

/** Nothing brings these back: another one begins. */
const over: readonly SubscriptionStatus[] = ['canceled', 'incomplete_expired'];

export function theSubscription(view: Pick<View, 'state'>): SubscriptionRecord | undefined {
  return view.state(kind, '');
}

export function setSubscription(ctx: Context, subscription: SubscriptionRecord): void {
  putSubscription(ctx.db, subscription);
  ctx.become(kind, '', subscription);
}

export function isLocking(status: SubscriptionStatus): boolean {
  return locking.includes(status);
}

export function isOver(status: SubscriptionStatus): boolean {
  return over.includes(status);
}

export function isLocked(view: Pick<View, 'state'>): boolean {
  const subscription = theSubscription(view);
  return subscription !== undefined && isLocking(subscription.status);
}

/** Days begun count. Null when there is no trial. */
export function daysLeftInTrial(view: Pick<View, 'state' | 'nowMs'>): number | null {
  const subscription = theSubscription(view);
  if (subscription?.status !== 'trialing' || subscription.trialEndsAt === null) return null;
  return Math.max(0, Math.ceil((Date.parse(subscription.trialEndsAt) - view.nowMs) / dayMs));
}

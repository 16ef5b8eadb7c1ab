// The current subscription and its consequences. Held in memory, because every feature check reads it; only billing.ts
// changes it. A workspace without one has its plan and nothing to pay.

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
 * Neither paid nor on trial: the plan includes nothing. past_due is not among them, because the provider still tries to
 * collect.
 */
const locking: readonly SubscriptionStatus[] = ['canceled', 'unpaid', 'paused', 'incomplete', 'incomplete_expired'];

/** Final: only a new subscription can follow. */
const over: readonly SubscriptionStatus[] = ['canceled', 'incomplete_expired'];

export function theSubscription(view: Pick<View, 'state'>): SubscriptionRecord | undefined {
  return view.state(kind, '');
}

export function setSubscription(ctx: Context, subscription: SubscriptionRecord): void {
  putSubscription(ctx.db, subscription);
  ctx.setState(kind, '', subscription);
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

/** A started day counts. Null if there is no trial. */
export function daysLeftInTrial(view: Pick<View, 'state' | 'nowMs'>): number | null {
  const subscription = theSubscription(view);
  if (subscription?.status !== 'trialing' || subscription.trialEndsAt === null) return null;
  return Math.max(0, Math.ceil((Date.parse(subscription.trialEndsAt) - view.nowMs) / dayMs));
}

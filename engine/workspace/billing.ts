// Billing: a workspace's subscription and how it changes. With the local provider a change applies at once and no money
// moves. With a real one the edge requests it, and the provider's answer is applied here. A workspace billed by a third
// party changes nothing here. Specification 3 (subscription), 4.14; decisions 4.14.

import {
  type Addon,
  type BillingInterval,
  type BillingSource,
  insertBillingEvent,
  type SubscriptionRecord,
  type SubscriptionStatus,
} from '../../store/workspace/subscriptions.ts';
import type { ProvidedSubscription } from '../../workers/providers/billing.ts';
import { refuse } from '../errors.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import { deadline } from '../runtime/kinds.ts';
import { requireAdmin } from './access.ts';
import { type Entitlements, entitlementsOf, type PlanId, planIdOf, plans, seatsTaken } from './entitlements.ts';
import { daysLeftInTrial, isLocked, isLocking, setSubscription, theSubscription } from './subscription.ts';
import { monthsAfter } from './time-zones.ts';
import { putWorkspace, theWorkspace } from './workspace.ts';

export interface SubscriptionView {
  readonly id: string;
  readonly plan: PlanId;
  readonly addons: readonly Addon[];
  readonly status: SubscriptionStatus;
  readonly billingInterval: BillingInterval;
  readonly billingSource: BillingSource;
  readonly currentPeriodStart: string;
  readonly currentPeriodEnd: string;
  readonly cancelAtPeriodEnd: boolean;
  readonly createdAt: string;
}

export interface Standing {
  readonly subscription: SubscriptionView | null;
  readonly planId: PlanId;
  readonly locked: boolean;
  readonly daysLeftInTrial: number | null;
  readonly addons: readonly Addon[];
  readonly billingSource: BillingSource | null;
  readonly entitlements: Entitlements;
}

/** Due at the end of a period or of a trial without a provider. */
export const periodDeadline = deadline('billing.period');
const dayMs = 24 * 3600_000;
const months: Record<BillingInterval, number> = { monthly: 1, annual: 12 };

/** A new workspace starts with a trial of this many days, or with the local provider's plan. */
export function startSubscription(ctx: Context, trialDays: number | undefined): void {
  const isTrial = trialDays !== undefined;
  const endMs = isTrial ? ctx.nowMs + trialDays * dayMs : monthsAfter(ctx.nowMs, 1);
  put(ctx, {
    id: ctx.ids.uuid(),
    addons: [],
    status: isTrial ? 'trialing' : 'active',
    billingInterval: 'monthly',
    billingSource: isTrial ? 'stripe' : 'local',
    currentPeriodStart: ctx.at,
    currentPeriodEnd: isoTime(endMs),
    periodAnchorAt: isTrial ? null : ctx.at,
    cancelAtPeriodEnd: false,
    trialEndsAt: isTrial ? isoTime(endMs) : null,
    providerCustomerId: null,
    providerSubscriptionId: null,
    createdAt: ctx.at,
  });
}

/** Refuses admin_required. */
export function readStanding(view: View): Standing {
  requireAdmin(view);
  const subscription = theSubscription(view);
  return {
    subscription: subscription === undefined ? null : subscriptionView(view, subscription),
    planId: planIdOf(view),
    locked: isLocked(view),
    daysLeftInTrial: daysLeftInTrial(view),
    addons: subscription?.addons ?? [],
    billingSource: subscription?.billingSource ?? null,
    entitlements: entitlementsOf(view),
  };
}

/**
 * The subscription, if the provider in use may change it. Refuses admin_required, conflict for a workspace that another
 * source bills.
 */
export function requireChangeable(
  view: Pick<View, 'state' | 'caller'>,
  provider: 'local' | 'stripe',
): SubscriptionRecord | undefined {
  requireAdmin(view);
  const subscription = theSubscription(view);
  if (subscription?.billingSource === 'marketplace')
    refuse('conflict', { message: 'This workspace is billed through a marketplace. Change its plan there.' });
  // Stripe would go on charging for the former subscription.
  if (provider === 'local' && subscription?.providerSubscriptionId != null && !isLocking(subscription.status))
    refuse('conflict', {
      message: 'This workspace is billed through Stripe, which is no longer configured on this server.',
    });
  return subscription;
}

/** Refuses semantic_error if the plan has fewer seats than are taken. */
export function requireSeatsFor(view: Pick<View, 'state'>, planId: PlanId): void {
  const { seats } = plans[planId];
  const taken = seatsTaken(view);
  if (seats !== null && taken > seats)
    refuse('semantic_error', {
      message: `${taken} seats are in use, and the plan has ${seats}. Deactivate agents first.`,
      detail: { seats, taken },
    });
}

/** The local provider's checkout. Refuses admin_required, conflict, semantic_error. */
export const changePlan = command(
  'billing.changePlan',
  (
    ctx,
    params: { planId: PlanId; interval: BillingInterval; addons: readonly Addon[] | undefined },
  ): SubscriptionView => {
    const present = requireChangeable(ctx, 'local');
    requireSeatsFor(ctx, params.planId);
    const goesOn = present !== undefined && present.status === 'active' && present.billingInterval === params.interval;
    const next: SubscriptionRecord = {
      id: present?.id ?? ctx.ids.uuid(),
      addons: params.addons ?? present?.addons ?? [],
      status: 'active',
      billingInterval: params.interval,
      billingSource: 'local',
      currentPeriodStart: goesOn ? present.currentPeriodStart : ctx.at,
      currentPeriodEnd: goesOn ? present.currentPeriodEnd : isoTime(monthsAfter(ctx.nowMs, months[params.interval])),
      periodAnchorAt: goesOn ? (present.periodAnchorAt ?? present.currentPeriodStart) : ctx.at,
      cancelAtPeriodEnd: false,
      trialEndsAt: null,
      providerCustomerId: present?.providerCustomerId ?? null,
      providerSubscriptionId: null,
      createdAt: present?.createdAt ?? ctx.at,
    };
    return change(ctx, next, params.planId);
  },
);

/**
 * For a subscription without a provider, or a trial. Refuses admin_required, conflict, semantic_error without a
 * subscription.
 */
export const setAddons = command(
  'billing.setAddons',
  (ctx, params: { addons: readonly Addon[]; provider: 'local' | 'stripe' }): SubscriptionView => {
    const present = requireLive(requireChangeable(ctx, params.provider));
    return change(ctx, { ...present, addons: [...new Set(params.addons)] });
  },
);

/**
 * For a subscription without a provider. Ends a trial now, anything else at the end of its period. Refuses
 * admin_required, conflict, semantic_error.
 */
export const cancelSubscription = command(
  'billing.cancel',
  (ctx, params: { provider: 'local' | 'stripe' }): SubscriptionView => {
    const present = requireLive(requireChangeable(ctx, params.provider));
    return change(ctx, present.status === 'trialing' ? ended(ctx, present) : { ...present, cancelAtPeriodEnd: true });
  },
);

/** Refuses semantic_error unless the subscription is live. */
export function requireLive(subscription: SubscriptionRecord | undefined): SubscriptionRecord {
  if (subscription === undefined || subscription.status === 'canceled')
    refuse('semantic_error', { message: 'There is no subscription. Choose a plan first.' });
  return subscription;
}

/** Stores the provider's id for this workspace, so that all its subscriptions belong to one customer. */
export const keepCustomer = command('billing.keepCustomer', (ctx, params: { providerCustomerId: string }): void => {
  const present = theSubscription(ctx);
  if (present !== undefined) put(ctx, { ...present, providerCustomerId: params.providerCustomerId });
});

/**
 * Applies the provider's state, which is authoritative for what it bills; each event once. News of a subscription that
 * ended or never began has no effect while another one is active. Returns the resulting subscription.
 */
export const applyProvided = command(
  'billing.applyProvided',
  (ctx, params: { provided: ProvidedSubscription; eventId: string | undefined }): SubscriptionView | null => {
    const { provided, eventId } = params;
    const present = theSubscription(ctx);
    const isNews = eventId === undefined || insertBillingEvent(ctx.db, { id: eventId, createdAt: ctx.at });
    const isOurs = present?.providerSubscriptionId === provided.providerSubscriptionId;
    if (!isNews || present?.billingSource === 'marketplace' || (!isOurs && isLocking(provided.status)))
      return present === undefined ? null : subscriptionView(ctx, present);
    const { planId, ...rest } = provided;
    const next: SubscriptionRecord = {
      id: present?.id ?? ctx.ids.uuid(),
      createdAt: present?.createdAt ?? ctx.at,
      ...rest,
      periodAnchorAt: null,
      billingSource: 'stripe',
    };
    if (
      present?.trialEndsAt != null &&
      next.status === 'trialing' &&
      next.trialEndsAt !== null &&
      next.trialEndsAt > present.trialEndsAt
    ) {
      ctx.audit({
        action: 'subscription.trial_extended',
        targetKind: 'subscription',
        targetId: next.id,
        before: { trialEndsAt: present.trialEndsAt },
        after: { trialEndsAt: next.trialEndsAt },
      });
    }
    return change(ctx, next, planId);
  },
);

/**
 * Ends a trial that was not converted, or a period of the local provider: the next one starts, unless it was cancelled.
 */
export const endPeriod = command('billing.endPeriod', (ctx, _: DeadlineParams): void => {
  const present = theSubscription(ctx);
  if (present === undefined || present.providerSubscriptionId !== null || isLocking(present.status)) return;
  if (present.currentPeriodEnd > ctx.at) put(ctx, present);
  else if (present.status === 'trialing' || present.cancelAtPeriodEnd) change(ctx, ended(ctx, present));
  else
    put(ctx, { ...present, currentPeriodStart: present.currentPeriodEnd, currentPeriodEnd: periodEndAfter(present) });
});

/** Counted from the anchor, so that a subscription that began on a 31st returns to the 31st after a shorter month. */
function periodEndAfter({
  periodAnchorAt,
  currentPeriodStart,
  currentPeriodEnd,
  billingInterval,
}: SubscriptionRecord): string {
  const anchorMs = Date.parse(periodAnchorAt ?? currentPeriodStart);
  let endMs = anchorMs;
  for (let periods = 1; endMs <= Date.parse(currentPeriodEnd); periods += 1)
    endMs = monthsAfter(anchorMs, periods * months[billingInterval]);
  return isoTime(endMs);
}

/** Its period ends now, or ended while the service was down. */
function ended(ctx: Context, subscription: SubscriptionRecord): SubscriptionRecord {
  const currentPeriodEnd = subscription.currentPeriodEnd < ctx.at ? subscription.currentPeriodEnd : ctx.at;
  return { ...subscription, status: 'canceled', currentPeriodEnd, cancelAtPeriodEnd: false, trialEndsAt: null };
}

/** Writes the subscription, with an audit entry if it changes anything for the workspace. */
function change(ctx: Context, next: SubscriptionRecord, planId: PlanId = planIdOf(ctx)): SubscriptionView {
  const present = theSubscription(ctx);
  const before = present && subscriptionView(ctx, present);
  if (planId !== theWorkspace(ctx).plan) putWorkspace(ctx, { ...theWorkspace(ctx), plan: planId });
  put(ctx, next);
  const after = subscriptionView(ctx, next);
  if (JSON.stringify(before) !== JSON.stringify(after))
    ctx.audit({
      action: 'subscription.changed',
      targetKind: 'subscription',
      targetId: next.id,
      ...(before && { before }),
      after,
    });
  return after;
}

function put(ctx: Context, subscription: SubscriptionRecord): void {
  setSubscription(ctx, subscription);
  const isWatched =
    subscription.providerSubscriptionId === null &&
    subscription.billingSource !== 'marketplace' &&
    !isLocking(subscription.status);
  if (isWatched) ctx.setDeadline(periodDeadline, ctx.workspaceId, Date.parse(subscription.currentPeriodEnd));
  else ctx.clearDeadline(periodDeadline, ctx.workspaceId);
}

function subscriptionView(view: Pick<View, 'state'>, subscription: SubscriptionRecord): SubscriptionView {
  const {
    id,
    addons,
    status,
    billingInterval,
    billingSource,
    currentPeriodStart,
    currentPeriodEnd,
    cancelAtPeriodEnd,
    createdAt,
  } = subscription;
  return {
    id,
    plan: planIdOf(view),
    addons,
    status,
    billingInterval,
    billingSource,
    currentPeriodStart,
    currentPeriodEnd,
    cancelAtPeriodEnd,
    createdAt,
  };
}

// What each plan and add-on includes: the table behind every feature and seat check. A locked workspace (trial over,
// subscription ended or unpaid) has none of it. Decisions 4.10, 4.14.

import type { Addon } from '../../store/workspace/subscriptions.ts';
import { refuse } from '../errors.ts';
import type { Context, View } from '../runtime/context.ts';
import { theRoster } from './roster.ts';
import { isLocked, theSubscription } from './subscription.ts';
import { theWorkspace } from './workspace.ts';

export type Feature = 'chat' | 'campaigns' | 'goals' | 'tickets' | 'knowledge_base' | 'calls' | 'ai';

interface Plan {
  /** Maximum number of agents, invited ones included; null is no limit. */
  readonly seats: number | null;
  readonly features: readonly Feature[];
  /** Audit entries are kept forever instead of for a year. */
  readonly keepsAudit: boolean;
}

const chatFeatures = ['chat', 'campaigns', 'goals'] as const;
const supportFeatures = [...chatFeatures, 'tickets', 'knowledge_base'] as const;
const businessFeatures = [...supportFeatures, 'calls'] as const;

export const plans = {
  chat: { seats: 5, features: chatFeatures, keepsAudit: false },
  support: { seats: 15, features: supportFeatures, keepsAudit: false },
  business: { seats: 50, features: businessFeatures, keepsAudit: false },
  enterprise: { seats: null, features: businessFeatures, keepsAudit: true },
} as const satisfies Record<string, Plan>;

export type PlanId = keyof typeof plans;

/** What an add-on adds to any plan. */
const addonFeatures = { ai: ['ai'] } as const satisfies Record<Addon, readonly Feature[]>;

export function planIdOf(view: Pick<View, 'state'>): PlanId {
  const { plan } = theWorkspace(view);
  return Object.hasOwn(plans, plan) ? (plan as PlanId) : 'chat';
}

export function planOf(view: Pick<View, 'state'>): Plan {
  const plan: Plan = plans[planIdOf(view)];
  // A late payment must not delete stored data.
  if (isLocked(view)) return { seats: 0, features: [], keepsAudit: plan.keepsAudit };
  const addons = theSubscription(view)?.addons ?? [];
  return addons.length === 0
    ? plan
    : { ...plan, features: [...plan.features, ...addons.flatMap((addon) => addonFeatures[addon])] };
}

export function hasFeature(view: Pick<View, 'state'>, feature: Feature): boolean {
  return planOf(view).features.includes(feature);
}

/** Refuses feature_locked, or the code that the area specifies (specification 7). */
export function requireFeature(
  view: Pick<View, 'state'>,
  feature: Feature,
  slug: 'feature_locked' | 'plan_limit' = 'feature_locked',
): void {
  if (!hasFeature(view, feature)) refuse(slug, { detail: { feature } });
}

/** Deactivated agents take no seat; pending invitations do. */
export function seatsTaken(view: Pick<View, 'state'>): number {
  let taken = 0;
  for (const agent of theRoster(view).agents.values()) if (agent.deactivatedAt === null) taken += 1;
  return taken;
}

/** Refuses seat_limit_reached if there is no free seat. */
export function requireSeat(ctx: Context): void {
  const { seats } = planOf(ctx);
  if (seats !== null && seatsTaken(ctx) >= seats) refuse('seat_limit_reached', { detail: { seats } });
}

export interface Entitlements {
  readonly features: readonly Feature[];
  /** `limit` null means none. */
  readonly seats: { readonly limit: number | null; readonly taken: number };
}

export function entitlementsOf(view: Pick<View, 'state'>): Entitlements {
  const { features, seats } = planOf(view);
  return { features, seats: { limit: seats, taken: seatsTaken(view) } };
}

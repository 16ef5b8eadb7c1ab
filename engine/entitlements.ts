// What each plan includes. The one table that every feature and seat check reads. Decisions 4.10.

import type { Context, View } from './runtime/context.ts';
import { refuse } from './errors.ts';
import { theRoster } from './roster.ts';
import { theWorkspace } from './workspace.ts';

export type Feature = 'chat' | 'campaigns' | 'goals' | 'tickets' | 'knowledge_base' | 'calls';

interface Plan {
  /** Agents at the most, invited ones included; null is no limit. */
  readonly seats: number | null;
  readonly features: readonly Feature[];
  /** Audit entries are kept for good instead of a year. */
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

export function planOf(view: Pick<View, 'state'>): Plan {
  const { plan } = theWorkspace(view);
  return plan in plans ? plans[plan as PlanId] : plans.chat;
}

export function hasFeature(view: Pick<View, 'state'>, feature: Feature): boolean {
  return planOf(view).features.includes(feature);
}

/** Refuses feature_locked, or as the area words it (specification 7). */
export function requireFeature(view: Pick<View, 'state'>, feature: Feature, slug: 'feature_locked' | 'plan_limit' = 'feature_locked'): void {
  if (!hasFeature(view, feature)) refuse(slug, { detail: { feature } });
}

/** Deactivated agents hold no seat; pending invites do. */
export function seatsTaken(view: Pick<View, 'state'>): number {
  let taken = 0;
  for (const agent of theRoster(view).agents.values()) if (agent.deactivatedAt === null) taken += 1;
  return taken;
}

/** Refuses seat_limit_reached when one more agent would be too many. */
export function requireSeat(ctx: Context): void {
  const { seats } = planOf(ctx);
  if (seats !== null && seatsTaken(ctx) >= seats) refuse('seat_limit_reached', { detail: { seats } });
}

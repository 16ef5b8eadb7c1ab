// Plans and their state in words.

import type { BillingInterval, PlanId, Standing, Subscription } from '../../records.ts';

export interface PlanWords {
  readonly id: PlanId;
  readonly name: string;
  /** Undefined: no limit. */
  readonly seats: number | undefined;
  readonly what: readonly string[];
}

/** As in the service's table of plans; the service enforces them. */
export const plans: readonly PlanWords[] = [
  { id: 'chat', name: 'Chat', seats: 5, what: ['Chat on your sites', 'Campaigns', 'Goals'] },
  { id: 'support', name: 'Support', seats: 15, what: ['Everything in Chat', 'Tickets by email', 'Knowledge base'] },
  { id: 'business', name: 'Business', seats: 50, what: ['Everything in Support', 'Phone numbers and calls'] },
];

export const intervalNames = { monthly: 'monthly', annual: 'yearly' } as const satisfies Record<
  BillingInterval,
  string
>;

export function planName(id: PlanId): string {
  return plans.find((plan) => plan.id === id)?.name ?? 'Enterprise';
}

export const statusNames = {
  trialing: 'On trial',
  active: 'Active',
  past_due: 'Payment overdue',
  unpaid: 'Unpaid',
  paused: 'Paused',
  incomplete: 'Waiting for the first payment',
  incomplete_expired: 'First payment failed',
  canceled: 'Ended',
} as const satisfies Record<Subscription['status'], string>;

export const statusKinds = {
  trialing: 'accent',
  active: 'good',
  past_due: 'warn',
  unpaid: 'bad',
  paused: 'warn',
  incomplete: 'warn',
  incomplete_expired: 'bad',
  canceled: 'bad',
} as const satisfies Record<Subscription['status'], string>;

/** Whether there is a subscription to cancel. */
export function isLive({ subscription, locked }: Standing): boolean {
  return subscription !== null && !locked && !subscription.cancelAtPeriodEnd;
}

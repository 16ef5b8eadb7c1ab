// Plans and their state in words.

import type { BillingInterval, PlanId, Standing, Subscription } from '../../records.ts';

export interface PlanWords {
  readonly id: PlanId;
  readonly name: string;
  /** Undefined: as many as there are. */
  readonly seats: number | undefined;
  readonly what: readonly string[];
}

/** As the service's own table of plans says; the service decides what is in force. */
export const plans: readonly PlanWords[] = [
  { id: 'chat', name: 'Chat', seats: 5, what: ['Chat on your sites', 'Campaigns', 'Goals'] },
  { id: 'support', name: 'Support', seats: 15, what: ['All of Chat', 'Tickets by mail', 'Knowledge base'] },
  { id: 'business', name: 'Business', seats: 50, what: ['All of Support', 'Phone numbers and calls'] },
];

export const intervalNames = { monthly: 'by the month', annual: 'by the year' } as const satisfies Record<
  BillingInterval,
  string
>;

export function planName(id: PlanId): string {
  return plans.find((plan) => plan.id === id)?.name ?? 'Enterprise';
}

export const statusNames = {
  trialing: 'On trial',
  active: 'Active',
  past_due: 'Payment is late',
  unpaid: 'Unpaid',
  paused: 'Paused',
  incomplete: 'First payment is missing',
  incomplete_expired: 'First payment never came',
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

/** Whether there is something that could be cancelled. */
export function isLive({ subscription, locked }: Standing): boolean {
  return subscription !== null && !locked && !subscription.cancelAtPeriodEnd;
}

// The port to whoever takes the money: hosted pages to pay and to manage, subscriptions that are changed there,
// invoices, and the events by which it tells of all that. A service without one moves no money.

import type { Addon, BillingInterval, SubscriptionStatus } from '../../store/workspace/subscriptions.ts';

export type PaidPlan = 'chat' | 'support' | 'business';

export interface Order {
  readonly planId: PaidPlan;
  readonly interval: BillingInterval;
  readonly addons: readonly Addon[];
}

/** What the provider says of a subscription. */
export interface ProvidedSubscription {
  readonly providerSubscriptionId: string;
  readonly providerCustomerId: string;
  /** Undefined when what is paid for is none of ours: the plan stays. */
  readonly planId: PaidPlan | undefined;
  readonly addons: readonly Addon[];
  readonly status: SubscriptionStatus;
  readonly billingInterval: BillingInterval;
  readonly currentPeriodStart: string;
  readonly currentPeriodEnd: string;
  readonly cancelAtPeriodEnd: boolean;
  readonly trialEndsAt: string | null;
}

export interface Invoice {
  readonly id: string;
  readonly number: string | null;
  readonly status: string;
  /** In the currency's smallest unit. */
  readonly amountCents: number;
  /** ISO 4217, lower case. */
  readonly currency: string;
  readonly periodStart: string;
  readonly periodEnd: string;
  readonly hostedUrl: string | null;
  readonly createdAt: string;
}

/** Every call rejects with BillingUnavailable when the provider does not answer or does not serve us. */
export interface BillingProvider {
  /** Makes a customer of the workspace. Resolves to the provider's id. */
  customerFor(workspace: { id: string; name: string; email: string }): Promise<string>;
  /** A page to pay on. One that was open for this customer is closed, so that nobody pays twice. */
  checkout(
    order: Order & {
      workspaceId: string;
      customerId: string;
      trialEndsAt: string | null;
      nowMs: number;
      successUrl: string;
      cancelUrl: string;
    },
  ): Promise<{ url: string }>;
  /**
   * Changes what is paid for, with the rest of the period prorated. A cancellation that was planned is taken back. One
   * that is over stays so.
   */
  change(subscriptionId: string, order: Partial<Order>): Promise<ProvidedSubscription>;
  /** One that is over stays so. */
  cancel(subscriptionId: string, when: 'now' | 'periodEnd'): Promise<ProvidedSubscription>;
  portal(customerId: string, returnUrl: string): Promise<{ url: string }>;
  /** The most recent ones, newest first. */
  invoices(customerId: string, limit: number): Promise<Invoice[]>;
  /**
   * Which subscription a signed delivery is about; undefined when it is about none. Rejects with UnsignedDelivery,
   * UnreadableDelivery.
   */
  verify(delivery: {
    body: Uint8Array;
    signature: string;
    nowMs: number;
  }): Promise<{ eventId: string; subscriptionId: string } | undefined>;
  /** As it is now; undefined when no workspace of any server of ours stands behind it. */
  subscription(subscriptionId: string): Promise<{ workspaceId: string; provided: ProvidedSubscription } | undefined>;
  /** The newest one that the customer pays for, or has on trial, for this workspace. */
  liveSubscription(of: { customerId: string; workspaceId: string }): Promise<string | undefined>;
}

export class BillingUnavailable extends Error {
  override readonly name = 'BillingUnavailable';
}

/** Not signed by the provider, or too long ago. */
export class UnsignedDelivery extends Error {
  override readonly name = 'UnsignedDelivery';
}

/** Signed by the provider, and yet nothing that its reference knows. */
export class UnreadableDelivery extends Error {
  override readonly name = 'UnreadableDelivery';
}

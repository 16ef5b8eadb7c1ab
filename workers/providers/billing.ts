// The port to a billing provider: hosted pages to pay and to manage, subscriptions and their changes, invoices and
// signed events. A service without one moves no money.

import type { Addon, BillingInterval, SubscriptionStatus } from '../../store/workspace/subscriptions.ts';
import { Unavailable } from '../failures.ts';

export type PaidPlan = 'chat' | 'support' | 'business';

export interface Order {
  readonly planId: PaidPlan;
  readonly interval: BillingInterval;
  readonly addons: readonly Addon[];
}

/** A subscription's state at the provider. */
export interface ProvidedSubscription {
  readonly providerSubscriptionId: string;
  readonly providerCustomerId: string;
  /** Undefined if none of our products is paid for: the plan stays. */
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

/** Calls reject with BillingUnavailable if the provider does not answer or refuses our credentials. */
export interface BillingProvider {
  /** Creates a customer for the workspace. Resolves to the provider's id. */
  customerFor(workspace: { id: string; name: string; email: string }): Promise<string>;
  /** A page to pay on. Closes an earlier one of this customer, so that no one pays twice. */
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
   * Changes what is paid for, with the rest of the period prorated. Reverts a planned cancellation. An ended
   * subscription stays ended.
   */
  change(subscriptionId: string, order: Partial<Order>): Promise<ProvidedSubscription>;
  /** An ended subscription stays ended. */
  cancel(subscriptionId: string, when: 'now' | 'periodEnd'): Promise<ProvidedSubscription>;
  portal(customerId: string, returnUrl: string): Promise<{ url: string }>;
  /** The latest ones, newest first. */
  invoices(customerId: string, limit: number): Promise<Invoice[]>;
  /**
   * The subscription that a signed delivery is about; undefined if none. `unsigned`: not signed by the provider, or too
   * long ago. `unreadable`: signed, but not of a documented form.
   */
  verify(delivery: {
    body: Uint8Array;
    signature: string;
    nowMs: number;
  }): Promise<{ eventId: string; subscriptionId: string } | 'unsigned' | 'unreadable' | undefined>;
  /** Its current state; undefined if it belongs to no workspace of any of our servers. */
  subscription(subscriptionId: string): Promise<{ workspaceId: string; provided: ProvidedSubscription } | undefined>;
  /** The newest subscription that the customer pays for, or has on trial, for this workspace. */
  liveSubscription(of: { customerId: string; workspaceId: string }): Promise<string | undefined>;
}

export class BillingUnavailable extends Unavailable {
  override readonly name = 'BillingUnavailable';
}

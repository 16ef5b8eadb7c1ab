// The workspace's subscription, one row in its file, and the billing provider's processed events.

import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';

export type SubscriptionStatus =
  | 'trialing'
  | 'active'
  | 'past_due'
  | 'unpaid'
  | 'paused'
  | 'incomplete'
  | 'incomplete_expired'
  | 'canceled';
export type BillingInterval = 'monthly' | 'annual';
export type BillingSource = 'local' | 'stripe' | 'marketplace';
export type Addon = 'ai';

export interface SubscriptionRecord {
  readonly id: string;
  readonly addons: readonly Addon[];
  readonly status: SubscriptionStatus;
  readonly billingInterval: BillingInterval;
  readonly billingSource: BillingSource;
  readonly currentPeriodStart: string;
  readonly currentPeriodEnd: string;
  /** The anchor of the local provider's periods; null if another provider counts them. */
  readonly periodAnchorAt: string | null;
  readonly cancelAtPeriodEnd: boolean;
  readonly trialEndsAt: string | null;
  readonly providerCustomerId: string | null;
  readonly providerSubscriptionId: string | null;
  readonly createdAt: string;
}

type Row = Omit<SubscriptionRecord, 'addons' | 'cancelAtPeriodEnd'> & { addons: string; cancelAtPeriodEnd: number };

export function findSubscription(db: Database): SubscriptionRecord | undefined {
  const row = db.get<Row>('SELECT * FROM subscription');
  return row && { ...row, addons: fromJson<Addon[]>(row.addons), cancelAtPeriodEnd: row.cancelAtPeriodEnd === 1 };
}

/** Replaces the only row. */
export function putSubscription(db: Database, subscription: SubscriptionRecord): void {
  db.run('DELETE FROM subscription WHERE id <> ?', [subscription.id]);
  db.run(
    `INSERT OR REPLACE INTO subscription (id, addons, status, billingInterval, billingSource, currentPeriodStart, currentPeriodEnd, periodAnchorAt, cancelAtPeriodEnd, trialEndsAt, providerCustomerId, providerSubscriptionId, createdAt)
     VALUES (@id, @addons, @status, @billingInterval, @billingSource, @currentPeriodStart, @currentPeriodEnd, @periodAnchorAt, @cancelAtPeriodEnd, @trialEndsAt, @providerCustomerId, @providerSubscriptionId, @createdAt)`,
    { ...subscription, addons: toJson(subscription.addons), cancelAtPeriodEnd: subscription.cancelAtPeriodEnd ? 1 : 0 },
  );
}

/** False if it was processed before. */
export function insertBillingEvent(db: Database, event: { id: string; createdAt: string }): boolean {
  return (
    db.run('INSERT INTO billingEvent (id, createdAt) VALUES (@id, @createdAt) ON CONFLICT DO NOTHING', { ...event }) ===
    1
  );
}

export function deleteBillingEventsBefore(db: Database, at: string): void {
  db.run('DELETE FROM billingEvent WHERE createdAt < ?', [at]);
}

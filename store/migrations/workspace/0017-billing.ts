import type { Migration } from '../../database.ts';

// The workspace's subscription, if any. The plan itself is stored with the workspace. Events of the billing provider
// are kept by id, so that a duplicate counts once.
export const billing: Migration = {
  version: 17,
  name: 'billing',
  sql: `
CREATE TABLE subscription (
  id TEXT PRIMARY KEY,
  addons TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('trialing', 'active', 'past_due', 'unpaid', 'paused', 'incomplete', 'incomplete_expired', 'canceled')),
  billingInterval TEXT NOT NULL CHECK (billingInterval IN ('monthly', 'annual')),
  billingSource TEXT NOT NULL CHECK (billingSource IN ('local', 'stripe', 'marketplace')),
  currentPeriodStart TEXT NOT NULL,
  currentPeriodEnd TEXT NOT NULL,
  cancelAtPeriodEnd INTEGER NOT NULL CHECK (cancelAtPeriodEnd IN (0, 1)),
  trialEndsAt TEXT,
  providerCustomerId TEXT,
  providerSubscriptionId TEXT,
  createdAt TEXT NOT NULL
) STRICT;

CREATE TABLE billingEvent (
  id TEXT PRIMARY KEY,
  createdAt TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`,
};

import type { Migration } from '../../database.ts';

// Webhooks and their deliveries. `feed` is the source of its events: the sockets' catalogue or the verification API. A
// webhook of an app is signed with the app's secret and has none of its own.
export const webhooks: Migration = {
  version: 16,
  name: 'webhooks',
  sql: `
CREATE TABLE webhook (
  id TEXT PRIMARY KEY,
  feed TEXT NOT NULL CHECK (feed IN ('events', 'verify')),
  appId TEXT,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  description TEXT,
  sealedSecret TEXT,
  status TEXT NOT NULL CHECK (status IN ('active', 'disabled')),
  -- The first failure since the last success.
  failingSince TEXT,
  createdAt TEXT NOT NULL,
  CHECK ((appId IS NULL) = (sealedSecret IS NOT NULL))
) STRICT;

-- Its id is the webhook-id of every attempt; its body is what every attempt sends.
CREATE TABLE webhookDelivery (
  id TEXT PRIMARY KEY,
  webhookId TEXT NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
  event TEXT NOT NULL,
  -- What it is kept in order with.
  target TEXT NOT NULL,
  body TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  lastAnswer TEXT,
  lastAttemptAt TEXT,
  nextAttemptAt TEXT,
  deliveredAt TEXT,
  createdAt TEXT NOT NULL
) STRICT;
CREATE INDEX webhookDeliveryByWebhook ON webhookDelivery (webhookId, createdAt, id);
-- With the kind, so that what waits for one receiver is passed over without being read.
DROP INDEX outboxDue;
CREATE INDEX outboxDue ON outbox (nextAt, kind) WHERE isFirst = 1;

CREATE INDEX webhookDeliverySettled ON webhookDelivery (createdAt) WHERE status <> 'pending';
`,
};

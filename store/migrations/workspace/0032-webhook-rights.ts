import type { Migration } from '../../database.ts';

// Whose rights a webhook has: those of the admin who created it, or of the key used. Creators of existing ones come
// from the audit log; if that has expired, an app's webhook gets the agent who allowed the app last, another the
// workspace's owner. Also adds receivers' responses, and the former secret that signs for a while beside its successor.
export const webhookRights: Migration = {
  version: 32,
  name: 'webhook-rights',
  sql: `
ALTER TABLE webhook ADD COLUMN agentId TEXT REFERENCES agent (id);
ALTER TABLE webhook ADD COLUMN keyId TEXT;
ALTER TABLE webhook ADD COLUMN formerSecret TEXT;
ALTER TABLE webhook ADD COLUMN formerSecretUntil TEXT;
ALTER TABLE webhookDelivery ADD COLUMN responseBody TEXT;

UPDATE webhook SET agentId = coalesce(
  (SELECT agent.id FROM audit JOIN agent ON agent.id = audit.actorAgentId WHERE audit.action = 'webhook.created' AND audit.targetId = webhook.id LIMIT 1),
  (SELECT agentId FROM oauthGrant WHERE clientId = webhook.appId AND revokedAt IS NULL ORDER BY createdAt DESC LIMIT 1),
  (SELECT id FROM agent WHERE role = 'admin' AND deactivatedAt IS NULL ORDER BY createdAt, id LIMIT 1)
);
`,
};

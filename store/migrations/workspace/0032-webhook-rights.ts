import type { Migration } from '../../database.ts';

// Whose rights a webhook lives by: of the admin who made it, by a key where it came by one. Who made those that are
// there is told by the audit log; where that is forgotten, an app's goes on by who allowed the app last, another by the
// workspace's owner. Also what their receivers answered, and the secret that goes on to sign for a while beside its
// successor.
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

// Turns a workspace's file into a second workspace beside the first: another id and name, and nothing that the two
// could both do in the world: addresses of its own, no phone number, no mail that waits, no link that leads to the
// other.

import type { Database } from '../database.ts';
import { rebuildDeadline } from '../reports/rebuild.ts';

export interface CopiedAs {
  readonly formerId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly subdomain: string;
  /** What an embed id begins with. */
  readonly locator: string;
  readonly locatorChars: number;
  readonly at: string;
}

const hasLiveCall = `EXISTS (SELECT 1 FROM call WHERE phase <> 'ended')`;

/** Its agents sign in with name+subdomain@domain and the passwords they had. Inside the caller's transaction. */
export function becomeCopy(db: Database, copy: CopiedAs): void {
  const { formerId, workspaceId, name, subdomain, locator, locatorChars, at } = copy;
  const tag = `+${subdomain}`;
  const steps: [string, readonly (string | number)[]][] = [
    ['UPDATE workspace SET id = ?, name = ?, subdomain = ?', [workspaceId, name, subdomain]],
    ['UPDATE site SET embedId = ? || substr(embedId, ?)', [locator, locatorChars + 1]],
    [
      `UPDATE agent SET email = substr(email, 1, instr(email, '@') - 1) || ? || substr(email, instr(email, '@')), tokenVersion = tokenVersion + 1, status = 'offline', statusSource = 'automatic', isOnline = 0, goneAt = NULL`,
      [tag],
    ],
    ['DELETE FROM oneTimeToken', []],
    ['DELETE FROM agentSession', []],
    ['DELETE FROM knownOrigin', []],
    ['DELETE FROM accountNotice', []],
    // Of the service's name and the first workspace's id. Who is let in by its password alone there sets up others
    // here.
    ['DELETE FROM agentTotp', []],
    ['DELETE FROM passkey', []],
    ['DELETE FROM recoveryCode', []],
    ['DELETE FROM sealedSecret', []],
    ['DELETE FROM emailDomain', []],
    [`DELETE FROM deadline WHERE kind = 'emailDomain.poll'`, []],
    ['DELETE FROM commerce', []],
    // Keys, apps and webhooks lead to the first, or would tell others of it twice.
    ['DELETE FROM apiKey', []],
    ['DELETE FROM webhook', []],
    ['DELETE FROM oauthToken', []],
    ['DELETE FROM oauthCode', []],
    ['DELETE FROM oauthGrant', []],
    ['DELETE FROM oauthApp', []],
    ['DELETE FROM verifyFactor', []],
    [`UPDATE subscription SET billingSource = 'local', providerCustomerId = NULL, providerSubscriptionId = NULL`, []],
    [`UPDATE phoneNumber SET status = 'released', releasedAt = ? WHERE status = 'active'`, [at]],
    // A call that ends here is counted with all that is there.
    [`DELETE FROM deadline WHERE kind = ? AND ${hasLiveCall}`, [rebuildDeadline]],
    [
      `INSERT INTO deadline (kind, subjectId, dueAt) SELECT ?, ?, ? WHERE ${hasLiveCall}`,
      [rebuildDeadline, workspaceId, at],
    ],
    [
      `UPDATE call SET phase = 'ended', endedAt = ?, agentId = NULL, isOnHold = 0, ringingAgentIds = '[]' WHERE phase <> 'ended'`,
      [at],
    ],
    [`DELETE FROM deadline WHERE kind = 'call.ringTimeout'`, []],
    ['UPDATE deadline SET subjectId = ? WHERE subjectId = ?', [workspaceId, formerId]],
    [`UPDATE message SET deliveryStatus = 'failed' WHERE deliveryStatus = 'queued'`, []],
    [
      `UPDATE outbox SET state = 'failed', isFirst = 0, settledAt = ?, lastAnswer = 'left to the workspace that this is a copy of' WHERE state = 'queued'`,
      [at],
    ],
    [
      `UPDATE kbJob SET status = 'failed', finishedAt = ?, error = 'left to the workspace that this is a copy of' WHERE status IN ('queued', 'running')`,
      [at],
    ],
    // Uploads are copied to a folder of its own.
    [
      'UPDATE message SET attachments = replace(attachments, ?, ?), bodyHtml = replace(bodyHtml, ?, ?)',
      [formerId, workspaceId, formerId, workspaceId],
    ],
    ['UPDATE upload SET key = replace(key, ?, ?)', [formerId, workspaceId]],
    ['UPDATE agent SET avatarUrl = replace(avatarUrl, ?, ?)', [formerId, workspaceId]],
    // They tell of the workspace that it was, and nobody has followed this one yet.
    ['DELETE FROM event', []],
  ];
  for (const [sql, values] of steps) db.run(sql, values);
}

// Turns a workspace's file into a second workspace: another id and name, and nothing that both could act on: its own
// addresses, no phone number, no pending mail, no link to the original.

import type { Database } from '../database.ts';
import { rebuildDeadline } from '../reports/rebuild.ts';

export interface CopiedAs {
  readonly formerId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly subdomain: string;
  /** The prefix of its embed ids. */
  readonly compactId: string;
  readonly at: string;
}

const hasLiveCall = `EXISTS (SELECT 1 FROM call WHERE phase <> 'ended')`;

/** What ties agents to their mailboxes and browsers. Push subscriptions go with their sessions. */
const ofAgents = [
  'oneTimeToken',
  'notificationChoice',
  'unseenNotice',
  'agentSession',
  'knownOrigin',
  'accountNotice',
] as const;

const failQueued = `UPDATE message SET deliveryStatus = 'failed', mail = json_remove(mail, '$.delayed') WHERE deliveryStatus = 'queued'`;

/** Its agents sign in with name+subdomain@domain and their former passwords. Runs in the caller's transaction. */
export function becomeCopy(db: Database, copy: CopiedAs): void {
  const { formerId, workspaceId, name, subdomain, compactId, at } = copy;
  const tag = `+${subdomain}`;
  const steps: [string, readonly (string | number)[]][] = [
    ['UPDATE workspace SET id = ?, name = ?, subdomain = ?', [workspaceId, name, subdomain]],
    ['UPDATE site SET embedId = ? || substr(embedId, ?)', [compactId, compactId.length + 1]],
    [
      `UPDATE agent SET email = substr(email, 1, instr(email, '@') - 1) || ? || substr(email, instr(email, '@')), tokenVersion = tokenVersion + 1, status = 'offline', statusSource = 'automatic', isOnline = 0, goneAt = NULL`,
      [tag],
    ],
    ['UPDATE visitor SET isOnline = 0 WHERE isOnline = 1', []],
    ...ofAgents.map((table): [string, readonly []] => [`DELETE FROM ${table}`, []]),
    // Bound to the service's name and the original's id. Agents who may sign in with only their password set up new
    // ones.
    ['DELETE FROM agentTotp', []],
    ['DELETE FROM passkey', []],
    ['DELETE FROM recoveryCode', []],
    ['DELETE FROM sealedSecret', []],
    ['DELETE FROM emailDomain', []],
    [`UPDATE workspace SET settings = json_remove(settings, '$.helpHost')`, []],
    [`DELETE FROM deadline WHERE kind = 'emailDomain.poll'`, []],
    ['DELETE FROM commerce', []],
    ['DELETE FROM mailServer', []],
    // Keys, apps and webhooks belong to the original; keeping them would deliver events twice.
    ['DELETE FROM apiKey', []],
    ['DELETE FROM webhook', []],
    ['DELETE FROM oauthToken', []],
    ['DELETE FROM oauthCode', []],
    ['DELETE FROM oauthGrant', []],
    ['DELETE FROM oauthApp', []],
    ['DELETE FROM verifyFactor', []],
    [`UPDATE subscription SET billingSource = 'local', providerCustomerId = NULL, providerSubscriptionId = NULL`, []],
    [`UPDATE phoneNumber SET status = 'released', releasedAt = ? WHERE status = 'active'`, [at]],
    // The end of a call here must be counted in complete rollups.
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
    [failQueued, []],
    [
      `UPDATE outbox SET state = 'failed', isFirst = 0, settledAt = ?, lastAnswer = 'left to the workspace that this is a copy of' WHERE state = 'queued'`,
      [at],
    ],
    [
      `UPDATE kbJob SET status = 'failed', finishedAt = ?, error = 'left to the workspace that this is a copy of' WHERE status IN ('queued', 'running')`,
      [at],
    ],
    // Uploads are copied to its own folder.
    [
      'UPDATE message SET attachments = replace(attachments, ?, ?), bodyHtml = replace(bodyHtml, ?, ?)',
      [formerId, workspaceId, formerId, workspaceId],
    ],
    ['UPDATE upload SET key = replace(key, ?, ?)', [formerId, workspaceId]],
    ['UPDATE agent SET avatarUrl = replace(avatarUrl, ?, ?)', [formerId, workspaceId]],
    // Events describe the original, and no client has followed the copy yet.
    ['DELETE FROM event', []],
  ];
  for (const [sql, values] of steps) db.run(sql, values);
}

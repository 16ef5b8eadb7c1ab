// How agents are notified while no page of theirs is open: the browsers that push reaches, the choices of each agent,
// and what it is mailed about if no one looks.

import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';

export const notifyReasons = ['own_messages', 'queue', 'offers', 'calls'] as const;
/** A message in an agent's own conversation, one that no one has, an offer, a call. */
export type NotifyReason = (typeof notifyReasons)[number];

export const notifyWays = ['push', 'mail', 'show', 'sound'] as const;
export type NotifyWay = (typeof notifyWays)[number];

/** The reasons for which each way is used. `show` and `sound` are for open pages. */
export type NotifyChoice = Readonly<Record<NotifyWay, readonly NotifyReason[]>>;

export interface PushSubscriptionRecord {
  readonly id: string;
  readonly agentId: string;
  /** The sign-in that it ends with. */
  readonly sessionId: string;
  /** The address at the browser's push service. */
  readonly endpoint: string;
  /** The browser's `p256dh` and `auth`, base64url (RFC 8291). */
  readonly publicKey: string;
  readonly authSecret: string;
  readonly userAgent: string | null;
  readonly createdAt: string;
}

export interface UnseenNotice {
  readonly agentId: string;
  readonly reason: NotifyReason;
  readonly conversationId: string;
  readonly createdAt: string;
}

/** Whether any agent is pushed or mailed at all. Read for each message of a customer. */
export function isAnyoneNotified(db: Database): boolean {
  return (
    db.get(
      `SELECT 1 FROM pushSubscription UNION ALL SELECT 1 FROM notificationChoice WHERE json_array_length(settings, '$.mail') > 0 LIMIT 1`,
    ) !== undefined
  );
}

/** Oldest first; those whose sign-in has expired are left out. */
export function pushSubscriptionsOf(db: Database, agentId: string, at: string): PushSubscriptionRecord[] {
  return db.all<PushSubscriptionRecord>(
    `SELECT pushSubscription.* FROM pushSubscription JOIN agentSession ON agentSession.id = sessionId
     WHERE pushSubscription.agentId = ? AND expiresAt > ? ORDER BY pushSubscription.createdAt, pushSubscription.id`,
    [agentId, at],
  );
}

export function findPushSubscription(db: Database, subscriptionId: string): PushSubscriptionRecord | undefined {
  return db.get<PushSubscriptionRecord>('SELECT * FROM pushSubscription WHERE id = ?', [subscriptionId]);
}

export function findPushSubscriptionAt(db: Database, endpoint: string): PushSubscriptionRecord | undefined {
  return db.get<PushSubscriptionRecord>('SELECT * FROM pushSubscription WHERE endpoint = ?', [endpoint]);
}

export function insertPushSubscription(db: Database, subscription: PushSubscriptionRecord): void {
  db.run(
    `INSERT INTO pushSubscription (id, agentId, sessionId, endpoint, publicKey, authSecret, userAgent, createdAt)
     VALUES (@id, @agentId, @sessionId, @endpoint, @publicKey, @authSecret, @userAgent, @createdAt)`,
    { ...subscription },
  );
}

export function deletePushSubscription(db: Database, subscriptionId: string): void {
  db.run('DELETE FROM pushSubscription WHERE id = ?', [subscriptionId]);
}

/** Of all agents. */
export function deletePushSubscriptions(db: Database): void {
  db.run('DELETE FROM pushSubscription');
}

/** Undefined until the agent chooses. */
export function findNotifyChoice(db: Database, agentId: string): NotifyChoice | undefined {
  const row = db.get<{ settings: string }>('SELECT settings FROM notificationChoice WHERE agentId = ?', [agentId]);
  return row && fromJson<NotifyChoice>(row.settings);
}

export function putNotifyChoice(db: Database, agentId: string, choice: NotifyChoice): void {
  db.run(
    'INSERT INTO notificationChoice (agentId, settings) VALUES (?, ?) ON CONFLICT DO UPDATE SET settings = excluded.settings',
    [agentId, toJson(choice)],
  );
}

/** Keeps an earlier one of the same reason. */
export function addUnseenNotice(db: Database, notice: UnseenNotice): void {
  db.run(
    `INSERT INTO unseenNotice (agentId, reason, conversationId, createdAt) VALUES (@agentId, @reason, @conversationId, @createdAt) ON CONFLICT DO NOTHING`,
    { ...notice },
  );
}

/** Oldest first. */
export function unseenNoticesOf(db: Database, agentId: string, limit: number): UnseenNotice[] {
  return db.all<UnseenNotice>(
    'SELECT * FROM unseenNotice WHERE agentId = ? ORDER BY createdAt, conversationId, reason LIMIT ?',
    [agentId, limit],
  );
}

export function deleteUnseenNotice(db: Database, { agentId, reason, conversationId }: UnseenNotice): void {
  db.run('DELETE FROM unseenNotice WHERE agentId = ? AND reason = ? AND conversationId = ?', [
    agentId,
    reason,
    conversationId,
  ]);
}

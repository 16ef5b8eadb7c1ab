// Webhooks: which events are sent where. Their secrets are sealed; store code cannot open them.

import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';

export type WebhookFeed = 'events' | 'verify';

export interface WebhookRecord {
  readonly id: string;
  readonly feed: WebhookFeed;
  /** The client id of the app that subscribed; null for the workspace's own. */
  readonly appId: string | null;
  /** The admin whose rights it has, and the key if a key created it. Null: no one is responsible for it. */
  readonly agentId: string | null;
  readonly keyId: string | null;
  readonly url: string;
  /** Event types, or `*`. */
  readonly events: readonly string[];
  readonly description: string | null;
  /** Null if the app's secret signs. */
  readonly sealedSecret: string | null;
  /** Sealed. Signs beside the other until then. */
  readonly formerSecret: string | null;
  readonly formerSecretUntil: string | null;
  readonly status: 'active' | 'disabled';
  /** The first failure since the last success. */
  readonly failingSince: string | null;
  readonly createdAt: string;
}

type Row = Omit<WebhookRecord, 'events'> & { events: string };

/** Newest first. */
export function allWebhooks(db: Database): WebhookRecord[] {
  return db
    .all<Row>('SELECT * FROM webhook ORDER BY createdAt DESC, id DESC')
    .map((row) => ({ ...row, events: fromJson<string[]>(row.events) }));
}

export function insertWebhook(db: Database, webhook: WebhookRecord): void {
  db.run(
    `INSERT INTO webhook (id, feed, appId, agentId, keyId, url, events, description, sealedSecret, formerSecret, formerSecretUntil, status, failingSince, createdAt)
     VALUES (@id, @feed, @appId, @agentId, @keyId, @url, @events, @description, @sealedSecret, @formerSecret, @formerSecretUntil, @status, @failingSince, @createdAt)`,
    { ...webhook, events: toJson(webhook.events) },
  );
}

/** Writes every field except its feed, its app and its creation time. */
export function updateWebhook(db: Database, webhook: WebhookRecord): void {
  const { feed: _, appId: __, createdAt: ___, ...changing } = webhook;
  db.run(
    `UPDATE webhook SET agentId = @agentId, keyId = @keyId, url = @url, events = @events, description = @description, sealedSecret = @sealedSecret,
       formerSecret = @formerSecret, formerSecretUntil = @formerSecretUntil, status = @status, failingSince = @failingSince WHERE id = @id`,
    { ...changing, events: toJson(webhook.events) },
  );
}

/** Deletes its deliveries, too. */
export function deleteWebhook(db: Database, webhookId: string): void {
  db.run('DELETE FROM webhook WHERE id = ?', [webhookId]);
}

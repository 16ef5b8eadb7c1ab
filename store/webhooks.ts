// Webhooks: who is told of which events, where. Their secrets are sealed; nothing here can open one.

import type { Database } from './database.ts';
import { fromJson, toJson } from './json.ts';

export type WebhookFeed = 'events' | 'verify';

export interface WebhookRecord {
  readonly id: string;
  readonly feed: WebhookFeed;
  /** The app that subscribed; null for the workspace's own. */
  readonly appId: string | null;
  readonly url: string;
  /** Event types, or `*`. */
  readonly events: readonly string[];
  readonly description: string | null;
  /** Null where the app's secret signs. */
  readonly sealedSecret: string | null;
  readonly status: 'active' | 'disabled';
  /** The first failure since the last success. */
  readonly failingSince: string | null;
  readonly createdAt: string;
}

type Row = Omit<WebhookRecord, 'events'> & { events: string };

/** Newest first. */
export function allWebhooks(db: Database): WebhookRecord[] {
  return db.all<Row>('SELECT * FROM webhook ORDER BY createdAt DESC, id DESC').map((row) => ({ ...row, events: fromJson<string[]>(row.events) }));
}

export function insertWebhook(db: Database, webhook: WebhookRecord): void {
  db.run(
    `INSERT INTO webhook (id, feed, appId, url, events, description, sealedSecret, status, failingSince, createdAt)
     VALUES (@id, @feed, @appId, @url, @events, @description, @sealedSecret, @status, @failingSince, @createdAt)`,
    { ...webhook, events: toJson(webhook.events) },
  );
}

export function updateWebhook(db: Database, webhook: WebhookRecord): void {
  db.run('UPDATE webhook SET status = @status, failingSince = @failingSince WHERE id = @id', { id: webhook.id, status: webhook.status, failingSince: webhook.failingSince });
}

/** Its deliveries go with it. */
export function deleteWebhook(db: Database, webhookId: string): void {
  db.run('DELETE FROM webhook WHERE id = ?', [webhookId]);
}

// Deliveries to webhooks, pending and past, with their outcomes.

import { below, type Cursor } from '../cursor.ts';
import type { Database } from '../database.ts';

export interface WebhookDelivery {
  /** The webhook-id of every attempt. */
  readonly id: string;
  readonly webhookId: string;
  readonly event: string;
  /** The outbox target: deliveries that share it are sent in order. */
  readonly target: string;
  /** JSON, the same at every attempt. */
  readonly body: string;
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly lastAnswer: string | null;
  /** The start of the receiver's response to the last attempt. */
  readonly responseBody: string | null;
  readonly lastAttemptAt: string | null;
  readonly nextAttemptAt: string | null;
  readonly deliveredAt: string | null;
  readonly createdAt: string;
}

export function insertDelivery(db: Database, delivery: WebhookDelivery): void {
  db.run(
    `INSERT INTO webhookDelivery (id, webhookId, event, target, body, status, attempts, lastAnswer, responseBody, lastAttemptAt, nextAttemptAt, deliveredAt, createdAt)
     VALUES (@id, @webhookId, @event, @target, @body, @status, @attempts, @lastAnswer, @responseBody, @lastAttemptAt, @nextAttemptAt, @deliveredAt, @createdAt)`,
    { ...delivery },
  );
}

export function findDelivery(db: Database, deliveryId: string): WebhookDelivery | undefined {
  return db.get<WebhookDelivery>('SELECT * FROM webhookDelivery WHERE id = ?', [deliveryId]);
}

export function updateDelivery(db: Database, delivery: WebhookDelivery): void {
  const { id, status, attempts, lastAnswer, responseBody, lastAttemptAt, nextAttemptAt, deliveredAt } = delivery;
  db.run(
    `UPDATE webhookDelivery SET status = @status, attempts = @attempts, lastAnswer = @lastAnswer, responseBody = @responseBody, lastAttemptAt = @lastAttemptAt, nextAttemptAt = @nextAttemptAt, deliveredAt = @deliveredAt
     WHERE id = @id`,
    { id, status, attempts, lastAnswer, responseBody, lastAttemptAt, nextAttemptAt, deliveredAt },
  );
}

/** Newest first, from just below `cursor`. */
export function deliveryPage(
  db: Database,
  page: { webhookId: string; cursor: Cursor | undefined; limit: number },
): WebhookDelivery[] {
  return db.all<WebhookDelivery>(
    `SELECT * FROM webhookDelivery WHERE webhookId = @webhookId AND (createdAt, id) < (@at, @id) ORDER BY createdAt DESC, id DESC LIMIT @limit`,
    { webhookId: page.webhookId, ...below(page.cursor), limit: page.limit },
  );
}

/** Deletes settled deliveries from before `at`. Returns the number of rows. */
export function deleteSettledDeliveries(db: Database, at: string, limit: number): number {
  return db.run(
    `DELETE FROM webhookDelivery WHERE id IN (SELECT id FROM webhookDelivery WHERE status <> 'pending' AND createdAt < ? LIMIT ?)`,
    [at, limit],
  );
}

// Messages: append-only, in the order of their createdAt, which no two of a conversation share.

import type { Database } from './database.ts';
import { fromJson, toJson } from './json.ts';

export type SenderType = 'visitor' | 'agent' | 'ai' | 'system';

export interface Attachment {
  readonly url: string;
  readonly name: string | null;
  readonly size: number | null;
}

export interface MessageRecord {
  readonly id: string;
  readonly conversationId: string;
  readonly senderType: SenderType;
  readonly senderId: string | null;
  readonly body: string;
  readonly attachments: readonly Attachment[];
  readonly deliveryStatus: 'queued' | 'sent' | 'failed' | null;
  readonly readAt: string | null;
  readonly createdAt: string;
}

type Row = Omit<MessageRecord, 'attachments'> & { attachments: string };

const columns = 'id, conversationId, senderType, senderId, body, attachments, deliveryStatus, readAt, createdAt';
const noAttachments: readonly Attachment[] = [];

function fromRow(row: Row): MessageRecord {
  return { ...row, attachments: row.attachments === '[]' ? noAttachments : fromJson(row.attachments) };
}

export function insertMessage(db: Database, message: MessageRecord): void {
  db.run('INSERT INTO message (id, conversationId, senderType, senderId, body, attachments, deliveryStatus, readAt, createdAt) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)', [
    message.id,
    message.conversationId,
    message.senderType,
    message.senderId,
    message.body,
    message.attachments.length === 0 ? '[]' : toJson(message.attachments),
    message.deliveryStatus,
    message.readAt,
    message.createdAt,
  ]);
}

export function findMessage(db: Database, messageId: string): MessageRecord | undefined {
  const row = db.get<Row>(`SELECT ${columns} FROM message WHERE id = ?`, [messageId]);
  return row && fromRow(row);
}

export interface MessagePage {
  readonly conversationId: string;
  /** Exclusive. */
  readonly before: string | undefined;
  readonly limit: number;
  /** False for what customers see: system lines are the agents'. */
  readonly withSystem: boolean;
}

/** The newest ones before `before`, newest first. */
export function messagesBefore(db: Database, page: MessagePage): MessageRecord[] {
  return db
    .all<Row>(
      `SELECT ${columns} FROM message WHERE conversationId = ? AND createdAt < ? AND (? OR senderType <> 'system') ORDER BY createdAt DESC LIMIT ?`,
      [page.conversationId, page.before ?? '9999', page.withSystem ? 1 : 0, page.limit],
    )
    .map(fromRow);
}

/** Oldest first, one by one. */
export function* everyMessage(db: Database, conversationId: string): Generator<MessageRecord> {
  for (const row of db.iterate<Row>(`SELECT ${columns} FROM message WHERE conversationId = ? ORDER BY createdAt`, [conversationId])) yield fromRow(row);
}

/** Marks what these senders wrote after `after` and was not read yet. Returns how many that were. */
export function markRead(db: Database, mark: { conversationId: string; senderTypes: readonly SenderType[]; after: string | null; at: string }): number {
  return db.run(
    `UPDATE message SET readAt = ? WHERE conversationId = ? AND createdAt > ? AND readAt IS NULL AND senderType IN (SELECT value FROM json_each(?))`,
    [mark.at, mark.conversationId, mark.after ?? '', toJson(mark.senderTypes)],
  );
}

export function setDeliveryStatus(db: Database, messageId: string, deliveryStatus: MessageRecord['deliveryStatus']): void {
  db.run('UPDATE message SET deliveryStatus = ? WHERE id = ?', [deliveryStatus, messageId]);
}

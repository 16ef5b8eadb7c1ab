// Messages: append-only, ordered by createdAt, which is unique within a conversation.

import type { Database } from '../database.ts';
import { fromJson, fromJsonOrNull, toJson, toJsonOrNull } from '../json.ts';
import type { MailAuthentication } from '../mail/mails.ts';

export type SenderType = 'visitor' | 'agent' | 'ai' | 'system';

export interface Attachment {
  readonly url: string;
  readonly name: string | null;
  readonly size: number | null;
}

/** How a mail found its conversation. `reason` says why a match was rejected, or that there was none. */
export interface Threading {
  readonly rule: 'in_reply_to' | 'references' | 'subject' | 'new';
  readonly matchedMessageId: string | null;
  readonly reason: 'sender_not_on_thread' | 'sender_disproved' | 'unknown_reference' | null;
}

/** Set if the message came or left as a mail. */
export interface MessageMail {
  readonly from: { readonly address: string; readonly name: string | null };
  /** Further recipients, besides the customer and us. */
  readonly copiedTo: readonly string[];
  /** The sender's domain's verdict; null if it was not checked, as for mail from us. */
  readonly authentication: MailAuthentication | null;
}

export interface MessageRecord {
  readonly id: string;
  readonly conversationId: string;
  readonly senderType: SenderType;
  readonly senderId: string | null;
  readonly body: string;
  /** Safe HTML of a mail; null if the display form derives from the body. */
  readonly bodyHtml: string | null;
  readonly attachments: readonly Attachment[];
  /** Set if the message was made from a mail. */
  readonly threading: Threading | null;
  readonly mail: MessageMail | null;
  readonly deliveryStatus: 'queued' | 'sent' | 'failed' | null;
  readonly readAt: string | null;
  readonly createdAt: string;
}

type Row = Omit<MessageRecord, 'attachments' | 'threading' | 'mail'> & {
  attachments: string;
  threading: string | null;
  mail: string | null;
};

const columns =
  'id, conversationId, senderType, senderId, body, bodyHtml, attachments, threading, mail, deliveryStatus, readAt, createdAt';
const noAttachments: readonly Attachment[] = [];

function fromRow(row: Row): MessageRecord {
  return {
    ...row,
    attachments: row.attachments === '[]' ? noAttachments : fromJson(row.attachments),
    threading: fromJsonOrNull(row.threading),
    mail: fromJsonOrNull(row.mail),
  };
}

export function insertMessage(db: Database, message: MessageRecord): void {
  db.run(`INSERT INTO message (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
    message.id,
    message.conversationId,
    message.senderType,
    message.senderId,
    message.body,
    message.bodyHtml,
    message.attachments.length === 0 ? '[]' : toJson(message.attachments),
    toJsonOrNull(message.threading),
    toJsonOrNull(message.mail),
    message.deliveryStatus,
    message.readAt,
    message.createdAt,
  ]);
}

export function findMessage(db: Database, messageId: string): MessageRecord | undefined {
  const row = db.get<Row>(`SELECT ${columns} FROM message WHERE id = ?`, [messageId]);
  return row && fromRow(row);
}

/** The last agent to write in a conversation. */
export function lastAgentIn(db: Database, conversationId: string): string | undefined {
  return db.get<{ senderId: string }>(
    `SELECT senderId FROM message WHERE conversationId = ? AND senderType = 'agent' ORDER BY createdAt DESC LIMIT 1`,
    [conversationId],
  )?.senderId;
}

export interface MessagePage {
  readonly conversationId: string;
  /** Exclusive. */
  readonly before: string | undefined;
  readonly limit: number;
  /** False for customers: only agents see system lines. */
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

/** Oldest first, one by one: after `after`, up to and including `upTo`. */
export function* messagesBetween(
  db: Database,
  range: { conversationId: string; after: string; upTo: string },
): Generator<MessageRecord> {
  for (const row of db.iterate<Row>(
    `SELECT ${columns} FROM message WHERE conversationId = ? AND createdAt > ? AND createdAt <= ? ORDER BY createdAt`,
    [range.conversationId, range.after, range.upTo],
  ))
    yield fromRow(row);
}

/** Marks unread messages of these senders after `after` as read. Returns their number. */
export function markRead(
  db: Database,
  mark: { conversationId: string; senderTypes: readonly SenderType[]; after: string | null; at: string },
): number {
  return db.run(
    `UPDATE message SET readAt = ? WHERE conversationId = ? AND createdAt > ? AND readAt IS NULL AND senderType IN (SELECT value FROM json_each(?))`,
    [mark.at, mark.conversationId, mark.after ?? '', toJson(mark.senderTypes)],
  );
}

/** Marks messages written at `from` or later as unread. */
export function unmarkRead(db: Database, mark: { conversationId: string; senderType: SenderType; from: string }): void {
  db.run('UPDATE message SET readAt = NULL WHERE conversationId = ? AND createdAt >= ? AND senderType = ?', [
    mark.conversationId,
    mark.from,
    mark.senderType,
  ]);
}

export function setDeliveryStatus(
  db: Database,
  messageId: string,
  deliveryStatus: MessageRecord['deliveryStatus'],
): void {
  db.run('UPDATE message SET deliveryStatus = ? WHERE id = ?', [deliveryStatus, messageId]);
}

/** A message for the search index. */
export interface WrittenMessage {
  readonly rowid: number;
  readonly id: string;
  readonly conversationId: string;
  readonly senderType: SenderType;
  readonly body: string;
}

/** In the order written. */
export function messagesWrittenAfter(db: Database, rowid: number, limit: number): WrittenMessage[] {
  return db.all<WrittenMessage>(
    'SELECT rowid, id, conversationId, senderType, body FROM message WHERE rowid > ? ORDER BY rowid LIMIT ?',
    [rowid, limit],
  );
}

/** 0 before the first. */
export function newestMessageRowid(db: Database): number {
  return db.get<{ rowid: number | null }>('SELECT max(rowid) AS rowid FROM message')?.rowid ?? 0;
}

export function findMessageWritten(db: Database, rowid: number): { id: string; body: string } | undefined {
  return db.get('SELECT id, body FROM message WHERE rowid = ?', [rowid]);
}

// Messages: append-only, ordered by createdAt, which is unique within a conversation.

import type { Database } from '../database.ts';
import { fromJson, fromJsonOrNull, toJson, toJsonOrNull } from '../json.ts';
import type { RowOf } from '../table.ts';
import type { Attachment, MessageRecord, SenderType } from './records.ts';

export type { Attachment, MessageMail, MessageRecord, SenderType, Threading } from './records.ts';

type Row = RowOf<MessageRecord>;

const members = {
  id: true,
  conversationId: true,
  senderType: true,
  senderId: true,
  body: true,
  bodyHtml: true,
  attachments: true,
  deliveryStatus: true,
  threading: true,
  mail: true,
  readAt: true,
  createdAt: true,
} satisfies Record<keyof MessageRecord, true>;
/** All but the rowid, which is not the record's. */
const columns = Object.keys(members).join(', ');

const noAttachments: readonly Attachment[] = [];

function fromRow(row: Row): MessageRecord {
  return {
    ...row,
    attachments: row.attachments === '[]' ? noAttachments : fromJson(row.attachments),
    threading: fromJsonOrNull(row.threading),
    mail: fromJsonOrNull(row.mail),
  };
}

export function findMessage(db: Database, messageId: string): MessageRecord | undefined {
  const row = db.get<Row>(`SELECT ${columns} FROM message WHERE id = ?`, [messageId]);
  return row && fromRow(row);
}

export function rowidOfMessage(db: Database, messageId: string): number | undefined {
  return db.get<{ rowid: number }>('SELECT rowid FROM message WHERE id = ?', [messageId])?.rowid;
}

/** The last agent to write in a conversation. */
export function lastAgentIn(db: Database, conversationId: string): string | undefined {
  return db.get<{ senderId: string }>(
    `SELECT senderId FROM message WHERE conversationId = ? AND senderType = 'agent' ORDER BY createdAt DESC LIMIT 1`,
    [conversationId],
  )?.senderId;
}

/** Answers and others that the assistant wrote. */
export function countAiMessages(db: Database, conversationId: string): number {
  return (
    db.get<{ count: number }>(`SELECT count(*) AS count FROM message WHERE conversationId = ? AND senderType = 'ai'`, [
      conversationId,
    ])?.count ?? 0
  );
}

/** The agents who wrote in the conversation. */
export function authorsIn(
  db: Database,
  { conversationId, limit }: { conversationId: string; limit: number },
): string[] {
  return db
    .all<{ senderId: string }>(
      `SELECT DISTINCT senderId FROM message WHERE conversationId = ? AND senderType = 'agent' AND senderId IS NOT NULL LIMIT ?`,
      [conversationId, limit],
    )
    .map(({ senderId }) => senderId);
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

/** Agents' messages written after `after` that the customer has not seen and that were not mailed, oldest first. */
export function unseenAnswers(
  db: Database,
  page: { conversationId: string; after: string; limit: number },
): MessageRecord[] {
  return db
    .all<Row>(
      `SELECT ${columns} FROM message WHERE conversationId = ? AND createdAt > ? AND senderType IN ('agent', 'ai') AND readAt IS NULL AND deliveryStatus IS NULL ORDER BY createdAt LIMIT ?`,
      [page.conversationId, page.after, page.limit],
    )
    .map(fromRow);
}

/** The visitor's first message and its last one, before `before`. */
export function questionsIn(
  db: Database,
  { conversationId, before }: { conversationId: string; before: string },
): { first: MessageRecord | undefined; last: MessageRecord | undefined } {
  const one = (direction: 'ASC' | 'DESC'): MessageRecord | undefined => {
    const row = db.get<Row>(
      `SELECT ${columns} FROM message WHERE conversationId = ? AND createdAt < ? AND senderType = 'visitor' ORDER BY createdAt ${direction} LIMIT 1`,
      [conversationId, before],
    );
    return row && fromRow(row);
  };
  return { first: one('ASC'), last: one('DESC') };
}

/** The newest mail in the customer's thread that came in. */
export function newestMailOfCustomer(db: Database, conversationId: string): MessageRecord | undefined {
  const row = db.get<Row>(
    `SELECT ${columns} FROM message WHERE conversationId = ? AND senderType = 'visitor' AND mail IS NOT NULL AND mail ->> '$.side' IS NULL ORDER BY createdAt DESC LIMIT 1`,
    [conversationId],
  );
  return row && fromRow(row);
}

/** The message leaves as a mail, or is kept from it. */
export function setMailed(
  db: Database,
  { id, deliveryStatus, mail }: Pick<MessageRecord, 'id' | 'deliveryStatus' | 'mail'>,
): void {
  db.run('UPDATE message SET deliveryStatus = ?, mail = ? WHERE id = ?', [deliveryStatus, toJsonOrNull(mail), id]);
}

/** The mail was sent or has failed, so it is not delayed any more. */
export function settleDelivery(db: Database, messageId: string, deliveryStatus: 'sent' | 'failed'): void {
  db.run(`UPDATE message SET deliveryStatus = ?, mail = json_remove(mail, '$.delayed') WHERE id = ?`, [
    deliveryStatus,
    messageId,
  ]);
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

export function findMessageWritten(
  db: Database,
  rowid: number,
): { id: string; conversationId: string; body: string } | undefined {
  return db.get('SELECT id, conversationId, body FROM message WHERE rowid = ?', [rowid]);
}

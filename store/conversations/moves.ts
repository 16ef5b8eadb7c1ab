// Merges and splits of tickets: which messages moved, from where, and what else a merge changed, so that it can be
// undone. Rows stay, because the search index follows them and erasing a customer needs them.

import type { Database } from '../database.ts';
import { fromJson, fromJsonOrNull, toJson } from '../json.ts';
import type { ConversationRecord, MessageMail, MessageRecord } from './records.ts';

/** What a merge moved and added besides messages, and how the merged ticket was before. */
export interface MoveDetail {
  readonly noteIds: readonly string[];
  readonly draftIds: readonly string[];
  /** Addresses that the target's mails go to since, and those that may answer them. */
  readonly copiedTo: readonly string[];
  readonly participants: readonly string[];
  /** Agents who follow the target since. */
  readonly followerIds: readonly string[];
  /** The target's first response, if it is the merged ticket's. */
  readonly firstResponseAt: string | null;
  readonly before: Pick<ConversationRecord, 'status' | 'waitingSince'> | null;
  /** How the target was. */
  readonly target:
    | (Pick<ConversationRecord, 'status' | 'solvedAt' | 'closedAt' | 'snoozedUntil' | 'copiedTo'> & {
        readonly participants: readonly string[];
      })
    | null;
}

/** Of a move that brings messages alone. */
export const noDetail: MoveDetail = {
  noteIds: [],
  draftIds: [],
  copiedTo: [],
  participants: [],
  followerIds: [],
  firstResponseAt: null,
  before: null,
  target: null,
};

export interface TicketMove {
  readonly id: string;
  readonly kind: 'merge' | 'unmerge' | 'split';
  readonly fromId: string;
  readonly toId: string;
  readonly agentId: string;
  readonly detail: MoveDetail;
  readonly createdAt: string;
}

type Row = Omit<TicketMove, 'detail'> & { readonly detail: string };

const fromRow = (row: Row): TicketMove => ({
  ...row,
  detail: { ...noDetail, ...fromJson<Partial<MoveDetail>>(row.detail) },
});

export function insertTicketMove(db: Database, move: TicketMove): void {
  db.run(
    'INSERT INTO ticketMove (id, kind, fromId, toId, agentId, detail, createdAt) VALUES (@id, @kind, @fromId, @toId, @agentId, @detail, @createdAt)',
    { ...move, detail: toJson(move.detail) },
  );
}

/** The latest merge of the ticket into another. */
export function findMerge(db: Database, fromId: string): TicketMove | undefined {
  const row = db.get<Row>(
    `SELECT * FROM ticketMove WHERE fromId = ? AND kind = 'merge' ORDER BY createdAt DESC, id DESC LIMIT 1`,
    [fromId],
  );
  return row && fromRow(row);
}

/** Merges in force that brought the ticket its messages. */
export function mergesInto(db: Database, toId: string): TicketMove[] {
  return db
    .all<Row>(
      `SELECT * FROM ticketMove WHERE id IN (SELECT moveId FROM message JOIN messageMove ON messageId = message.id WHERE conversationId = @toId)
         AND kind = 'merge' AND toId = @toId AND EXISTS (SELECT 1 FROM conversation WHERE conversation.id = fromId AND mergedInto = @toId) ORDER BY createdAt, id`,
      { toId },
    )
    .map(fromRow);
}

/** Whether `ticket` was begun by splitting a message off `from`. */
export function isSplitFrom(db: Database, ticketId: string, fromId: string): boolean {
  return (
    db.get(`SELECT 1 FROM ticketMove WHERE fromId = ? AND toId = ? AND kind = 'split'`, [fromId, ticketId]) !==
    undefined
  );
}

/** The messages that were split off to begin the ticket: one, or none. */
export function messagesBegunWith(db: Database, ticketId: string): string[] {
  return db
    .all<{ messageId: string }>(
      `SELECT messageId FROM ticketMove JOIN messageMove ON moveId = ticketMove.id WHERE toId = ? AND kind = 'split'`,
      [ticketId],
    )
    .map(({ messageId }) => messageId);
}

/** Of people: without the service's own lines. Counted up to `limit`. */
export function countMovable(db: Database, conversationId: string, limit: number): number {
  return (
    db.get<{ count: number }>(
      `SELECT count(*) AS count FROM (SELECT 1 FROM message WHERE conversationId = ? AND senderType <> 'system' LIMIT ?)`,
      [conversationId, limit],
    )?.count ?? 0
  );
}

/** Messages of people, oldest first. */
export function movableMessages(db: Database, conversationId: string): { id: string; createdAt: string }[] {
  return db.all(
    `SELECT id, createdAt FROM message WHERE conversationId = ? AND senderType <> 'system' ORDER BY createdAt`,
    [conversationId],
  );
}

/** What a merge moved, oldest first, with the times from before. */
export function messagesOfMove(db: Database, moveId: string): { id: string; writtenAt: string }[] {
  return db.all('SELECT messageId AS id, writtenAt FROM messageMove WHERE moveId = ? ORDER BY seq', [moveId]);
}

/** What customers wrote in the ticket after `since`, oldest first: neither side messages nor what a merge brought. */
export function customersMessagesAfter(
  db: Database,
  conversationId: string,
  since: string,
): (Pick<MessageRecord, 'id' | 'senderId' | 'createdAt'> & { readonly mail: MessageMail | null })[] {
  return db
    .all<{ id: string; senderId: string; createdAt: string; mail: string | null }>(
      `SELECT id, senderId, createdAt, mail FROM message WHERE conversationId = @conversationId AND senderType = 'visitor' AND createdAt > @since AND mail ->> '$.side' IS NULL
         AND NOT EXISTS (SELECT 1 FROM messageMove JOIN ticketMove ON ticketMove.id = moveId WHERE messageId = message.id AND kind = 'merge' AND toId = @conversationId) ORDER BY createdAt`,
      { conversationId, since },
    )
    .map((row) => ({ ...row, mail: fromJsonOrNull(row.mail) }));
}

/** Whether a person wrote in it after `since`. */
export function isSpokenAfter(db: Database, conversationId: string, since: string): boolean {
  return (
    db.get(`SELECT 1 FROM message WHERE conversationId = ? AND createdAt > ? AND senderType <> 'system' LIMIT 1`, [
      conversationId,
      since,
    ]) !== undefined
  );
}

/** The first answer of an agent. */
export function firstAnswerIn(
  db: Database,
  conversationId: string,
): Pick<ConversationRecord, 'firstResponseAt' | 'firstResponderId'> {
  return (
    db.get(
      `SELECT createdAt AS firstResponseAt, senderId AS firstResponderId FROM message WHERE conversationId = ? AND senderType = 'agent' AND mail ->> '$.side' IS NULL ORDER BY createdAt LIMIT 1`,
      [conversationId],
    ) ?? { firstResponseAt: null, firstResponderId: null }
  );
}

/** Moves a message with its mail, so that answers to the mail follow it. `writtenAt` is its time before. */
export function moveMessage(
  db: Database,
  message: { id: string; conversationId: string; createdAt: string; writtenAt: string; moveId: string },
): void {
  const { id, conversationId, createdAt, writtenAt, moveId } = message;
  db.run('UPDATE message SET conversationId = ?, createdAt = ? WHERE id = ?', [conversationId, createdAt, id]);
  db.run('UPDATE mail SET conversationId = ? WHERE messageId = ?', [conversationId, id]);
  // Where the other ticket expects the same mail already, its own row is enough; this one leads there by the merge.
  db.run('UPDATE OR IGNORE mailReference SET conversationId = ? WHERE messageId = ?', [conversationId, id]);
  db.run('INSERT INTO messageMove (moveId, messageId, writtenAt) VALUES (?, ?, ?)', [moveId, id, writtenAt]);
}

export function moveNote(db: Database, noteId: string, conversationId: string): void {
  db.run('UPDATE note SET conversationId = ? WHERE id = ?', [conversationId, noteId]);
}

type LastMessage = Pick<MessageRecord, 'body' | 'attachments' | 'senderId' | 'createdAt'> & {
  readonly senderType: 'visitor' | 'agent' | 'ai';
};

/** What a conversation's record repeats of its messages. */
export interface Spoken {
  readonly lastLineAt: string | null;
  readonly lastCustomerMessageAt: string | null;
  /** The newest message of a person. */
  readonly last: LastMessage | undefined;
  readonly firstUnreadAt: string | null;
  /** Of the customer's first message at `waitingFrom` or later that no one has answered. */
  readonly waitingSince: string | null;
}

export function spokenIn(db: Database, conversationId: string, waitingFrom: string | null): Spoken {
  const times = db.get<Omit<Spoken, 'last'>>(
    `SELECT (SELECT max(createdAt) FROM message WHERE conversationId = @id) AS lastLineAt,
       (SELECT max(createdAt) FROM message WHERE conversationId = @id AND senderType = 'visitor') AS lastCustomerMessageAt,
       (SELECT min(createdAt) FROM message WHERE conversationId = @id AND senderType = 'visitor' AND readAt IS NULL) AS firstUnreadAt,
       (SELECT min(createdAt) FROM message WHERE conversationId = @id AND senderType = 'visitor' AND mail ->> '$.side' IS NULL AND createdAt >= @waitingFrom
          AND createdAt > coalesce((SELECT max(createdAt) FROM message WHERE conversationId = @id AND senderType IN ('agent', 'ai') AND mail ->> '$.side' IS NULL), '')) AS waitingSince`,
    { id: conversationId, waitingFrom: waitingFrom ?? '9999' },
  );
  const last = db.get<Omit<LastMessage, 'attachments'> & { attachments: string }>(
    `SELECT body, attachments, senderType, senderId, createdAt FROM message WHERE conversationId = ? AND senderType <> 'system' ORDER BY createdAt DESC LIMIT 1`,
    [conversationId],
  );
  return {
    lastLineAt: times?.lastLineAt ?? null,
    lastCustomerMessageAt: times?.lastCustomerMessageAt ?? null,
    firstUnreadAt: times?.firstUnreadAt ?? null,
    waitingSince: times?.waitingSince ?? null,
    last: last && { ...last, attachments: fromJson(last.attachments) },
  };
}

/** A message that was moved, for the search index. */
export interface MovedMessage {
  readonly seq: number;
  readonly rowid: number;
  /** Where it is now. */
  readonly conversationId: string;
  readonly fromId: string;
  readonly toId: string;
}

/** In the order of the moves. */
export function movedMessagesAfter(db: Database, seq: number, limit: number): MovedMessage[] {
  return db.all<MovedMessage>(
    `SELECT seq, message.rowid AS rowid, message.conversationId AS conversationId, fromId, toId
     FROM messageMove JOIN message ON message.id = messageId JOIN ticketMove ON ticketMove.id = moveId WHERE seq > ? ORDER BY seq LIMIT ?`,
    [seq, limit],
  );
}

export function isMoved(db: Database, messageId: string): boolean {
  return db.get('SELECT 1 FROM messageMove WHERE messageId = ? LIMIT 1', [messageId]) !== undefined;
}

/** 0 if it has none. */
export function firstMessageRowid(db: Database, conversationId: string): number {
  return (
    db.get<{ rowid: number | null }>('SELECT min(rowid) AS rowid FROM message WHERE conversationId = ?', [
      conversationId,
    ])?.rowid ?? 0
  );
}

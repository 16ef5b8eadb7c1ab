// The events that are kept, read again with the rows that they refer to (engine/event-forms.ts): a message, and their
// conversation.

import type { Database } from '../database.ts';
import { fromJson, fromJsonOrNull } from '../json.ts';
import { type EventRow, messageRowid } from '../runtime/events.ts';
import type { ConversationRecord, MessageRecord } from './records.ts';

/** What does not change of a message, and where it is now: it may have moved. */
export type EventMessage = Pick<
  MessageRecord,
  'id' | 'conversationId' | 'senderType' | 'senderId' | 'body' | 'bodyHtml' | 'attachments' | 'threading'
>;

/** What does not change of a conversation. */
export type EventConversation = Pick<ConversationRecord, 'channel' | 'siteId' | 'visitorId' | 'ticketNumber'>;

export interface KeptEvent extends EventRow {
  /** The one that its data refers to. */
  readonly message: EventMessage | undefined;
  readonly conversation: EventConversation | undefined;
}

type Row = EventRow &
  Omit<EventMessage, 'id' | 'conversationId' | 'attachments' | 'threading'> &
  EventConversation & {
    readonly messageId: string | null;
    readonly messageIn: string;
    readonly attachments: string;
    readonly threading: string | null;
    readonly isConversation: 0 | 1;
  };

const columns = `event.seq, event.type, event.at, event.conversationId, event.audience, event.data,
  message.id AS messageId, message.conversationId AS messageIn, message.senderType, message.senderId, message.body, message.bodyHtml,
  message.attachments, message.threading,
  conversation.id IS NOT NULL AS isConversation, conversation.channel, conversation.siteId, conversation.visitorId, conversation.ticketNumber`;

const rows = `LEFT JOIN message ON message.rowid = ${messageRowid}
  LEFT JOIN conversation ON conversation.id = event.conversationId`;

function fromRow(row: Row): KeptEvent {
  const { seq, type, at, conversationId, audience, data } = row;
  return {
    seq,
    type,
    at,
    conversationId,
    audience,
    data,
    message:
      row.messageId === null
        ? undefined
        : {
            id: row.messageId,
            conversationId: row.messageIn,
            senderType: row.senderType,
            senderId: row.senderId,
            body: row.body,
            bodyHtml: row.bodyHtml,
            attachments: fromJson(row.attachments),
            threading: fromJsonOrNull(row.threading),
          },
    conversation:
      row.isConversation === 0
        ? undefined
        : { channel: row.channel, siteId: row.siteId, visitorId: row.visitorId, ticketNumber: row.ticketNumber },
  };
}

interface Range {
  readonly afterSeq: number;
  readonly upToSeq: number;
}

/** Events after `afterSeq`, up to and including `upToSeq`, in order. Read one by one, since they may be long. */
export function* eventsBetween(db: Database, range: Range & { limit: number }): Generator<KeptEvent> {
  for (const row of db.iterate<Row>(
    `SELECT ${columns} FROM event ${rows} WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?`,
    [range.afterSeq, range.upToSeq, range.limit],
  ))
    yield fromRow(row);
}

/** The newest events before `seq`, newest first, one by one. */
export function* eventsBefore(db: Database, page: { seq: number; limit: number }): Generator<KeptEvent> {
  for (const row of db.iterate<Row>(`SELECT ${columns} FROM event ${rows} WHERE seq < ? ORDER BY seq DESC LIMIT ?`, [
    page.seq,
    page.limit,
  ]))
    yield fromRow(row);
}

/** Those of eventsBetween(), only for a visitor's own conversations, by their index, without reading the rest. */
export function* eventsOfVisitorBetween(
  db: Database,
  range: Range & { visitorId: string; limit: number },
): Generator<KeptEvent> {
  for (const row of db.iterate<Row>(
    `SELECT ${columns} FROM (
       SELECT seq AS pageSeq FROM event INDEXED BY eventByConversation
       WHERE conversationId IN (SELECT id FROM conversation WHERE visitorId = ?) AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?
     ) CROSS JOIN event ON event.seq = pageSeq ${rows} ORDER BY pageSeq`,
    [range.visitorId, range.afterSeq, range.upToSeq, range.limit],
  ))
    yield fromRow(row);
}

/** In order, one by one. */
export function* eventsOfConversation(db: Database, range: Range & { conversationId: string }): Generator<KeptEvent> {
  // Names the index, because without statistics SQLite may scan the table instead.
  for (const row of db.iterate<Row>(
    `SELECT ${columns} FROM event INDEXED BY eventByConversation ${rows}
     WHERE event.conversationId = ? AND seq > ? AND seq <= ? ORDER BY seq`,
    [range.conversationId, range.afterSeq, range.upToSeq],
  ))
    yield fromRow(row);
}

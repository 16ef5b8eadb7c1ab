// Conversations of every channel, and Reach, which says what a caller may see of them. lists.ts has their lists.

import type { Database } from '../database.ts';
import { fromJson, fromJsonOrNull, toJson, toJsonOrNull } from '../json.ts';
import type { RowOf } from '../table.ts';
import type { Channel, ConversationRecord, ConversationStatus } from './records.ts';

export type { Channel, ConversationRecord, ConversationStatus, Handshake } from './records.ts';

export type ConversationRow = RowOf<ConversationRecord>;

/** The part of the workspace's conversations that a caller may see. Departments `null`: all. */
export interface Reach {
  readonly channels: readonly Channel[];
  readonly departmentIds: readonly string[] | null;
  /** Sees conversations assigned or offered to it, whatever their department. */
  readonly agentId: string;
}

/** The condition of a Reach on a table or alias `conversation`; binds @channels, @departmentIds, @agentId. */
export const withinReach = `conversation.channel IN (SELECT value FROM json_each(@channels))
  AND (@departmentIds IS NULL OR conversation.departmentId IS NULL OR conversation.departmentId IN (SELECT value FROM json_each(@departmentIds))
    OR conversation.assignedAgentId = @agentId OR conversation.handshake ->> 'toAgentId' = @agentId)`;

export function reachValues(reach: Reach): { channels: string; departmentIds: string | null; agentId: string } {
  return { channels: toJson(reach.channels), departmentIds: toJsonOrNull(reach.departmentIds), agentId: reach.agentId };
}

const none: readonly string[] = [];

export function conversationFromRow(row: ConversationRow): ConversationRecord {
  return {
    ...row,
    notToAgentIds: fromJson(row.notToAgentIds),
    tags: fromJson(row.tags),
    handshake: fromJsonOrNull(row.handshake),
    unreachable: row.unreachable === 1,
    mailPreview: fromJsonOrNull(row.mailPreview),
    copiedTo: row.copiedTo === '[]' ? none : fromJson(row.copiedTo),
    followerIds: row.followerIds === '[]' ? none : fromJson(row.followerIds),
  };
}

export function findConversation(db: Database, conversationId: string): ConversationRecord | undefined {
  const row = db.get<ConversationRow>('SELECT * FROM conversation WHERE id = ?', [conversationId]);
  return row && conversationFromRow(row);
}

/**
 * Writes only what a message changes, because every message takes this path. Only the first answer touches the index of
 * reports, only the first message after routing clears routedAt, only a change of turns moves it among those that wait,
 * and only the customer's own message touches the index of the unread.
 */
export function touchConversation(
  db: Database,
  conversation: ConversationRecord,
  options: { isFromCustomer: boolean; isFirstResponse: boolean; isFirstSinceRouted: boolean; isTurn: boolean },
): void {
  const {
    preview,
    mailPreview,
    lastMessageAt,
    firstResponseAt,
    firstResponderId,
    lastLineAt,
    lastCustomerMessageAt,
    updatedAt,
    id,
  } = conversation;
  if (options.isFirstResponse)
    db.run('UPDATE conversation SET firstResponseAt = ?, firstResponderId = ? WHERE id = ?', [
      firstResponseAt,
      firstResponderId,
      id,
    ]);
  if (options.isFirstSinceRouted) db.run('UPDATE conversation SET routedAt = NULL WHERE id = ?', [id]);
  if (options.isTurn)
    db.run('UPDATE conversation SET lastSenderType = ?, lastSenderId = ?, waitingSince = ? WHERE id = ?', [
      conversation.lastSenderType,
      conversation.lastSenderId,
      conversation.waitingSince,
      id,
    ]);
  const line = [preview, toJsonOrNull(mailPreview), lastMessageAt, lastLineAt, updatedAt];
  if (options.isFromCustomer)
    db.run(
      'UPDATE conversation SET preview = ?, mailPreview = ?, lastMessageAt = ?, lastLineAt = ?, updatedAt = ?, lastCustomerMessageAt = ? WHERE id = ?',
      [...line, lastCustomerMessageAt, id],
    );
  else
    db.run(
      'UPDATE conversation SET preview = ?, mailPreview = ?, lastMessageAt = ?, lastLineAt = ?, updatedAt = ? WHERE id = ?',
      [...line, id],
    );
}

/** Writes the read mark, which is not a change of the conversation itself. */
export function setReadUpTo(db: Database, conversation: ConversationRecord): void {
  db.run('UPDATE conversation SET agentsReadUpTo = ?, customerReadUpTo = ? WHERE id = ?', [
    conversation.agentsReadUpTo,
    conversation.customerReadUpTo,
    conversation.id,
  ]);
}

/** Agents who would take a chat of this department (`null`: of none). */
export interface Takers {
  readonly departmentId: string | null;
  readonly agentIds: readonly string[];
}

/** The chat that has waited longest for an agent and that one of its department's takers may have. */
export function findLongestWaitingChat(db: Database, takers: readonly Takers[]): string | undefined {
  let longest: Waiting | undefined;
  for (const { departmentId, agentIds } of takers) {
    const first = db.get<Waiting>(
      `SELECT createdAt, id FROM conversation INDEXED BY conversationWaitingInDepartment WHERE departmentId IS @departmentId AND ${isWaiting}
         AND (notToAgentIds = '[]' OR EXISTS (SELECT 1 FROM json_each(@agentIds) WHERE value NOT IN (SELECT value FROM json_each(notToAgentIds))))
       ORDER BY createdAt, id LIMIT 1`,
      { departmentId, agentIds: toJson(agentIds) },
    );
    if (
      first !== undefined &&
      (longest === undefined ||
        first.createdAt < longest.createdAt ||
        (first.createdAt === longest.createdAt && first.id < longest.id))
    )
      longest = first;
  }
  return longest?.id;
}

type Waiting = Pick<ConversationRecord, 'createdAt' | 'id'>;
/** As the indexes of waiting chats express it. */
const isWaiting = `channel = 'chat' AND status = 'open' AND assignedAgentId IS NULL AND handshake IS NULL AND assistant IS NOT 'answering'`;

/** Open chats per agent, without agents who have none. */
export function openChatsByAgent(db: Database): Map<string, number> {
  const rows = db.all<{ agentId: string; chats: number }>(
    `SELECT assignedAgentId AS agentId, count(*) AS chats FROM conversation INDEXED BY conversationOpenChats
     WHERE channel = 'chat' AND status = 'open' AND assignedAgentId IS NOT NULL GROUP BY assignedAgentId`,
  );
  return new Map(rows.map((row) => [row.agentId, row.chats]));
}

/** The visitor's newest conversation in this channel. */
export function findCurrentConversation(
  db: Database,
  visitorId: string,
  channel: Channel,
): ConversationRecord | undefined {
  return newestConversationsOfVisitor(db, { visitorId, channel, limit: 1 })[0];
}

/** Of one channel, newest first. */
export function newestConversationsOfVisitor(
  db: Database,
  { visitorId, channel, limit }: { visitorId: string; channel: Channel; limit: number },
): ConversationRecord[] {
  return db
    .all<ConversationRow>(
      'SELECT * FROM conversation WHERE visitorId = ? AND channel = ? ORDER BY createdAt DESC, id DESC LIMIT ?',
      [visitorId, channel, limit],
    )
    .map(conversationFromRow);
}

/** Open or pending conversations of one channel, counted up to `limit`. */
export function countOpenConversationsOf(
  db: Database,
  { visitorId, channel, limit }: { visitorId: string; channel: Channel; limit: number },
): number {
  const row = db.get<{ count: number }>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM conversation WHERE visitorId = ? AND channel = ? AND status IN ('open', 'pending') LIMIT ?)`,
    [visitorId, channel, limit],
  );
  return row?.count ?? 0;
}

/** The visitor's newest conversation of any channel. */
export function findNewestConversation(db: Database, visitorId: string): ConversationRecord | undefined {
  const row = db.get<ConversationRow>(
    'SELECT * FROM conversation WHERE visitorId = ? ORDER BY createdAt DESC, id DESC LIMIT 1',
    [visitorId],
  );
  return row && conversationFromRow(row);
}

/** Which of an agent's conversations return to the queue. */
export interface ToReturn {
  readonly agentId: string;
  /** Everything open or pending in these channels. */
  readonly channels: readonly Channel[];
  /** Also offers to the agent. */
  readonly isOfferedToo: boolean;
  /** Also open chats that routing assigned and in which no agent has written since. */
  readonly routedToo: boolean;
  /** The call that the agent is in. */
  readonly exceptId: string | null;
}

/** One that is both assigned and offered to the agent occurs twice. */
export function conversationIdsToReturn(db: Database, of: ToReturn & { limit: number }): string[] {
  const values = {
    agentId: of.agentId,
    channels: toJson(of.channels),
    routedToo: of.routedToo ? 1 : 0,
    exceptId: of.exceptId,
    limit: of.limit,
  };
  const offered = of.isOfferedToo
    ? `UNION ALL SELECT id FROM conversation INDEXED BY conversationOffered WHERE handshake IS NOT NULL AND handshake ->> 'toAgentId' = @agentId`
    : '';
  return db
    .all<{ id: string }>(
      `SELECT id FROM conversation INDEXED BY conversationOfAssignee WHERE assignedAgentId = @agentId AND status IN ('open', 'pending') AND id IS NOT @exceptId
         AND (channel IN (SELECT value FROM json_each(@channels)) OR (@routedToo AND channel = 'chat' AND status = 'open' AND routedAt IS NOT NULL))
       ${offered} LIMIT @limit`,
      values,
    )
    .map((row) => row.id);
}

/** Ids of the department's conversations, open and pending ones first. */
export function conversationIdsOfDepartment(db: Database, departmentId: string, limit: number): string[] {
  return db
    .all<{ id: string }>(
      `SELECT id FROM conversation INDEXED BY conversationByDepartment WHERE departmentId = @departmentId AND status IN ('open', 'pending')
       UNION ALL SELECT id FROM conversation INDEXED BY conversationByDepartment WHERE departmentId = @departmentId AND status NOT IN ('open', 'pending') LIMIT @limit`,
      { departmentId, limit },
    )
    .map((row) => row.id);
}

export function conversationIdsOfVisitor(db: Database, visitorId: string): string[] {
  return db
    .all<{ id: string }>('SELECT id FROM conversation WHERE visitorId = ? ORDER BY createdAt', [visitorId])
    .map((row) => row.id);
}

/** A conversation's data for the search filters. */
export interface ConversationFacets {
  readonly id: string;
  readonly channel: Channel;
  readonly status: ConversationStatus;
  readonly departmentId: string | null;
  readonly assignedAgentId: string | null;
  readonly offeredToAgentId: string | null;
  readonly tags: readonly string[];
  readonly updatedAt: string;
  /** Of its visitor's name and email (store/customers/visitors.ts). */
  readonly visitorChangeSeq: number | null;
  readonly ticketNumber: number | null;
}

type FacetsRow = Omit<ConversationFacets, 'tags'> & { tags: string };

const facetsColumns = `id, channel, status, departmentId, assignedAgentId, handshake ->> 'toAgentId' AS offeredToAgentId, tags, updatedAt,
  (SELECT seq FROM visitorChange WHERE visitorChange.visitorId = conversation.visitorId) AS visitorChangeSeq, ticketNumber`;

const facetsFromRow = (row: FacetsRow): ConversationFacets => ({
  ...row,
  tags: row.tags === '[]' ? none : fromJson(row.tags),
});

/** A page of all conversations, by id. */
export function facetsAfter(db: Database, afterId: string, limit: number): ConversationFacets[] {
  return db
    .all<FacetsRow>(`SELECT ${facetsColumns} FROM conversation WHERE id > ? ORDER BY id LIMIT ?`, [afterId, limit])
    .map(facetsFromRow);
}

export function hasMoreConversations(db: Database, than: number): boolean {
  return db.get('SELECT 1 FROM conversation LIMIT 1 OFFSET ?', [than]) !== undefined;
}

export function findFacets(db: Database, conversationId: string): ConversationFacets | undefined {
  const row = db.get<FacetsRow>(`SELECT ${facetsColumns} FROM conversation WHERE id = ?`, [conversationId]);
  return row && facetsFromRow(row);
}

/** The number of the latest change of a conversation other than a new message. */
export function newestConversationChange(db: Database): number {
  return db.get<{ seq: number | null }>('SELECT max(seq) AS seq FROM conversationChange')?.seq ?? 0;
}

/** In the order of their latest change. */
export function changedConversations(
  db: Database,
  afterSeq: number,
  limit: number,
): { seq: number; conversationId: string }[] {
  return db.all('SELECT seq, conversationId FROM conversationChange WHERE seq > ? ORDER BY seq LIMIT ?', [
    afterSeq,
    limit,
  ]);
}

export interface NumberedTicket {
  readonly ticketNumber: number;
  readonly id: string;
  readonly subject: string | null;
}

/** By number, which is the order of creation. */
export function ticketsAfter(db: Database, ticketNumber: number, limit: number): NumberedTicket[] {
  return db.all<NumberedTicket>(
    'SELECT ticketNumber, id, subject FROM conversation WHERE ticketNumber > ? ORDER BY ticketNumber LIMIT ?',
    [ticketNumber, limit],
  );
}

/** A conversation with its customer, as search results show it. */
export interface ShownConversation {
  /** An object, as text. */
  readonly json: string;
  /** The message's body, or the conversation's preview if no message was asked for. */
  readonly text: string;
}

/**
 * Each conversation by one of its messages, by the message's rowid, or by its own id, in the given order. Missing ones are
 * left out. SQLite writes the JSON, because an object of so many fields takes twice as long to make and to write.
 */
export function shownConversations(db: Database, asked: readonly (number | string)[]): ShownConversation[] {
  const rows = db.allValues(
    `SELECT json_object('conversationId', conversation.id, 'version', version, 'channel', channel, 'status', status, 'subject', subject, 'ticketNumber', ticketNumber, 'tags', json(tags), 'updatedAt', updatedAt, 'visitorId', visitorId, 'visitorName', visitor.name, 'visitorEmail', visitor.email, 'visitorPhoneE164', visitor.phoneE164), coalesce(message.body, preview, '')
     FROM json_each(?) AS asked LEFT JOIN message ON message.rowid = asked.value
     CROSS JOIN conversation ON conversation.id = coalesce(message.conversationId, asked.value)
     LEFT JOIN visitor ON visitor.id = conversation.visitorId ORDER BY asked.rowid`,
    [toJson(asked)],
  ) as [string, string][];
  return rows.map(([json, text]) => ({ json, text }));
}

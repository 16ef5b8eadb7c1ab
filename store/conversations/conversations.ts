// Conversations of every channel, and a Reach: what of them a caller may see. Lists of them are
// conversation-lists.ts's.

import type { Database } from '../database.ts';
import { fromJson, fromJsonOrNull, toJson, toJsonOrNull } from '../json.ts';

export type Channel = 'chat' | 'ticket' | 'call';
export type ConversationStatus = 'open' | 'pending' | 'solved' | 'spam' | 'closed';

export interface Handshake {
  readonly toAgentId: string;
  readonly initiatedByAgentId: string;
  readonly previousAgentId: string | null;
  readonly note: string | null;
  readonly expiresAt: string;
}

export interface ConversationRecord {
  readonly id: string;
  readonly version: number;
  readonly channel: Channel;
  readonly status: ConversationStatus;
  readonly subject: string | null;
  readonly ticketNumber: number | null;
  readonly siteId: string | null;
  readonly visitorId: string | null;
  readonly contactId: string | null;
  readonly departmentId: string | null;
  readonly assignedAgentId: string | null;
  /**
   * When routing gave it to its assignee, as long as no agent has written since. Null for what was given or taken by
   * hand.
   */
  readonly routedAt: string | null;
  /** Whom routing passes by, while nobody has it: who gave it back, who moved it on. */
  readonly notToAgentIds: readonly string[];
  readonly tags: readonly string[];
  readonly handshake: Handshake | null;
  /** Of a ticket: addresses beside its customer's that its answers go to. */
  readonly copiedTo: readonly string[];
  readonly rating: number | null;
  readonly ratingComment: string | null;
  /** Who wrote last before it was rated. */
  readonly ratedAgentId: string | null;
  readonly preview: string | null;
  readonly lastMessageAt: string | null;
  readonly firstResponseAt: string | null;
  /** Whose message or answered call that was. */
  readonly firstResponderId: string | null;
  readonly solvedAt: string | null;
  readonly closedAt: string | null;
  /** The createdAt of its newest message of any kind, system lines too. */
  readonly lastLineAt: string | null;
  /** The createdAt of the newest one that its customer wrote. */
  readonly lastCustomerMessageAt: string | null;
  readonly agentsReadUpTo: string | null;
  readonly customerReadUpTo: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type ConversationRow = Omit<ConversationRecord, 'notToAgentIds' | 'tags' | 'handshake' | 'copiedTo'> & {
  notToAgentIds: string;
  tags: string;
  handshake: string | null;
  copiedTo: string;
};

/** What of the workspace's conversations a caller may see. Departments `null`: all. */
export interface Reach {
  readonly channels: readonly Channel[];
  readonly departmentIds: readonly string[] | null;
  /** Sees what is assigned or offered to it, whatever its department. */
  readonly agentId: string;
}

/** The condition of a Reach on a table or alias `conversation`; binds @channels, @departmentIds, @agentId. */
export const withinReach = `conversation.channel IN (SELECT value FROM json_each(@channels))
  AND (@departmentIds IS NULL OR conversation.departmentId IS NULL OR conversation.departmentId IN (SELECT value FROM json_each(@departmentIds))
    OR conversation.assignedAgentId = @agentId OR conversation.handshake ->> 'toAgentId' = @agentId)`;

export function reachValues(reach: Reach): { channels: string; departmentIds: string | null; agentId: string } {
  return { channels: toJson(reach.channels), departmentIds: toJsonOrNull(reach.departmentIds), agentId: reach.agentId };
}

const nobody: readonly string[] = [];

export function conversationFromRow(row: ConversationRow): ConversationRecord {
  return {
    ...row,
    notToAgentIds: fromJson(row.notToAgentIds),
    tags: fromJson(row.tags),
    handshake: fromJsonOrNull(row.handshake),
    copiedTo: row.copiedTo === '[]' ? nobody : fromJson(row.copiedTo),
  };
}

function toRow(conversation: ConversationRecord): ConversationRow {
  return {
    ...conversation,
    notToAgentIds: toJson(conversation.notToAgentIds),
    tags: toJson(conversation.tags),
    handshake: toJsonOrNull(conversation.handshake),
    copiedTo: toJson(conversation.copiedTo),
  };
}

export function findConversation(db: Database, conversationId: string): ConversationRecord | undefined {
  const row = db.get<ConversationRow>('SELECT * FROM conversation WHERE id = ?', [conversationId]);
  return row && conversationFromRow(row);
}

/** In no order. */
export function findConversations(db: Database, conversationIds: readonly string[]): ConversationRecord[] {
  return db
    .all<ConversationRow>('SELECT * FROM conversation WHERE id IN (SELECT value FROM json_each(?))', [
      toJson(conversationIds),
    ])
    .map(conversationFromRow);
}

/** What is not routed, answered, copied to anybody or rated yet. */
export type NewConversation = Omit<
  ConversationRecord,
  'routedAt' | 'notToAgentIds' | 'copiedTo' | 'firstResponderId' | 'ratedAgentId'
>;

export function insertConversation(db: Database, conversation: NewConversation): void {
  db.run(
    `INSERT INTO conversation (id, version, channel, status, subject, ticketNumber, siteId, visitorId, contactId, departmentId, assignedAgentId, tags, handshake, rating,
       ratingComment, preview, lastMessageAt, firstResponseAt, solvedAt, closedAt, lastLineAt, lastCustomerMessageAt, agentsReadUpTo, customerReadUpTo, createdAt, updatedAt)
     VALUES (@id, @version, @channel, @status, @subject, @ticketNumber, @siteId, @visitorId, @contactId, @departmentId, @assignedAgentId, @tags, @handshake, @rating,
       @ratingComment, @preview, @lastMessageAt, @firstResponseAt, @solvedAt, @closedAt, @lastLineAt, @lastCustomerMessageAt, @agentsReadUpTo, @customerReadUpTo, @createdAt, @updatedAt)`,
    { ...conversation, tags: toJson(conversation.tags), handshake: toJsonOrNull(conversation.handshake) },
  );
}

/** Writes every field that can change. */
export function updateConversation(db: Database, conversation: ConversationRecord): void {
  db.run(
    `UPDATE conversation SET version = @version, status = @status, subject = @subject, contactId = @contactId, departmentId = @departmentId, assignedAgentId = @assignedAgentId,
       routedAt = @routedAt, notToAgentIds = @notToAgentIds, tags = @tags, handshake = @handshake, copiedTo = @copiedTo, rating = @rating, ratingComment = @ratingComment, ratedAgentId = @ratedAgentId, preview = @preview, lastMessageAt = @lastMessageAt,
       firstResponseAt = @firstResponseAt, firstResponderId = @firstResponderId, solvedAt = @solvedAt, closedAt = @closedAt, lastLineAt = @lastLineAt, lastCustomerMessageAt = @lastCustomerMessageAt, agentsReadUpTo = @agentsReadUpTo, customerReadUpTo = @customerReadUpTo,
       updatedAt = @updatedAt WHERE id = @id`,
    { ...toRow(conversation) },
  );
}

/**
 * Writes what a message alone changes; the path that every message takes. Only the first answer touches the index of
 * reports, only the first since it was routed says so.
 */
export function touchConversation(
  db: Database,
  conversation: ConversationRecord,
  options: { isFirstResponse: boolean; isFirstSinceRouted: boolean },
): void {
  const {
    preview,
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
  db.run(
    'UPDATE conversation SET preview = ?, lastMessageAt = ?, lastLineAt = ?, lastCustomerMessageAt = ?, updatedAt = ? WHERE id = ?',
    [preview, lastMessageAt, lastLineAt, lastCustomerMessageAt, updatedAt, id],
  );
}

/** Writes how far it was read; that is no change of the conversation itself. */
export function setReadUpTo(db: Database, conversation: ConversationRecord): void {
  db.run('UPDATE conversation SET agentsReadUpTo = ?, customerReadUpTo = ? WHERE id = ?', [
    conversation.agentsReadUpTo,
    conversation.customerReadUpTo,
    conversation.id,
  ]);
}

/** Those who would take a chat of this department (`null`: of none). */
export interface Takers {
  readonly departmentId: string | null;
  readonly agentIds: readonly string[];
}

/** The chat that has waited longest for an agent, of those that one of the takers of its department may have. */
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
/** As the indexes of what waits say it. */
const isWaiting = `channel = 'chat' AND status = 'open' AND assignedAgentId IS NULL AND handshake IS NULL`;

/** How many open chats each agent has that has any. */
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

/** Of one channel, the newest first. */
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

/** How many of one channel are open or pending, up to `limit`. */
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

/** What of an agent's conversations goes back. */
export interface ToReturn {
  readonly agentId: string;
  /** Of these everything that is still open or pending. */
  readonly channels: readonly Channel[];
  /** And whatever is offered to it. */
  readonly isOfferedToo: boolean;
  /** And open chats that routing gave it and no agent has written in since. */
  readonly routedToo: boolean;
  /** The call that it is in. */
  readonly exceptId: string | null;
}

/** What is both assigned and offered to it comes twice. */
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
      `SELECT id FROM conversation INDEXED BY conversationByAssignee WHERE assignedAgentId = @agentId AND status IN ('open', 'pending') AND id IS NOT @exceptId
         AND (channel IN (SELECT value FROM json_each(@channels)) OR (@routedToo AND channel = 'chat' AND status = 'open' AND routedAt IS NOT NULL))
       ${offered} LIMIT @limit`,
      values,
    )
    .map((row) => row.id);
}

/** Ids of what is in the department, what is still worked on first. */
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

/** What a search asks of a conversation. */
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
const noTags: readonly string[] = [];

const facetsFromRow = (row: FacetsRow): ConversationFacets => ({
  ...row,
  tags: row.tags === '[]' ? noTags : fromJson(row.tags),
});

/** Of all of them, a page in the order of their ids. */
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

/** The number of the last change of a conversation other than a new message. */
export function newestConversationChange(db: Database): number {
  return db.get<{ seq: number | null }>('SELECT max(seq) AS seq FROM conversationChange')?.seq ?? 0;
}

/** In the order of their last change. */
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

/** In the order of their numbers, which is that of their making. */
export function ticketsAfter(db: Database, ticketNumber: number, limit: number): NumberedTicket[] {
  return db.all<NumberedTicket>(
    'SELECT ticketNumber, id, subject FROM conversation WHERE ticketNumber > ? ORDER BY ticketNumber LIMIT ?',
    [ticketNumber, limit],
  );
}

/** A conversation with its customer and one of its messages, as a search shows it. */
export interface ConversationSummary {
  readonly id: string;
  readonly version: number;
  readonly channel: Channel;
  readonly status: ConversationStatus;
  readonly subject: string | null;
  readonly ticketNumber: number | null;
  readonly preview: string | null;
  readonly tags: readonly string[];
  readonly updatedAt: string;
  readonly visitorName: string | null;
  readonly visitorEmail: string | null;
  /** Of the message; null where none was asked for. */
  readonly body: string | null;
}

/**
 * Of each conversation with this message, by the message's rowid, in their order. Those that there are not are left
 * out.
 */
export function summariesOf(
  db: Database,
  asked: readonly { conversationId: string; messageRowid: number | null }[],
): ConversationSummary[] {
  const pairs = asked.map(({ conversationId, messageRowid }) => [conversationId, messageRowid]);
  return db
    .all<Omit<ConversationSummary, 'tags'> & { tags: string }>(
      `SELECT conversation.id, version, channel, status, subject, ticketNumber, preview, tags, updatedAt, visitor.name AS visitorName, visitor.email AS visitorEmail, message.body
       FROM json_each(?) AS asked CROSS JOIN conversation ON conversation.id = asked.value ->> 0
       LEFT JOIN visitor ON visitor.id = conversation.visitorId LEFT JOIN message ON message.rowid = asked.value ->> 1 ORDER BY asked.key`,
      [toJson(pairs)],
    )
    .map((row) => ({ ...row, tags: row.tags === '[]' ? noTags : fromJson(row.tags) }));
}

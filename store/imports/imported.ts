// Conversations from another system: which is which, and what their messages say about them.

import type { Database } from '../database.ts';

export interface ImportedConversation {
  /** The system that it comes from. */
  readonly source: string;
  readonly externalId: string;
  readonly conversationId: string;
}

export function insertImported(db: Database, imported: ImportedConversation): void {
  db.run(
    'INSERT INTO importedConversation (source, externalId, conversationId) VALUES (@source, @externalId, @conversationId)',
    { ...imported },
  );
}

export function findImported(db: Database, source: string, externalId: string): string | undefined {
  return db.get<{ conversationId: string }>(
    'SELECT conversationId FROM importedConversation WHERE source = ? AND externalId = ?',
    [source, externalId],
  )?.conversationId;
}

export function isImported(db: Database, conversationId: string): boolean {
  return db.get('SELECT 1 FROM importedConversation WHERE conversationId = ?', [conversationId]) !== undefined;
}

export function hasMoreMessagesThan(db: Database, conversationId: string, count: number): boolean {
  return (
    db.get('SELECT 1 FROM message WHERE conversationId = ? LIMIT 1 OFFSET ?', [conversationId, count]) !== undefined
  );
}

/** Apart from the others: the start is fixed for conversations that began here. */
export function setConversationStart(db: Database, conversationId: string, createdAt: string): void {
  db.run('UPDATE conversation SET createdAt = ? WHERE id = ?', [createdAt, conversationId]);
}

/** What a conversation's record repeats of its messages. */
export interface MessageFacts {
  readonly firstAt: string | null;
  readonly lastAt: string | null;
  readonly lastLineAt: string | null;
  readonly lastCustomerMessageAt: string | null;
  /** The first of an agent, and whether the customer had written before. */
  readonly answeredAt: string | null;
  readonly answeredBy: string | null;
  readonly isAnswer: boolean;
  /** The customer's first message since the last answer. */
  readonly waitingSince: string | null;
}

const own = `conversationId = @conversationId AND senderType <> 'system'`;
const inThread = `conversationId = @conversationId AND mail ->> '$.side' IS NULL`;

/** Each part reads one message by the index of times. */
export function factsOfMessages(db: Database, conversationId: string): MessageFacts {
  const row = db.get<Omit<MessageFacts, 'isAnswer'> & { isAnswer: number }>(
    `WITH answer AS (SELECT createdAt, senderId FROM message WHERE ${inThread} AND senderType = 'agent' ORDER BY createdAt LIMIT 1)
     SELECT (SELECT min(createdAt) FROM message WHERE ${own}) AS firstAt,
       (SELECT max(createdAt) FROM message WHERE ${own}) AS lastAt,
       (SELECT max(createdAt) FROM message WHERE conversationId = @conversationId) AS lastLineAt,
       (SELECT max(createdAt) FROM message WHERE ${own} AND senderType = 'visitor') AS lastCustomerMessageAt,
       (SELECT createdAt FROM answer) AS answeredAt,
       (SELECT senderId FROM answer) AS answeredBy,
       EXISTS (SELECT 1 FROM message WHERE ${inThread} AND senderType = 'visitor' AND createdAt < (SELECT createdAt FROM answer)) AS isAnswer,
       (SELECT min(createdAt) FROM message WHERE ${inThread} AND senderType = 'visitor' AND createdAt >
         coalesce((SELECT max(createdAt) FROM message WHERE ${inThread} AND senderType IN ('agent', 'ai')), '')) AS waitingSince`,
    { conversationId },
  );
  if (row === undefined) throw new Error('a query without a table has a row');
  return { ...row, isAnswer: row.isAnswer === 1 };
}

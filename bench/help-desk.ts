// The plain help desk that the service is compared with: contacts, conversations and messages in Postgres, with the
// indexes that its questions need, asked by a driver with prepared statements. It has none of the service's rules.

import { createHash } from 'node:crypto';
import type { Sql } from 'postgres';
import type { Database } from '../store/database.ts';

const page = 50;
/** A statement has at most 65,535 parameters. */
const rowsEach = 5000;
/** The credential of its one agent. */
export const agentToken = 'the-only-agent-of-the-bench';
const schema = `
  CREATE TABLE agents (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    token_hash text NOT NULL UNIQUE
  );
  CREATE TABLE contacts (
    id uuid PRIMARY KEY,
    name text,
    email text
  );
  CREATE TABLE conversations (
    id uuid PRIMARY KEY,
    contact_id uuid NOT NULL REFERENCES contacts,
    status text NOT NULL,
    subject text,
    last_message text,
    last_sender_type text,
    last_message_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL
  );
  CREATE TABLE messages (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    conversation_id uuid NOT NULL REFERENCES conversations,
    sender_type text NOT NULL,
    body text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  );
`;
const indexes = `
  CREATE INDEX ON conversations (status, last_message_at DESC);
  CREATE INDEX ON messages (conversation_id, created_at);
  CREATE INDEX ON messages (created_at);
  CREATE INDEX ON messages USING gin (body gin_trgm_ops);
  UPDATE conversations SET last_message = newest.body, last_sender_type = newest.sender_type,
      last_message_at = newest.created_at
    FROM (SELECT DISTINCT ON (conversation_id) * FROM messages ORDER BY conversation_id, created_at DESC) AS newest
    WHERE newest.conversation_id = conversations.id;
`;

/** Creates the tables and copies a workspace's visitors, conversations and messages into them. */
export async function fillHelpDesk(sql: Sql, workspace: Database): Promise<void> {
  await sql.unsafe(schema);
  await copy(sql, 'contacts', workspace.all('SELECT id, name, email FROM visitor'));
  await copy(
    sql,
    'conversations',
    workspace.all(`
      SELECT id, visitorId AS contact_id, status, subject, createdAt AS last_message_at, createdAt AS created_at
      FROM conversation`),
  );
  await copy(
    sql,
    'messages',
    workspace.all(`
      SELECT id, conversationId AS conversation_id, senderType AS sender_type, body, createdAt AS created_at
      FROM message`),
  );
  await sql.unsafe(indexes);
  await sql`INSERT INTO agents (token_hash) VALUES (${createHash('sha256').update(agentToken).digest('hex')})`;
  await settle(sql);
}

/** What autovacuum does sooner or later; it also empties the pending list of the trigram index. */
export async function settle(sql: Sql): Promise<void> {
  await sql.unsafe('VACUUM (ANALYZE)');
}

async function copy(sql: Sql, table: string, rows: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
  for (let index = 0; index < rows.length; index += rowsEach)
    await sql`INSERT INTO ${sql(table)} ${sql(rows.slice(index, index + rowsEach))}`;
}

export async function findAgent(sql: Sql, tokenHash: string): Promise<string | undefined> {
  const [agent] = await sql<{ id: string }[]>`SELECT id FROM agents WHERE token_hash = ${tokenHash}`;
  return agent?.id;
}

/** An agent's message and its conversation's new state in one durable transaction, sent in one piece. */
export async function insertMessage(sql: Sql, message: { conversationId: string; body: string }): Promise<void> {
  const { conversationId, body } = message;
  await sql.begin((transaction) => [
    transaction`INSERT INTO messages (conversation_id, sender_type, body) VALUES (${conversationId}, 'agent', ${body})`,
    transaction`
      UPDATE conversations SET last_message = ${body}, last_sender_type = 'agent', last_message_at = now()
      WHERE id = ${conversationId}`,
  ]);
}

/** The inbox's first page, each with its last message and customer. */
export async function listInbox(sql: Sql): Promise<readonly object[]> {
  return await sql<object[]>`
    SELECT c.id, c.status, c.subject, c.last_message, c.last_sender_type, c.last_message_at, c.created_at,
      contacts.id AS contact_id, contacts.name, contacts.email
    FROM conversations AS c JOIN contacts ON contacts.id = c.contact_id
    WHERE c.status = 'open' ORDER BY c.last_message_at DESC LIMIT ${page}`;
}

/** The newest messages that contain these letters, each with its conversation and customer. */
export async function searchMessages(sql: Sql, letters: string): Promise<readonly object[]> {
  return await sql<object[]>`
    SELECT m.id, m.body, m.created_at, c.id AS conversation_id, c.status, c.subject, contacts.name, contacts.email
    FROM messages AS m
      JOIN conversations AS c ON c.id = m.conversation_id
      JOIN contacts ON contacts.id = c.contact_id
    WHERE m.body ILIKE ${`%${letters}%`} ORDER BY m.created_at DESC LIMIT ${page}`;
}

/**
 * What the service answers: the conversations with a message that contains these letters, latest first, and the number
 * of all.
 */
export async function searchConversations(sql: Sql, letters: string): Promise<readonly object[]> {
  return await sql<object[]>`
    WITH found AS (
      SELECT DISTINCT ON (conversation_id) conversation_id, body FROM messages
      WHERE body ILIKE ${`%${letters}%`} ORDER BY conversation_id, created_at DESC
    )
    SELECT found.body, c.id, c.status, c.subject, c.last_message_at, contacts.name, contacts.email,
      count(*) OVER () AS total
    FROM found
      JOIN conversations AS c ON c.id = found.conversation_id
      JOIN contacts ON contacts.id = c.contact_id
    ORDER BY c.last_message_at DESC LIMIT ${page}`;
}

// Rules about the rows of a workspace's file, as queries whose every result is a fault. A new table may add its own
// here; engine/operations/integrity.ts runs them all, besides SQLite's own checks.

import type { Database } from '../database.ts';
import { jsonColumns } from '../json.ts';
import { messageRowid } from '../runtime/events.ts';

interface Rule {
  /** The rule. */
  readonly rule: string;
  /** Selects `fault`, one row per fault. */
  readonly sql: string;
}

/** Faults reported per rule; the rest are of the same kind. */
const maxReported = 20;

const rules: readonly Rule[] = [
  {
    rule: 'the file holds one workspace',
    sql: `SELECT count(*) || ' workspaces' AS fault FROM workspace HAVING count(*) <> 1`,
  },
  {
    rule: 'events are numbered without a gap',
    sql: `SELECT 'no event ' || (seq - 1) AS fault FROM event WHERE seq > (SELECT min(seq) FROM event) AND NOT EXISTS (SELECT 1 FROM event AS before WHERE before.seq = event.seq - 1)`,
  },
  {
    rule: 'the message and the conversation of an event exist',
    sql: `SELECT 'event ' || seq AS fault FROM event WHERE (${messageRowid} <> 0 AND ${messageRowid} NOT IN (SELECT rowid FROM message))
          OR ((data LIKE '[%' OR audience LIKE '[%') AND NOT EXISTS (SELECT 1 FROM conversation WHERE id = event.conversationId))`,
  },
  {
    rule: "ticket numbers count from 1 to the workspace's last one",
    sql: `SELECT 'conversation ' || id || ' has number ' || ticketNumber AS fault FROM conversation WHERE ticketNumber < 1 OR ticketNumber > (SELECT lastTicketNumber FROM workspace)`,
  },
  {
    rule: 'a conversation knows when its newest message was written',
    sql: `SELECT 'conversation ' || id AS fault FROM conversation WHERE lastLineAt IS NOT (SELECT max(createdAt) FROM message WHERE conversationId = conversation.id)`,
  },
  {
    rule: 'a conversation knows when its customer last wrote',
    sql: `SELECT 'conversation ' || id AS fault FROM conversation WHERE lastCustomerMessageAt IS NOT (SELECT max(createdAt) FROM message WHERE conversationId = conversation.id AND senderType = 'visitor')`,
  },
  {
    rule: 'a conversation knows who spoke last',
    sql: `SELECT 'conversation ' || id AS fault FROM conversation
          WHERE lastSenderType IS NOT (SELECT senderType FROM message WHERE conversationId = conversation.id AND senderType <> 'system' ORDER BY createdAt DESC LIMIT 1)
          OR waitingSince IS NOT NULL AND (lastCustomerMessageAt IS NULL OR lastCustomerMessageAt < waitingSince)`,
  },
  {
    rule: 'a snoozed conversation is pending and has a deadline',
    sql: `SELECT 'conversation ' || id AS fault FROM conversation WHERE snoozedUntil IS NOT NULL
          AND (status <> 'pending' OR NOT EXISTS (SELECT 1 FROM deadline WHERE kind = 'conversation.wake' AND subjectId = conversation.id))`,
  },
  {
    rule: 'a merged ticket is closed, and another one has its messages',
    sql: `SELECT 'conversation ' || id AS fault FROM conversation WHERE mergedInto IS NOT NULL
          AND (status <> 'closed' OR EXISTS (SELECT 1 FROM message WHERE conversationId = conversation.id AND senderType <> 'system'))`,
  },
  {
    rule: "a contact's email is the first of its addresses, and it is found by the others",
    sql: `SELECT 'contact ' || id AS fault FROM contact WHERE email IS NOT json_extract(emails, '$[0]')
          OR EXISTS (SELECT 1 FROM json_each(emails) WHERE key > 0 AND NOT EXISTS (SELECT 1 FROM contactEmail WHERE address = value AND contactId = contact.id))`,
  },
  {
    rule: 'versions count from 1',
    sql: `SELECT 'conversation ' || id AS fault FROM conversation WHERE version < 1
          UNION ALL SELECT 'site ' || id FROM site WHERE version < 1 UNION ALL SELECT 'savedReply ' || id FROM savedReply WHERE version < 1`,
  },
  {
    rule: 'there is an admin',
    sql: `SELECT 'none' AS fault WHERE NOT EXISTS (SELECT 1 FROM agent WHERE role = 'admin' AND deactivatedAt IS NULL)`,
  },
  {
    rule: 'the assignee of an open conversation is active',
    sql: `SELECT 'conversation ' || conversation.id || ' is agent ' || agent.id || '''s' AS fault FROM conversation JOIN agent ON agent.id = assignedAgentId
          WHERE conversation.status IN ('open', 'pending') AND agent.deactivatedAt IS NOT NULL`,
  },
  {
    rule: 'a deactivated agent can do nothing',
    sql: `SELECT 'agent ' || id AS fault FROM agent WHERE deactivatedAt IS NOT NULL AND (passwordHash IS NOT NULL OR status <> 'offline' OR role <> 'agent' OR EXISTS (SELECT 1 FROM agentSession WHERE agentId = agent.id)
          OR EXISTS (SELECT 1 FROM agentTotp WHERE agentId = agent.id) OR EXISTS (SELECT 1 FROM passkey WHERE agentId = agent.id) OR EXISTS (SELECT 1 FROM recoveryCode WHERE agentId = agent.id))`,
  },
  {
    rule: "a conversation's department exists, or is being cleared",
    sql: `SELECT 'conversation ' || id AS fault FROM conversation WHERE departmentId IS NOT NULL AND departmentId NOT IN (SELECT id FROM department)
          AND departmentId NOT IN (SELECT subjectId FROM deadline WHERE kind = 'department.clear')`,
  },
  {
    rule: 'an offer belongs to an open conversation and has a deadline',
    sql: `SELECT 'conversation ' || id AS fault FROM conversation WHERE handshake IS NOT NULL
          AND (status NOT IN ('open', 'pending') OR NOT EXISTS (SELECT 1 FROM deadline WHERE kind = 'assignment.expire' AND subjectId = conversation.id))
          UNION ALL SELECT 'deadline of ' || subjectId FROM deadline WHERE kind = 'assignment.expire' AND NOT EXISTS (SELECT 1 FROM conversation WHERE id = subjectId AND handshake IS NOT NULL)`,
  },
  {
    rule: 'a solved conversation has a deadline to close it',
    sql: `SELECT 'conversation ' || id AS fault FROM conversation WHERE status = 'solved' AND NOT EXISTS (SELECT 1 FROM deadline WHERE kind = 'conversation.autoClose' AND subjectId = conversation.id)`,
  },
  {
    rule: 'a ringing call has a deadline to give it up',
    sql: `SELECT 'call ' || conversationId AS fault FROM call WHERE phase = 'ringing' AND NOT EXISTS (SELECT 1 FROM deadline WHERE kind = 'call.ringTimeout' AND subjectId = call.conversationId)`,
  },
  {
    rule: 'a call belongs to a conversation of the channel call',
    sql: `SELECT 'call ' || conversationId AS fault FROM call JOIN conversation ON conversation.id = conversationId WHERE channel <> 'call'`,
  },
  {
    rule: "a call's conversation knows its number and its voicemail",
    sql: `SELECT 'conversation ' || id AS fault FROM conversation WHERE phoneNumberId IS NOT (SELECT phoneNumberId FROM call WHERE conversationId = conversation.id)
          UNION ALL SELECT 'conversation ' || conversation.id FROM conversation LEFT JOIN voicemail ON voicemail.conversationId = conversation.id
          WHERE voicemailAt IS NOT voicemail.createdAt OR voicemailId IS NOT voicemail.id`,
  },
  {
    rule: "a call's timeline has no gap",
    sql: `SELECT 'call ' || conversationId AS fault FROM callEvent GROUP BY conversationId HAVING max(position) - min(position) + 1 <> count(*)`,
  },
  {
    rule: 'the daily upkeep has a deadline',
    sql: `SELECT 'none' AS fault WHERE NOT EXISTS (SELECT 1 FROM deadline WHERE kind = 'workspace.maintain')`,
  },
  {
    rule: "only each target's first queued outside work is marked as first",
    sql: `SELECT 'target ' || target AS fault FROM outbox WHERE isFirst = 1 AND state <> 'queued'
          UNION ALL SELECT 'target ' || target FROM outbox WHERE state = 'queued' GROUP BY target HAVING sum(isFirst) <> 1`,
  },
  {
    rule: 'outside work is either queued or settled',
    sql: `SELECT 'work ' || id AS fault FROM outbox WHERE (state = 'queued') <> (settledAt IS NULL) OR attempts < 0`,
  },
  {
    rule: 'a queued message has its outside work',
    sql: `SELECT 'message ' || id AS fault FROM message WHERE deliveryStatus = 'queued' AND NOT EXISTS (SELECT 1 FROM outbox WHERE subjectId = message.id AND state = 'queued')`,
  },
  {
    rule: 'recorded storage is the sum of the uploads',
    sql: `SELECT kind AS fault FROM storageUse WHERE bytes <> coalesce((SELECT sum(size) FROM upload WHERE upload.kind = storageUse.kind), 0)
          UNION ALL SELECT DISTINCT kind FROM upload WHERE kind NOT IN (SELECT kind FROM storageUse)`,
  },
  {
    rule: 'a pending webhook delivery has its outside work',
    sql: `SELECT 'delivery ' || id AS fault FROM webhookDelivery WHERE status = 'pending' AND NOT EXISTS (SELECT 1 FROM outbox WHERE kind = 'webhook' AND subjectId = webhookDelivery.id AND state = 'queued')`,
  },
  {
    // A mail's file that its provider has yet to give is no upload.
    rule: 'an unused upload has a deadline to remove it',
    sql: `SELECT 'upload ' || id AS fault FROM upload WHERE state <> 'stored' AND NOT EXISTS (SELECT 1 FROM deadline WHERE kind = 'upload.expire' AND subjectId = upload.id)
          AND NOT EXISTS (SELECT 1 FROM outbox WHERE kind = 'attachment-copy' AND state = 'queued' AND payload ->> 'key' = upload.key)`,
  },
  {
    rule: 'a document has all of its chunks',
    sql: `SELECT 'document ' || documentId AS fault FROM kbEmbedding WHERE chunkCount <> (SELECT count(*) FROM kbChunk WHERE kbChunk.documentId = kbEmbedding.documentId AND kbChunk.model = kbEmbedding.model)`,
  },
  {
    rule: 'changes for the search index name what exists, and include every known visitor',
    sql: `SELECT 'conversation ' || conversationId AS fault FROM conversationChange WHERE conversationId NOT IN (SELECT id FROM conversation)
          UNION ALL SELECT 'visitor ' || visitorId FROM visitorChange WHERE visitorId NOT IN (SELECT id FROM visitor)
          UNION ALL SELECT 'visitor ' || id FROM visitor WHERE (name IS NOT NULL OR email IS NOT NULL) AND id NOT IN (SELECT visitorId FROM visitorChange)`,
  },
];

/** Rules for columns by name, in every table. */
const columnRules: readonly { readonly rule: string; readonly named: RegExp; faulty(column: string): string }[] = [
  {
    rule: 'a time is ISO 8601 UTC with milliseconds',
    named: /(?:At|UpTo)$/,
    faulty: (column) =>
      `${column} NOT GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z'`,
  },
  {
    rule: 'lists and objects are JSON',
    named: jsonColumns,
    faulty: (column) => `NOT json_valid(${column})`,
  },
];

export interface RuleFault {
  readonly rule: string;
  readonly fault: string;
}

/** Reads most of the file. */
export function workspaceFaults(db: Database): RuleFault[] {
  const found: RuleFault[] = [];
  for (const { rule, sql } of [...rules, ...ofColumns(db)]) {
    for (const { fault } of db.all<{ fault: string }>(`SELECT fault FROM (${sql}) LIMIT ${maxReported}`))
      found.push({ rule, fault });
  }
  return found;
}

/** Row counts for operators. */
export function countsOf(db: Database): { conversations: number; messages: number; events: number } {
  const count = (table: string): number =>
    db.get<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)?.count ?? 0;
  return { conversations: count('conversation'), messages: count('message'), events: count('event') };
}

export function deadlineKinds(db: Database): string[] {
  return db.all<{ kind: string }>('SELECT DISTINCT kind FROM deadline').map(({ kind }) => kind);
}

/** Of queued items; settled ones may be of a kind that no longer exists. */
export function outboxKindsIn(db: Database): string[] {
  return db.all<{ kind: string }>(`SELECT DISTINCT kind FROM outbox WHERE state = 'queued'`).map(({ kind }) => kind);
}

function ofColumns(db: Database): Rule[] {
  const columns = db.all<{ tableName: string; name: string; type: string }>(
    `SELECT sqlite_schema.name AS tableName, column.name AS name, column.type AS type FROM sqlite_schema, pragma_table_info(sqlite_schema.name) AS column
     WHERE sqlite_schema.name IN (SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table') AND sqlite_schema.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
  );
  return columnRules.flatMap(({ rule, named, faulty }) =>
    columns
      .filter(({ name, type }) => type === 'TEXT' && named.test(name))
      .map(({ tableName, name }) => ({
        rule,
        sql: `SELECT '${tableName}.${name}: ' || ${name} AS fault FROM ${tableName} WHERE ${name} IS NOT NULL AND ${faulty(name)}`,
      })),
  );
}

// Erases one customer's data from a workspace's file. Rows that are counted or numbered stay, emptied: conversations,
// messages, events and completions, so that figures stay right and sequences have no gaps. A new table with customer
// data is added here.

import { soughtFields } from '../customers/contacts.ts';
import type { Database } from '../database.ts';
import { messageRowid } from '../runtime/events.ts';

export interface Erased {
  readonly visitors: number;
  readonly conversations: number;
  readonly messages: number;
}

/** What merges brought from tickets of others: it is theirs. */
const ofOthers = (ids: 'noteIds' | 'draftIds'): string =>
  `SELECT value FROM ticketMove, json_each(detail, '$.${ids}') WHERE kind = 'merge' AND fromId NOT IN (SELECT id FROM erasedConversation)`;
const ofErased = (ids: 'noteIds' | 'draftIds'): string =>
  `SELECT value FROM ticketMove, json_each(detail, '$.${ids}') WHERE fromId IN (SELECT id FROM erasedConversation)`;

/** Whole texts in JSON: an address may be a part of another one's. */
const namesErased = (json: string): string =>
  `EXISTS (SELECT 1 FROM erasedAddress WHERE instr(lower(${json}), json_quote(address)) > 0)`;

/** A side message stays one, without its people. */
const withoutPeople = `iif(mail -> '$.side' IS NULL, NULL, json_object('from', json_object('address', '', 'name', NULL), 'copiedTo', json('[]'), 'side', mail -> '$.side', 'authentication', NULL))`;

/** The mails of what is erased. */
const erasedMail = `(messageId IN (SELECT id FROM erasedMessage) OR messageId IS NULL AND conversationId IN (SELECT id FROM erasedConversation))`;

/** Replaces erased text. */
const erasedText = '[erased]';

/** The audience of an emptied event: no one. */
const noAudience = `json_object('kind', 'conversation', 'channel', 'chat', 'departmentIds', json_array(), 'agentIds', json_array(), 'visitorId', NULL)`;

/**
 * Collects the contact and those merged into it, their visitors, the conversations of both, messages of these, also
 * those that tickets of other customers have since a merge, but not those of others that they have since one, and the
 * addresses that identify the rest.
 */
const gather: readonly string[] = [
  `CREATE TEMP TABLE erasedContact AS WITH RECURSIVE same (id) AS (SELECT @contactId UNION SELECT contact.id FROM contact JOIN same ON contact.mergedInto = same.id) SELECT id FROM same`,
  'CREATE TEMP TABLE erasedVisitor AS SELECT id FROM visitor WHERE contactId IN (SELECT id FROM erasedContact)',
  `CREATE TEMP TABLE erasedConversation AS SELECT id FROM conversation WHERE contactId IN (SELECT id FROM erasedContact) OR visitorId IN (SELECT id FROM erasedVisitor)`,
  `CREATE TEMP TABLE erasedMessage AS SELECT id, conversationId FROM message WHERE conversationId IN (SELECT id FROM erasedConversation)
     AND NOT EXISTS (SELECT 1 FROM messageMove JOIN ticketMove ON ticketMove.id = moveId WHERE messageId = message.id AND kind = 'merge' AND fromId NOT IN (SELECT id FROM erasedConversation))
   UNION SELECT message.id, conversationId FROM ticketMove JOIN messageMove ON moveId = ticketMove.id JOIN message ON message.id = messageId WHERE kind = 'merge' AND fromId IN (SELECT id FROM erasedConversation)
   UNION SELECT id, conversationId FROM message WHERE senderType = 'visitor' AND senderId IN (SELECT id FROM erasedVisitor)`,
  `CREATE TEMP TABLE erasedAddress AS SELECT lower(value) AS address FROM contact, json_each(emails) WHERE contact.id IN (SELECT id FROM erasedContact)
   UNION SELECT lower(email) FROM contact WHERE id IN (SELECT id FROM erasedContact) AND email IS NOT NULL
   UNION SELECT lower(email) FROM visitor WHERE id IN (SELECT id FROM erasedVisitor) AND email IS NOT NULL
   UNION SELECT phone FROM contact WHERE id IN (SELECT id FROM erasedContact) AND phone IS NOT NULL
   UNION SELECT phoneE164 FROM visitor WHERE id IN (SELECT id FROM erasedVisitor) AND phoneE164 IS NOT NULL`,
  `CREATE TEMP TABLE erasedSubject AS SELECT id FROM erasedConversation UNION SELECT id FROM erasedVisitor UNION SELECT id FROM erasedContact
   UNION SELECT id FROM erasedMessage`,
  `INSERT INTO erasedSubject SELECT webhookDelivery.id FROM webhookDelivery WHERE EXISTS (SELECT 1 FROM erasedSubject WHERE instr(body, erasedSubject.id) > 0) OR ${namesErased('body')}
   UNION SELECT id FROM verification WHERE lower(destination) IN (SELECT address FROM erasedAddress)`,
  `CREATE TEMP TABLE erasedUpload AS SELECT id FROM upload WHERE visitorId IN (SELECT id FROM erasedVisitor)
     OR EXISTS (SELECT 1 FROM message, json_each(message.attachments) WHERE message.id IN (SELECT id FROM erasedMessage) AND instr(json_extract(value, '$.url'), upload.key) > 0)`,
];

/** Outgoing items to the contact or about it. */
const outgoing = `subjectId IN (SELECT id FROM erasedSubject) OR lower(target) IN (SELECT address FROM erasedAddress) OR lower(target) IN (SELECT 'verification:' || address FROM erasedAddress)
     OR EXISTS (SELECT 1 FROM json_tree(payload) WHERE json_tree.atom IS NOT NULL AND lower(json_tree.atom) IN (SELECT address FROM erasedAddress))`;

const erase: readonly string[] = [
  // A browser used by another person since belongs to that person; its earlier details are erased. Both forms of data
  // (engine/event-forms.ts).
  `UPDATE event SET audience = ${noAudience}, data = '{}' WHERE conversationId IN (SELECT id FROM erasedConversation) OR json_extract(data, '$.visitor.id') IN (SELECT id FROM erasedVisitor)
     OR json_extract(data, '$.completion.visitorId') IN (SELECT id FROM erasedVisitor) OR json_extract(data, '$.visitor.contactId') IN (SELECT id FROM erasedContact)
     OR json_extract(data, '$.message.id') IN (SELECT id FROM erasedMessage) OR json_extract(data, '$.conversation.id') IN (SELECT conversationId FROM erasedMessage)
     OR (data LIKE '[{%' AND conversationId IN (SELECT conversationId FROM erasedMessage))
     OR EXISTS (SELECT 1 FROM message WHERE message.rowid = ${messageRowid} AND (message.id IN (SELECT id FROM erasedMessage) OR ${namesErased('json_array(body, bodyHtml, json(attachments))')}))
     OR ${namesErased('data')}`,
  // System lines may contain the contact's name.
  `UPDATE message SET body = '${erasedText}', bodyHtml = NULL, threading = NULL, mail = ${withoutPeople}, attachments = '[]', deliveryStatus = iif(deliveryStatus = 'queued', 'failed', deliveryStatus) WHERE id IN (SELECT id FROM erasedMessage)`,
  // Messages to others may name the contact as a recipient.
  `UPDATE message SET mail = ${withoutPeople} WHERE mail IS NOT NULL AND EXISTS (SELECT 1 FROM json_tree(mail) WHERE json_tree.atom IS NOT NULL AND lower(json_tree.atom) IN (SELECT address FROM erasedAddress))`,
  // Keeps the Message-ID, so that a second delivery of the same mail is recognised.
  `UPDATE mail SET fromAddress = '', fromName = NULL, replyTo = NULL, toAddresses = '[]', subject = '', text = NULL, html = NULL, authentication = NULL,
     sourceBytes = NULL, sourceKeptBytes = NULL, source = NULL
   WHERE ${erasedMail} OR lower(fromAddress) IN (SELECT address FROM erasedAddress) OR lower(replyTo) IN (SELECT address FROM erasedAddress)
     OR EXISTS (SELECT 1 FROM json_each(toAddresses) WHERE lower(value) IN (SELECT address FROM erasedAddress))`,
  `DELETE FROM draft WHERE id IN (${ofErased('draftIds')}) OR (conversationId IN (SELECT id FROM erasedConversation) AND id NOT IN (${ofOthers('draftIds')}))
     OR EXISTS (SELECT 1 FROM json_tree(mail) WHERE json_tree.atom IS NOT NULL AND lower(json_tree.atom) IN (SELECT address FROM erasedAddress))`,
  // Texts that were rewritten name no conversation, and are kept for days only.
  'DELETE FROM aiRequest WHERE conversationId IS NULL OR conversationId IN (SELECT id FROM erasedConversation) OR conversationId IN (SELECT conversationId FROM erasedMessage)',
  'DELETE FROM mailThread WHERE conversationId IN (SELECT id FROM erasedConversation)',
  'DELETE FROM mailParticipant WHERE conversationId IN (SELECT id FROM erasedConversation) OR lower(address) IN (SELECT address FROM erasedAddress)',
  `UPDATE webhookDelivery SET body = '{}', responseBody = NULL, status = iif(status = 'pending', 'failed', status), nextAttemptAt = NULL WHERE id IN (SELECT id FROM erasedSubject)`,
  `UPDATE verification SET destination = '', sourceIp = '' WHERE id IN (SELECT id FROM erasedSubject)`,
  'DELETE FROM verifyFactor WHERE lower(identity) IN (SELECT address FROM erasedAddress)',
  'DELETE FROM suppression WHERE lower(email) IN (SELECT address FROM erasedAddress)',
  `UPDATE goalCompletion SET url = '' WHERE visitorId IN (SELECT id FROM erasedVisitor)`,
  `DELETE FROM deadline WHERE kind = 'upload.expire' AND subjectId IN (SELECT id FROM upload WHERE id IN (SELECT id FROM erasedUpload))`,
  'DELETE FROM upload WHERE id IN (SELECT id FROM erasedUpload)',
  'UPDATE storageUse SET bytes = coalesce((SELECT sum(size) FROM upload WHERE upload.kind = storageUse.kind), 0)',
  `UPDATE note SET body = '${erasedText}' WHERE id IN (${ofErased('noteIds')}) OR (conversationId IN (SELECT id FROM erasedConversation) AND id NOT IN (${ofOthers('noteIds')}))`,
  `UPDATE ticketMove SET detail = json_replace(detail, '$.copiedTo', json('[]'), '$.participants', json('[]'), '$.target.copiedTo', json('[]'), '$.target.participants', json('[]'))
   WHERE EXISTS (SELECT 1 FROM json_tree(detail) WHERE json_tree.atom IS NOT NULL AND lower(json_tree.atom) IN (SELECT address FROM erasedAddress))`,
  `UPDATE voicemail SET fromE164 = NULL, recordingUrl = NULL, transcript = NULL WHERE conversationId IN (SELECT id FROM erasedConversation)`,
  `UPDATE callEvent SET detail = json_remove(detail, '$.fromE164') WHERE conversationId IN (SELECT id FROM erasedConversation)`,
  `UPDATE call SET fromE164 = NULL, recordingUrl = NULL WHERE conversationId IN (SELECT id FROM erasedConversation)`,
  `UPDATE conversation SET subject = NULL, preview = NULL, ratingComment = NULL, tags = '[]', copiedTo = '[]', contactId = NULL, mailPreview = NULL,
     handshake = iif(handshake IS NULL, NULL, json_set(handshake, '$.note', NULL)) WHERE id IN (SELECT id FROM erasedConversation)`,
  `UPDATE conversation SET copiedTo = (SELECT json_group_array(value) FROM json_each(copiedTo) WHERE lower(value) NOT IN (SELECT address FROM erasedAddress))
   WHERE EXISTS (SELECT 1 FROM json_each(copiedTo) WHERE lower(value) IN (SELECT address FROM erasedAddress))`,
  `UPDATE conversation SET preview = '${erasedText}' WHERE preview IS NOT NULL AND id IN (SELECT conversationId FROM erasedMessage)
     AND lastMessageAt IN (SELECT createdAt FROM message WHERE message.conversationId = conversation.id AND message.id IN (SELECT id FROM erasedMessage))`,
  `UPDATE visitor SET email = NULL, name = NULL, phoneE164 = NULL, ip = NULL, network = NULL, country = NULL, userAgent = NULL, locale = NULL, geo = NULL, wcEnrichment = NULL, contactId = NULL, currentPageUrl = NULL
   WHERE id IN (SELECT id FROM erasedVisitor)`,
  'DELETE FROM visitorProof WHERE visitorId IN (SELECT id FROM erasedVisitor)',
  'DELETE FROM visitorChange WHERE visitorId IN (SELECT id FROM erasedVisitor)',
  `UPDATE outbox SET target = 'erased', payload = '{}', lastAnswer = NULL, settledAt = coalesce(settledAt, @at), isFirst = 0, state = iif(state = 'queued', 'failed', state)
   WHERE ${outgoing}`,
  // The first of those still queued for the same target.
  `UPDATE outbox SET isFirst = 1 WHERE state = 'queued' AND rowid IN (SELECT min(rowid) FROM outbox WHERE state = 'queued' GROUP BY target)`,
  `UPDATE audit SET before = NULL, after = NULL, context = NULL WHERE targetId IN (SELECT id FROM erasedSubject)
     OR ${namesErased("coalesce(before, '') || coalesce(after, '')")}`,
  // Subjects and addresses, which are not linked to whom they are of.
  `UPDATE importJob SET stats = json_set(stats, '$.reasons', json('[]'), '$.unknownAgents', json('[]'))`,
  'DELETE FROM contactMerge WHERE fromId IN (SELECT id FROM erasedContact) OR toId IN (SELECT id FROM erasedContact)',
  'UPDATE contact SET mergedInto = NULL WHERE id IN (SELECT id FROM erasedContact)',
  'DELETE FROM contact WHERE id IN (SELECT id FROM erasedContact)',
  // Rebuilt, because removed entries could still be read in the file.
  `INSERT INTO contactPart (contactPart) VALUES ('delete-all')`,
  `INSERT INTO contactStart (contactStart) VALUES ('delete-all')`,
  `INSERT INTO contactPart (rowid, text) SELECT number, textOfContact(${soughtFields}) FROM contact ORDER BY number`,
  `INSERT INTO contactStart (rowid, text) SELECT number, wordsOfContact(${soughtFields}) FROM contact ORDER BY number`,
];

/** Contacts with this id, email or number; of merged ones, those that have their conversations. */
export function contactsNamed(db: Database, name: string): { id: string; name: string | null; email: string | null }[] {
  return db.all(
    `WITH RECURSIVE found (id) AS (
       SELECT id FROM contact WHERE id = @name OR email = @name OR phone = @name OR id IN (SELECT contactId FROM contactEmail WHERE address = @name)
       UNION SELECT mergedInto FROM contact JOIN found ON contact.id = found.id WHERE mergedInto IS NOT NULL)
     SELECT id, name, email FROM contact WHERE mergedInto IS NULL AND id IN (SELECT id FROM found) ORDER BY createdAt, id`,
    { name },
  );
}

/** Keys of the contact's uploads, and addresses of attachments in its conversations, each ending in a key. */
export function uploadsOf(db: Database, contactId: string): string[] {
  gatherWhat(db, contactId);
  const urls = db.all<{ url: string }>(
    `SELECT json_extract(value, '$.url') AS url FROM message, json_each(message.attachments) WHERE message.id IN (SELECT id FROM erasedMessage)
     UNION SELECT key FROM upload WHERE visitorId IN (SELECT id FROM erasedVisitor)`,
  );
  dropGathered(db);
  return urls.map(({ url }) => url);
}

/**
 * What was sent to the contact or about it: ids of mails and texts that are still known, and the addresses of others.
 */
export function sentTo(db: Database, contactId: string): { ids: string[]; addresses: string[] } {
  gatherWhat(db, contactId);
  const ids = db.all<{ id: string }>(
    `SELECT id FROM outbox WHERE ${outgoing}
     UNION SELECT substr(mailId, 1, instr(mailId, '@') - 1) FROM mail WHERE direction = 'out' AND ${erasedMail}`,
  );
  const addresses = db.all<{ address: string }>('SELECT address FROM erasedAddress');
  dropGathered(db);
  return { ids: ids.map(({ id }) => id), addresses: addresses.map(({ address }) => address) };
}

/** Everything ever sent that is still known. */
export function sentIds(db: Database): string[] {
  return db
    .all<{ id: string }>(
      `SELECT id FROM outbox UNION SELECT substr(mailId, 1, instr(mailId, '@') - 1) FROM mail WHERE direction = 'out'`,
    )
    .map(({ id }) => id);
}

function gatherWhat(db: Database, contactId: string): void {
  for (const sql of gather) db.run(sql, sql.includes('@contactId') ? { contactId } : []);
}

function dropGathered(db: Database): void {
  for (const sql of gather) {
    const [, table] = /^CREATE TEMP TABLE (\w+)/.exec(sql) ?? [];
    if (table !== undefined) db.run(`DROP TABLE ${table}`);
  }
}

/** Runs in the caller's transaction. */
export function eraseContact(db: Database, contact: { contactId: string; at: string }): Erased {
  gatherWhat(db, contact.contactId);
  const count = (table: string): number =>
    db.get<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)?.count ?? 0;
  const erased = {
    visitors: count('erasedVisitor'),
    conversations: count('erasedConversation'),
    messages: count('erasedMessage'),
  };
  for (const sql of erase)
    db.run(
      sql,
      sql.includes('@contactId') ? { contactId: contact.contactId } : sql.includes('@at') ? { at: contact.at } : [],
    );
  dropGathered(db);
  return erased;
}

/** Numbers that the workspace still holds at a carrier. */
export function activeNumbers(db: Database): string[] {
  return db
    .all<{ e164: string }>(`SELECT e164 FROM phoneNumber WHERE status = 'active' ORDER BY e164`)
    .map(({ e164 }) => e164);
}

// Erases one customer's data from a workspace's file. Rows that are counted or numbered stay, emptied: conversations,
// messages, events and completions, so that figures stay right and sequences have no gaps. A new table with customer
// data is added here.

import type { Database } from '../database.ts';

export interface Erased {
  readonly visitors: number;
  readonly conversations: number;
  readonly messages: number;
}

/** Replaces erased text. */
const erasedText = '[erased]';

/** The audience of an emptied event: no one. */
const noAudience = `json_object('kind', 'conversation', 'channel', 'chat', 'departmentIds', json_array(), 'agentIds', json_array(), 'visitorId', NULL)`;

/** Collects the contact's visitors, the conversations of both, and the addresses that identify the rest. */
const gather: readonly string[] = [
  'CREATE TEMP TABLE erasedVisitor AS SELECT id FROM visitor WHERE contactId = @contactId',
  `CREATE TEMP TABLE erasedConversation AS SELECT id FROM conversation WHERE contactId = @contactId OR visitorId IN (SELECT id FROM erasedVisitor)`,
  `CREATE TEMP TABLE erasedAddress AS SELECT lower(email) AS address FROM contact WHERE id = @contactId AND email IS NOT NULL
   UNION SELECT lower(email) FROM visitor WHERE id IN (SELECT id FROM erasedVisitor) AND email IS NOT NULL
   UNION SELECT phone FROM contact WHERE id = @contactId AND phone IS NOT NULL
   UNION SELECT phoneE164 FROM visitor WHERE id IN (SELECT id FROM erasedVisitor) AND phoneE164 IS NOT NULL`,
  `CREATE TEMP TABLE erasedSubject AS SELECT id FROM erasedConversation UNION SELECT id FROM erasedVisitor UNION SELECT @contactId
   UNION SELECT id FROM message WHERE conversationId IN (SELECT id FROM erasedConversation)`,
  `INSERT INTO erasedSubject SELECT webhookDelivery.id FROM webhookDelivery WHERE EXISTS (SELECT 1 FROM erasedSubject WHERE instr(body, erasedSubject.id) > 0)
   UNION SELECT id FROM verification WHERE lower(destination) IN (SELECT address FROM erasedAddress)`,
  `CREATE TEMP TABLE erasedUpload AS SELECT id FROM upload WHERE visitorId IN (SELECT id FROM erasedVisitor)
     OR EXISTS (SELECT 1 FROM message, json_each(message.attachments) WHERE conversationId IN (SELECT id FROM erasedConversation) AND instr(json_extract(value, '$.url'), upload.key) > 0)`,
];

/** Outgoing items to the contact or about it. */
const outgoing = `subjectId IN (SELECT id FROM erasedSubject) OR lower(target) IN (SELECT address FROM erasedAddress) OR lower(target) IN (SELECT 'verification:' || address FROM erasedAddress)
     OR EXISTS (SELECT 1 FROM json_tree(payload) WHERE json_tree.atom IS NOT NULL AND lower(json_tree.atom) IN (SELECT address FROM erasedAddress))`;

const erase: readonly string[] = [
  // A browser used by another person since belongs to that person; its earlier details are erased.
  `UPDATE event SET audience = ${noAudience}, data = '{}' WHERE conversationId IN (SELECT id FROM erasedConversation) OR json_extract(data, '$.visitor.id') IN (SELECT id FROM erasedVisitor)
     OR json_extract(data, '$.completion.visitorId') IN (SELECT id FROM erasedVisitor) OR json_extract(data, '$.visitor.contactId') = @contactId`,
  // System lines may contain the contact's name.
  `UPDATE message SET body = '${erasedText}', bodyHtml = NULL, threading = NULL, mail = NULL, attachments = '[]', deliveryStatus = iif(deliveryStatus = 'queued', 'failed', deliveryStatus) WHERE conversationId IN (SELECT id FROM erasedConversation)`,
  // Keeps the Message-ID, so that a second delivery of the same mail is recognised.
  `UPDATE mail SET fromAddress = '', fromName = NULL, replyTo = NULL, toAddresses = '[]', subject = '', text = NULL, html = NULL, authentication = NULL
   WHERE conversationId IN (SELECT id FROM erasedConversation) OR lower(fromAddress) IN (SELECT address FROM erasedAddress) OR lower(replyTo) IN (SELECT address FROM erasedAddress)
     OR EXISTS (SELECT 1 FROM json_each(toAddresses) WHERE lower(value) IN (SELECT address FROM erasedAddress))`,
  `DELETE FROM draft WHERE conversationId IN (SELECT id FROM erasedConversation)
     OR EXISTS (SELECT 1 FROM json_tree(mail) WHERE json_tree.atom IS NOT NULL AND lower(json_tree.atom) IN (SELECT address FROM erasedAddress))`,
  // Texts that were rewritten name no conversation, and are kept for days only.
  'DELETE FROM aiRequest WHERE conversationId IS NULL OR conversationId IN (SELECT id FROM erasedConversation)',
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
  `UPDATE note SET body = '${erasedText}' WHERE conversationId IN (SELECT id FROM erasedConversation)`,
  `UPDATE voicemail SET fromE164 = NULL, recordingUrl = NULL, transcript = NULL WHERE conversationId IN (SELECT id FROM erasedConversation)`,
  `UPDATE callEvent SET detail = json_remove(detail, '$.fromE164') WHERE conversationId IN (SELECT id FROM erasedConversation)`,
  `UPDATE call SET fromE164 = NULL, recordingUrl = NULL WHERE conversationId IN (SELECT id FROM erasedConversation)`,
  `UPDATE conversation SET subject = NULL, preview = NULL, ratingComment = NULL, tags = '[]', copiedTo = '[]', contactId = NULL, mailPreview = NULL,
     handshake = iif(handshake IS NULL, NULL, json_set(handshake, '$.note', NULL)) WHERE id IN (SELECT id FROM erasedConversation)`,
  `UPDATE visitor SET email = NULL, name = NULL, phoneE164 = NULL, ip = NULL, network = NULL, country = NULL, userAgent = NULL, geo = NULL, wcEnrichment = NULL, contactId = NULL, currentPageUrl = NULL
   WHERE id IN (SELECT id FROM erasedVisitor)`,
  'DELETE FROM visitorProof WHERE visitorId IN (SELECT id FROM erasedVisitor)',
  'DELETE FROM visitorChange WHERE visitorId IN (SELECT id FROM erasedVisitor)',
  `UPDATE outbox SET target = 'erased', payload = '{}', lastAnswer = NULL, settledAt = coalesce(settledAt, @at), isFirst = 0, state = iif(state = 'queued', 'failed', state)
   WHERE ${outgoing}`,
  // The first of those still queued for the same target.
  `UPDATE outbox SET isFirst = 1 WHERE state = 'queued' AND rowid IN (SELECT min(rowid) FROM outbox WHERE state = 'queued' GROUP BY target)`,
  `UPDATE audit SET before = NULL, after = NULL, context = NULL WHERE targetId IN (SELECT id FROM erasedSubject)`,
  'DELETE FROM contact WHERE id = @contactId',
  // Rebuilt, because removed entries could still be read in the file.
  `INSERT INTO contactPart (contactPart) VALUES ('delete-all')`,
  `INSERT INTO contactStart (contactStart) VALUES ('delete-all')`,
  'INSERT INTO contactPart (rowid, text) SELECT number, textOfContact(name, email, phone, company) FROM contact ORDER BY number',
  'INSERT INTO contactStart (rowid, text) SELECT number, wordsOfContact(name, email, phone, company) FROM contact ORDER BY number',
];

/** Contacts with this id, email or number. */
export function contactsNamed(db: Database, name: string): { id: string; name: string | null; email: string | null }[] {
  return db.all('SELECT id, name, email FROM contact WHERE id = ? OR email = ? OR phone = ? ORDER BY createdAt, id', [
    name,
    name,
    name,
  ]);
}

/** Keys of the contact's uploads, and addresses of attachments in its conversations, each ending in a key. */
export function uploadsOf(db: Database, contactId: string): string[] {
  return db
    .all<{ url: string }>(
      `SELECT json_extract(value, '$.url') AS url FROM message, json_each(message.attachments)
       WHERE conversationId IN (SELECT id FROM conversation WHERE contactId = @contactId OR visitorId IN (SELECT id FROM visitor WHERE contactId = @contactId))
       UNION SELECT key FROM upload WHERE visitorId IN (SELECT id FROM visitor WHERE contactId = @contactId)`,
      { contactId },
    )
    .map(({ url }) => url);
}

/**
 * What was sent to the contact or about it: ids of mails and texts that are still known, and the addresses of others.
 */
export function sentTo(db: Database, contactId: string): { ids: string[]; addresses: string[] } {
  gatherWhat(db, contactId);
  const ids = db.all<{ id: string }>(
    `SELECT id FROM outbox WHERE ${outgoing}
     UNION SELECT substr(mailId, 1, instr(mailId, '@') - 1) FROM mail WHERE direction = 'out' AND conversationId IN (SELECT id FROM erasedConversation)`,
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
  for (const table of ['erasedVisitor', 'erasedConversation', 'erasedAddress', 'erasedSubject', 'erasedUpload'])
    db.run(`DROP TABLE ${table}`);
}

/** Runs in the caller's transaction. */
export function eraseContact(db: Database, contact: { contactId: string; at: string }): Erased {
  gatherWhat(db, contact.contactId);
  const count = (table: string): number =>
    db.get<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)?.count ?? 0;
  const messages =
    db.get<{ count: number }>(
      'SELECT count(*) AS count FROM message WHERE conversationId IN (SELECT id FROM erasedConversation)',
    )?.count ?? 0;
  const erased = { visitors: count('erasedVisitor'), conversations: count('erasedConversation'), messages };
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

// Incoming and outgoing mail, unique by id, complete as received, with the data that threads are matched by.

import type { Database } from '../database.ts';
import { fromJson, fromJsonOrNull, toJson, toJsonOrNull } from '../json.ts';
import type { MailAuthentication } from './records.ts';

export type { MailAuthentication } from './records.ts';

export interface MailRecord {
  readonly mailId: string;
  readonly direction: 'in' | 'out';
  readonly conversationId: string | null;
  readonly messageId: string | null;
  readonly fromAddress: string;
  readonly fromName: string | null;
  /** The Reply-To, if it differs from the sender. */
  readonly replyTo: string | null;
  readonly toAddresses: readonly string[];
  readonly subject: string;
  /** Complete, with quoted history. Null for dropped mail and for our own. */
  readonly text: string | null;
  readonly html: string | null;
  readonly authentication: MailAuthentication | null;
  readonly droppedFor: string | null;
  /** Apart from the customer's thread: to or from someone else, without the customer. */
  readonly isSide: boolean;
  readonly createdAt: string;
}

/** Of the beginning of a mail, as it was received. */
export const maxSourceBytes = 256 * 1024;

export interface SourceSize {
  /** Of the whole mail. */
  readonly bytes: number;
  /** Of its beginning that is kept: all of it, or `maxSourceBytes`. */
  readonly keptBytes: number;
}

export interface MailSource extends SourceSize {
  /** The beginning, in gzip's format. */
  readonly packed: Uint8Array;
}

type Row = Omit<MailRecord, 'toAddresses' | 'authentication' | 'isSide'> & {
  toAddresses: string;
  authentication: string | null;
  isSide: number;
};

const columns =
  'mailId, direction, conversationId, messageId, fromAddress, fromName, replyTo, toAddresses, subject, text, html, authentication, droppedFor, isSide, createdAt';
const fromRow = (row: Row): MailRecord => ({
  ...row,
  toAddresses: fromJson(row.toAddresses),
  authentication: fromJsonOrNull(row.authentication),
  isSide: row.isSide === 1,
});

export interface NewMail extends MailRecord {
  /** Without it if the mail's bytes are not known, or are not to be kept. */
  readonly source?: MailSource | null;
}

export function insertMail(db: Database, { source, ...mail }: NewMail): void {
  db.run(
    `INSERT INTO mail (${columns}, sourceBytes, sourceKeptBytes, source) VALUES (@mailId, @direction, @conversationId, @messageId, @fromAddress, @fromName, @replyTo, @toAddresses, @subject, @text, @html, @authentication, @droppedFor, @isSide, @createdAt, @sourceBytes, @sourceKeptBytes, @source)`,
    {
      ...mail,
      toAddresses: toJson(mail.toAddresses),
      authentication: toJsonOrNull(mail.authentication),
      isSide: mail.isSide ? 1 : 0,
      sourceBytes: source?.bytes ?? null,
      sourceKeptBytes: source?.keptBytes ?? null,
      source: source?.packed ?? null,
    },
  );
}

/** A mail's data without its text. */
export type KnownMail = Pick<
  MailRecord,
  'mailId' | 'direction' | 'conversationId' | 'messageId' | 'fromAddress' | 'droppedFor'
>;

export function findMail(db: Database, mailId: string): KnownMail | undefined {
  return db.get<KnownMail>(
    'SELECT mailId, direction, conversationId, messageId, fromAddress, droppedFor FROM mail WHERE mailId = ?',
    [mailId],
  );
}

/** Another mail has its id; answers to that id still find it where its people may write. */
export function renameMail(db: Database, mailId: string, newId: string): void {
  db.run(
    `INSERT INTO mailReference (mailId, conversationId, messageId)
     SELECT mailId, conversationId, messageId FROM mail WHERE mailId = ? AND messageId IS NOT NULL ON CONFLICT DO NOTHING`,
    [mailId],
  );
  db.run('UPDATE mail SET mailId = ? WHERE mailId = ?', [newId, mailId]);
}

/** The id of the mail that the message came or left by; later ones only name it. */
export function mailIdOfMessage(db: Database, messageId: string): string | undefined {
  return db.get<{ mailId: string }>('SELECT mailId FROM mail WHERE messageId = ? ORDER BY rowid LIMIT 1', [messageId])
    ?.mailId;
}

/** The mail that the message came by. */
export function findReceivedMail(db: Database, messageId: string): MailRecord | undefined {
  const row = db.get<Row>(`SELECT ${columns} FROM mail WHERE messageId = ? AND direction = 'in'`, [messageId]);
  return row && fromRow(row);
}

export function receivedMailId(db: Database, messageId: string): string | undefined {
  return db.get<{ mailId: string }>("SELECT mailId FROM mail WHERE messageId = ? AND direction = 'in'", [messageId])
    ?.mailId;
}

/** Its text and HTML, which may have a mebibyte each. */
export function findWritten(db: Database, mailId: string): Pick<MailRecord, 'text' | 'html'> | undefined {
  return db.get<Pick<MailRecord, 'text' | 'html'>>('SELECT text, html FROM mail WHERE mailId = ?', [mailId]);
}

/** Undefined if its source is not kept. */
export function sourceSizeOf(db: Database, mailId: string): SourceSize | undefined {
  return db.get<SourceSize>(
    'SELECT sourceBytes AS bytes, sourceKeptBytes AS keptBytes FROM mail WHERE mailId = ? AND sourceBytes IS NOT NULL',
    [mailId],
  );
}

/** With the subject of its mail. Undefined if it is not kept. */
export function findSource(
  db: Database,
  mailId: string,
): (Pick<MailSource, 'packed'> & Pick<MailRecord, 'subject'>) | undefined {
  return db.get('SELECT source AS packed, subject FROM mail WHERE mailId = ? AND sourceBytes IS NOT NULL', [mailId]);
}

export function setDroppedFor(db: Database, mailId: string, reason: string): void {
  db.run('UPDATE mail SET droppedFor = ? WHERE mailId = ?', [reason, mailId]);
}

/** Ids of the mails of a customer's thread, oldest first: the first and the newest `limit` - 1 others. */
export function mailIdsOfThread(
  db: Database,
  conversationId: string,
  limit: number,
): { mailId: string; direction: 'in' | 'out' }[] {
  const newest = db
    .all<{ mailId: string; direction: 'in' | 'out' }>(
      'SELECT mailId, direction FROM mail WHERE conversationId = ? AND isSide = 0 ORDER BY rowid DESC LIMIT ?',
      [conversationId, limit],
    )
    .reverse();
  if (newest.length < limit) return newest;
  const first = db.all<{ mailId: string; direction: 'in' | 'out' }>(
    'SELECT mailId, direction FROM mail WHERE conversationId = ? AND isSide = 0 ORDER BY rowid LIMIT 1',
    [conversationId],
  );
  return [...first, ...newest.slice(1)];
}

/** Mails accepted from this sender, with this reply address, since `since`. */
export function countTakenFrom(
  db: Database,
  sender: Pick<MailRecord, 'fromAddress' | 'replyTo'>,
  since: string,
): number {
  return (
    db.get<{ count: number }>(
      `SELECT count(*) AS count FROM mail WHERE direction = 'in' AND fromAddress = ? AND replyTo IS ? AND createdAt > ? AND droppedFor IS NULL`,
      [sender.fromAddress, sender.replyTo, since],
    )?.count ?? 0
  );
}

/** The messages that came from the address by mail, the newest at first, at most `limit`. */
export function messageIdsFrom(db: Database, fromAddress: string, limit: number): string[] {
  return db
    .all<{ messageId: string }>(
      `SELECT messageId FROM mail WHERE direction = 'in' AND fromAddress = ? AND droppedFor IS NULL AND messageId IS NOT NULL ORDER BY createdAt DESC LIMIT ?`,
      [fromAddress, limit],
    )
    .map(({ messageId }) => messageId);
}

/** Whom the newest incoming mails of the conversation name as recipients or for answers, at most `limit` mails. */
export function namedInThread(
  db: Database,
  conversationId: string,
  limit: number,
): { readonly messageId: string | null; readonly addresses: readonly string[] }[] {
  return db
    .all<{ messageId: string | null; replyTo: string | null; toAddresses: string }>(
      `SELECT messageId, replyTo, toAddresses FROM mail WHERE conversationId = ? AND direction = 'in' ORDER BY rowid DESC LIMIT ?`,
      [conversationId, limit],
    )
    .map(({ messageId, replyTo, toAddresses }) => ({
      messageId,
      addresses: [...(replyTo === null ? [] : [replyTo]), ...fromJson<string[]>(toAddresses)],
    }));
}

/** Whether the thread has a mail from the one address with the other as reply address. */
export function isAnsweredAt(
  db: Database,
  conversationId: string,
  sender: Pick<MailRecord, 'fromAddress' | 'replyTo'>,
): boolean {
  return (
    db.get(`SELECT 1 FROM mail WHERE conversationId = ? AND direction = 'in' AND fromAddress = ? AND replyTo = ?`, [
      conversationId,
      sender.fromAddress,
      sender.replyTo,
    ]) !== undefined
  );
}

/** Where a mail is or is expected: the mail itself before those that only name it. */
export interface ThreadPlace {
  readonly conversationId: string;
  readonly messageId: string;
}

export function placesOf(db: Database, mailId: string): ThreadPlace[] {
  return db.all<ThreadPlace>(
    `SELECT conversationId, messageId FROM (
       SELECT conversationId, messageId, 0 AS expected FROM mail WHERE mailId = @mailId AND messageId IS NOT NULL
       UNION ALL SELECT conversationId, messageId, 1 FROM mailReference WHERE mailId = @mailId
     ) ORDER BY expected, conversationId`,
    { mailId },
  );
}

/** The customer's newest thread with this subject, with its newest message that was a mail. */
export function placeBySubject(
  db: Database,
  customerAddress: string,
  subjectKey: string,
): { conversationId: string; messageId: string | null } | undefined {
  return db.get(
    `SELECT thread.conversationId, (SELECT messageId FROM mail WHERE mail.conversationId = thread.conversationId AND messageId IS NOT NULL AND isSide = 0 ORDER BY mail.rowid DESC LIMIT 1) AS messageId
     FROM mailThread AS thread WHERE customerAddress = ? AND subjectKey = ? ORDER BY thread.conversationId DESC LIMIT 1`,
    [customerAddress, subjectKey],
  );
}

export function addReferences(db: Database, place: ThreadPlace, mailIds: readonly string[]): void {
  for (const mailId of mailIds)
    db.run('INSERT INTO mailReference (mailId, conversationId, messageId) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', [
      mailId,
      place.conversationId,
      place.messageId,
    ]);
}

export interface MailThread {
  readonly conversationId: string;
  readonly customerAddress: string;
  readonly ourAddress: string;
  readonly subjectKey: string;
}

export function insertMailThread(db: Database, thread: MailThread): void {
  db.run(
    'INSERT INTO mailThread (conversationId, customerAddress, ourAddress, subjectKey) VALUES (@conversationId, @customerAddress, @ourAddress, @subjectKey)',
    { ...thread },
  );
}

/** Later mails of the thread leave from this address. */
export function setOurAddress(db: Database, conversationId: string, ourAddress: string): void {
  db.run('UPDATE mailThread SET ourAddress = ? WHERE conversationId = ?', [ourAddress, conversationId]);
}

/** Of a chat: each mail goes to the address that the customer has now, under the subject of then. */
export function putMailThread(db: Database, thread: MailThread): void {
  db.run(
    `INSERT INTO mailThread (conversationId, customerAddress, ourAddress, subjectKey) VALUES (@conversationId, @customerAddress, @ourAddress, @subjectKey)
     ON CONFLICT DO UPDATE SET customerAddress = excluded.customerAddress, subjectKey = excluded.subjectKey`,
    { ...thread },
  );
}

export function findMailThread(db: Database, conversationId: string): MailThread | undefined {
  return db.get<MailThread>(
    'SELECT conversationId, customerAddress, ourAddress, subjectKey FROM mailThread WHERE conversationId = ?',
    [conversationId],
  );
}

export function addParticipants(db: Database, conversationId: string, addresses: readonly string[]): void {
  for (const address of addresses)
    db.run('INSERT INTO mailParticipant (conversationId, address) VALUES (?, ?) ON CONFLICT DO NOTHING', [
      conversationId,
      address,
    ]);
}

export function removeParticipants(db: Database, conversationId: string, addresses: readonly string[]): void {
  db.run('DELETE FROM mailParticipant WHERE conversationId = ? AND address IN (SELECT value FROM json_each(?))', [
    conversationId,
    toJson(addresses),
  ]);
}

/** Who may write into the thread. */
export function participantsOf(db: Database, conversationId: string): string[] {
  return db
    .all<{ address: string }>('SELECT address FROM mailParticipant WHERE conversationId = ? ORDER BY address', [
      conversationId,
    ])
    .map(({ address }) => address);
}

/** Whether the mail went to the address or came from it; undefined for a mail that is not known. */
export function isMailWith(db: Database, mailId: string, address: string): boolean | undefined {
  const row = db.get<{ isWith: number }>(
    `SELECT iif(direction = 'in', fromAddress = @address, EXISTS (SELECT 1 FROM json_each(toAddresses) WHERE value = @address COLLATE NOCASE)) AS isWith
     FROM mail WHERE mailId = @mailId`,
    { mailId, address },
  );
  return row && row.isWith === 1;
}

export function isParticipant(db: Database, conversationId: string, address: string): boolean {
  return (
    db.get('SELECT 1 FROM mailParticipant WHERE conversationId = ? AND address = ?', [conversationId, address]) !==
    undefined
  );
}

// Mailboxes elsewhere that a workspace reads by IMAP and sends from by SMTP.

import Type from 'typebox';
import type { Database } from '../database.ts';
import { fromJson, fromJsonOrNull } from '../json.ts';
import { Id, nullable, type RecordOf, Time } from '../record.ts';
import { type RowOf, table } from '../table.ts';

export const MailEndpoint = Type.Object({
  host: Type.String(),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  security: Type.Enum(['starttls', 'tls', 'none'], { description: '`starttls` and `tls` send nothing unencrypted.' }),
});
export type MailEndpoint = RecordOf<typeof MailEndpoint>;

/** A mailbox as admins see it. */
export const MailboxView = Type.Object({
  id: Id,
  address: Type.String(),
  departmentId: nullable(Id),
  imap: MailEndpoint,
  smtp: nullable(MailEndpoint),
  username: Type.String(),
  signIn: Type.Enum(['password', 'google', 'microsoft'], {
    description: '`google` and `microsoft`: with access that was granted there (XOAUTH2).',
  }),
  folder: Type.String({ description: 'From which mail is taken.' }),
  afterwards: Type.Enum(['nothing', 'seen', 'move'], {
    description: 'What becomes of a mail in the mailbox once it is here.',
  }),
  moveTo: nullable(Type.String({ description: 'With `move`: the folder.' })),
  isPaused: Type.Boolean(),
  failure: nullable(Type.String({ description: "Why the last check failed, in the server's words." })),
  checkedAt: nullable(Time),
  startedAt: Type.String({ format: 'date-time', description: 'Mail from before is not taken.' }),
  createdAt: Time,
});
export type MailboxView = RecordOf<typeof MailboxView>;

export const MailboxRecord = Type.Object({
  ...MailboxView.properties,
  /** The password, or the refresh token of the provider. Store code cannot open it. */
  sealedSecret: Type.String(),
  /** Whether its hosts may have addresses on a private network. */
  mayBePrivate: Type.Boolean(),
  /** In a row. */
  failures: Type.Integer(),
  /** The server's numbering, and the number up to which every mail is here; null before the first check. */
  uidValidity: nullable(Type.String()),
  lastUid: Type.Integer(),
  updatedAt: Time,
});
export type MailboxRecord = RecordOf<typeof MailboxRecord>;

type Row = RowOf<MailboxRecord>;

const fromRow = (row: Row): MailboxRecord => ({
  ...row,
  imap: fromJson(row.imap),
  smtp: fromJsonOrNull(row.smtp),
  mayBePrivate: row.mayBePrivate === 1,
  isPaused: row.isPaused === 1,
});

export const {
  unset: unsetMailbox,
  insert: insertMailbox,
  update: updateMailbox,
} = table('mailbox', MailboxRecord, { key: 'id', fixed: ['createdAt'] });

/** Oldest first. */
export function allMailboxes(db: Database): MailboxRecord[] {
  return db.all<Row>('SELECT * FROM mailbox ORDER BY createdAt, id').map(fromRow);
}

export function findMailbox(db: Database, mailboxId: string): MailboxRecord | undefined {
  const row = db.get<Row>('SELECT * FROM mailbox WHERE id = ?', [mailboxId]);
  return row && fromRow(row);
}

export function findMailboxAt(db: Database, address: string): MailboxRecord | undefined {
  const row = db.get<Row>('SELECT * FROM mailbox WHERE address = ?', [address]);
  return row && fromRow(row);
}

export function deleteMailbox(db: Database, mailboxId: string): void {
  db.run('DELETE FROM mailbox WHERE id = ?', [mailboxId]);
}

/** The department is gone. */
export function clearMailboxDepartment(db: Database, departmentId: string): void {
  db.run('UPDATE mailbox SET departmentId = NULL WHERE departmentId = ?', [departmentId]);
}

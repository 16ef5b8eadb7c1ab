// Mails that agents have not sent yet: drafts, and mails that leave at a time and can be taken back until then.

import Type from 'typebox';
import { below, type Cursor } from '../cursor.ts';
import type { Database } from '../database.ts';
import { fromJson, fromJsonOrNull } from '../json.ts';
import { Id, nullable, type RecordOf, Time, Version } from '../record.ts';
import { type RowOf, table } from '../table.ts';

const Attachment = Type.Object({ url: Type.String(), name: nullable(Type.String()), size: nullable(Type.Integer()) });

const recipients = (description: string) => nullable(Type.Array(Type.String(), { description }));

/** What an agent has written so far. Null: as the ticket says. */
export const DraftMail = Type.Object({
  from: nullable(Type.String({ description: 'One of the addresses of GET /email/senders.' })),
  to: recipients('For a new mail, the first is the customer.'),
  cc: recipients('In copy.'),
  bcc: recipients('In copy, unseen by the others.'),
  copy: Type.Boolean({ description: 'False: only to the customer, this once.' }),
  subject: nullable(Type.String({ description: 'Of a new mail; others have that of their ticket.' })),
  body: Type.String(),
  format: Type.Enum(['plain', 'markdown']),
  attachments: Type.Array(Attachment),
  answerTo: nullable(Id),
  forwardOf: nullable(Id),
  withSignature: Type.Boolean(),
  withQuote: Type.Boolean(),
  departmentId: nullable(Id),
  statusAfter: nullable(
    Type.Enum(['pending', 'solved'], { description: 'The status that the conversation gets once the mail is sent.' }),
  ),
});
export type DraftMail = RecordOf<typeof DraftMail>;

export const DraftView = Type.Object({
  id: Id,
  version: Version,
  agentId: Id,
  conversationId: nullable(Id),
  state: Type.Enum(['draft', 'scheduled'], {
    description:
      'A scheduled mail leaves at `sendAt`. Once it has left, the draft is gone; its message has the same id.',
  }),
  mail: DraftMail,
  sendAt: nullable(Time),
  failure: nullable(Type.String({ description: 'Why it was not sent when it was due.' })),
  createdAt: Time,
  updatedAt: Time,
});
export type DraftView = RecordOf<typeof DraftView>;

export const DraftRecord = Type.Object({
  ...DraftView.properties,
  /** Of a scheduled one: what is sent, as plain text and, if it is formatted, as safe HTML. */
  content: nullable(
    Type.Object({
      text: Type.String(),
      html: nullable(Type.String()),
      files: Type.Array(Type.Object({ ...Attachment.properties, uploadId: Type.Optional(Type.String()) })),
    }),
  ),
  /** Not sent if the customer writes before it is due. */
  unlessAnswered: Type.Boolean(),
});
export type DraftRecord = RecordOf<typeof DraftRecord>;

type Row = RowOf<DraftRecord>;

const fromRow = (row: Row): DraftRecord => ({
  ...row,
  mail: fromJson(row.mail),
  content: fromJsonOrNull(row.content),
  unlessAnswered: row.unlessAnswered === 1,
});

export const {
  unset: unsetDraft,
  insert: insertDraft,
  update: updateDraft,
} = table('draft', DraftRecord, { key: 'id', fixed: ['agentId', 'createdAt'] });

export function findDraft(db: Database, draftId: string): DraftRecord | undefined {
  const row = db.get<Row>('SELECT * FROM draft WHERE id = ?', [draftId]);
  return row && fromRow(row);
}

/** Of all agents, each of whom keeps a limited number. */
export function draftsIn(db: Database, conversationId: string): DraftRecord[] {
  return db
    .all<Row>('SELECT * FROM draft WHERE conversationId = ? ORDER BY createdAt, id', [conversationId])
    .map(fromRow);
}

export function deleteDraft(db: Database, draftId: string): void {
  db.run('DELETE FROM draft WHERE id = ?', [draftId]);
}

/** Scheduled ones stay. */
export function deleteDraftsOf(db: Database, agentId: string): void {
  db.run(`DELETE FROM draft WHERE agentId = ? AND state = 'draft'`, [agentId]);
}

/** Newest first, from just below `cursor`. */
export function draftPage(
  db: Database,
  page: { agentId: string; conversationId: string | undefined; cursor: Cursor | undefined; limit: number },
): DraftRecord[] {
  const { agentId, conversationId, cursor, limit } = page;
  const within = conversationId === undefined ? '' : 'AND conversationId = @conversationId';
  return db
    .all<Row>(
      `SELECT * FROM draft WHERE agentId = @agentId ${within} AND (createdAt, id) < (@at, @id) ORDER BY createdAt DESC, id DESC LIMIT @limit`,
      { agentId, ...below(cursor), limit, ...(conversationId === undefined ? {} : { conversationId }) },
    )
    .map(fromRow);
}

export function countDrafts(db: Database, agentId: string): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM draft WHERE agentId = ?', [agentId])?.count ?? 0;
}

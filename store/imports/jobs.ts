// Jobs that move conversations in from another system.

import Type from 'typebox';
import type { Database } from '../database.ts';
import { fromJson } from '../json.ts';
import { Id, nullable, type RecordOf, Time } from '../record.ts';
import { type RowOf, table } from '../table.ts';

export const ImportKind = Type.Enum(['mbox', 'chatwoot', 'zendesk', 'intercom', 'helpscout']);

export const ImportStats = Type.Object({
  read: Type.Integer({ description: 'Conversations that were read, or mails of an mbox file.' }),
  total: nullable(Type.Integer({ description: 'As the other system counts them; null if it does not.' })),
  created: Type.Integer(),
  updated: Type.Integer(),
  unchanged: Type.Integer(),
  messages: Type.Integer({ description: 'Messages and notes that were added.' }),
  customers: Type.Integer({ description: 'Customers that are new here.' }),
  leftOut: Type.Integer(),
  reasons: Type.Array(Type.Object({ what: Type.String(), why: Type.String() }), {
    description: 'Of the first that were left out or shortened.',
  }),
  unknownAgents: Type.Array(Type.String(), {
    description: 'Addresses of authors who are no agents here. Their messages have their names.',
  }),
});
export type ImportStats = RecordOf<typeof ImportStats>;

export const ImportJobView = Type.Object({
  id: Id,
  kind: ImportKind,
  name: Type.String({ description: "The file's name, or the host of the service." }),
  status: Type.Enum(['receiving', 'queued', 'running', 'stopped', 'failed', 'done'], {
    description:
      '`receiving`: its file is being uploaded. A preview that has ended is `stopped`, with `finishedAt`. ' +
      'One that is `stopped` or `failed` can be resumed, and goes on where it ended.',
  }),
  isPreview: Type.Boolean({ description: 'It reads a part, changes nothing, and tells what would happen.' }),
  isReady: Type.Boolean({
    description: 'Its preview was read to its end and found something: resumed, the import begins.',
  }),
  departmentId: nullable(Id),
  bytes: nullable(Type.Integer({ description: 'Of the file.' })),
  receivedBytes: nullable(Type.Integer({ description: 'Of the file, so far: the next part begins here.' })),
  readBytes: nullable(Type.Integer({ description: 'Of the file, up to which it was read.' })),
  stats: ImportStats,
  error: nullable(Type.String({ description: 'Why it waits or has failed, for people.' })),
  account: nullable(Type.String({ description: 'Of the service, as it was given.' })),
  addresses: Type.Array(Type.String(), { description: 'Of a file: mail from them is an answer.' }),
  createdByAgentId: Id,
  startedAt: nullable(Time),
  finishedAt: nullable(Time),
  createdAt: Time,
  updatedAt: Time,
});
export type ImportJobView = RecordOf<typeof ImportJobView>;

const { readBytes: _, isReady: __, ...kept } = ImportJobView.properties;
const ImportJobRecord = Type.Object({
  ...kept,
  /** Where the service is. */
  url: nullable(Type.String()),
  /** Only while the job may need it. Store code cannot open it. */
  sealedToken: nullable(Type.String()),
  /** Up to where everything is here, in the reader's words; of a file the position. */
  cursor: nullable(Type.String()),
  /** Of the outbox's item that runs it; an earlier one has lost its turn. */
  outboxId: nullable(Type.String()),
  /** In a row. */
  failures: Type.Integer(),
});
export type ImportJobRecord = RecordOf<typeof ImportJobRecord>;

type Row = RowOf<ImportJobRecord>;

const fromRow = (row: Row): ImportJobRecord => ({
  ...row,
  isPreview: row.isPreview === 1,
  addresses: fromJson(row.addresses),
  stats: fromJson(row.stats),
});

export const {
  unset: unsetImportJob,
  insert: insertImportJob,
  update: updateImportJob,
} = table('importJob', ImportJobRecord, { key: 'id', fixed: ['kind', 'createdAt', 'createdByAgentId'] });

export function findImportJob(db: Database, jobId: string): ImportJobRecord | undefined {
  const row = db.get<Row>('SELECT * FROM importJob WHERE id = ?', [jobId]);
  return row && fromRow(row);
}

/** Newest first. */
export function allImportJobs(db: Database, limit: number): ImportJobRecord[] {
  return db.all<Row>('SELECT * FROM importJob ORDER BY createdAt DESC, id DESC LIMIT ?', [limit]).map(fromRow);
}

export function deleteImportJob(db: Database, jobId: string): void {
  db.run('DELETE FROM importJob WHERE id = ?', [jobId]);
}

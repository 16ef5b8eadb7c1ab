// Erases one contact or one workspace for good, for an operator: rows, remains in the file, the search index built from
// them, uploads. The caller holds the data folder's lock. Both leave an entry in the operator log, a contact's also one
// in the workspace's audit log.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { Database, removeDatabase, syncFolder } from '../../store/database.ts';
import { insertOperatorAudit, type OperatorAuditRow } from '../../store/directory/operator-audit.ts';
import { placeKinds } from '../../store/directory/places.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import {
  activeNumbers,
  type Erased,
  eraseContact,
  sentIds,
  sentTo,
  uploadsOf,
} from '../../store/operations/erasure.ts';
import { insertAudit } from '../../store/runtime/audit.ts';
import { insertOutbox, type OutboxRow } from '../../store/runtime/outbox.ts';
import type { Ids } from '../runtime/ids.ts';
import { removeObjectKind } from '../workspace/uploads.ts';
import { othersIn } from './backup.ts';
import { directoryPath, workspacePath } from './integrity.ts';

export interface ErasureOptions {
  readonly dataDir: string;
  /** Uploads are on this disk; otherwise the service is asked to delete them remotely when it next runs. */
  readonly areUploadsHere: boolean;
  readonly workspaceId: string;
  readonly at: string;
  readonly ids: Ids;
}

/** Resolves to the counts of what was erased. Can be repeated after an interruption. */
export async function eraseContactOf(options: ErasureOptions, contactId: string): Promise<Erased> {
  const { dataDir, workspaceId } = options;
  const db = Database.openWriter(workspacePath(dataDir, workspaceId), workspaceMigrations);
  try {
    // Delete the files before the rows that point to them.
    if (options.areUploadsHere) await removeUploads(options, uploadKeysOf(db, workspaceId, contactId));
    await removeSent(options, sentTo(db, contactId));
    removeDatabase(join(dataDir, 'index', `${workspaceId}.db`));
    const erased = eraseContactIn(db, options, contactId);
    db.compact();
    note(options, contactErased(options, contactId, erased));
    return erased;
  } finally {
    db.close();
  }
}

/** In the file that `db` writes, whose entry for the operator log is contactErased(). Nothing is done if it throws. */
export function eraseContactIn(
  db: Database,
  options: Pick<ErasureOptions, 'areUploadsHere' | 'workspaceId' | 'at' | 'ids'>,
  contactId: string,
): Erased {
  const { at, ids } = options;
  try {
    const keys = options.areUploadsHere ? [] : uploadKeysOf(db, options.workspaceId, contactId);
    db.overwriteDeleted();
    db.begin();
    const erased = eraseContact(db, { contactId, at });
    for (const key of keys) insertOutbox(db, removalOf(key, options));
    insertAudit(db, {
      id: ids.uuid(),
      actorAgentId: null,
      action: 'contact.erased',
      targetKind: 'contact',
      targetId: contactId,
      before: null,
      after: null,
      context: JSON.stringify(erased),
      createdAt: at,
    });
    db.commit();
    return erased;
  } finally {
    db.rollback();
  }
}

export function contactErased(
  { workspaceId }: Pick<ErasureOptions, 'workspaceId'>,
  contactId: string,
  erased: Erased,
): OperatorEntry {
  return {
    action: 'contact.erased',
    targetKind: 'contact',
    targetId: contactId,
    context: { workspaceId, ...erased },
  };
}

/** Numbers that must be released first: otherwise they would stay at the carrier and go on costing money unnoticed. */
export function numbersHeld(dataDir: string, workspaceId: string): string[] {
  const path = workspacePath(dataDir, workspaceId);
  if (!existsSync(path)) return [];
  const db = Database.openReader(path);
  try {
    return activeNumbers(db);
  } finally {
    db.close();
  }
}

/** Can be repeated after an interruption. */
export async function eraseWorkspace(options: ErasureOptions): Promise<void> {
  const { dataDir, workspaceId } = options;
  removeDatabase(join(dataDir, 'index', `${workspaceId}.db`));
  removeStray(dataDir, sentIdsIn(workspacePath(dataDir, workspaceId)));
  for (const path of await othersIn(dataDir, { only: workspaceId })) rmSync(join(dataDir, path), { force: true });
  // Not in backups, and so not among the others; a mail that was being read may be there, too.
  for (const folder of [workspaceId, 'read'])
    rmSync(join(dataDir, 'imports', folder), { recursive: true, force: true });
  removeDatabase(workspacePath(dataDir, workspaceId));
  syncFolder(join(dataDir, 'workspaces'));
  const directory = Database.openWriter(directoryPath(dataDir), directoryMigrations);
  try {
    directory.overwriteDeleted();
    directory.begin();
    for (const kind of placeKinds) kind.giveUp(directory, workspaceId);
    directory.commit();
    directory.compact();
  } finally {
    directory.rollback();
    directory.close();
  }
  note(options, { action: 'workspace.erased', targetKind: 'workspace', targetId: workspaceId, context: null });
}

type OperatorEntry = Pick<OperatorAuditRow, 'action' | 'targetKind' | 'targetId' | 'context'>;

function note({ dataDir, at, ids }: ErasureOptions, entry: OperatorEntry): void {
  const directory = Database.openWriter(directoryPath(dataDir), directoryMigrations);
  try {
    insertOperatorAudit(directory, { id: ids.uuid(), ...entry, createdAt: at });
  } finally {
    directory.close();
  }
}

function uploadKeysOf(db: Database, workspaceId: string, contactId: string): ReadonlySet<string> {
  return keysOf(workspaceId, uploadsOf(db, contactId));
}

/** An upload's address ends with its key, which begins with the workspace's id. */
function keysOf(workspaceId: string, urls: readonly string[]): ReadonlySet<string> {
  return new Set(
    urls
      .flatMap((url) => url.split('?')[0]?.match(new RegExp(`${workspaceId}/.+$`))?.[0] ?? [])
      .map((path) => decodeURIComponent(path)),
  );
}

function removalOf(key: string, { ids, at }: Pick<ErasureOptions, 'ids' | 'at'>): OutboxRow {
  return {
    id: ids.uuid(),
    kind: removeObjectKind.name,
    target: key,
    subjectId: null,
    payload: JSON.stringify({ key }),
    state: 'queued',
    attempts: 0,
    nextAt: at,
    lastAnswer: null,
    createdAt: at,
    settledAt: null,
  };
}

async function removeUploads({ dataDir, workspaceId }: ErasureOptions, wanted: ReadonlySet<string>): Promise<void> {
  if (wanted.size === 0) return;
  for (const path of await othersIn(dataDir, { only: workspaceId })) {
    const key = path.slice(path.indexOf(workspaceId));
    if (wanted.has(key) || wanted.has(key.replace(/\.type$/, ''))) rmSync(join(dataDir, path), { force: true });
  }
}

/** Mails and texts that were written into the outbox folder instead of being sent. */
const outboxFolder = 'outbox';
const outboxKinds = ['eml', 'sms', 'call'];

/** Those known by id, and older ones addressed to the contact. */
async function removeSent(
  { dataDir, workspaceId }: ErasureOptions,
  { ids, addresses }: { ids: readonly string[]; addresses: readonly string[] },
): Promise<void> {
  removeStray(dataDir, ids);
  for (const path of await othersIn(dataDir, { only: workspaceId })) {
    if (!path.startsWith(outboxFolder + sep)) continue;
    const isKnown = ids.includes(basename(path).split('.')[0] ?? '');
    if (
      isKnown ||
      recipientsOf(readFileSync(join(dataDir, path), 'utf8')).some((recipient) => addresses.includes(recipient))
    )
      rmSync(join(dataDir, path), { force: true });
  }
}

/** Their names did not always say whose they are. */
function removeStray(dataDir: string, ids: readonly string[]): void {
  for (const id of ids)
    for (const kind of outboxKinds) rmSync(join(dataDir, outboxFolder, `${id}.${kind}`), { force: true });
}

function sentIdsIn(path: string): string[] {
  if (!existsSync(path)) return [];
  const db = Database.openReader(path);
  try {
    return sentIds(db);
  } finally {
    db.close();
  }
}

function recipientsOf(message: string): string[] {
  const [head = ''] = message.split(/\r?\n\r?\n/, 1);
  return (/^To: (.*(?:\r?\n[ \t].*)*)/im.exec(head)?.[1] ?? '').toLowerCase().match(/[^\s<>,"]+/g) ?? [];
}

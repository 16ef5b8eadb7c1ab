// Checks the files of a data folder, each by itself and against one another. Read-only, so that it can run while the
// service does; a difference caused by a change in flight is gone when the check is repeated. Work that a dead process
// left half done is not an error: the next start finishes or undoes it.

import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database, DatabaseUnusable, isStorageFailure, type Migration } from '../../store/database.ts';
import { directoryWorkspaces, reservedWorkspaces } from '../../store/directory/directory.ts';
import { type Place, placeKinds } from '../../store/directory/places.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { countsOf, deadlineKinds, outboxKindsIn, workspaceFaults } from '../../store/operations/integrity.ts';
import { isRebuilding } from '../../store/reports/rebuild.ts';
import { findWorkspace } from '../../store/workspace/workspaces.ts';
import { deadlineCommands, outboxKindNames } from '../jobs.ts';
import { verifyReports } from '../rollups.ts';

export interface Finding {
  /** The file, or a part of it. */
  readonly where: string;
  readonly rule: string;
  readonly fault: string;
}

export interface WorkspaceCounts {
  readonly conversations: number;
  readonly messages: number;
  readonly events: number;
}

/** The file beside the databases with the key of their sealed secrets, unless the key comes from elsewhere. */
export const secretsKeyName = 'secrets-key';
const folderName = 'workspaces';
const fileName = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.db$/;

export function directoryPath(dataDir: string): string {
  return join(dataDir, 'directory.db');
}

export function workspacePath(dataDir: string, workspaceId: string): string {
  return join(dataDir, folderName, `${workspaceId}.db`);
}

/** By the file names. */
export function workspaceIdsIn(dataDir: string): string[] {
  const folder = join(dataDir, folderName);
  return existsSync(folder)
    ? readdirSync(folder)
        .flatMap((name) => fileName.exec(name)?.[1] ?? [])
        .sort()
    : [];
}

/**
 * Those whose creation has finished. The others, begun by a registration, are still empty; the next start deletes those
 * left by a dead process.
 */
export function madeWorkspaceIdsIn(dataDir: string): string[] {
  // Listed before directory.db is read: a registration that begins later is not in the list, and an earlier one is in
  // directory.db.
  const ids = workspaceIdsIn(dataDir);
  const begun = new Set(begunWorkspaceIds(dataDir));
  return ids.filter((workspaceId) => !begun.has(workspaceId) || isMade(workspacePath(dataDir, workspaceId)));
}

function begunWorkspaceIds(dataDir: string): string[] {
  let directory: Database | undefined;
  try {
    directory = Database.openReader(directoryPath(dataDir));
    return reservedWorkspaces(directory).map(({ id }) => id);
  } catch (error) {
    // Reported by verifyDirectory().
    if (error instanceof DatabaseUnusable || isStorageFailure(error)) return [];
    throw error;
  } finally {
    directory?.close();
  }
}

/** Whether the file at `path` is a workspace's. One that cannot be read may be. */
export function isMade(path: string): boolean {
  let db: Database | undefined;
  try {
    db = Database.openReader(path);
    return db.version > 0 && findWorkspace(db) !== undefined;
  } catch (error) {
    if (error instanceof DatabaseUnusable || isStorageFailure(error)) return true;
    throw error;
  } finally {
    db?.close();
  }
}

/** Checks the file itself: pages, indexes, constraints, schema, and every rule about its rows. */
export function verifyWorkspace(
  path: string,
  workspaceId: string,
): { findings: Finding[]; counts: WorkspaceCounts | undefined } {
  let counts: WorkspaceCounts | undefined;
  const findings = verifyFile(path, workspaceMigrations, (db) =>
    db.snapshot(() => {
      counts = countsOf(db);
      const workspace = findWorkspace(db);
      const known = [
        ...unknownOf('deadlines', deadlineKinds(db), Object.keys(deadlineCommands)),
        ...unknownOf('outside work', outboxKindsIn(db), outboxKindNames),
      ];
      const named =
        workspace !== undefined && workspace.id !== workspaceId
          ? [{ rule: 'a file is named after its workspace', fault: `it holds ${workspace.id}` }]
          : [];
      // After an upgrade a deadline rebuilds them; until then there is nothing to check.
      const reports = isRebuilding(db)
        ? []
        : [...verifyReports(db)].map((fault) => ({ rule: 'reports count what exists', fault }));
      return [...named, ...known, ...workspaceFaults(db), ...reports];
    }),
  );
  return { findings, counts };
}

/** directory.db itself. */
export function verifyDirectory(path: string): Finding[] {
  return verifyFile(path, directoryMigrations, () => []);
}

/** Checks that directory.db lists exactly what must be unique across workspaces, as each workspace's file has it. */
export function verifyAgreement(dataDir: string): Finding[] {
  const findings: Finding[] = [];
  const directory = Database.openReader(directoryPath(dataDir));
  try {
    const ids = new Set(workspaceIdsIn(dataDir));
    const onTheirWay = new Set(reservedWorkspaces(directory).map(({ id }) => id));
    for (const { id } of directoryWorkspaces(directory)) {
      if (!ids.has(id) && !onTheirWay.has(id))
        findings.push({ where: 'directory.db', rule: 'every workspace has its file', fault: `${id} has none` });
    }
    for (const workspaceId of ids) {
      if (onTheirWay.has(workspaceId)) continue;
      for (const finding of disagreements(directory, dataDir, workspaceId)) findings.push(finding);
    }
  } finally {
    directory.close();
  }
  return findings;
}

/** The same for one workspace, whose file is there. */
export function verifyAgreementOf(dataDir: string, workspaceId: string): Finding[] {
  const directory = Database.openReader(directoryPath(dataDir));
  try {
    const isOnItsWay = reservedWorkspaces(directory).some(({ id }) => id === workspaceId);
    return isOnItsWay ? [] : disagreements(directory, dataDir, workspaceId);
  } finally {
    directory.close();
  }
}

function disagreements(directory: Database, dataDir: string, workspaceId: string): Finding[] {
  let db: Database;
  try {
    db = Database.openReader(workspacePath(dataDir, workspaceId));
  } catch {
    // Reported by verifyWorkspace().
    return [];
  }
  try {
    return placeKinds.flatMap((kind) => {
      const [here, there] = [kind.ofWorkspace(db), kind.ofDirectory(directory, workspaceId)];
      const onTheirWay = new Set(kind.onTheirWay(directory, workspaceId));
      const rule = `directory.db lists every ${kind.title}, and no other`;
      const faultsOf = (places: readonly Place[], others: readonly Place[], told: string): Finding[] => {
        const known = new Set(others.map(({ text }) => text));
        return places
          .filter(({ text, ownerId }) => !known.has(text) && !onTheirWay.has(ownerId))
          .map(({ text }) => ({ where: `workspace ${workspaceId}`, rule, fault: `${told} ${text}` }));
      };
      return [...faultsOf(here, there, 'it does not list'), ...faultsOf(there, here, 'only it lists')];
    });
  } catch (error) {
    if (isStorageFailure(error)) return [];
    throw error;
  } finally {
    db.close();
  }
}

function verifyFile(
  path: string,
  migrations: readonly Migration[],
  ask: (db: Database) => { rule: string; fault: string }[],
): Finding[] {
  const where = path.split('/').slice(-2).join('/');
  let db: Database | undefined;
  try {
    db = Database.openReader(path);
    const faults = db.integrityFaults().map((fault) => ({ rule: 'the file is sound', fault }));
    if (faults.length > 0) return faults.map((fault) => ({ where, ...fault }));
    const newest = migrations.at(-1)?.version ?? 0;
    if (db.version !== newest)
      return [
        {
          where,
          rule: "its schema is the program's",
          fault: `it is version ${db.version}, the program's is ${newest}`,
        },
      ];
    const schema = differences(db.schema(), schemaOf(migrations)).map((fault) => ({
      rule: "its schema is the program's",
      fault,
    }));
    const names = db.foreignKeyFaults().map((fault) => ({ rule: 'references point to existing rows', fault }));
    return [...schema, ...names, ...(schema.length > 0 ? [] : ask(db))].map((fault) => ({ where, ...fault }));
  } catch (error) {
    if (!(error instanceof DatabaseUnusable) && !isStorageFailure(error)) throw error;
    return [{ where, rule: 'the file can be read', fault: error instanceof Error ? error.message : String(error) }];
  } finally {
    db?.close();
  }
}

const schemas = new Map<readonly Migration[], ReadonlySet<string>>();

/** The schema of a new file. */
function schemaOf(migrations: readonly Migration[]): ReadonlySet<string> {
  const known = schemas.get(migrations);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-schema-'));
  try {
    const db = Database.openWriter(join(folder, 'new.db'), migrations);
    const schema = db.schema();
    db.close();
    schemas.set(migrations, schema);
    return schema;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function differences(has: ReadonlySet<string>, must: ReadonlySet<string>): string[] {
  return [
    ...[...must].filter((one) => !has.has(one)).map((one) => `it lacks ${one}`),
    ...[...has].filter((one) => !must.has(one)).map((one) => `it has ${one}`),
  ];
}

function unknownOf(
  what: string,
  present: readonly string[],
  known: readonly string[],
): { rule: string; fault: string }[] {
  return present
    .filter((kind) => !known.includes(kind))
    .map((kind) => ({ rule: `the program knows the kinds of all ${what}`, fault: kind }));
}

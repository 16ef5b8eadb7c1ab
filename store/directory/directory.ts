// Service-wide data in directory.db: the existing workspaces, and the workspace of each address that an agent signs in
// with. Rows are written before the workspace's own file and confirmed after it; `reservedAt` marks unconfirmed ones.

import type { Database } from '../database.ts';

export interface DirectoryWorkspace {
  readonly id: string;
  readonly name: string;
  readonly subdomain: string;
  readonly reservedAt: string | null;
  readonly createdAt: string;
}

export interface DirectoryEmail {
  readonly email: string;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly reservedAt: string | null;
}

export function insertDirectoryWorkspace(db: Database, workspace: DirectoryWorkspace): void {
  db.run(
    'INSERT INTO workspace (id, name, subdomain, reservedAt, createdAt) VALUES (@id, @name, @subdomain, @reservedAt, @createdAt)',
    { ...workspace },
  );
}

export function findDirectoryWorkspace(db: Database, workspaceId: string): DirectoryWorkspace | undefined {
  return db.get<DirectoryWorkspace>('SELECT * FROM workspace WHERE id = ?', [workspaceId]);
}

export function confirmDirectoryWorkspace(db: Database, workspaceId: string): void {
  db.run('UPDATE workspace SET reservedAt = NULL WHERE id = ?', [workspaceId]);
}

/** For a workspace whose creation failed. Its registration code becomes usable again. */
export function deleteDirectoryWorkspace(db: Database, workspaceId: string): void {
  db.run('DELETE FROM registrationCode WHERE workspaceId = ?', [workspaceId]);
  db.run('DELETE FROM workspace WHERE id = ?', [workspaceId]);
}

/** Includes workspaces being created. */
export function hasDirectoryWorkspaces(db: Database): boolean {
  return db.get('SELECT 1 FROM workspace LIMIT 1') !== undefined;
}

/** Includes workspaces being created. */
export function isOnlyWorkspace(db: Database): boolean {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM (SELECT 1 FROM workspace LIMIT 2)')?.count === 1;
}

/** An operator's code that was used to create a workspace. */
export interface RegistrationCode {
  readonly id: string;
  readonly workspaceId: string;
  readonly usedAt: string;
}

export function findRegistrationCode(db: Database, id: string): RegistrationCode | undefined {
  return db.get<RegistrationCode>('SELECT * FROM registrationCode WHERE id = ?', [id]);
}

export function insertRegistrationCode(db: Database, code: RegistrationCode): void {
  db.run('INSERT INTO registrationCode (id, workspaceId, usedAt) VALUES (@id, @workspaceId, @usedAt)', { ...code });
}

export function subdomainTaken(db: Database, subdomain: string): boolean {
  return db.get('SELECT 1 FROM workspace WHERE subdomain = ?', [subdomain]) !== undefined;
}

export function findDirectoryEmail(db: Database, email: string): DirectoryEmail | undefined {
  return db.get<DirectoryEmail>('SELECT * FROM agentEmail WHERE email = ?', [email]);
}

export function insertDirectoryEmail(db: Database, row: DirectoryEmail): void {
  db.run(
    'INSERT INTO agentEmail (email, workspaceId, agentId, reservedAt) VALUES (@email, @workspaceId, @agentId, @reservedAt)',
    { ...row },
  );
}

/** An agent of one workspace: rows are never changed by the agent id only, which any caller may send. */
export type DirectoryAgent = Pick<DirectoryEmail, 'agentId' | 'workspaceId'>;

/** Confirms the address and deletes the agent's other ones. */
export function confirmDirectoryEmail(
  db: Database,
  { email, agentId, workspaceId }: DirectoryAgent & { email: string },
): void {
  db.run('DELETE FROM agentEmail WHERE agentId = ? AND workspaceId = ? AND email <> ?', [agentId, workspaceId, email]);
  db.run('UPDATE agentEmail SET reservedAt = NULL WHERE email = ? AND agentId = ? AND workspaceId = ?', [
    email,
    agentId,
    workspaceId,
  ]);
}

/** Marks the agent's sign-in as about to change. */
export function reserveDirectoryEmails(db: Database, { agentId, workspaceId }: DirectoryAgent, at: string): void {
  db.run('UPDATE agentEmail SET reservedAt = ? WHERE agentId = ? AND workspaceId = ?', [at, agentId, workspaceId]);
}

/** Whether it is this change of the agent's sign-in that is reserved. */
export function isEmailReservedAt(db: Database, { agentId, workspaceId }: DirectoryAgent, at: string): boolean {
  return (
    db.get('SELECT 1 FROM agentEmail WHERE agentId = ? AND workspaceId = ? AND reservedAt = ?', [
      agentId,
      workspaceId,
      at,
    ]) !== undefined
  );
}

export function deleteDirectoryEmails(db: Database, { agentId, workspaceId }: DirectoryAgent): void {
  db.run('DELETE FROM agentEmail WHERE agentId = ? AND workspaceId = ?', [agentId, workspaceId]);
}

export function directoryWorkspaces(db: Database): DirectoryWorkspace[] {
  return db.all<DirectoryWorkspace>('SELECT * FROM workspace ORDER BY id');
}

export function findDirectoryWorkspaceBySubdomain(db: Database, subdomain: string): DirectoryWorkspace | undefined {
  return db.get<DirectoryWorkspace>('SELECT * FROM workspace WHERE subdomain = ?', [subdomain]);
}

/** Deletes reservations, in a copy where no process will settle them. */
export function deleteReservations(db: Database): void {
  db.run('DELETE FROM registrationCode WHERE workspaceId IN (SELECT id FROM workspace WHERE reservedAt IS NOT NULL)');
  db.run('DELETE FROM workspace WHERE reservedAt IS NOT NULL');
  db.run('DELETE FROM agentEmail WHERE reservedAt IS NOT NULL');
  db.run('DELETE FROM phoneNumber WHERE reservedAt IS NOT NULL');
}

type Reserved<Row> = Row & { readonly reservedAt: string };

export function reservedWorkspaces(db: Database): Reserved<DirectoryWorkspace>[] {
  return db.all<Reserved<DirectoryWorkspace>>('SELECT * FROM workspace WHERE reservedAt IS NOT NULL');
}

export function reservedEmails(db: Database): Reserved<DirectoryEmail>[] {
  return db.all<Reserved<DirectoryEmail>>('SELECT * FROM agentEmail WHERE reservedAt IS NOT NULL');
}

export function findWorkspaceIdBySubdomain(db: Database, subdomain: string): string | undefined {
  return db.get<{ id: string }>('SELECT id FROM workspace WHERE subdomain = ? AND reservedAt IS NULL', [subdomain])?.id;
}

export interface DirectoryDomain {
  readonly name: string;
  readonly workspaceId: string;
}

export function findDirectoryDomain(db: Database, name: string): DirectoryDomain | undefined {
  return db.get<DirectoryDomain>('SELECT name, workspaceId FROM emailDomain WHERE name = ?', [name]);
}

export function directoryDomainsOf(db: Database, workspaceId: string): DirectoryDomain[] {
  return db.all<DirectoryDomain>('SELECT name, workspaceId FROM emailDomain WHERE workspaceId = ?', [workspaceId]);
}

export function insertDirectoryDomain(db: Database, domain: DirectoryDomain): void {
  db.run('INSERT INTO emailDomain (name, workspaceId) VALUES (@name, @workspaceId)', { ...domain });
}

export function deleteDirectoryDomain(db: Database, domain: DirectoryDomain): void {
  db.run('DELETE FROM emailDomain WHERE name = @name AND workspaceId = @workspaceId', { ...domain });
}

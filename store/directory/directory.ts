// What the whole service must agree on, in directory.db: which workspaces there are, and to which one the address leads
// that an agent signs in with. Rows are written before the workspace's own file and confirmed after it; `reservedAt`
// tells those not confirmed yet.

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

/** Of a workspace that did not come to be. The code that was to make it can be used again. */
export function deleteDirectoryWorkspace(db: Database, workspaceId: string): void {
  db.run('DELETE FROM registrationCode WHERE workspaceId = ?', [workspaceId]);
  db.run('DELETE FROM workspace WHERE id = ?', [workspaceId]);
}

/** One that is about to be made counts. */
export function hasDirectoryWorkspaces(db: Database): boolean {
  return db.get('SELECT 1 FROM workspace LIMIT 1') !== undefined;
}

/** A code of the operator that was used to make a workspace. */
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

/** An agent of one workspace: rows are never changed by its id alone, which anybody may name. */
type DirectoryAgent = Pick<DirectoryEmail, 'agentId' | 'workspaceId'>;

/** Confirms the address and forgets every other one of that agent. */
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

/** Says that what the agent signs in with is about to change. */
export function reserveDirectoryEmails(db: Database, { agentId, workspaceId }: DirectoryAgent, at: string): void {
  db.run('UPDATE agentEmail SET reservedAt = ? WHERE agentId = ? AND workspaceId = ?', [at, agentId, workspaceId]);
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

/** Forgets what is on its way, in a copy that nobody brings it to the end of. */
export function deleteReservations(db: Database): void {
  db.run('DELETE FROM registrationCode WHERE workspaceId IN (SELECT id FROM workspace WHERE reservedAt IS NOT NULL)');
  db.run('DELETE FROM workspace WHERE reservedAt IS NOT NULL');
  db.run('DELETE FROM agentEmail WHERE reservedAt IS NOT NULL');
  db.run('DELETE FROM phoneNumber WHERE reservedAt IS NOT NULL');
}

export function reservedWorkspaces(db: Database): DirectoryWorkspace[] {
  return db.all<DirectoryWorkspace>('SELECT * FROM workspace WHERE reservedAt IS NOT NULL');
}

export function reservedEmails(db: Database): DirectoryEmail[] {
  return db.all<DirectoryEmail>('SELECT * FROM agentEmail WHERE reservedAt IS NOT NULL');
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

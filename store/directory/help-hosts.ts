// Hosts that show a workspace's help centre.

import type { Database } from '../database.ts';

export interface HelpHost {
  readonly host: string;
  readonly subdomain: string;
}

export interface HelpHostClaim {
  readonly workspaceId: string;
  readonly host: string;
}

export function helpHosts(db: Database): HelpHost[] {
  return db.all<HelpHost>(
    'SELECT host, subdomain FROM helpHost JOIN workspace ON workspace.id = helpHost.workspaceId ORDER BY host',
  );
}

export function helpHostOf(db: Database, workspaceId: string): string | undefined {
  return db.get<{ host: string }>('SELECT host FROM helpHost WHERE workspaceId = ?', [workspaceId])?.host;
}

/** Takes it from whichever workspace had it, which is returned. */
export function putHelpHost(db: Database, { workspaceId, host }: HelpHostClaim): string | undefined {
  const former = db.get<{ workspaceId: string }>('SELECT workspaceId FROM helpHost WHERE host = ?', [host]);
  db.run('DELETE FROM helpHost WHERE workspaceId = ? OR host = ?', [workspaceId, host]);
  db.run('INSERT INTO helpHost (host, workspaceId) VALUES (?, ?)', [host, workspaceId]);
  return former?.workspaceId;
}

export function deleteHelpHost(db: Database, { workspaceId, host }: HelpHostClaim): void {
  db.run('DELETE FROM helpHost WHERE workspaceId = ? AND host = ?', [workspaceId, host]);
}

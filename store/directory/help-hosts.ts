// Hosts that show a workspace's help centre.

import type { Database } from '../database.ts';

export interface HelpHost {
  readonly host: string;
  readonly subdomain: string;
}

export function helpHosts(db: Database): HelpHost[] {
  return db.all<HelpHost>(
    'SELECT host, subdomain FROM helpHost JOIN workspace ON workspace.id = helpHost.workspaceId ORDER BY host',
  );
}

/** Takes it from whichever workspace had it. Null: the workspace has none any more. */
export function putHelpHost(db: Database, { workspaceId, host }: { workspaceId: string; host: string | null }): void {
  db.run('DELETE FROM helpHost WHERE workspaceId = ? OR host = ?', [workspaceId, host]);
  if (host !== null) db.run('INSERT INTO helpHost (host, workspaceId) VALUES (?, ?)', [host, workspaceId]);
}

// The parts of a workspace that directory.db must list too, by kind: its row, its agents' sign-in addresses, its
// domain, its phone numbers. Used to verify that both sides agree, to reserve them for a restored workspace and to
// release those of an erased one. Anything else that becomes unique across workspaces is added here.

import type { Database } from '../database.ts';

/** An item of a workspace that both files list. Two of one kind with the same text are equal. */
export interface Place {
  /** The part that must be unique. */
  readonly name: string;
  /** Everything that both files record of it. */
  readonly text: string;
  /** Its owner, such as the agent of an address. */
  readonly ownerId: string;
}

export interface PlaceKind {
  readonly title: string;
  /** From the workspace's own file, which is authoritative. */
  ofWorkspace(db: Database): Place[];
  /** From directory.db, without reservations. */
  ofDirectory(directory: Database, workspaceId: string): Place[];
  /**
   * Items whose change in both files is, or was when the process died, under way: one of the files may have it already.
   */
  onTheirWay(directory: Database, workspaceId: string): string[];
  /** True if another workspace or a reservation has this name. */
  isTaken(directory: Database, workspaceId: string, name: string): boolean;
  /** Writes everything of its kind from the workspace's file. */
  take(directory: Database, db: Database, workspaceId: string): void;
  giveUp(directory: Database, workspaceId: string): void;
}

/** An invitation that was not accepted reserves no address. */
const signsIn = 'joinedAt IS NOT NULL AND deactivatedAt IS NULL';

export const placeKinds: readonly PlaceKind[] = [
  {
    title: 'subdomain',
    ofWorkspace: (db) => db.all<Place>('SELECT subdomain AS name, subdomain AS text, id AS ownerId FROM workspace'),
    ofDirectory: (directory, workspaceId) =>
      directory.all<Place>(
        'SELECT subdomain AS name, subdomain AS text, id AS ownerId FROM workspace WHERE id = ? AND reservedAt IS NULL',
        [workspaceId],
      ),
    onTheirWay: (directory, workspaceId) =>
      ownersIn(directory, 'SELECT id AS ownerId FROM workspace WHERE id = ? AND reservedAt IS NOT NULL', workspaceId),
    isTaken: (directory, workspaceId, name) =>
      directory.get('SELECT 1 FROM workspace WHERE subdomain = ? AND id <> ?', [name, workspaceId]) !== undefined,
    take(directory, db) {
      for (const row of db.all<{ id: string; name: string; subdomain: string; createdAt: string }>(
        'SELECT id, name, subdomain, createdAt FROM workspace',
      )) {
        directory.run(
          'INSERT INTO workspace (id, name, subdomain, reservedAt, createdAt) VALUES (@id, @name, @subdomain, NULL, @createdAt)',
          { ...row },
        );
      }
    },
    giveUp: (directory, workspaceId) => void directory.run('DELETE FROM workspace WHERE id = ?', [workspaceId]),
  },
  {
    title: 'email of an agent',
    ofWorkspace: (db) =>
      db.all<Place>(
        `SELECT email AS name, lower(email) || ' of ' || id AS text, id AS ownerId FROM agent WHERE ${signsIn}`,
      ),
    ofDirectory: (directory, workspaceId) =>
      directory.all<Place>(
        `SELECT email AS name, lower(email) || ' of ' || agentId AS text, agentId AS ownerId FROM agentEmail WHERE workspaceId = ? AND reservedAt IS NULL`,
        [workspaceId],
      ),
    onTheirWay: (directory, workspaceId) =>
      ownersIn(
        directory,
        'SELECT agentId AS ownerId FROM agentEmail WHERE workspaceId = ? AND reservedAt IS NOT NULL',
        workspaceId,
      ),
    isTaken: (directory, workspaceId, name) =>
      directory.get('SELECT 1 FROM agentEmail WHERE email = ? AND workspaceId <> ?', [name, workspaceId]) !== undefined,
    take(directory, db, workspaceId) {
      for (const { email, id } of db.all<{ email: string; id: string }>(
        `SELECT email, id FROM agent WHERE ${signsIn}`,
      )) {
        directory.run('INSERT INTO agentEmail (email, workspaceId, agentId, reservedAt) VALUES (?, ?, ?, NULL)', [
          email,
          workspaceId,
          id,
        ]);
      }
    },
    giveUp: (directory, workspaceId) =>
      void directory.run('DELETE FROM agentEmail WHERE workspaceId = ?', [workspaceId]),
  },
  {
    title: 'verified domain',
    ofWorkspace: (db) =>
      db.all<Place>(
        `SELECT name, lower(name) AS text, lower(name) AS ownerId FROM emailDomain WHERE status = 'verified'`,
      ),
    ofDirectory: (directory, workspaceId) =>
      directory.all<Place>(
        'SELECT name, lower(name) AS text, lower(name) AS ownerId FROM emailDomain WHERE workspaceId = ?',
        [workspaceId],
      ),
    // Claimed before the workspace's file has it verified and released after it no longer has it, at the latest by the
    // next start.
    onTheirWay: (directory, workspaceId) =>
      ownersIn(directory, 'SELECT lower(name) AS ownerId FROM emailDomain WHERE workspaceId = ?', workspaceId),
    isTaken: (directory, workspaceId, name) =>
      directory.get('SELECT 1 FROM emailDomain WHERE name = ? AND workspaceId <> ?', [name, workspaceId]) !== undefined,
    take(directory, db, workspaceId) {
      for (const { name } of db.all<{ name: string }>(`SELECT name FROM emailDomain WHERE status = 'verified'`))
        directory.run('INSERT INTO emailDomain (name, workspaceId) VALUES (?, ?)', [name, workspaceId]);
    },
    giveUp: (directory, workspaceId) =>
      void directory.run('DELETE FROM emailDomain WHERE workspaceId = ?', [workspaceId]),
  },
  {
    title: 'host of a help centre',
    ofWorkspace: (db) =>
      db.all<Place>(
        `SELECT settings ->> 'helpHost' AS name, settings ->> 'helpHost' AS text, settings ->> 'helpHost' AS ownerId FROM workspace WHERE settings ->> 'helpHost' IS NOT NULL`,
      ),
    ofDirectory: (directory, workspaceId) =>
      directory.all<Place>('SELECT host AS name, host AS text, host AS ownerId FROM helpHost WHERE workspaceId = ?', [
        workspaceId,
      ]),
    // The directory has a new one first. One that another workspace took stays in the settings of the former.
    onTheirWay: (directory) => directory.all<{ host: string }>('SELECT host FROM helpHost').map(({ host }) => host),
    // It went to whom its DNS named later.
    isTaken: () => false,
    take(directory, db, workspaceId) {
      for (const { host } of db.all<{ host: string }>(
        `SELECT settings ->> 'helpHost' AS host FROM workspace WHERE settings ->> 'helpHost' IS NOT NULL`,
      ))
        directory.run('INSERT OR IGNORE INTO helpHost (host, workspaceId) VALUES (?, ?)', [host, workspaceId]);
    },
    giveUp: (directory, workspaceId) => void directory.run('DELETE FROM helpHost WHERE workspaceId = ?', [workspaceId]),
  },
  {
    title: 'phone number',
    ofWorkspace: (db) =>
      db.all<Place>(`SELECT e164 AS name, e164 || ' ' || id || ' ' || status AS text, id AS ownerId FROM phoneNumber`),
    ofDirectory: (directory, workspaceId) =>
      directory.all<Place>(
        `SELECT e164 AS name, e164 || ' ' || numberId || iif(releasedAt IS NULL, ' active', ' released') AS text, numberId AS ownerId FROM phoneNumber WHERE workspaceId = ? AND reservedAt IS NULL`,
        [workspaceId],
      ),
    onTheirWay: (directory, workspaceId) =>
      ownersIn(
        directory,
        'SELECT numberId AS ownerId FROM phoneNumber WHERE workspaceId = ? AND reservedAt IS NOT NULL',
        workspaceId,
      ),
    isTaken: (directory, workspaceId, name) =>
      directory.get('SELECT 1 FROM phoneNumber WHERE e164 = ? AND workspaceId <> ? AND releasedAt IS NULL', [
        name,
        workspaceId,
      ]) !== undefined,
    take(directory, db, workspaceId) {
      for (const { id, e164, releasedAt } of db.all<{ id: string; e164: string; releasedAt: string | null }>(
        'SELECT id, e164, releasedAt FROM phoneNumber',
      )) {
        directory.run(
          'INSERT INTO phoneNumber (numberId, e164, workspaceId, reservedAt, releasedAt) VALUES (?, ?, ?, NULL, ?)',
          [id, e164, workspaceId, releasedAt],
        );
      }
    },
    giveUp: (directory, workspaceId) =>
      void directory.run('DELETE FROM phoneNumber WHERE workspaceId = ?', [workspaceId]),
  },
];

function ownersIn(directory: Database, sql: string, workspaceId: string): string[] {
  return directory.all<{ ownerId: string }>(sql, [workspaceId]).map(({ ownerId }) => ownerId);
}

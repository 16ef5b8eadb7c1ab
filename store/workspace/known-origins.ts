// Known sign-in origins: browsers by the hash of their value, networks by their prefix.

import type { Database } from '../database.ts';

export interface KnownOrigin {
  readonly kind: 'browser' | 'network';
  readonly value: string;
}

/** When the agent was last there; undefined if never, or deleted. */
export function findKnownOrigin(
  db: Database,
  agentId: string,
  { kind, value }: KnownOrigin,
): { lastSeenAt: string } | undefined {
  return db.get('SELECT lastSeenAt FROM knownOrigin WHERE agentId = ? AND kind = ? AND value = ?', [
    agentId,
    kind,
    value,
  ]);
}

export function hasKnownOrigins(db: Database, agentId: string): boolean {
  return db.get('SELECT 1 FROM knownOrigin WHERE agentId = ? LIMIT 1', [agentId]) !== undefined;
}

/** Keeps the `keep` most recently seen of each kind. */
export function putKnownOrigin(
  db: Database,
  agentId: string,
  seen: KnownOrigin & { readonly at: string; readonly keep: number },
): void {
  const { kind, value, at, keep } = seen;
  db.run(
    'INSERT INTO knownOrigin (agentId, kind, value, lastSeenAt) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET lastSeenAt = excluded.lastSeenAt',
    [agentId, kind, value, at],
  );
  db.run(
    `DELETE FROM knownOrigin WHERE agentId = @agentId AND kind = @kind
       AND value NOT IN (SELECT value FROM knownOrigin WHERE agentId = @agentId AND kind = @kind ORDER BY lastSeenAt DESC, value = @value DESC LIMIT @keep)`,
    { agentId, kind, value, keep },
  );
}

export function deleteKnownOriginsOf(db: Database, agentId: string): void {
  db.run('DELETE FROM knownOrigin WHERE agentId = ?', [agentId]);
}

/** Returns the number deleted. */
export function deleteKnownOriginsBefore(db: Database, at: string, limit: number): number {
  return db.run(
    'DELETE FROM knownOrigin WHERE (agentId, kind, value) IN (SELECT agentId, kind, value FROM knownOrigin WHERE lastSeenAt < ? LIMIT ?)',
    [at, limit],
  );
}

// Sessions of agents, named by their tokens.

import type { Database } from '../database.ts';

export interface AgentSessionRecord {
  readonly id: string;
  readonly agentId: string;
  /** Where and with what it was last used. */
  readonly address: string;
  readonly userAgent: string | null;
  /** Hash of the browser's value; null if the client keeps nothing. */
  readonly browserHash: string | null;
  readonly createdAt: string;
  readonly lastUsedAt: string;
  /** When its user last confirmed to be the agent. */
  readonly confirmedAt: string;
  readonly expiresAt: string;
}

/** Includes expired ones until they are deleted. */
export function agentSessionsOf(db: Database, agentId: string): AgentSessionRecord[] {
  return db.all<AgentSessionRecord>('SELECT * FROM agentSession WHERE agentId = ?', [agentId]);
}

export function insertAgentSession(db: Database, session: AgentSessionRecord): void {
  db.run(
    `INSERT INTO agentSession (id, agentId, address, userAgent, browserHash, createdAt, lastUsedAt, confirmedAt, expiresAt)
     VALUES (@id, @agentId, @address, @userAgent, @browserHash, @createdAt, @lastUsedAt, @confirmedAt, @expiresAt)`,
    { ...session },
  );
}

/** Writes every field except `id`, `agentId`, `browserHash` and `createdAt`. */
export function updateAgentSession(db: Database, session: AgentSessionRecord): void {
  const { agentId: _, browserHash: __, createdAt: ___, ...rest } = session;
  db.run(
    'UPDATE agentSession SET address = @address, userAgent = @userAgent, lastUsedAt = @lastUsedAt, confirmedAt = @confirmedAt, expiresAt = @expiresAt WHERE id = @id',
    rest,
  );
}

export function deleteAgentSession(db: Database, sessionId: string): void {
  db.run('DELETE FROM agentSession WHERE id = ?', [sessionId]);
}

/** Returns the number deleted. */
export function deleteExpiredAgentSessions(db: Database, at: string, limit: number): number {
  return db.run('DELETE FROM agentSession WHERE id IN (SELECT id FROM agentSession WHERE expiresAt < ? LIMIT ?)', [
    at,
    limit,
  ]);
}

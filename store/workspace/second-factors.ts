// Authenticator apps of agents, each with a sealed secret, and their recovery codes, by hash: a used one is deleted.

import type { Database } from '../database.ts';

export interface AgentTotpRecord {
  readonly agentId: string;
  readonly sealedSecret: string;
  /** The newest time step used. */
  readonly lastStep: number | null;
  /** When its first code was given; until then it does not count. */
  readonly confirmedAt: string | null;
  readonly createdAt: string;
}

export function findAgentTotp(db: Database, agentId: string): AgentTotpRecord | undefined {
  return db.get<AgentTotpRecord>('SELECT * FROM agentTotp WHERE agentId = ?', [agentId]);
}

export function putAgentTotp(db: Database, totp: AgentTotpRecord): void {
  db.run(
    `INSERT INTO agentTotp (agentId, sealedSecret, lastStep, confirmedAt, createdAt) VALUES (@agentId, @sealedSecret, @lastStep, @confirmedAt, @createdAt)
     ON CONFLICT DO UPDATE SET sealedSecret = excluded.sealedSecret, lastStep = excluded.lastStep, confirmedAt = excluded.confirmedAt, createdAt = excluded.createdAt`,
    { ...totp },
  );
}

export function deleteAgentTotp(db: Database, agentId: string): void {
  db.run('DELETE FROM agentTotp WHERE agentId = ?', [agentId]);
}

export function countRecoveryCodes(db: Database, agentId: string): number {
  return (
    db.get<{ count: number }>('SELECT count(*) AS count FROM recoveryCode WHERE agentId = ?', [agentId])?.count ?? 0
  );
}

export function insertRecoveryCode(db: Database, code: { hash: string; agentId: string; createdAt: string }): void {
  db.run('INSERT INTO recoveryCode (hash, agentId, createdAt) VALUES (@hash, @agentId, @createdAt)', code);
}

/** False if it does not exist, or was used already. */
export function deleteRecoveryCode(db: Database, code: { hash: string; agentId: string }): boolean {
  return db.run('DELETE FROM recoveryCode WHERE hash = @hash AND agentId = @agentId', code) === 1;
}

export function deleteRecoveryCodesOf(db: Database, agentId: string): void {
  db.run('DELETE FROM recoveryCode WHERE agentId = ?', [agentId]);
}

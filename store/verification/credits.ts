// A workspace's credit for one-time codes: at most one row.

import type { Database } from '../database.ts';

export interface VerifyCreditsRecord {
  /** Null: unmetered. */
  readonly balanceCents: number | null;
  readonly spendCapCents: number | null;
  readonly spentCents: number;
  /** The month of spentCents: YYYY-MM, UTC. */
  readonly spentMonth: string;
}

export function findVerifyCredits(db: Database): VerifyCreditsRecord | undefined {
  return db.get<VerifyCreditsRecord>('SELECT balanceCents, spendCapCents, spentCents, spentMonth FROM verifyCredits');
}

export function putVerifyCredits(db: Database, credits: VerifyCreditsRecord): void {
  db.run(
    `INSERT INTO verifyCredits (id, balanceCents, spendCapCents, spentCents, spentMonth) VALUES (1, @balanceCents, @spendCapCents, @spentCents, @spentMonth)
     ON CONFLICT DO UPDATE SET balanceCents = excluded.balanceCents, spendCapCents = excluded.spendCapCents, spentCents = excluded.spentCents, spentMonth = excluded.spentMonth`,
    { ...credits },
  );
}

// How often something was done in a time that is not over: one row for each thing that is counted, in a workspace's
// file or in directory.db. What is counted by an address or a network is counted by its hash, so that no row says whose
// it is.

import type { Database } from '../database.ts';

export interface Tally {
  readonly kind: string;
  /** Whose; empty for the file's own. */
  readonly subject: string;
}

/** How often in the time that goes on at `at`, and when that ends; undefined when none does. */
export function findTally(
  db: Database,
  { kind, subject }: Tally,
  at: string,
): { count: number; endsAt: string } | undefined {
  return db.get<{ count: number; endsAt: string }>(
    'SELECT count, endsAt FROM tally WHERE kind = ? AND subject = ? AND endsAt > ?',
    [kind, subject, at],
  );
}

/** Counts one more. Where no time goes on, one begins, until `endsAt`. */
export function addToTally(db: Database, { kind, subject }: Tally, time: { at: string; endsAt: string }): void {
  db.run(
    `INSERT INTO tally (kind, subject, endsAt, count) VALUES (@kind, @subject, @endsAt, 1)
     ON CONFLICT (kind, subject) DO UPDATE SET count = iif(endsAt > @at, count + 1, 1), endsAt = iif(endsAt > @at, endsAt, @endsAt)`,
    { kind, subject, ...time },
  );
}

/** Forgets those whose time is over. Returns how many that were. */
export function deleteTalliesBefore(db: Database, at: string, limit: number): number {
  return db.run(
    'DELETE FROM tally WHERE (kind, subject) IN (SELECT kind, subject FROM tally WHERE endsAt <= ? LIMIT ?)',
    [at, limit],
  );
}

// Counters of a current time window: one row per subject, in a workspace's file or in directory.db. Addresses and
// networks are counted by their hash, so that no row identifies them.

import type { Database } from '../database.ts';

export interface Tally {
  readonly kind: string;
  /** What is counted by; empty for the file's own. */
  readonly subject: string;
}

/** The count in the window that contains `at`, and its end; undefined if there is none. */
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

/** Counts one more. Starts a window until `endsAt` if there is none. */
export function addToTally(db: Database, { kind, subject }: Tally, time: { at: string; endsAt: string }): void {
  db.run(
    `INSERT INTO tally (kind, subject, endsAt, count) VALUES (@kind, @subject, @endsAt, 1)
     ON CONFLICT (kind, subject) DO UPDATE SET count = iif(endsAt > @at, count + 1, 1), endsAt = iif(endsAt > @at, endsAt, @endsAt)`,
    { kind, subject, ...time },
  );
}

/** Deletes windows that have ended. Returns their number. */
export function deleteTalliesBefore(db: Database, at: string, limit: number): number {
  return db.run(
    'DELETE FROM tally WHERE (kind, subject) IN (SELECT kind, subject FROM tally WHERE endsAt <= ? LIMIT ?)',
    [at, limit],
  );
}

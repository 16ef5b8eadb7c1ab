// Mails to addresses that someone only claimed, of all workspaces, for as long as they count against the limits.

import type { Database } from '../database.ts';

export interface ClaimedMail {
  /** A hash of the address. */
  readonly address: string;
  readonly mailId: string;
  readonly at: string;
}

/** The mail counts once, however often it is attempted. */
export function insertClaimedMail(db: Database, mail: ClaimedMail): void {
  db.run('INSERT INTO claimedMail (address, mailId, at) VALUES (@address, @mailId, @at) ON CONFLICT DO NOTHING', {
    ...mail,
  });
}

export function isClaimedMailCounted(db: Database, mail: Pick<ClaimedMail, 'address' | 'mailId'>): boolean {
  return (
    db.get('SELECT 1 FROM claimedMail WHERE address = ? AND mailId = ?', [mail.address, mail.mailId]) !== undefined
  );
}

/** The times of the newest ones after `after`, newest first. */
export function claimedMailTimes(db: Database, of: { address: string; after: string; limit: number }): string[] {
  return db
    .all<{ at: string }>('SELECT at FROM claimedMail WHERE address = ? AND at > ? ORDER BY at DESC LIMIT ?', [
      of.address,
      of.after,
      of.limit,
    ])
    .map(({ at }) => at);
}

/** Removes some of those that no longer count. */
export function deleteClaimedMails(db: Database, { until, limit }: { until: string; limit: number }): void {
  db.run(
    'DELETE FROM claimedMail WHERE (address, mailId) IN (SELECT address, mailId FROM claimedMail WHERE at <= ? LIMIT ?)',
    [until, limit],
  );
}

// How long a site's customers usually wait for the first answer in a chat. Measured on the reader thread.

import type { Database } from '../database.ts';

/** Fewer say little about the next one. */
const fewest = 10;
/** The newest; more would not change the median by much. */
const most = 10_000;

/** Whether there may be enough of them: a cheap answer for what has hardly begun. */
export function mayHaveReplyTime(db: Database, { from }: { from: string }): boolean {
  return db.get('SELECT 1 FROM conversation WHERE createdAt >= ? LIMIT 1 OFFSET ?', [from, fewest - 1]) !== undefined;
}

/**
 * The median over the site's answered chats that began at or after `from`, in whole seconds; null for fewer than ten.
 * Spam does not count, as in reports.
 */
export function replyTimeSeconds(db: Database, { siteId, from }: { siteId: string; from: string }): number | null {
  const waits = db
    .all<{ createdAt: string; firstResponseAt: string }>(
      `SELECT createdAt, firstResponseAt FROM conversation
       WHERE createdAt >= @from AND channel = 'chat' AND siteId = @siteId AND status <> 'spam' AND firstResponseAt > createdAt
       ORDER BY createdAt DESC LIMIT @most`,
      { siteId, from, most },
    )
    .map(({ createdAt, firstResponseAt }) => Date.parse(firstResponseAt) - Date.parse(createdAt))
    .sort((a, b) => a - b);
  if (waits.length < fewest) return null;
  const middle = waits.slice(Math.ceil(waits.length / 2) - 1, Math.floor(waits.length / 2) + 1);
  return Math.round(middle.reduce((sum, ms) => sum + ms, 0) / middle.length / 1000);
}

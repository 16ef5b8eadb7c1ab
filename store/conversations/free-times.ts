// Times that no message of a conversation has. They are unique within it, so one that comes from elsewhere may have to
// step aside.

import type { Database } from '../database.ts';

/** A longer run of taken milliseconds is passed as a whole, so that a message costs the same wherever it goes. */
const maxSteps = 100;
/** Behind the newest of the shortest of them that has room: whoever counts in seconds keeps the order of seconds. */
const windowsMs = [1000, 60_000, 3_600_000];
const afterAll = '9999';

/**
 * The first free time from `at` on. Where many follow one another without a gap: one behind the newest of the next
 * second, minute or hour, or of all. Reads at most some hundred rows.
 */
export function freeTimeFrom(db: Database, conversationId: string, at: string): string {
  const fromMs = Date.parse(at);
  const near = db.all<{ createdAt: string }>(
    'SELECT createdAt FROM message WHERE conversationId = ? AND createdAt >= ? AND createdAt < ? ORDER BY createdAt',
    [conversationId, at, timeOf(fromMs + maxSteps)],
  );
  const gap = near.findIndex(({ createdAt }, step) => createdAt !== timeOf(fromMs + step));
  if (gap !== -1) return timeOf(fromMs + gap);
  if (near.length < maxSteps) return timeOf(fromMs + near.length);
  for (const windowMs of windowsMs) {
    const behind = behindNewest(db, conversationId, timeOf(fromMs + windowMs));
    if (behind < fromMs + windowMs) return timeOf(behind);
  }
  return timeOf(behindNewest(db, conversationId, afterAll));
}

function behindNewest(db: Database, conversationId: string, before: string): number {
  const newest = db.get<{ createdAt: string }>(
    'SELECT createdAt FROM message WHERE conversationId = ? AND createdAt < ? ORDER BY createdAt DESC LIMIT 1',
    [conversationId, before],
  );
  if (newest === undefined) throw new Error('a run of messages has a newest one');
  return Date.parse(newest.createdAt) + 1;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

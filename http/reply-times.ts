// The usual time until the first answer, by site: measured on the reader thread and kept for a minute, so that a widget
// on every page of a shop costs one measurement a minute. Decisions "Availability".

import { type Clock, isoTime } from '../engine/runtime/clock.ts';
import type { Engine } from '../engine/runtime/engine.ts';
import { mayHaveReplyTime } from '../store/reports/reply-time.ts';
import type { Reader } from '../workers/reader/reader.ts';

export interface ReplyTimes {
  /**
   * In seconds; null if there are too few chats, or while it cannot be measured soon enough: a visit does not wait for
   * a long report.
   */
  of(workspaceId: string, siteId: string): Promise<number | null>;
}

const keptMs = 60_000;
const windowMs = 7 * 24 * 3600_000;
const patienceMs = 500;
/** Beyond this the oldest is measured again. */
const maxKept = 10_000;

interface Measured {
  readonly atMs: number;
  readonly seconds: Promise<number | null>;
}

export function createReplyTimes({
  engine,
  clock,
  reader,
}: {
  engine: Engine;
  clock: Clock;
  reader: Reader;
}): ReplyTimes {
  const kept = new Map<string, Measured>();
  const measure = (key: string, workspaceId: string, siteId: string): Promise<number | null> => {
    const nowMs = clock.now();
    const from = isoTime(nowMs - windowMs);
    const db = engine.workspace(workspaceId)?.db;
    const seconds =
      db === undefined || !mayHaveReplyTime(db, { from })
        ? Promise.resolve(null)
        : reader.replyTime(workspaceId, { siteId, from }).catch(() => {
            // Busy, or the file cannot be read: the next visit tries again.
            kept.delete(key);
            return null;
          });
    kept.delete(key);
    for (const oldest of kept.size < maxKept ? [] : [...kept.keys()].slice(0, 1)) kept.delete(oldest);
    kept.set(key, { atMs: nowMs, seconds });
    return seconds;
  };
  return {
    async of(workspaceId, siteId) {
      const key = `${workspaceId} ${siteId}`;
      const known = kept.get(key);
      const ageMs = clock.now() - (known?.atMs ?? 0);
      const seconds =
        known === undefined || ageMs >= keptMs || ageMs < 0 ? measure(key, workspaceId, siteId) : known.seconds;
      const { promise: enough, resolve } = Promise.withResolvers<null>();
      const timer = clock.after(patienceMs, () => resolve(null));
      try {
        return await Promise.race([seconds, enough]);
      } finally {
        timer.cancel();
      }
    },
  };
}

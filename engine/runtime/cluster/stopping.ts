// How long a node that stops goes on handing over what it serves: as long as that moves on, since what is left over at
// the end is taken by the others only once they notice that the node is gone.

import type { Clock } from '../clock.ts';
import type { Ownerships } from './ownership.ts';

/**
 * Without a hand-over for this long, there is something that more time does not mend. Requests that act outside have this
 * long from the start of the stop, and then as long as others are still handed over.
 */
const standstillMs = 5000;
/** For a thousand workspaces on a slow machine. What ends the process must allow for it. */
export const handOverWithinMs = 60_000;
const lookEveryMs = 50;

/** Resolves when everything is handed over, or no more can be within the time of a stop. */
export async function handOverAll(ownerships: Ownerships, clock: Clock): Promise<void> {
  const begunMs = clock.now();
  let least = ownerships.left.all;
  let movedMs = begunMs;
  let isDrained = false;
  void ownerships.drain().then(() => (isDrained = true));
  while (!isDrained) {
    const { all, waiting } = ownerships.left;
    const nowMs = clock.now();
    if (all < least) [least, movedMs] = [all, nowMs];
    const sinceMs = waiting === all ? begunMs : movedMs;
    if (nowMs - sinceMs >= standstillMs || nowMs - begunMs >= handOverWithinMs) return;
    await new Promise<void>((resolve) => void clock.after(lookEveryMs, resolve));
  }
}

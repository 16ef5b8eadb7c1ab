// The service's time. Nothing else in engine/ reads a clock or sets a timer, so a test can control both.

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since the epoch. Never less than an earlier result. */
  now(): number;
  /** Calls back once after `delayMs`, whatever the wall clock does meanwhile. */
  after(delayMs: number, call: () => void): Timer;
}

/**
 * The longest single wait, so that the service notices within a minute when the machine slept or its clock was set
 * forward.
 */
export const longestWaitMs = 60_000;

/**
 * The wall clock, made steady: a step forward is followed, a step back is ignored (time goes on from where it was), so
 * a deadline is never delayed and two messages never change their order.
 */
export function systemClock(wall: () => number = Date.now, elapsed: () => number = () => performance.now()): Clock {
  let lastNow = wall();
  let lastElapsed = elapsed();
  return {
    now() {
      const nowElapsed = elapsed();
      lastNow = Math.max(wall(), lastNow + Math.floor(nowElapsed - lastElapsed));
      // Consumes whole milliseconds only, so that frequent calls do not lose the fractions.
      lastElapsed += Math.floor(nowElapsed - lastElapsed);
      return lastNow;
    },
    after(delayMs, call) {
      const timer = setTimeout(call, Math.max(0, delayMs));
      timer.unref();
      return { cancel: () => clearTimeout(timer) };
    },
  };
}

let lastSecond = Number.NaN;
let lastPrefix = '';

/** ISO 8601 UTC with milliseconds (specification 2). Caches the last second, because most calls fall into it. */
export function isoTime(ms: number): string {
  const wholeMs = Math.trunc(ms);
  const second = Math.floor(wholeMs / 1000);
  if (second !== lastSecond) {
    lastPrefix = new Date(second * 1000).toISOString().slice(0, -'000Z'.length);
    lastSecond = second;
  }
  return `${lastPrefix}${String(wholeMs - second * 1000).padStart(3, '0')}Z`;
}

// A clock that ticks every second, by the server's time, for running calls.

import { useEffect, useState } from 'preact/hooks';
import { serverNow } from '../server-clock.ts';

/** The current time. Updates every second while `isRunning`. */
export function useSecond(isRunning = true): number {
  const [nowMs, setNow] = useState(serverNow);
  useEffect(() => {
    if (!isRunning) return undefined;
    setNow(serverNow());
    const timer = setInterval(() => setNow(serverNow()), 1000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return isRunning ? Math.max(nowMs, 0) : serverNow();
}

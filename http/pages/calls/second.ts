// The seconds that a running call counts, by the service's clock.

import { useEffect, useState } from 'preact/hooks';
import { serverNow } from '../server-clock.ts';

/** The time, each second anew while it is shown. */
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

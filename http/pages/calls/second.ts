// The seconds that a running call counts, by the service's clock.

import { useEffect, useState } from 'preact/hooks';
import { serviceNow } from './live-calls.ts';

/** The time, each second anew while it is shown. */
export function useSecond(isRunning = true): number {
  const [nowMs, setNow] = useState(serviceNow);
  useEffect(() => {
    if (!isRunning) return undefined;
    setNow(serviceNow());
    const timer = setInterval(() => setNow(serviceNow()), 1000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return isRunning ? Math.max(nowMs, 0) : serviceNow();
}

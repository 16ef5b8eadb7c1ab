// The remaining seconds by the service's clock; redraws only when the number changes.

import { useEffect, useState } from 'preact/hooks';
import { serverNow } from '../../server-clock.ts';
import { secondsUntil } from './rules.ts';

const lookEveryMs = 200;

export function useSecondsUntil(at: string): number {
  const [seconds, setSeconds] = useState(() => secondsUntil(at, serverNow()));
  useEffect(() => {
    const look = (): void => setSeconds(secondsUntil(at, serverNow()));
    look();
    const timer = setInterval(look, lookEveryMs);
    return () => clearInterval(timer);
  }, [at]);
  return seconds;
}

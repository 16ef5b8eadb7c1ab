// When to begin to read. What is read before the socket is there may be old by the time it is: then nobody would ever
// tell. So reading waits for the socket a moment; where it comes later, what was read is read again.

import { effect } from '@preact/signals';
import { connection } from './live.ts';

const patienceMs = 600;

/** Resolves once the socket is there, or is not there for too long. */
export function socketOrPatience(): Promise<void> {
  return new Promise((resolve) => {
    if (connection.peek() === 'live') return resolve();
    const timer = setTimeout(done, patienceMs);
    const stop = effect(() => {
      if (connection.value === 'live') queueMicrotask(done);
    });
    function done(): void {
      clearTimeout(timer);
      stop();
      resolve();
    }
  });
}

/** Calls `reread` once the socket is there, unless it is already. */
export function onceLive(reread: () => void): void {
  if (connection.peek() === 'live') return;
  const stop = effect(() => {
    if (connection.value !== 'live') return;
    queueMicrotask(() => {
      stop();
      reread();
    });
  });
}

// Data read before the socket is live may miss a change that happens in between. So the first read waits briefly for the
// socket; if the socket comes later, the data is read again.

import { effect } from '@preact/signals';
import { connection } from './live.ts';

const timeoutMs = 600;

/** Resolves when the socket is live, or after 600 ms. */
export function socketOrTimeout(): Promise<void> {
  return new Promise((resolve) => {
    if (connection.peek() === 'live') return resolve();
    const timer = setTimeout(done, timeoutMs);
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

/** Calls `reread` when the socket becomes live. Does nothing if it is live already. */
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

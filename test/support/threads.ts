// Records the threads that start during a test, from Node's own events.

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';
import type { Test } from 'tap';

/** Every thread that starts from now on. */
export function watchThreads(t: Test): Worker[] {
  const started: Worker[] = [];
  const note = (message: unknown): void => void started.push((message as { worker: Worker }).worker);
  subscribe('worker_threads', note);
  t.teardown(() => unsubscribe('worker_threads', note));
  return started;
}

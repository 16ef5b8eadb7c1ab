// Loaded into the service's process before the service, by --import: moves its wall clock and has it give memory back,
// when the soak says so in a file and by a signal. The service knows nothing of it. Threads have heaps of their own and
// load this, too. Time that has passed, as performance.now() and timers count it, stays true, as when somebody sets a
// machine's clock.

import { readFileSync, writeFileSync } from 'node:fs';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';
import { releaseMemory } from '../../http/process/memory.ts';

/** What the soak writes; `serial` grows with each. */
export interface Orders {
  readonly serial: number;
  readonly clockOffsetMs: number;
  readonly releaseMemory: boolean;
}

/** Named in the environment; answered by a file beside it that holds the serial of what was done. */
export const ordersVariable = 'SOAK_ORDERS';
export const doneSuffix = '.done';

/** Between the main thread and the others of the process. Keeps none of them running. */
const channel = new BroadcastChannel('soak');

const path = process.env[ordersVariable];
if (!isMainThread) channel.onmessage = releaseMemory;
else if (path !== undefined) {
  const TrueDate = Date;
  const trueNow = Date.now;
  let offsetMs = 0;
  const now = (): number => trueNow() + offsetMs;
  const take = (): void => {
    const orders = JSON.parse(readFileSync(path, 'utf8')) as Orders;
    offsetMs = orders.clockOffsetMs;
    if (orders.releaseMemory) {
      channel.postMessage('release');
      releaseMemory();
    }
    writeFileSync(`${path}${doneSuffix}`, String(orders.serial));
  };
  take();
  globalThis.Date = new Proxy(TrueDate, {
    construct: (target, given, made) =>
      Reflect.construct(target, given.length === 0 ? [now()] : given, made === globalThis.Date ? target : made) as Date,
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
  process.on('SIGUSR2', take);
}
channel.unref();

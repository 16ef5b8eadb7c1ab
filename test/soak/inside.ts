// Loaded into the service's process before the service, by --import: moves its wall clock and collects garbage, when
// the soak writes an order to a file and sends a signal. The service does not know about it. Threads have their own
// heap and load this, too. performance.now() and timers are not affected, as when a machine's clock is set.

import { readFileSync, writeFileSync } from 'node:fs';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';
import { releaseMemory } from '../../http/process/memory.ts';

/** Written by the soak; `serial` increases with each order. */
export interface Orders {
  readonly serial: number;
  readonly clockOffsetMs: number;
  readonly releaseMemory: boolean;
}

/** The environment variable with the file's path; a file beside it has the serial of the last order carried out. */
export const ordersVariable = 'SOAK_ORDERS';
export const doneSuffix = '.done';

/** Between the main thread and the others. Does not keep them running. */
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

// Requests at a steady rate, like those of many independent people: each is sent at its time, however long earlier ones
// take. This shows effects of load that a client which waits for its replies would hide by slowing down.

import { HttpConnection, type Request } from './http-connection.ts';

export interface SteadyWrites {
  readonly url: string;
  /** One connection each; they take turns. */
  readonly requests: readonly Request[];
  readonly perSecond: number;
  /** Continues until this settles, and then waits for all answers. */
  readonly until: Promise<unknown>;
}

/** The milliseconds of each. Waiting for a connection counts as part of the request. Rejects if one is refused. */
export async function writeSteadily({ url, requests, perSecond, until }: SteadyWrites): Promise<number[]> {
  const all = await Promise.all(
    requests.map(async (request) => ({ connection: await HttpConnection.open(url), request })),
  );
  const free = [...all];
  const timesMs: number[] = [];
  const waiting: number[] = [];
  const startMs = performance.now();
  let due = 0;
  let isOver = false;
  try {
    await new Promise<void>((resolve, reject) => {
      const sendWaiting = (): void => {
        for (let used = free.shift(); used !== undefined; used = free.shift()) {
          const dueMs = waiting.shift();
          if (dueMs === undefined) {
            free.unshift(used);
            break;
          }
          const one = used;
          one.connection.post(one.request).then(() => {
            timesMs.push(performance.now() - dueMs);
            free.push(one);
            sendWaiting();
          }, reject);
        }
        if (isOver && waiting.length === 0 && free.length === all.length) resolve();
      };
      const tick = (): void => {
        const nowMs = performance.now();
        // By due time, not by the timer's: delays of the client's timers are not the server's.
        for (; !isOver && startMs + (due * 1000) / perSecond <= nowMs; due += 1) waiting.push(nowMs);
        sendWaiting();
        if (!isOver) setTimeout(tick, 1);
      };
      until.then(() => {
        isOver = true;
        sendWaiting();
      }, reject);
      tick();
    });
  } finally {
    isOver = true;
    for (const { connection } of all) connection.close();
  }
  return timesMs;
}

export function seconds(count: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, count * 1000));
}

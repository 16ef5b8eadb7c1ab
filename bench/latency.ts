// How long one durable send takes, when nothing else goes on and at a rate that leaves the machine room. Held against the bare
// lane in the same way: what is between the two is the service's own.

import { Api } from './api.ts';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import { HttpConnection, type Request } from './http-connection.ts';
import { messageText } from './messages.ts';
import { startReference, startService } from './process.ts';
import { makeTenant, startChats } from './scenario.ts';

const connections = 64;
const perSecond = 2000;
const body = JSON.stringify({ body: messageText });

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const seconds = quick ? 2 : 10;
  const reference = await startReference();
  const service = await startService();
  try {
    const api = new Api(service);
    const { owner, embedId } = await makeTenant(api);
    const conversationIds = await startChats(api, embedId, connections);
    const sends = conversationIds.map((id): Request => ({ path: `/api/v1/conversations/${id}/messages`, token: owner.token, body }));
    const bare = conversationIds.map((_, index): Request => ({ path: `/lane/0/${index}`, body }));

    const rows: Row[] = [];
    for (const [name, measure] of [['1 connection', oneAfterAnother], [`${perSecond.toLocaleString('en-US')} sends/s`, atFixedRate]] as const) {
      await measure(reference.url, bare, seconds / 2);
      const floor = await measure(reference.url, bare, seconds);
      await measure(service.url, sends, seconds / 2);
      const figures = await measure(service.url, sends, seconds);
      for (const share of [0.5, 0.99]) {
        rows.push(row({ name: `latency, ${name}: p${share * 100}`, value: percentile(figures, share), unit: 'ms', reference: { name: 'bare lane', value: percentile(floor, share) } }));
      }
    }
    return rows;
  } finally {
    await Promise.all([service.stop(), reference.stop()]);
  }
}

async function oneAfterAnother(url: string, requests: readonly Request[], seconds: number): Promise<number[]> {
  const connection = await HttpConnection.open(url);
  const timesMs: number[] = [];
  const endMs = performance.now() + seconds * 1000;
  for (let index = 0; performance.now() < endMs; index += 1) {
    const request = requests[index % requests.length];
    if (request === undefined) break;
    const sentMs = performance.now();
    await connection.post(request);
    timesMs.push(performance.now() - sentMs);
  }
  connection.close();
  return timesMs;
}

/**
 * Each request is sent at its time, however long earlier ones take, while a connection is free; one that must wait for a
 * connection waits on the clock of its own request.
 */
async function atFixedRate(url: string, requests: readonly Request[], seconds: number): Promise<number[]> {
  const free = await Promise.all(requests.map(async (request) => ({ connection: await HttpConnection.open(url), request })));
  const all = [...free];
  const timesMs: number[] = [];
  const waiting: number[] = [];
  const count = perSecond * seconds;
  const startMs = performance.now();
  let due = 0;

  await new Promise<void>((resolve, reject) => {
    const sendWaiting = (): void => {
      for (let one = free.shift(); one !== undefined; one = free.shift()) {
        const dueMs = waiting.shift();
        if (dueMs === undefined) {
          free.unshift(one);
          return;
        }
        const used = one;
        used.connection.post(used.request).then(() => {
          timesMs.push(performance.now() - dueMs);
          free.push(used);
          if (timesMs.length === count) resolve();
          else sendWaiting();
        }, reject);
      }
    };
    const tick = (): void => {
      const nowMs = performance.now();
      // Due now, not when the millisecond's timer came: how late the client's own timers are is not the server's.
      for (; due < count && startMs + (due * 1000) / perSecond <= nowMs; due += 1) waiting.push(nowMs);
      sendWaiting();
      if (due < count) setTimeout(tick, 1);
    };
    tick();
  });
  for (const { connection } of all) connection.close();
  return timesMs;
}

await runAlone(import.meta.url, run);

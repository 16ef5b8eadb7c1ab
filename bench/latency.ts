// The latency of one durable send, alone and at a rate that leaves the machine spare capacity. The reference is the
// bare lane; the difference is the service's own work.

import { Api } from './api.ts';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import { HttpConnection, type Request } from './http-connection.ts';
import { messageText } from './messages.ts';
import { startReference, startService } from './process.ts';
import { makeTenant, startChats } from './scenario.ts';
import { seconds, writeSteadily } from './steady-writes.ts';

const connections = 64;
const perSecond = 2000;
const body = JSON.stringify({ body: messageText });

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const each = quick ? 2 : 10;
  const reference = await startReference();
  const service = await startService();
  try {
    const api = new Api(service);
    const { owner, embedId } = await makeTenant(api);
    const conversationIds = await startChats(api, embedId, connections);
    const sends = conversationIds.map(
      (id): Request => ({ path: `/api/v1/conversations/${id}/messages`, token: owner.token, body }),
    );
    const bare = conversationIds.map((_, index): Request => ({ path: `/lane/0/${index}`, body }));

    const rows: Row[] = [];
    for (const [name, measure] of [
      ['1 connection', oneAfterAnother],
      [`${perSecond.toLocaleString('en-US')} sends/s`, atFixedRate],
    ] as const) {
      await measure(reference.url, bare, each / 2);
      const floor = await measure(reference.url, bare, each);
      await measure(service.url, sends, each / 2);
      const figures = await measure(service.url, sends, each);
      for (const share of [0.5, 0.99]) {
        rows.push(
          row({
            name: `latency, ${name}: p${share * 100}`,
            value: percentile(figures, share),
            unit: 'ms',
            reference: { name: 'bare lane', value: percentile(floor, share) },
          }),
        );
      }
    }
    return rows;
  } finally {
    await Promise.all([service.stop(), reference.stop()]);
  }
}

async function oneAfterAnother(url: string, requests: readonly Request[], forSeconds: number): Promise<number[]> {
  const connection = await HttpConnection.open(url);
  const timesMs: number[] = [];
  const endMs = performance.now() + forSeconds * 1000;
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

function atFixedRate(url: string, requests: readonly Request[], forSeconds: number): Promise<number[]> {
  return writeSteadily({ url, requests, perSecond, until: seconds(forSeconds) });
}

await runAlone(import.meta.url, run);

// The reads of a client that opens: a page of messages, a page of the queue. The reference is a handler that runs the
// same query and writes its rows as JSON; for a compressed page it is the page without compression.

import { Api } from './api.ts';
import { type BenchOptions, type Row, row, runAlone } from './frame.ts';
import { type HttpTarget, loadByHttp } from './http-load.ts';
import { messageText } from './messages.ts';
import { startReference, startService } from './process.ts';
import { makeTenant, startChats } from './scenario.ts';

const connections = 64;
/** Per conversation, written before the measurement: more than a full page. */
const messagesEach = 60;
const body = JSON.stringify({ body: messageText });

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const seconds = quick ? 2 : 10;
  const warmSeconds = quick ? 1 : 3;
  const reference = await startReference();
  const service = await startService();
  try {
    const api = new Api(service);
    const { owner, embedId } = await makeTenant(api);
    const conversationIds = await startChats(api, embedId, connections);
    const paths = conversationIds.map((id) => `/api/v1/conversations/${id}/messages`);
    for (let count = 0; count < messagesEach; count += 1) {
      await Promise.all(
        paths.map((path) =>
          api.call('POST', path.slice('/api/v1'.length), { token: owner.token, body: { body: messageText } }),
        ),
      );
      await Promise.all(paths.map((_, index) => fetch(`${reference.url}/lane/0/${index}`, { method: 'POST', body })));
    }

    const measure = async (url: string, targets: readonly HttpTarget[]): Promise<number> => {
      await loadByHttp({ url, targets, seconds: warmSeconds });
      return (await loadByHttp({ url, targets, seconds })).perSecond;
    };
    const rows: Row[] = [];
    for (const { name, bare, read } of [
      {
        name: 'reads, a page of 50 messages',
        bare: paths.map((_, index) => ({ path: `/messages/${index}` })),
        read: paths.map((path) => ({ path, token: owner.token })),
      },
      {
        name: 'reads, a page of 50 in the queue',
        bare: paths.map(() => ({ path: '/queue' })),
        read: paths.map(() => ({ path: '/api/v1/conversations/queue', token: owner.token })),
      },
    ]) {
      const floor = await measure(reference.url, bare);
      rows.push(
        row({
          name,
          value: await measure(service.url, read),
          unit: '/s',
          reference: { name: 'bare query', value: floor },
        }),
      );
    }
    const one = paths.slice(0, 1).map((path) => ({ path, token: owner.token }));
    rows.push(
      row({
        name: 'reads, a page of 50 messages in brotli, 1 connection',
        value: await measure(
          service.url,
          one.map((target) => ({ ...target, encoding: 'br' })),
        ),
        unit: '/s',
        reference: { name: 'uncompressed', value: await measure(service.url, one) },
        target: { atLeast: 0.8 },
      }),
    );
    return rows;
  } finally {
    await Promise.all([service.stop(), reference.stop()]);
  }
}

await runAlone(import.meta.url, run);

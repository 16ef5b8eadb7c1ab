// Durable sends as call frames, a few in progress on each socket. Visitors send, since each gets only its own events;
// an agent gets all, which the fan-out measures. The reference is bare sockets that feed the same lane.

import { Api } from './api.ts';
import { type BenchOptions, type Row, row, runAlone } from './frame.ts';
import { toldOf } from './http-load.ts';
import { messageText } from './messages.ts';
import { startReference, startService } from './process.ts';
import { makeTenant, openSession, startChat } from './scenario.ts';
import { openServiceSocket, SocketClient } from './socket-client.ts';
import { type Caller, loadBySockets, replyStatus, type SocketFigures } from './socket-load.ts';

const sockets = 64;
const callsUnderWay = 4;

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const seconds = quick ? 2 : 10;
  const warmSeconds = quick ? 1 : 3;
  const reference = await startReference();
  const service = await startService();
  try {
    const measure = async (callers: readonly Caller[]): Promise<SocketFigures> => {
      await loadBySockets({ callers, callsUnderWay, seconds: warmSeconds });
      const figures = await loadBySockets({ callers, callsUnderWay, seconds });
      if (Object.keys(figures.failures).length > 0)
        throw new Error(`calls were answered with ${toldOf(figures.failures)}`);
      for (const { client } of callers) client.close();
      return figures;
    };
    const bare = await measure(await bareCallers(reference.url));
    const calls = await measure(await visitorCallers(new Api(service)));
    return [
      row({
        name: 'socket calls',
        value: calls.perSecond,
        unit: '/s',
        reference: { name: 'bare socket on the lane', value: bare.perSecond },
        target: { atLeast: 0.6 },
      }),
      row({
        name: 'socket calls: latency p50',
        value: calls.p50Ms,
        unit: 'ms',
        reference: { name: 'bare socket on the lane', value: bare.p50Ms },
      }),
      row({
        name: 'socket calls: latency p99',
        value: calls.p99Ms,
        unit: 'ms',
        reference: { name: 'bare socket on the lane', value: bare.p99Ms },
      }),
    ];
  } finally {
    await Promise.all([service.stop(), reference.stop()]);
  }
}

function bareCallers(url: string): Promise<Caller[]> {
  const text = JSON.stringify({
    id: 1,
    type: 'call',
    method: 'widget.sendMessage',
    params: { conversationId: '0'.repeat(36), body: messageText },
  });
  return Promise.all(
    Array.from({ length: sockets }, async () => ({
      client: await SocketClient.open(`${url}/calls`),
      callText: () => text,
      statusOf: () => 201,
    })),
  );
}

async function visitorCallers(api: Api): Promise<Caller[]> {
  const { embedId } = await makeTenant(api);
  return Promise.all(
    Array.from({ length: sockets }, async (): Promise<Caller> => {
      const visitor = await openSession(api, embedId);
      const conversationId = await startChat(api, visitor, 'Hello, is anybody there?');
      const client = await openServiceSocket(api.url, 'visitor', visitor.token);
      let id = 0;
      return {
        client,
        callText() {
          id += 1;
          return JSON.stringify({
            id,
            type: 'call',
            method: 'widget.sendMessage',
            params: { conversationId, body: messageText },
          });
        },
        statusOf: replyStatus,
      };
    }),
  );
}

await runAlone(import.meta.url, run);

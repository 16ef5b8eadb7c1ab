// Durable message sends as call frames on sockets, a few under way on each. Visitors send, since each is told of its own
// messages alone: an agent is told of every one, which is the fan-out's to measure. Held against bare sockets that feed the
// same lane.

import { Api } from './api.ts';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import { messageText } from './messages.ts';
import { startReference, startService } from './process.ts';
import { makeTenant, openSession, startChat } from './scenario.ts';
import { openServiceSocket, SocketClient } from './socket-client.ts';

const sockets = 64;
const callsUnderWay = 4;

/** A socket that sends when it is asked to, and says whether a frame it got is the answer to a send. */
interface Caller {
  readonly client: SocketClient;
  callText(): string;
  isAnswer(payload: Buffer): boolean;
}

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const seconds = quick ? 2 : 10;
  const warmSeconds = quick ? 1 : 3;
  const reference = await startReference();
  const service = await startService();
  try {
    const measure = async (callers: readonly Caller[]): Promise<Figures> => {
      await load(callers, warmSeconds);
      const figures = await load(callers, seconds);
      for (const { client } of callers) client.close();
      return figures;
    };
    const bare = await measure(await bareCallers(reference.url));
    const calls = await measure(await visitorCallers(new Api(service)));
    return [
      row({ name: 'socket calls', value: calls.perSecond, unit: '/s', reference: { name: 'bare socket on the lane', value: bare.perSecond }, target: { atLeast: 0.6 } }),
      row({ name: 'socket calls: latency p50', value: calls.p50Ms, unit: 'ms', reference: { name: 'bare socket on the lane', value: bare.p50Ms } }),
      row({ name: 'socket calls: latency p99', value: calls.p99Ms, unit: 'ms', reference: { name: 'bare socket on the lane', value: bare.p99Ms } }),
    ];
  } finally {
    await Promise.all([service.stop(), reference.stop()]);
  }
}

interface Figures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Keeps so many calls under way on every socket. Replies come in the order of the calls. */
async function load(callers: readonly Caller[], seconds: number): Promise<Figures> {
  const latenciesMs: number[] = [];
  const startedMs = performance.now();
  let stopped = false;
  await Promise.all(
    callers.map(
      (caller) =>
        new Promise<void>((resolve, reject) => {
          const sentMs: number[] = [];
          const send = (): void => {
            sentMs.push(performance.now());
            caller.client.send(caller.callText());
          };
          caller.client.onClose = () => reject(new Error('a socket was closed'));
          caller.client.onText = (payload) => {
            try {
              if (!caller.isAnswer(payload)) return;
            } catch (error) {
              reject(error instanceof Error ? error : new Error(String(error)));
              return;
            }
            const sentAtMs = sentMs.shift() ?? Number.NaN;
            latenciesMs.push(performance.now() - sentAtMs);
            if (!stopped) send();
            else if (sentMs.length === 0) resolve();
          };
          for (let index = 0; index < callsUnderWay; index += 1) send();
          setTimeout(() => {
            stopped = true;
          }, seconds * 1000);
        }),
    ),
  );
  const perSecond = latenciesMs.length / ((performance.now() - startedMs) / 1000);
  return { perSecond, p50Ms: percentile(latenciesMs, 0.5), p99Ms: percentile(latenciesMs, 0.99) };
}

function bareCallers(url: string): Promise<Caller[]> {
  const text = JSON.stringify({ id: 1, type: 'call', method: 'widget.sendMessage', params: { conversationId: '0'.repeat(36), body: messageText } });
  return Promise.all(Array.from({ length: sockets }, async () => ({ client: await SocketClient.open(`${url}/calls`), callText: () => text, isAnswer: () => true })));
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
          return JSON.stringify({ id, type: 'call', method: 'widget.sendMessage', params: { conversationId, body: messageText } });
        },
        isAnswer(payload) {
          if (!payload.includes('"type":"reply"')) return false;
          if (!payload.includes('"status":201')) throw new Error(`a call was answered with ${String(payload)}`);
          return true;
        },
      };
    }),
  );
}

await runAlone(import.meta.url, run);

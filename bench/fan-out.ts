// One message to a thousand agent sockets: from the customer's request until the last socket has it, including the
// request, the commit, the sync and the permission checks. The reference is a bare publish of as many texts of the same
// lengths to as many sockets, with only the request.

import { Api } from './api.ts';
import { makeFullTenant, openAgentSockets, openMany } from './crowd.ts';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import { messageText } from './messages.ts';
import { startReference, startService } from './process.ts';
import { openSession, startChat } from './scenario.ts';
import { SocketClient } from './socket-client.ts';

const crowd = 1000;
const messages = 50;
const warmMessages = 10;
const pauseMs = 20;
const lateMs = 10_000;

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const sockets = quick ? crowd / 5 : crowd;
  const reference = await startReference();
  const service = await startService();
  try {
    const api = new Api(service);
    const { tenant, agents } = await makeFullTenant(api);
    const visitor = await openSession(api, tenant.embedId);
    const conversationId = await startChat(api, visitor, 'Hello, is anybody there?');
    const watching = await openAgentSockets(service.url, agents, sockets);
    const lengths: number[] = [];
    const [measuring] = await openAgentSockets(service.url, agents, 1);
    if (measuring !== undefined) measuring.onText = (payload) => lengths.push(payload.length);
    const told = await timeFanOut(watching, {
      messages,
      send: () =>
        api.call('POST', `/widget/conversations/${conversationId}/messages`, {
          token: visitor.token,
          body: { body: messageText },
        }),
    });
    for (const client of [...watching, ...(measuring === undefined ? [] : [measuring])]) client.close();

    const published = await openMany(sockets, () => SocketClient.open(`${reference.url}/topic`));
    const lengthsOfOne = lengths.slice(-Math.round(lengths.length / (messages + warmMessages)));
    const bare = await timeFanOut(published, {
      messages,
      send: () => fetch(`${reference.url}/publish?bytes=${lengthsOfOne}`, { method: 'POST', body: '{}' }),
    });
    for (const client of published) client.close();

    const name = `fan-out to ${sockets.toLocaleString('en-US')} agent sockets`;
    return [
      row({
        name: `${name}: last one has it, p50`,
        value: told.p50Ms,
        unit: 'ms',
        reference: { name: 'bare publish', value: bare.p50Ms },
      }),
      row({
        name: `${name}: last one has it, p99`,
        value: told.p99Ms,
        unit: 'ms',
        reference: { name: 'bare publish', value: bare.p99Ms },
      }),
    ];
  } finally {
    await Promise.all([service.stop(), reference.stop()]);
  }
}

export interface FanOut {
  /** Not counting the warm-up. */
  readonly messages: number;
  send(count: number): Promise<unknown>;
  /** Whether a frame is the sent message; by default every frame is, unless others write, too. */
  isIt?(payload: Buffer, count: number): boolean;
}

/** Sends one message at a time, each after the last socket has received the one before. */
export async function timeFanOut(
  clients: readonly SocketClient[],
  { messages, send, isIt = () => true }: FanOut,
): Promise<{ p50Ms: number; p99Ms: number }> {
  const timesMs: number[] = [];
  for (let count = 0; count < warmMessages + messages; count += 1) {
    const arrived = everyoneHasIt(clients, (payload) => isIt(payload, count));
    const sentMs = performance.now();
    const [arrivedMs] = await Promise.all([arrived, send(count)]);
    if (count >= warmMessages) timesMs.push(arrivedMs - sentMs);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return { p50Ms: percentile(timesMs, 0.5), p99Ms: percentile(timesMs, 0.99) };
}

/** Resolves when the last client got its next matching frame. Rejects if one gets none in time. */
function everyoneHasIt(clients: readonly SocketClient[], isIt: (payload: Buffer) => boolean): Promise<number> {
  return new Promise((resolve, reject) => {
    let missing = clients.length;
    const timer = setTimeout(() => reject(new Error(`${missing} sockets got nothing`)), lateMs);
    for (const client of clients) {
      client.onText = (payload) => {
        if (!isIt(payload)) return;
        client.onText = () => {};
        missing -= 1;
        if (missing > 0) return;
        clearTimeout(timer);
        resolve(performance.now());
      };
      client.onClose = () => reject(new Error('a socket was closed'));
    }
  });
}

await runAlone(import.meta.url, run);

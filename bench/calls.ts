// A hundred agents answer a ringing call at the same moment, by socket: the latency of the one winner and of the
// ninety-nine refusals. The reference is a ping and its pong on the same sockets, without command or disk.

import { rmSync } from 'node:fs';
import { claimNumber } from '../engine/calls/phone-numbers.ts';
import { aroundClaim } from '../engine/directory/numbers.ts';
import { systemCaller } from '../engine/runtime/caller.ts';
import { silentLog } from '../engine/runtime/log.ts';
import { register } from '../engine/team/joining.ts';
import { storeSecrets } from '../engine/workspace/integrations.ts';
import { readConfig } from '../http/process/config.ts';
import { freshSecrets, openSecrets } from '../http/secrets/workspace-secrets.ts';
import { serve } from '../http/serve.ts';
import { signatureOf } from '../http/signed/signatures.ts';
import { addAgents } from '../test/support/calls.ts';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import { makeDataDir, startService } from './process.ts';

const agentCount = 100;
const warmRounds = 10;
const e164 = '+14155550100';

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const rounds = quick ? 20 : 200;
  const dataDir = makeDataDir();
  try {
    const { tokens, secret } = await prepare(dataDir);
    const service = await startService(dataDir);
    try {
      const sockets = await Promise.all(tokens.map((token) => AgentSocket.open(service.url, token)));
      const answersMs: number[] = [];
      const pongsMs: number[] = [];
      for (let round = 0; round < warmRounds + rounds; round += 1) {
        const pongs = await Promise.all(sockets.map((socket) => timed(() => socket.ping())));
        const conversationId = await ring(service.url, { secret, callId: `bench-${round}` });
        const answers = await Promise.all(
          sockets.map((socket) => timed(() => socket.call('call.answer', { conversationId }))),
        );
        const winner = requireOneWinner(answers.map(({ result }) => result));
        await sockets[winner]?.call('call.hangup', { conversationId });
        if (round < warmRounds) continue;
        answersMs.push(...answers.map(({ ms }) => ms));
        pongsMs.push(...pongs.map(({ ms }) => ms));
      }
      for (const socket of sockets) socket.close();
      return (
        [
          ['p50', 0.5],
          ['p99', 0.99],
        ] as const
      ).map(([name, share]) => {
        return row({
          name: `answer race of ${agentCount} agents, ${name}`,
          value: percentile(answersMs, share),
          unit: 'ms',
          reference: { name: 'ping', value: percentile(pongsMs, share) },
        });
      });
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** A workspace with a number and more agents than a plan has seats, created by commands instead of invitations. */
async function prepare(dataDir: string): Promise<{ tokens: string[]; secret: string }> {
  const config = readConfig({ DATA_DIR: dataDir, PORT: '0', RATE_LIMITS: 'off' });
  const running = await serve({ config, log: silentLog });
  const { services } = running;
  const { engine, directory, ids } = services;
  const [workspaceId, agentId, numberId] = [ids.uuid(), ids.uuid(), ids.uuid()];
  const owner = { workspaceId, agentId, email: 'owner@example.com', token: '' };
  await directory.withWorkspace(
    { ...owner, name: 'Bench', subdomain: 'bench' },
    {
      make: async (subdomain) => {
        await engine.create(workspaceId);
        return engine.execute(register, {
          workspaceId,
          caller: systemCaller,
          params: { agentId, email: owner.email, passwordHash: 'none', workspaceName: 'Bench', subdomain },
        });
      },
      remove: () => engine.discard(workspaceId),
    },
  );
  const caller = { kind: 'agent', agentId } as const;
  const sealed = await engine.execute(storeSecrets, {
    workspaceId,
    caller,
    params: { fresh: freshSecrets(services, workspaceId) },
  });
  const fields = { e164, displayName: 'Bench', routingStrategy: 'all_agents' } as const;
  await aroundClaim(
    directory,
    { numberId, e164, workspaceId },
    {
      work: () =>
        engine.execute(claimNumber, {
          workspaceId,
          caller,
          params: { numberId, provider: 'simulated', providerDidId: 'SIM', fields },
        }),
      undo: async () => {},
    },
  );
  const agents = await addAgents(services, owner, agentCount);
  const secret = openSecrets(services, workspaceId, sealed).carrier;
  await running.stop();
  return { tokens: agents.map(({ token }) => token), secret };
}

async function ring(url: string, delivery: { secret: string; callId: string }): Promise<string> {
  const body = JSON.stringify({ type: 'ringing', callId: delivery.callId, from: '+14155550123', to: e164 });
  const response = await fetch(`${url}/api/v1/carrier/events`, {
    method: 'POST',
    body,
    headers: { 'X-Signature': signatureOf(Buffer.from(body), delivery.secret) },
  });
  const { conversationId } = (await response.json()) as { conversationId: string | null };
  if (conversationId === null) throw new Error('the call was not taken');
  return conversationId;
}

interface Reply {
  readonly status: number;
  readonly body: { readonly detail?: { readonly reason?: string } };
}

/** The index of the winner. Throws if the replies are wrong. */
function requireOneWinner(replies: readonly Reply[]): number {
  const winner = replies.findIndex(({ status }) => status === 200);
  const lost = replies.filter(({ status, body }) => status === 409 && body.detail?.reason === 'already_claimed');
  if (winner < 0 || lost.length !== replies.length - 1)
    throw new Error(`${lost.length} of ${replies.length} lost as they should`);
  return winner;
}

class AgentSocket {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #pong: () => void = () => {};
  #lastId = 0;

  static open(url: string, token: string): Promise<AgentSocket> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/agent`, ['messaging.v1', `bearer.${token}`]);
    return new Promise((done, failed) => {
      const agent = new AgentSocket(socket);
      socket.addEventListener('message', () => done(agent), { once: true });
      socket.addEventListener('close', ({ code }) => failed(new Error(`closed with ${code}`)), { once: true });
    });
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const frame = JSON.parse(String(data)) as { type: string; id?: number } & Reply;
      if (frame.type === 'pong') this.#pong();
      else if (frame.type === 'reply') this.#waiting.get(frame.id ?? 0)?.(frame);
    });
  }

  ping(): Promise<void> {
    this.#socket.send('{"type":"ping"}');
    return new Promise((done) => {
      this.#pong = done;
    });
  }

  call(method: string, params: object): Promise<Reply> {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#socket.send(JSON.stringify({ type: 'call', id, method, params }));
    return new Promise((done) => {
      this.#waiting.set(id, (reply) => {
        this.#waiting.delete(id);
        done(reply);
      });
    });
  }

  close(): void {
    this.#socket.close();
  }
}

async function timed<Result>(deed: () => Promise<Result>): Promise<{ result: Result; ms: number }> {
  const startedMs = performance.now();
  const result = await deed();
  return { result, ms: performance.now() - startedMs };
}

await runAlone(import.meta.url, run);

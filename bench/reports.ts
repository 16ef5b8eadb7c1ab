// Reports over a year of one workspace, requested by HTTP while messages are written: 100,000 conversations with
// 1,000,000 messages, 50 agents, 100,000 contacts. Writes with reports alternate with writes without, in rounds of a
// few seconds, so that other work of the machine affects both. A round in which other guests of the host took more than
// a twentieth of the CPU is discarded and repeated; the number of those is reported.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Api } from './api.ts';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import { HttpConnection } from './http-connection.ts';
import { watchStolen } from './machine.ts';
import { messageText } from './messages.ts';
import { makeDataDir, type Program, startService } from './process.ts';
import type { AskerStart, Order } from './report-asker.ts';
import { fillYear } from './report-year.ts';
import { makeTenant, startChats } from './scenario.ts';

const full = { conversations: 100_000, messagesEach: 10, agents: 50, contacts: 100_000, completions: 50_000 };
const dayMs = 24 * 3600_000;
const writesPerSecond = 200;
/** One in this many writes solves or reopens a conversation, which changes today's figures. */
const writesPerChange = 100;
const writeConnections = 16;
/** The pause before asking again whether the search index is complete. */
const searchAgainMs = 250;
/** The first reports of a process take several times as long, until their code is compiled. */
const warmUps = 40;
const warmUpMs = 25;
/** An agent's rate limit: 600 calls a minute. */
const agentMs = 100;
/** The share of CPU time taken by others on the same host. */
const maxStolen = 0.05;
/** The target of this bench. */
const reportTarget = { below: 20 };
const writeTarget = { below: 1.2 };

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const size = quick ? { ...full, conversations: 10_000, contacts: 10_000, completions: 5000 } : full;
  const rounds = quick ? { count: 5, most: 5 } : { count: 120, most: 200 };
  const idleMs = quick ? 300 : 1400;
  const dataDir = makeDataDir();
  try {
    const first = await startService(dataDir);
    const api = new Api(first);
    const { owner, embedId } = await makeTenant(api);
    const conversationIds = await startChats(api, embedId, writeConnections);
    const { workspace } = await api.call<{ workspace: { id: string } }>('GET', '/me/workspace', { token: owner.token });
    await api.call('PATCH', `/workspaces/${workspace.id}`, { token: owner.token, body: { timezone: 'Europe/Berlin' } });
    await first.stop();
    const [, agentId = ''] = fillYear(join(dataDir, 'workspaces', `${workspace.id}.db`), size);

    const service = await startService(dataDir);
    const asker = fork(join(import.meta.dirname, 'report-asker.ts'));
    try {
      await searchUntilReady(new Api({ url: service.url, dataDir }), owner.token);
      await untilAtRest(service);
      asker.send({ url: service.url, token: owner.token } satisfies AskerStart);
      const writer = await Writer.start(service.url, { token: owner.token, conversationIds });
      const reports = reportsOfYear(agentId);
      const paths = reports.map(([, path]) => path);
      await wait(idleMs);
      await ask(asker, { paths, rounds: warmUps, everyMs: warmUpMs });
      const { took, kept, leftOut } = await takeRounds(writer, {
        rounds,
        acts: {
          idle: () => wait(idleMs).then(() => []),
          reports: () => ask(asker, { paths, rounds: 1, everyMs: agentMs }),
        },
      });
      await writer.stop();
      const rows = reports.flatMap(([name], index) =>
        percentiles(
          `reports of a year: ${name}`,
          took.filter((_, place) => place % reports.length === index),
        ),
      );
      for (const share of [0.5, 0.99]) {
        rows.push(
          row({
            name: `writes while reports are requested, 10 a second, p${share * 100}`,
            value: percentile(writer.took('reports'), share),
            unit: 'ms',
            reference: { name: 'no reports', value: percentile(writer.took('idle'), share) },
            ...(share === 0.99 ? { target: writeTarget } : {}),
          }),
        );
      }
      rows.push(
        row({
          name: `rounds left out: the host took over ${maxStolen * 100} % of the CPUs`,
          value: leftOut,
          unit: '',
          reference: { name: 'in all', value: kept + leftOut },
        }),
      );
      return rows;
    } finally {
      asker.kill();
      await service.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

interface Taking {
  readonly rounds: { readonly count: number; readonly most: number };
  readonly acts: Record<Phase, () => Promise<number[]>>;
}

/**
 * Runs each act in turn, round by round, until there are enough rounds that other guests did not disturb, or the
 * maximum was tried. Returns the answers of the valid rounds, in order. Throws if there are none.
 */
async function takeRounds(
  writer: Writer,
  { rounds: { count, most }, acts }: Taking,
): Promise<{ took: number[]; kept: number; leftOut: number }> {
  const rounds = { took: [] as number[], kept: 0, leftOut: 0 };
  while (rounds.kept < count && rounds.kept + rounds.leftOut < most) {
    const stolen = watchStolen();
    const done: { took: number[]; keep: () => void }[] = [];
    for (const phase of phases) done.push(await writer.during(phase, acts[phase]));
    if (count < most && stolen() > maxStolen) {
      rounds.leftOut += 1;
      continue;
    }
    rounds.kept += 1;
    for (const { took, keep } of done) {
      keep();
      rounds.took.push(...took);
    }
  }
  if (rounds.kept === 0)
    throw new Error(`others on this host took more than ${maxStolen * 100} % of the CPUs in all of ${most} rounds`);
  return rounds;
}

type Named = readonly [name: string, path: string];

function reportsOfYear(agentId: string): Named[] {
  const now = Date.now();
  const year = `range=custom&from=${new Date(now - 365 * dayMs + 60_000).toISOString()}&to=${new Date(now).toISOString()}`;
  const at = (path: string): string => `/api/v1${path}`;
  return [
    ['volume by day', at(`/reports/chats/total?${year}`)],
    ['volume by hour, 30 days', at('/reports/tickets/total?range=30d&granularity=hour')],
    ['by status', at(`/reports/tickets/by-status?${year}`)],
    ['response times', at(`/reports/tickets/response-times?${year}`)],
    ['satisfaction by week', at(`/reports/tickets/satisfaction?channel=chat&granularity=week&${year}`)],
    ['performance of 50 agents', at(`/reports/agents/performance?${year}`)],
    ['customers', at(`/reports/customers?${year}`)],
    ['conversions', at(`/reports/conversions/goals?${year}`)],
    ['response times of an agent', at(`/reports/tickets/response-times?${year}&agentId=${agentId}`)],
    ['conversions of an agent', at(`/reports/conversions/goals?${year}&agentId=${agentId}`)],
    ['drill-down', at(`/reports/conversations?${year}&missed=1&rated=1`)],
    ['drill-down, far page', at(`/reports/conversations?${year}&channel=chat&offset=40000`)],
    ['contacts, part of a name', at('/contacts?search=ovak%20grac')],
    ['contacts, part of an email', at('/contacts?search=mple7.com')],
  ];
}

function percentiles(name: string, took: number[]): Row[] {
  const figure = (share: number) => ({ name: `${name}, p${share * 100}`, value: percentile(took, share), unit: 'ms' });
  return [row(figure(0.5)), row({ ...figure(0.99), target: reportTarget })];
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function ask(asker: ChildProcess, order: Order): Promise<number[]> {
  const failed = new AbortController();
  const exit = once(asker, 'exit', { signal: failed.signal }).then(() =>
    Promise.reject(new Error('who asks for reports ended')),
  );
  exit.catch(() => {
    // Reported by the race, or no longer awaited.
  });
  asker.send(order);
  const [took] = (await Promise.race([once(asker, 'message'), exit])) as [number[]];
  failed.abort();
  return took;
}

/** Waits until the search has built its index of the new file, so that no measurement includes it. */
async function searchUntilReady(api: Api, token: string): Promise<void> {
  for (;;) {
    const isReady = await api.call<{ indexing?: object }>('GET', '/conversations/search?q=hello', { token }).then(
      ({ indexing }) => indexing === undefined,
      () => false,
    );
    if (isReady) return;
    await wait(searchAgainMs);
  }
}

const body = JSON.stringify({ body: messageText });

/** The rest of the index is written after the search answers. */
async function untilAtRest(service: Program): Promise<void> {
  for (let second = 0; second < 60; second += 1) {
    const before = service.cpuSeconds();
    await wait(1000);
    if (service.cpuSeconds() - before < 0.05) return;
  }
  throw new Error('the service does not come to rest');
}

const phases = ['idle', 'reports'] as const;
type Phase = (typeof phases)[number];

interface WriteConnection {
  readonly connection: HttpConnection;
  readonly conversationId: string;
  isPending: boolean;
}

/**
 * Sends messages, and now and then a change of status, at a steady rate, and records the phase and the duration of
 * each.
 */
class Writer {
  readonly #free: WriteConnection[];
  readonly #token: string;
  /** Due times of requests without a free connection: the wait is part of their duration. */
  readonly #due: { readonly atMs: number; readonly took: number[]; readonly isChange: boolean }[] = [];
  /** By valid turn. */
  readonly #kept: Record<Phase, number[][]> = { idle: [], reports: [] };
  readonly #underWay = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  readonly #startedAt = performance.now();
  /** The durations of the present turn. */
  #took: number[] = [];
  #count = 0;
  #failure: unknown;

  private constructor(free: WriteConnection[], token: string) {
    this.#free = free;
    this.#token = token;
    this.#timer = setInterval(() => this.#tick(), 1);
  }

  static async start(url: string, writing: { token: string; conversationIds: readonly string[] }): Promise<Writer> {
    return new Writer(
      await Promise.all(
        writing.conversationIds.map(async (conversationId) => ({
          connection: await HttpConnection.open(url),
          conversationId,
          isPending: false,
        })),
      ),
      writing.token,
    );
  }

  /** Counts the writes during `act` once they are kept. */
  async during(phase: Phase, act: () => Promise<number[]>): Promise<{ took: number[]; keep: () => void }> {
    const writes: number[] = [];
    this.#took = writes;
    const took = await act();
    this.#took = [];
    if (this.#failure !== undefined) throw this.#failure;
    return { took, keep: () => this.#kept[phase].push(writes) };
  }

  took(phase: Phase): number[] {
    return this.#kept[phase].flat();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#underWay);
    for (const { connection } of this.#free) connection.close();
  }

  #tick(): void {
    const nowMs = performance.now();
    const due = Math.floor(((nowMs - this.#startedAt) / 1000) * writesPerSecond);
    // By due time, not by the timer's: delays of the client's timers are not the server's.
    for (; this.#count < due; this.#count += 1)
      this.#due.push({ atMs: nowMs, took: this.#took, isChange: this.#count % writesPerChange === 0 });
    this.#sendDue();
  }

  #sendDue(): void {
    while (this.#due.length > 0) {
      const one = this.#free.shift();
      const due = one && this.#due.shift();
      if (one === undefined || due === undefined) return;
      const answered = (due.isChange ? this.#change(one) : this.#write(one)).then(
        () => {
          due.took.push(performance.now() - due.atMs);
          this.#free.push(one);
          this.#sendDue();
        },
        (error: unknown) => {
          this.#failure ??= error;
        },
      );
      this.#underWay.add(answered);
      void answered.finally(() => this.#underWay.delete(answered));
    }
  }

  #write({ connection, conversationId }: WriteConnection): Promise<unknown> {
    return connection.post({ path: `/api/v1/conversations/${conversationId}/messages`, token: this.#token, body });
  }

  #change(one: WriteConnection): Promise<unknown> {
    one.isPending = !one.isPending;
    return one.connection.post({
      path: `/api/v1/conversations/${one.conversationId}/status`,
      token: this.#token,
      body: JSON.stringify({ status: one.isPending ? 'pending' : 'open' }),
    });
  }
}

await runAlone(import.meta.url, run);

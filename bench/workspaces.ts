// Thousands of workspaces in one process. Of those in use, far fewer may be open at once: the cost of opening one for
// the event loop; requests to random workspaces, beside requests to as many as can be open, with memory and loop delay;
// and the start after a kill that left a log in each of them and offers that expire meanwhile: time until the service
// answers, beside a start after a clean stop, time until the offers are withdrawn, and the latency of other requests
// until every workspace was checked.

import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { handshakeMs } from '../engine/constants.ts';
import { systemCaller } from '../engine/runtime/caller.ts';
import { silentLog } from '../engine/runtime/log.ts';
import { register } from '../engine/team/joining.ts';
import { readConfig } from '../http/process/config.ts';
import { serve } from '../http/serve.ts';
import { randomFrom } from '../test/support/seeded.ts';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import { leastResident } from './memory.ts';
import { makeDataDir, type ServiceProgram, startService } from './process.ts';

const connections = 32;
/** Fewer than the limit of open workspaces. */
const fewWorkspaces = 100;
const maxOpen = 200;
/** Workspaces on the server for each that is used. */
const registeredPerUsed = 2.5;
/** Made at once. */
const makers = 16;
const seed = 20_261_123;
const dayMs = 24 * 3600_000;
/** One in this many requests writes. */
const requestsPerWrite = 3;

/** Opened one after another, each for the first time. */
const openings = 150;
/** Open before the measurement, so that shared costs do not count. */
const openBefore = 20;
const looks = 8;
/** Workspaces with an offer that expires while the service is down. */
const offered = 50;
/** After that, others are written to for this long, so that their files are newer. */
const writtenAfterMs = 15_000;
/** Requests to these are measured while all others are checked. */
const healthy = 20;
const askEveryMs = 5;
const lookEveryMs = 20;

interface Use {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMs: number;
  readonly loopP99Ms: number;
  readonly open: number;
}

interface Return {
  readonly firstMs: number;
  /** Of all threads, from the start of the process to its first answer. */
  readonly firstCpuMs: number;
  /** Both measured from the first answer. */
  readonly offersMs: number;
  readonly lookedMs: number;
  /** Until everything was checked. */
  readonly healthyP99Ms: number;
}

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const count = quick ? 500 : 2000;
  const seconds = quick ? 5 : 20;
  const dataDir = makeDataDir();
  try {
    const made = await makeWorkspaces(dataDir, count * registeredPerUsed);
    const [tokens, workspaceIds] = [made.tokens.slice(0, count), made.workspaceIds];
    const opened = await timeOpenings(dataDir, workspaceIds.slice(0, openings));
    const startedAt = performance.now();
    const service = await startService(dataDir);
    await requireGood(await fetch(`${service.url}/api/v1/me`, { headers: headersOf(tokens.at(-1) ?? '') }));
    const cleanMs = performance.now() - startedAt;
    const cleanCpuMs = service.cpuSeconds() * 1000;
    let few: Use;
    let many: Use;
    let bytes: number;
    let bytesEach: number;
    let offeredMs: number;
    try {
      bytesEach = await bytesPerOpen(service, tokens);
      const used = tokens.slice(0, fewWorkspaces);
      await use(service, { tokens: used, seconds: seconds / 5 });
      few = await use(service, { tokens: used, seconds });
      await use(service, { tokens, seconds: seconds / 5 });
      many = await use(service, { tokens, seconds });
      bytes = service.residentBytes();
      await writeTo(service, tokens);
      await Promise.all(tokens.slice(0, offered).map((token) => offerTicket(service, token)));
      offeredMs = performance.now();
      await writeTo(service, tokens.slice(offered), offeredMs + writtenAfterMs);
    } finally {
      await service.kill();
    }
    await pause(offeredMs + handshakeMs - performance.now());
    const back = await comeBack(dataDir, tokens);
    const name = `${count.toLocaleString('en-US')} workspaces at random`;
    const reference = { name: `${fewWorkspaces} workspaces` };
    const logs = `after a kill, ${count.toLocaleString('en-US')} logs left`;
    return [
      row({
        name: 'opening a workspace: time of the event loop p50',
        value: percentile(opened.timesMs, 0.5),
        unit: 'ms',
        target: { below: 3 },
      }),
      row({
        name: 'opening a workspace: time of the event loop p99',
        value: percentile(opened.timesMs, 0.99),
        unit: 'ms',
      }),
      row({ name: 'opening a workspace: CPU, mean', value: opened.cpuMs, unit: 'ms', target: { below: 3 } }),
      row({ name: 'resident memory per open workspace', value: bytesEach / 1e6, unit: 'MB', target: { below: 0.7 } }),
      row({ name, value: many.perSecond, unit: '/s', target: { atLeast: 500 } }),
      row({ name: `${fewWorkspaces} workspaces at random`, value: few.perSecond, unit: '/s' }),
      row({
        name: `${name}: latency p50`,
        value: many.p50Ms,
        unit: 'ms',
        reference: { ...reference, value: few.p50Ms },
      }),
      row({
        name: `${name}: latency p99`,
        value: many.p99Ms,
        unit: 'ms',
        reference: { ...reference, value: few.p99Ms },
      }),
      row({ name: `${name}: CPU each`, value: many.cpuMs, unit: 'ms', reference: { ...reference, value: few.cpuMs } }),
      row({
        name: `${name}: event-loop delay p99`,
        value: many.loopP99Ms,
        unit: 'ms',
        target: { below: 50 },
      }),
      row({ name: `${name}: files open`, value: many.open, unit: '', target: { below: maxOpen + 1 } }),
      row({ name: `${name}: resident memory`, value: bytes / 1e6, unit: 'MB', target: { below: 400 } }),
      row({
        name: `first answer ${logs}`,
        value: back.firstMs,
        unit: 'ms',
        reference: { name: 'after a stop', value: cleanMs },
        target: { below: 1.5 },
      }),
      row({
        name: `first answer ${logs}: CPU`,
        value: back.firstCpuMs,
        unit: 'ms',
        reference: { name: 'after a stop', value: cleanCpuMs },
        target: { below: 1.5 },
      }),
      row({
        name: `${offered} offers that ran out meanwhile taken back after it`,
        value: back.offersMs,
        unit: 'ms',
        target: { below: 1000 },
      }),
      row({ name: 'every workspace looked into after it', value: back.lookedMs, unit: 'ms' }),
      row({ name: `until then, reads in ${healthy} workspaces: latency p99`, value: back.healthyP99Ms, unit: 'ms' }),
    ];
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/**
 * In this process: the duration of `engine.workspace()`, which opens on the loop. Milliseconds of each, and average CPU
 * time of the thread, which other work does not affect.
 */
async function timeOpenings(
  dataDir: string,
  workspaceIds: readonly string[],
): Promise<{ timesMs: number[]; cpuMs: number }> {
  const running = await serve({
    config: readConfig({ DATA_DIR: dataDir, PORT: '0', RATE_LIMITS: 'off' }),
    log: silentLog,
  });
  const { engine } = running.services;
  while (engine.figures.filesWaiting > 0) await pause(lookEveryMs);
  const timesMs: number[] = [];
  let cpuMs = 0;
  for (const workspaceId of workspaceIds) {
    const startedMs = performance.now();
    const before = process.threadCpuUsage();
    engine.workspace(workspaceId);
    const { user, system } = process.threadCpuUsage(before);
    cpuMs += (user + system) / 1000 / workspaceIds.length;
    timesMs.push(performance.now() - startedMs);
    await pause(0);
  }
  await running.stop();
  return { timesMs, cpuMs };
}

async function bytesPerOpen(service: ServiceProgram, tokens: readonly string[]): Promise<number> {
  const readAndWrite = async (few: readonly string[]): Promise<void> => {
    for (const token of few) {
      await write(service, headersOf(token));
      await requireGood(await fetch(`${service.url}/api/v1/conversations/queue`, { headers: headersOf(token) }));
    }
  };
  // Checking all of them takes memory, too.
  await untilFigures(service, isQuiet);
  await readAndWrite(tokens.slice(0, openBefore));
  const before = await leastResident(service, looks);
  await readAndWrite(tokens.slice(openBefore, openBefore + openings));
  return ((await leastResident(service, looks)) - before) / openings;
}

/** From the start of a process after a kill. */
async function comeBack(dataDir: string, tokens: readonly string[]): Promise<Return> {
  const startedMs = performance.now();
  const service = await startService(dataDir);
  try {
    await requireGood(await fetch(`${service.url}/api/v1/me`, { headers: headersOf(tokens.at(-1) ?? '') }));
    const answeredMs = performance.now();
    const firstCpuMs = service.cpuSeconds() * 1000;
    // There are no other writes.
    await untilFigures(service, (figures) => (figures.get('switchboard_commands_total') ?? 0) >= offered);
    const offersMs = performance.now() - answeredMs;
    let isLooking = true;
    const timesMs: number[] = [];
    const asking = (async () => {
      for (let index = 0; isLooking; index += 1) {
        const sentMs = performance.now();
        await requireGood(
          await fetch(`${service.url}/api/v1/conversations/queue`, {
            headers: headersOf(tokens[offered + (index % healthy)] ?? ''),
          }),
        );
        // Their own files are opened first.
        if (index >= healthy) timesMs.push(performance.now() - sentMs);
        await pause(askEveryMs);
      }
    })();
    await untilFigures(service, isQuiet);
    const lookedMs = performance.now() - answeredMs;
    isLooking = false;
    await asking;
    return { firstMs: answeredMs - startedMs, firstCpuMs, offersMs, lookedMs, healthyP99Ms: percentile(timesMs, 0.99) };
  } finally {
    await service.stop();
  }
}

/** Everything was checked after the start, and no file waits to be opened. */
const isQuiet = (figures: ReadonlyMap<string, number>): boolean => figures.get('switchboard_files_waiting') === 0;

async function untilFigures(
  service: ServiceProgram,
  isSo: (figures: ReadonlyMap<string, number>) => boolean,
): Promise<void> {
  while (!isSo(await service.metrics())) await pause(lookEveryMs);
}

/** By commands: hashing the passwords would take an hour. The tokens are the owners'. `env`: further settings. */
export async function makeWorkspaces(
  dataDir: string,
  count: number,
  env: Readonly<Record<string, string>> = {},
): Promise<{ tokens: string[]; workspaceIds: string[] }> {
  const running = await serve({
    config: readConfig({ DATA_DIR: dataDir, PORT: '0', RATE_LIMITS: 'off', ...env }),
    log: silentLog,
  });
  const { engine, directory, ids, accessTokens, clock } = running.services;
  const tokens: string[] = [];
  const workspaceIds: string[] = [];
  let next = 0;
  const make = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      const [workspaceId, agentId] = [ids.uuid(), ids.uuid()];
      const owner = {
        workspaceId,
        agentId,
        email: `owner${index}@example.com`,
        name: `Shop ${index}`,
        subdomain: `shop-${index}`,
      };
      await directory.withWorkspace(owner, {
        async make(subdomain) {
          await engine.create(workspaceId);
          return engine.execute(register, {
            workspaceId,
            caller: systemCaller,
            params: { agentId, email: owner.email, passwordHash: 'none', workspaceName: owner.name, subdomain },
          });
        },
        remove: () => engine.discard(workspaceId),
      });
      workspaceIds[index] = workspaceId;
      tokens[index] = await accessTokens.issue({
        agentId,
        workspaceId,
        tokenVersion: 0,
        expiresMs: clock.now() + dayMs,
      });
    }
  };
  await Promise.all(Array.from({ length: makers }, make));
  await running.stop();
  return { tokens, workspaceIds };
}

/** Each connection sends as soon as it is answered, each time to another workspace. */
async function use(
  service: ServiceProgram,
  { tokens, seconds }: { tokens: readonly string[]; seconds: number },
): Promise<Use> {
  const random = randomFrom(seed);
  const times: number[] = [];
  await service.metrics();
  const cpuBefore = service.cpuSeconds();
  const startedMs = performance.now();
  const endMs = startedMs + seconds * 1000;
  const ask = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const headers = headersOf(random.pick(tokens));
      const sentMs = performance.now();
      if (times.length % requestsPerWrite === 0) await write(service, headers);
      else await requireGood(await fetch(`${service.url}/api/v1/conversations/queue`, { headers }));
      times.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: connections }, ask));
  const perSecond = times.length / ((performance.now() - startedMs) / 1000);
  const cpuMs = ((service.cpuSeconds() - cpuBefore) * 1000) / times.length;
  const figures = await service.metrics();
  return {
    perSecond,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
    cpuMs,
    loopP99Ms: (figures.get('switchboard_event_loop_delay_p99_seconds') ?? Number.NaN) * 1000,
    open: figures.get('switchboard_open_workspaces') ?? Number.NaN,
  };
}

/** So that each has its own log when the service is killed. */
async function writeTo(
  service: ServiceProgram,
  tokens: readonly string[],
  untilMs = Number.POSITIVE_INFINITY,
): Promise<void> {
  const left = [...tokens];
  const work = async (): Promise<void> => {
    for (let token = left.pop(); token !== undefined && performance.now() < untilMs; token = left.pop())
      await write(service, headersOf(token));
  };
  await Promise.all(Array.from({ length: connections }, work));
}

async function write(service: ServiceProgram, headers: Record<string, string>): Promise<void> {
  await post(service, '/contacts', { headers, body: { name: 'Somebody' } });
}

/** A ticket that the owner offers to itself. */
async function offerTicket(service: ServiceProgram, token: string): Promise<void> {
  const headers = headersOf(token);
  const { agent } = JSON.parse(await requireGood(await fetch(`${service.url}/api/v1/me`, { headers }))) as {
    agent: { id: string };
  };
  const { id, version } = JSON.parse(
    await post(service, '/tickets', {
      headers,
      body: { customerEmail: 'kim@customer.example', subject: 'Your order', body: 'It is on its way.' },
    }),
  ) as { id: string; version: number };
  await post(service, `/conversations/${id}/assign-to-agent`, {
    headers,
    body: { agentId: agent.id, expectedVersion: version },
  });
}

async function post(
  service: ServiceProgram,
  path: string,
  { headers, body }: { headers: Record<string, string>; body: object },
): Promise<string> {
  return requireGood(
    await fetch(`${service.url}/api/v1${path}`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    }),
  );
}

/** Returns the body. */
async function requireGood(response: Response): Promise<string> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url} was answered with ${response.status}: ${text}`);
  return text;
}

function headersOf(token: string): Record<string, string> {
  return { Accept: 'application/json', Authorization: `Bearer ${token}` };
}

await runAlone(import.meta.url, run);

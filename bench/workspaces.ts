// Thousands of workspaces in one process, far more than may be open at once: requests to a random one each time, held against the same
// requests to as many as can be open; what that takes in memory and of the event loop; and how soon the service answers again after
// it was killed, with the log of every workspace left behind, beside a start after a stop.

import { rmSync } from 'node:fs';
import { systemCaller } from '../engine/runtime/command.ts';
import { silentLog } from '../engine/runtime/log.ts';
import { register } from '../engine/joining.ts';
import { readConfig } from '../http/config.ts';
import { serve } from '../http/serve.ts';
import { randomFrom } from '../test/support/seeded.ts';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import { makeDataDir, type ServiceProgram, startService } from './process.ts';

const connections = 32;
/** Fewer than may be open at once. */
const fewWorkspaces = 100;
const maxOpen = 200;
const seed = 20_261_123;
const dayMs = 24 * 3600_000;
/** One of so many requests writes. */
const requestsPerWrite = 3;

interface Use {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMs: number;
  readonly loopP99Ms: number;
  readonly open: number;
}

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const count = quick ? 500 : 2000;
  const seconds = quick ? 5 : 20;
  const dataDir = makeDataDir();
  try {
    const tokens = await makeWorkspaces(dataDir, count);
    const startedAt = performance.now();
    const service = await startService(dataDir);
    await requireGood(await fetch(`${service.url}/api/v1/me`, { headers: headersOf(tokens.at(-1) ?? '') }));
    const cleanMs = performance.now() - startedAt;
    let few: Use;
    let many: Use;
    let bytes: number;
    try {
      const used = tokens.slice(0, fewWorkspaces);
      await use(service, { tokens: used, seconds: seconds / 5 });
      few = await use(service, { tokens: used, seconds });
      await use(service, { tokens, seconds: seconds / 5 });
      many = await use(service, { tokens, seconds });
      bytes = service.residentBytes();
      await writeToAll(service, tokens);
    } finally {
      await service.kill();
    }
    const killedAt = performance.now();
    const again = await startService(dataDir);
    try {
      await requireGood(await fetch(`${again.url}/api/v1/me`, { headers: headersOf(tokens.at(-1) ?? '') }));
      const firstMs = performance.now() - killedAt;
      const name = `${count.toLocaleString('en-US')} workspaces at random`;
      return [
        row({ name, value: many.perSecond, unit: '/s', reference: { name: `${fewWorkspaces} workspaces`, value: few.perSecond } }),
        row({ name: `${name}: latency p50`, value: many.p50Ms, unit: 'ms', reference: { name: `${fewWorkspaces} workspaces`, value: few.p50Ms } }),
        row({ name: `${name}: latency p99`, value: many.p99Ms, unit: 'ms', reference: { name: `${fewWorkspaces} workspaces`, value: few.p99Ms } }),
        row({ name: `${name}: CPU each`, value: many.cpuMs, unit: 'ms', reference: { name: `${fewWorkspaces} workspaces`, value: few.cpuMs } }),
        row({ name: `${name}: event-loop delay p99`, value: many.loopP99Ms, unit: 'ms', reference: { name: `${fewWorkspaces} workspaces`, value: few.loopP99Ms } }),
        row({ name: `${name}: files open`, value: many.open, unit: '', target: { below: maxOpen + 1 } }),
        row({ name: `${name}: resident memory`, value: bytes / 1e6, unit: 'MB', target: { below: 400 } }),
        row({ name: `first answer after a kill, ${count.toLocaleString('en-US')} logs left`, value: firstMs, unit: 'ms', reference: { name: 'after a stop', value: cleanMs }, target: { below: 1.5 } }),
      ];
    } finally {
      await again.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** By commands: their passwords would take an hour. Returns a token of each owner. */
async function makeWorkspaces(dataDir: string, count: number): Promise<string[]> {
  const running = await serve({ config: readConfig({ DATA_DIR: dataDir, PORT: '0', RATE_LIMITS: 'off' }), log: silentLog });
  const { engine, directory, ids, accessTokens, clock } = running.services;
  const tokens: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const [workspaceId, agentId] = [ids.uuid(), ids.uuid()];
    const owner = { workspaceId, agentId, email: `owner${index}@example.com`, name: `Shop ${index}`, subdomain: `shop-${index}` };
    await directory.withWorkspace(owner, {
      async make(subdomain) {
        await engine.create(workspaceId);
        return engine.execute(register, { workspaceId, caller: systemCaller, params: { agentId, email: owner.email, passwordHash: 'none', workspaceName: owner.name, subdomain } });
      },
      remove: () => engine.discard(workspaceId),
    });
    tokens.push(await accessTokens.issue({ agentId, workspaceId, tokenVersion: 0, expiresMs: clock.now() + dayMs }));
  }
  await running.stop();
  return tokens;
}

/** Each connection asks as soon as it was answered, each time in another workspace. */
async function use(service: ServiceProgram, { tokens, seconds }: { tokens: readonly string[]; seconds: number }): Promise<Use> {
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

/** So that each has a log of its own when the service is killed. */
async function writeToAll(service: ServiceProgram, tokens: readonly string[]): Promise<void> {
  const left = [...tokens];
  const work = async (): Promise<void> => {
    for (let token = left.pop(); token !== undefined; token = left.pop()) await write(service, headersOf(token));
  };
  await Promise.all(Array.from({ length: connections }, work));
}

async function write(service: ServiceProgram, headers: Record<string, string>): Promise<void> {
  await requireGood(await fetch(`${service.url}/api/v1/contacts`, { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify({ name: 'Somebody' }) }));
}

async function requireGood(response: Response): Promise<void> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url} was answered with ${response.status}: ${text}`);
}

function headersOf(token: string): Record<string, string> {
  return { Accept: 'application/json', Authorization: `Bearer ${token}` };
}

await runAlone(import.meta.url, run);

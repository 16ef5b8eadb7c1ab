// A million messages through the public API, as a busy shop brings them in over years: customers open chats, agents
// answer, chats are solved. Compares memory and latency at the end with those after the first tenth, in which caches
// fill and code is compiled; then times an operator's commands on the folder that this left.

import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../store/database.ts';
import { randomFrom } from '../test/support/seeded.ts';
import { Api } from './api.ts';
import { runCommand } from './command.ts';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import { HttpConnection } from './http-connection.ts';
import { makeDataDir, type Program, startService } from './process.ts';
import { makeTenant, type Tenant, workspaceIdOf } from './scenario.ts';
import { waitForIndex } from './search-million.ts';
import { createSpeech } from './search-rows.ts';

const fullMessages = 1_000_000;
const fullConnections = 64;
const messagesEach = 20;
const tenths = 10;
/** Readings of the memory in each tenth, evenly by messages. */
const looksEach = 20;
const seed = 20_261_128;
/** The targets of this bench, for the last tenth beside the second. */
const memoryTarget = { below: 1.1 };
const latencyTarget = { below: 1.5 };
/** Of a message with its indexes and events. */
const bytesTarget = { below: 1060 };

export interface Plan {
  /** A multiple of ten, at least 20 for each connection. */
  readonly messages: number;
  readonly connections: number;
}

export function run({ quick }: BenchOptions): Promise<Row[]> {
  return bringIn({ messages: quick ? fullMessages / 20 : fullMessages, connections: fullConnections });
}

/** The bench, of any size. */
export async function bringIn(plan: Plan): Promise<Row[]> {
  const folder = makeDataDir();
  const dataDir = join(folder, 'data');
  try {
    const { workspaceId, rows } = await serveAll(plan, dataDir);
    const path = join(dataDir, 'workspaces', `${workspaceId}.db`);
    const copy = join(folder, 'copy');
    const restored = join(folder, 'restored');
    const verifyMs = await runCommand(['verify'], dataDir);
    const backupMs = await runCommand(['backup', copy], dataDir);
    const restoreMs = await runCommand(['restore', copy], restored);
    requireMessages(join(restored, 'workspaces', `${workspaceId}.db`), plan.messages);
    const about = aboutOf(plan);
    return [
      ...rows,
      row({ name: `${about}: verify`, value: verifyMs / 1000, unit: 's' }),
      row({ name: `${about}: backup`, value: backupMs / 1000, unit: 's' }),
      row({ name: `${about}: restore`, value: restoreMs / 1000, unit: 's' }),
      row({
        name: `${about}: workspace file, each`,
        value: statSync(path).size / plan.messages,
        unit: 'B',
        target: bytesTarget,
      }),
      row({
        name: `${about}: search index, each`,
        value: statSync(join(dataDir, 'index', `${workspaceId}.db`)).size / plan.messages,
        unit: 'B',
      }),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function serveAll(plan: Plan, dataDir: string): Promise<{ workspaceId: string; rows: Row[] }> {
  const service = await startService(dataDir);
  try {
    const api = new Api(service);
    const tenant = await makeTenant(api);
    const workspaceId = await workspaceIdOf(api, tenant.owner);
    const startedMs = performance.now();
    const history = await sendAll(service, tenant, plan);
    const seconds = (performance.now() - startedMs) / 1000;
    const { allMs } = await waitForIndex(api, tenant.owner);
    const rows = rowsOf(plan, { ...history, seconds });
    rows.push(row({ name: `${aboutOf(plan)}: search index complete, after the last`, value: allMs / 1000, unit: 's' }));
    return { workspaceId, rows };
  } finally {
    await service.stop();
  }
}

interface History {
  /** The milliseconds of each send, by tenth of all messages. */
  readonly timesMs: readonly number[][];
  /** Resident memory, by tenth. */
  readonly residentBytes: readonly number[][];
  /** CPU time of the service at the beginning of each tenth, and at the end. */
  readonly cpuSeconds: readonly number[];
}

/** Sends until all messages are answered: each connection one chat after the other, one request at a time. */
async function sendAll(service: Program, tenant: Tenant, { messages, connections }: Plan): Promise<History> {
  const { text } = createSpeech(randomFrom(seed));
  const cpuSeconds = [service.cpuSeconds()];
  const history = { timesMs: emptyTenths(), residentBytes: emptyTenths(), cpuSeconds };
  const lookEvery = Math.max(1, Math.floor(messages / tenths / looksEach));
  let asked = 0;
  let answered = 0;
  const send = async (connection: HttpConnection, to: { path: string; token: string }): Promise<string> => {
    const sentMs = performance.now();
    const answer = await connection.post({ ...to, body: JSON.stringify({ body: text() }) });
    const tenth = Math.floor((answered * tenths) / messages);
    history.timesMs[tenth]?.push(performance.now() - sentMs);
    if (answered % lookEvery === 0) history.residentBytes[tenth]?.push(service.residentBytes());
    answered += 1;
    if (answered % (messages / tenths) === 0) cpuSeconds.push(service.cpuSeconds());
    return answer;
  };
  const chatOn = async (connection: HttpConnection, length: number): Promise<void> => {
    const { visitorToken } = JSON.parse(
      await connection.post({
        path: '/api/v1/widget/sessions',
        body: JSON.stringify({ siteId: tenant.embedId, url: 'https://shop.example/' }),
      }),
    ) as { visitorToken: string };
    const opened = await send(connection, { path: '/api/v1/widget/conversations', token: visitorToken });
    const { conversation } = JSON.parse(opened) as { conversation: { id: string } };
    const agents = { path: `/api/v1/conversations/${conversation.id}`, token: tenant.owner.token };
    const visitors = { path: `/api/v1/widget/conversations/${conversation.id}/messages`, token: visitorToken };
    for (let message = 1; message < length; message += 1)
      await send(connection, message % 2 === 0 ? visitors : { ...agents, path: `${agents.path}/messages` });
    await connection.post({
      ...agents,
      path: `${agents.path}/status`,
      body: JSON.stringify({ status: 'solved' }),
    });
  };
  const work = async (): Promise<void> => {
    const connection = await HttpConnection.open(service.url);
    try {
      while (asked < messages) {
        const length = Math.min(messagesEach, messages - asked);
        asked += length;
        await chatOn(connection, length);
      }
    } finally {
      connection.close();
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  return history;
}

function rowsOf(
  plan: Plan,
  { timesMs, residentBytes, cpuSeconds, seconds }: History & { readonly seconds: number },
): Row[] {
  const about = aboutOf(plan);
  const [begin, end] = [1, tenths - 1];
  const compared = (
    what: string,
    figures: { unit: string; valueOf(tenth: number): number; target?: { below: number } },
  ): Row =>
    row({
      name: `${about}: ${what} in the last tenth`,
      value: figures.valueOf(end),
      unit: figures.unit,
      reference: { name: 'in the second', value: figures.valueOf(begin) },
      ...(figures.target === undefined ? {} : { target: figures.target }),
    });
  const cpuOf = (tenth: number): number => (cpuSeconds[tenth + 1] ?? Number.NaN) - (cpuSeconds[tenth] ?? Number.NaN);
  const latency = (share: number) => (tenth: number) => percentile(timesMs[tenth] ?? [], share);
  return [
    row({ name: `${about}: through the API`, value: plan.messages / seconds, unit: '/s' }),
    compared('send p50', { unit: 'ms', valueOf: latency(0.5) }),
    compared('send p99', { unit: 'ms', valueOf: latency(0.99), target: latencyTarget }),
    compared('CPU for each', { unit: 'µs', valueOf: (tenth) => (cpuOf(tenth) / (plan.messages / tenths)) * 1e6 }),
    compared('resident memory', {
      unit: 'MB',
      valueOf: (tenth) => percentile(residentBytes[tenth] ?? [], 0.5) / 1e6,
      target: memoryTarget,
    }),
    row({ name: `${about}: most resident memory`, value: Math.max(...residentBytes.flat()) / 1e6, unit: 'MB' }),
  ];
}

/** Fails unless this workspace file has exactly so many messages of agents and customers. */
export function requireMessages(path: string, messages: number): void {
  const db = Database.openReader(path);
  try {
    const found = db.get<{ count: number }>(
      "SELECT count(*) AS count FROM message WHERE senderType IN ('agent', 'visitor')",
    )?.count;
    if (found !== messages) throw new Error(`${path} has ${found} of ${messages} messages`);
  } finally {
    db.close();
  }
}

function aboutOf({ messages }: Plan): string {
  return `${messages.toLocaleString('en-US')} messages`;
}

function emptyTenths(): number[][] {
  return Array.from({ length: tenths }, () => []);
}

await runAlone(import.meta.url, run);

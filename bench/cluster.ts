// A cluster of three nodes on three NATS servers, all on this machine, beside one node alone with the same settings:
// sends, the cost of a request that comes in at another node than the owner's, the pause of a planned hand-over, what clients
// notice of the stop of a node with many workspaces, and the time from the kill of a node, alone and with a NATS server, to
// the first acknowledged write of each of its workspaces.
// Without a nats-server on this machine, the bench says so and measures nothing.

import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type ClusterSize,
  type ClusterStatus,
  ServiceCluster,
  secrets,
} from '../test/cluster/processes/service-cluster.ts';
import type { ServiceNode } from '../test/cluster/processes/service-node.ts';
import { Ends } from '../test/support/ends.ts';
import { type NatsServer, skip } from '../test/support/nats.ts';
import { type Random, randomFrom } from '../test/support/seeded.ts';
import { Api } from './api.ts';
import { Writer } from './cluster-writers.ts';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import { HttpConnection, type Request } from './http-connection.ts';
import { type HttpFigures, loadByHttp } from './http-load.ts';
import { messageText } from './messages.ts';
import { makeDataDir } from './process.ts';
import { makeTenant, startChats, workspaceIdOf } from './scenario.ts';
import { makeWorkspaces } from './workspaces.ts';

const alone: ClusterSize = { nodes: 1, nats: 0 };
const whole: ClusterSize = { nodes: 3, nats: 3 };
const connections = 64;
const body = JSON.stringify({ body: messageText });
const contact = JSON.stringify({ name: 'Somebody' });
/** Client, three nodes and three NATS servers without waiting for one another. */
const coresForThree = 8;
const seed = 20_261_128;
const pollMs = 20;
const statusEveryMs = 2000;
/** A thousand workspaces that were brought in take their first owners. */
const patienceMs = 300_000;
/**
 * Of each workspace's client while the nodes are well, for each workspace that there is: as much is asked of few as of many,
 * 62 writes a second, of 1,000 one in 16 s each. Two cores that hold three nodes, three servers and the client have little
 * left at 250, and in an hour in which they are slow at 125.
 */
const thinkMs = 16;
/** While a node stops, a client of its workspaces that rests is hurried this often: 50 writes a second more. */
const hurryEveryMs = 20;
/** How often whoever sends clients to nodes asks whether they are ready. */
const probeEveryMs = 250;

/** A workspace with a conversation for each connection. */
export interface Desk {
  readonly workspaceId: string;
  readonly token: string;
  readonly conversationIds: readonly string[];
}

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  if (skip !== false) {
    process.stderr.write(`cluster: skipped, ${skip}\n`);
    return [];
  }
  const together = await withCluster(whole, async (cluster) => {
    const [small] = await spreadDesks(cluster, 1);
    const places = await spreadDesks(cluster, cluster.nodes.length);
    const [first] = places;
    if (small === undefined || first === undefined) throw new Error('there is no node');
    const hops = await hopCosts(cluster.nodes, small, quick ? 200 : 2000);
    const handOver = await handOvers(cluster, small, { what: 'of a small workspace', count: quick ? 5 : 60 });
    const turns = quick ? { turns: 1, seconds: 2 } : { turns: 4, seconds: 5 };
    const { single, one, three } = await sendsInTurns(places, turns);
    const reference = { name: 'one node alone', value: single.perSecond };
    const what = 'of the workspace with what was sent';
    const handOverOfLarge = await handOvers(cluster, first, { what, count: quick ? 5 : 60 });
    const name = `sends, ${connections} connections`;
    return [
      row({
        name: `${name}, one node of a cluster`,
        value: one.perSecond,
        unit: '/s',
        reference,
        target: { atLeast: 0.5 },
      }),
      row({
        name: `${name}, one node of a cluster: latency p50`,
        value: one.p50Ms,
        unit: 'ms',
        reference: { ...reference, value: single.p50Ms },
      }),
      row({
        name: `${name}, one node of a cluster: latency p99`,
        value: one.p99Ms,
        unit: 'ms',
        reference: { ...reference, value: single.p99Ms },
      }),
      row({
        name: `sends, three nodes with a workspace each, ${connections} connections each`,
        value: three.perSecond,
        unit: '/s',
        reference,
        ...(availableParallelism() < coresForThree ? {} : { target: { atLeast: 2 } as const }),
      }),
      ...hops,
      ...handOver,
      ...handOverOfLarge,
    ];
  });
  return [...together, ...(await ends(quick ? 50 : 1000))];
}

/**
 * One node alone, one node of the cluster, and three nodes of it at once, in alternating turns, so that all meet the same
 * machine; each sends into its own workspaces, and the others wait. The mean of the turns.
 */
async function sendsInTurns(
  places: readonly DeskAt[],
  { turns, seconds }: { readonly turns: number; readonly seconds: number },
): Promise<{ single: HttpFigures; one: HttpFigures; three: HttpFigures }> {
  return withCluster(alone, async ({ nodes: [node] }) => {
    const kinds = { single: [{ node, desk: await makeDesk(node) }], one: places.slice(0, 1), three: places };
    const figures = { single: [] as HttpFigures[], one: [] as HttpFigures[], three: [] as HttpFigures[] };
    for (let turn = 0; turn < turns; turn += 1)
      for (const kind of ['single', 'one', 'three'] as const) figures[kind].push(await sendsTo(kinds[kind], seconds));
    return { single: meanOf(figures.single), one: meanOf(figures.one), three: meanOf(figures.three) };
  });
}

function meanOf(figures: readonly HttpFigures[]): HttpFigures {
  const mean = (of: (one: HttpFigures) => number): number =>
    figures.reduce((sum, one) => sum + of(one), 0) / figures.length;
  return { perSecond: mean((one) => one.perSecond), p50Ms: mean((one) => one.p50Ms), p99Ms: mean((one) => one.p99Ms) };
}

/** `imported`: the data folder of one node, brought in before the nodes start. */
async function withCluster<Result>(
  size: ClusterSize & { readonly imported?: string },
  use: (cluster: ServiceCluster) => Promise<Result>,
): Promise<Result> {
  const ends = new Ends();
  const folder = makeDataDir();
  ends.teardown(() => rmSync(folder, { recursive: true, force: true }));
  try {
    const env = { RATE_LIMITS: 'off', LOG_LEVEL: 'error' };
    return await use(await ServiceCluster.start(ends, { ...size, folder, env }));
  } finally {
    await ends.close();
  }
}

export async function makeDesk(node: ServiceNode | undefined): Promise<Desk> {
  if (node === undefined) throw new Error('there is no node');
  const api = new Api(node);
  const { owner, embedId } = await makeTenant(api);
  return {
    workspaceId: await workspaceIdOf(api, owner),
    token: owner.token,
    conversationIds: await startChats(api, embedId, connections),
  };
}

/** Workspaces that were brought in, each with the token of its owner. */
interface Made {
  readonly tokens: readonly string[];
  readonly workspaceIds: readonly string[];
}

interface DeskAt {
  readonly node: ServiceNode | undefined;
  readonly desk: Desk;
}

/** A new workspace at each of the first nodes. */
async function spreadDesks(cluster: ServiceCluster, count: number): Promise<DeskAt[]> {
  const places: DeskAt[] = [];
  for (const node of cluster.nodes.slice(0, count)) {
    const desk = await makeDesk(node);
    await moveTo(cluster, desk.workspaceId, node.name);
    places.push({ node, desk });
  }
  return places;
}

async function moveTo(cluster: ServiceCluster, workspaceId: string, node: string): Promise<void> {
  const untilMs = performance.now() + patienceMs;
  if ((await ownerOf(cluster, workspaceId)) !== node) await cluster.operate(['move', workspaceId, node]);
  while ((await ownerOf(cluster, workspaceId)) !== node) {
    if (performance.now() > untilMs) throw new Error(`${workspaceId} did not move to ${node}`);
    await pause(pollMs);
  }
}

async function ownerOf(cluster: ServiceCluster, workspaceId: string): Promise<string | undefined> {
  const { workspaces } = await cluster.status();
  return workspaces.find((one) => one.workspaceId === workspaceId)?.owner;
}

/** All at once, each workspace at its node: the sum, and the worst of the latencies. */
export async function sendsTo(places: readonly DeskAt[], seconds: number): Promise<HttpFigures> {
  const loads = (duration: number): Promise<HttpFigures[]> =>
    Promise.all(
      places.map(({ node, desk: { token, conversationIds } }) =>
        loadByHttp({
          url: node?.url ?? '',
          targets: conversationIds.map((id) => ({ path: `/api/v1/conversations/${id}/messages`, token })),
          body,
          seconds: duration,
        }),
      ),
    );
  await loads(Math.max(1, seconds / 4));
  const figures = await loads(seconds);
  return {
    perSecond: figures.reduce((sum, { perSecond }) => sum + perSecond, 0),
    p50Ms: Math.max(...figures.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...figures.map(({ p99Ms }) => p99Ms)),
  };
}

/** In alternating turns, so that both meet the same machine. */
export async function hopCosts(nodes: readonly ServiceNode[], { node, desk }: DeskAt, count: number): Promise<Row[]> {
  const other = nodes.find((one) => one !== node) ?? node;
  if (node === undefined || other === undefined) throw new Error('there is no node');
  const [id = ''] = desk.conversationIds;
  const read = { path: '/api/v1/me', token: desk.token };
  const send: Request = { path: `/api/v1/conversations/${id}/messages`, token: desk.token, body };
  const owner = await HttpConnection.open(node.url);
  const hop = await HttpConnection.open(other.url);
  const rows: Row[] = [];
  for (const [name, ask] of [
    ['a read', (by: HttpConnection) => by.get(read)],
    ['a send', (by: HttpConnection) => by.post(send)],
  ] as const) {
    const timesMs = { owner: [] as number[], hop: [] as number[] };
    for (let turn = -count / 10; turn < count; turn += 1)
      for (const [at, connection] of [
        ['owner', owner],
        ['hop', hop],
      ] as const) {
        const sentMs = performance.now();
        await ask(connection);
        // The first ones warm up.
        if (turn >= 0) timesMs[at].push(performance.now() - sentMs);
      }
    const ownerMs = percentile(timesMs.owner, 0.5);
    const hopMs = percentile(timesMs.hop, 0.5);
    rows.push(
      row({
        name: `${name} at another node than the owner's: p50`,
        value: hopMs,
        unit: 'ms',
        reference: { name: 'at the owner', value: ownerMs },
      }),
      row({ name: `${name} at another node than the owner's: one hop`, value: hopMs - ownerMs, unit: 'ms' }),
    );
  }
  owner.close();
  hop.close();
  return rows;
}

/**
 * A workspace that moves, as when its node stops, to the node that keeps a copy of it, and one client at each node that
 * sends without a pause.
 */
async function handOvers(
  cluster: ServiceCluster,
  { desk }: DeskAt,
  { what, count }: { readonly what: string; readonly count: number },
): Promise<Row[]> {
  return pausesOf({ nodes: cluster.nodes, desk, count, random: randomFrom(seed), what }, async () => {
    const next = await copyOf(cluster, desk.workspaceId);
    return () => moveTo(cluster, desk.workspaceId, next);
  });
}

/** The node that keeps a copy of the workspace, once there is one. */
async function copyOf(cluster: ServiceCluster, workspaceId: string): Promise<string> {
  const untilMs = performance.now() + patienceMs;
  for (;;) {
    const { workspaces } = await cluster.status();
    const node = workspaces.find((one) => one.workspaceId === workspaceId)?.copies[0]?.node;
    if (node !== undefined) return node;
    if (performance.now() > untilMs) throw new Error(`no node has a copy of ${workspaceId}`);
    await pause(pollMs);
  }
}

/** What clients notice of something that happens to a workspace, so many times. `prepare` resolves to what happens. */
export async function pausesOf(
  {
    nodes,
    desk,
    count,
    random,
    what,
  }: { nodes: readonly ServiceNode[]; desk: Desk; count: number; random: Random; what: string },
  prepare: () => Promise<() => Promise<void>>,
): Promise<Row[]> {
  const writers = nodes.map(
    ({ url }, index) =>
      new Writer({
        urls: () => [url],
        token: desk.token,
        path: `/api/v1/conversations/${desk.conversationIds[index]}/messages`,
        body,
        thinkMs: 0,
        random,
      }),
  );
  const pausesMs: number[] = [];
  let failures = 0;
  for (let turn = 0; turn < count; turn += 1) {
    const happen = await prepare();
    for (const writer of writers) writer.forget();
    await happen();
    // Also the writes that it held up.
    const before = writers.map(({ acknowledged }) => acknowledged);
    await until('some clients wait', () =>
      writers.every(({ acknowledged }, index) => acknowledged > (before[index] ?? 0)),
    );
    for (const writer of writers) {
      pausesMs.push(writer.longestMs);
      failures += writer.failures;
    }
  }
  await Promise.all(writers.map((writer) => writer.end()));
  const name = `planned hand-over ${what}`;
  return [
    row({ name: `${name}: pause p50`, value: percentile(pausesMs, 0.5), unit: 'ms' }),
    row({
      name: `${name}: pause p99`,
      value: percentile(pausesMs, 0.99),
      unit: 'ms',
      target: { below: 250 },
    }),
    row({
      name: `${name}, ${count} times: errors that clients saw`,
      value: failures,
      unit: '',
      target: { below: 1 },
    }),
  ];
}

/**
 * So many workspaces, brought in as one node's data folder, with a client each. One node is stopped; once it is back, another
 * one is killed; once that is back, the third one and a NATS server with it.
 */
async function ends(count: number): Promise<Row[]> {
  const folder = makeDataDir();
  try {
    const made = await makeWorkspaces(join(folder, 'data'), count, {
      JWT_SECRET: secrets.JWT_SECRET,
      SECRETS_KEY: secrets.SECRETS_KEY,
      STORAGE_PROVIDER: 'none',
    });
    return await withCluster({ ...whole, imported: join(folder, 'data') }, async (cluster) => {
      const [first, second, third] = cluster.nodes;
      const [server] = cluster.nats;
      if (first === undefined || second === undefined || third === undefined || server === undefined)
        throw new Error('there are too few');
      const stop = await stopOf(cluster, made, third);
      third.begin();
      await third.ready();
      const ofNode = await firstWritesAfterDeath(cluster, made, first);
      first.begin();
      await first.ready();
      const ofBoth = await firstWritesAfterDeath(cluster, made, second, server);
      return [
        ...stopRows(`SIGTERM to a node, ${many(count)} workspaces`, stop),
        ...deathRows(`kill -9 of a node, ${many(count)} workspaces`, ofNode, 5000),
        ...deathRows(`kill -9 of a node and a NATS server, ${many(count)} workspaces`, ofBoth, 10_000),
      ];
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function many(count: number): string {
  return count.toLocaleString('en-US');
}

function deathRows(what: string, timesMs: number[], below: number): Row[] {
  const name = `${what}, ${timesMs.length} of them its own: first acknowledged write`;
  return [
    row({ name: `${name}, p50`, value: percentile(timesMs, 0.5), unit: 'ms' }),
    row({ name: `${name}, p99`, value: percentile(timesMs, 0.99), unit: 'ms', target: { below } }),
    row({ name: `${name}, max`, value: Math.max(...timesMs), unit: 'ms' }),
  ];
}

function stopRows(what: string, { tookMs, longestMs, errors }: WritesDuring): Row[] {
  const name = `${what}, ${longestMs.length} of them its own`;
  return [
    row({ name: `${name}: until it has ended`, value: tookMs, unit: 'ms' }),
    row({ name: `${name}: longest write of each, p50`, value: percentile(longestMs, 0.5), unit: 'ms' }),
    row({ name: `${name}: longest write of each, p99`, value: percentile(longestMs, 0.99), unit: 'ms' }),
    row({ name: `${name}: longest write of each, max`, value: Math.max(...longestMs), unit: 'ms' }),
    row({ name: `${name}: errors that clients saw`, value: errors, unit: '', target: { below: 1 } }),
  ];
}

/** What the clients notice of the stop of `node`; they are sent to it until it says that it is not ready. */
async function stopOf(cluster: ServiceCluster, made: Made, node: ServiceNode): Promise<WritesDuring> {
  let isReady = true;
  const over = new AbortController();
  const probe = async (): Promise<void> => {
    while (!over.signal.aborted) {
      isReady = await node.isReady();
      await pause(probeEveryMs, undefined, { signal: over.signal }).catch(() => undefined);
    }
  };
  const probing = probe();
  try {
    return await writesDuring({
      tokens: made.tokens,
      urls: () => cluster.nodes.filter((one) => one !== node || isReady).map(({ url }) => url),
      measured: () => ownedBy(cluster, made, node),
      async happen() {
        const { code } = await node.stop();
        if (code !== 0) throw new Error(`${node.name} ended with ${code}`);
      },
    });
  } finally {
    over.abort();
    await probing;
  }
}

/** Of the workspaces of `victim`, which dies, and `server` with it if there is one. */
function firstWritesAfterDeath(
  cluster: ServiceCluster,
  made: Made,
  victim: ServiceNode,
  server?: NatsServer,
): Promise<number[]> {
  const others = cluster.nodes.filter((node) => node !== victim);
  return firstWritesAfter({
    tokens: made.tokens,
    measured: () => ownedBy(cluster, made, victim),
    urls: () => (victim.isUp ? [victim, ...others] : others).map(({ url }) => url),
    async fault() {
      await Promise.all([victim.kill({ losesData: false }), server?.kill()]);
    },
  });
}

/** Which of the workspaces are the node's, once the cluster has come to rest. */
async function ownedBy(
  cluster: ServiceCluster,
  { workspaceIds }: Made,
  { name }: ServiceNode,
): Promise<(index: number) => boolean> {
  const workspaces = await atRest(cluster);
  const owners = new Map(workspaces.map(({ workspaceId, owner }) => [workspaceId, owner]));
  return (index) => owners.get(workspaceIds[index] ?? '') === name;
}

/** Every workspace, once each has a copy at another node than its owner and none moves: a cluster that has run for a while. */
async function atRest(cluster: ServiceCluster): Promise<ClusterStatus['workspaces']> {
  const untilMs = performance.now() + patienceMs;
  let before = '';
  for (;;) {
    const { nodes, workspaces } = await cluster.status();
    const owners = workspaces.map(({ owner, epoch }) => `${owner} ${epoch}`).join();
    const isShared = nodes.length === cluster.nodes.length && nodes.every((node) => node.workspaces > 0);
    if (isShared && owners === before && workspaces.every(({ copies }) => copies.length > 0)) return workspaces;
    before = owners;
    if (performance.now() > untilMs) throw new Error('some workspaces move, or have no copy');
    await pause(statusEveryMs);
  }
}

interface Measured {
  readonly tokens: readonly string[];
  urls(): readonly string[];
  /** Asked once every workspace has been written to. */
  measured(): Promise<(index: number) => boolean>;
}

/** A client for each workspace, that writes; `use` gets all, and those that are measured, from now on. */
async function withWriters<Result>(
  { tokens, urls, measured }: Measured,
  use: (writers: readonly Writer[], measured: readonly Writer[]) => Promise<Result>,
): Promise<Result> {
  const random = randomFrom(seed);
  const path = '/api/v1/contacts';
  const writers = tokens.map(
    (token) => new Writer({ urls, token, path, body: contact, thinkMs: thinkMs * tokens.length, random }),
  );
  try {
    await until('some workspaces take no write', () => writers.every(({ acknowledged }) => acknowledged > 0));
    const isMeasured = await measured();
    for (const writer of writers) writer.forget();
    return await use(
      writers,
      writers.filter((_, index) => isMeasured(index)),
    );
  } finally {
    await Promise.all(writers.map((writer) => writer.end()));
  }
}

export interface WritesDuring {
  readonly tookMs: number;
  /** Of each measured workspace, from the first attempt of a write to its acknowledgement. */
  readonly longestMs: number[];
  /** Of all workspaces. */
  readonly errors: number;
}

/** What clients notice of what happens, while those of the measured workspaces write more often, in turns. */
export function writesDuring(options: Measured & { happen(): Promise<void> }): Promise<WritesDuring> {
  return withWriters(options, async (writers, measured) => {
    const random = randomFrom(seed);
    let isOver = false;
    const hurry = async (): Promise<void> => {
      for (; !isOver; await pause(hurryEveryMs)) measured[random.below(measured.length)]?.hurry();
    };
    const hurrying = hurry();
    try {
      const begunMs = performance.now();
      await options.happen();
      const tookMs = performance.now() - begunMs;
      // Also the writes that it held up.
      const before = measured.map(({ acknowledged }) => acknowledged);
      await until('some workspaces take no write', () =>
        measured.every(({ acknowledged }, index) => acknowledged > (before[index] ?? 0)),
      );
      return {
        tookMs,
        longestMs: measured.map(({ longestMs }) => longestMs),
        errors: writers.reduce((sum, { failures }) => sum + failures, 0),
      };
    } finally {
      isOver = true;
      await hurrying;
    }
  });
}

/**
 * Milliseconds from the fault to the first acknowledged write that left after it, of each measured workspace, whose client
 * writes at once.
 */
export function firstWritesAfter(options: Measured & { fault(): Promise<void> }): Promise<number[]> {
  return withWriters(options, async (_, measured) => {
    const faultMs = performance.now();
    await options.fault();
    for (const writer of measured) writer.hurry();
    await until('some workspaces take no write', () => measured.every(({ first }) => first !== undefined));
    return measured.map(({ first }) => (first?.acknowledgedMs ?? Number.NaN) - faultMs);
  });
}

/** Rejects with `problem` after a while. */
async function until(problem: string, isSo: () => boolean): Promise<void> {
  const untilMs = performance.now() + patienceMs;
  while (!isSo()) {
    if (performance.now() > untilMs) throw new Error(problem);
    await pause(pollMs);
  }
}

await runAlone(import.meta.url, run);

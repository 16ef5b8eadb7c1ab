// Makes what a cluster needs in NATS where it is missing, and checks what is there. Changes nothing that is there: who
// changed it is told what it is and what it must be.

import { isDeepStrictEqual } from 'node:util';
import type { StreamConfig } from '@nats-io/jetstream';
import { TimeoutError } from '@nats-io/transport-node';
import { ClusterRefused, NatsFull, wordsOf } from './address.ts';
import { codeOf, isFull, type NatsLink, pauseBetweenAttempts } from './connection.ts';
import { type Layout, type RequiredConfig, requiredStreams } from './layout.ts';

/** Atomic batches, and the end of keys by themselves. */
const oldestVersion = [2, 12] as const;
/** What a message of the log may need, with its head. NATS's own default. */
export const requiredPayloadBytes = 1024 * 1024;
const nameShape = /^[A-Za-z0-9_-]{1,32}$/;
const maxReplicas = 5;
/** Deadlines and tokens have times, and the next owner goes on with them. */
const maxApartMs = 1000;

/** Of JetStream's answers (server/errors.json of nats-server). */
const codes = {
  tooFewServers: [10005, 10074],
  streamMissing: 10059,
  /** Another node made it at the same time. */
  streamExists: 10058,
};

/** Rejects with ClusterRefused, at once or after `patienceMs`, if waiting could have helped. */
export async function prepare(
  link: NatsLink,
  layout: Layout,
  { patienceMs, mustExist, nowMs }: { readonly patienceMs: number; readonly mustExist: boolean; nowMs(): number },
): Promise<void> {
  requireSettings(layout);
  requireServer(link);
  await requireJetStream(link, { patienceMs, mayBeFull: mustExist });
  for (const required of requiredStreams(layout)) {
    const found = await patiently(
      link,
      patienceMs,
      () => findOrMake(link, required, mustExist),
      (error) => (error instanceof ClusterRefused ? error : refusalOf(error, required)),
    );
    requireUnchanged(found, required);
  }
  await requireSameTime(link, layout, nowMs);
}

/** Nodes have no clock in common but NATS's. */
async function requireSameTime(link: NatsLink, layout: Layout, nowMs: () => number): Promise<void> {
  const [{ name } = { name: '' }] = requiredStreams(layout);
  const askedMs = nowMs();
  const { ts } = (await link.jsm.streams.info(name)) as { readonly ts?: string };
  const answeredMs = nowMs();
  const theirMs = Date.parse(ts ?? '');
  const aheadMs = askedMs > theirMs ? askedMs - theirMs : Math.min(0, answeredMs - theirMs);
  if (Math.abs(aheadMs) <= maxApartMs || Number.isNaN(theirMs)) return;
  throw new ClusterRefused(
    `The clock of this machine is ${(Math.abs(aheadMs) / 1000).toFixed(1)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the NATS server ${link.server.name}, which CLUSTER_NATS_URL leads to: they may be a second apart. Synchronise both, with chrony or systemd-timesyncd`,
  );
}

function requireSettings({ name, replicas }: Layout): void {
  if (!nameShape.test(name))
    throw new ClusterRefused(`CLUSTER_NAME must be 1 to 32 letters, digits, - and _, not ${name}`);
  if (!Number.isInteger(replicas) || replicas < 1 || replicas > maxReplicas)
    throw new ClusterRefused(`CLUSTER_REPLICAS must be a whole number from 1 to ${maxReplicas}, not ${replicas}`);
}

function requireServer({ server }: NatsLink): void {
  const [major = 0, minor = 0] = server.version.split('.').map(Number);
  if (major < oldestVersion[0] || (major === oldestVersion[0] && minor < oldestVersion[1]))
    throw new ClusterRefused(
      `CLUSTER_NATS_URL leads to the NATS server ${server.name} of version ${server.version}: it must be ${oldestVersion.join('.')} or later`,
    );
  if (server.maxPayloadBytes < requiredPayloadBytes)
    throw new ClusterRefused(
      `CLUSTER_NATS_URL leads to the NATS server ${server.name}, which takes messages of ${server.maxPayloadBytes} bytes: its max_payload must be ${requiredPayloadBytes} or more`,
    );
}

/** `mayBeFull`: for commands that only read. */
async function requireJetStream(
  link: NatsLink,
  { patienceMs, mayBeFull }: { readonly patienceMs: number; readonly mayBeFull: boolean },
): Promise<void> {
  const missing = (error: unknown): ClusterRefused =>
    new ClusterRefused(
      `CLUSTER_NATS_URL leads to the NATS server ${link.server.name}, where JetStream is not enabled for this account: start it with -js, or enable it in its settings`,
      { cause: error },
    );
  await patiently(
    link,
    patienceMs,
    () => requireRoom(link, { mayBeFull }),
    (error) => (error instanceof ClusterRefused ? error : isNotEnabled(error) ? missing(error) : undefined),
  );
}

/** An account takes what is small until nothing is left, but no large entry any more. */
async function requireRoom(link: NatsLink, { mayBeFull }: { readonly mayBeFull: boolean }): Promise<void> {
  const { limits, storage } = await link.jsm.getAccountInfo();
  if (!mayBeFull && limits.max_storage > 0 && storage + requiredPayloadBytes > limits.max_storage)
    throw new NatsFull(`its account keeps ${storage} of ${limits.max_storage} bytes`);
}

async function findOrMake(link: NatsLink, required: RequiredConfig, mustExist: boolean): Promise<StreamConfig> {
  const { streams } = link.jsm;
  try {
    return (await streams.info(required.name)).config;
  } catch (error) {
    if (codeOf(error) !== codes.streamMissing) throw error;
  }
  if (mustExist)
    throw new ClusterRefused(
      `the NATS server ${link.server.name} has no stream ${required.name}: no node has started with this CLUSTER_NAME, or CLUSTER_NATS_URL leads to another NATS`,
    );
  try {
    return (await streams.add({ ...required })).config;
  } catch (error) {
    if (codeOf(error) !== codes.streamExists) throw error;
    return (await streams.info(required.name)).config;
  }
}

function requireUnchanged(found: StreamConfig, required: RequiredConfig): void {
  if (found.num_replicas !== required.num_replicas)
    throw new ClusterRefused(
      `CLUSTER_REPLICAS is ${required.num_replicas}, but NATS keeps the stream ${found.name} in ${copies(found.num_replicas)}: set CLUSTER_REPLICAS to ${found.num_replicas}, or change the stream (nats stream edit ${found.name} --replicas ${required.num_replicas})`,
    );
  for (const [property, wanted] of Object.entries(required)) {
    const actual = (found as unknown as Record<string, unknown>)[property] ?? nothingOf(wanted);
    if (!isDeepStrictEqual(actual, wanted))
      throw new ClusterRefused(
        `The stream ${found.name} in NATS was changed: its ${property} is ${JSON.stringify(actual)}, and must be ${JSON.stringify(wanted)}. Change it back, or set another CLUSTER_NAME`,
      );
  }
}

/** NATS leaves out what is false or zero. */
function nothingOf(wanted: unknown): unknown {
  return typeof wanted === 'boolean' ? false : typeof wanted === 'number' ? 0 : null;
}

/**
 * Asks again until `patienceMs` has passed, since NATS may just have started, and its servers not have found each other. A
 * failure that `refusal` knows, and that cannot pass, ends it at once.
 */
async function patiently<Answer>(
  link: NatsLink,
  patienceMs: number,
  ask: () => Promise<Answer>,
  refusal: (error: unknown) => ClusterRefused | undefined,
): Promise<Answer> {
  const patience = AbortSignal.timeout(patienceMs);
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const refused = refusal(error);
      if (patience.aborted || (refused !== undefined && !mayPass(error)))
        throw refused ?? new ClusterRefused(unready(link, error), { cause: error });
      await pauseBetweenAttempts(patience);
    }
  }
}

/**
 * Servers that have not found each other yet answer that there are too few, and those that just started not at all. One
 * that is full may be given room.
 */
function mayPass(error: unknown): boolean {
  return codeOf(error) === codes.tooFewServers[0] || isUnanswered(error) || isFull(error) || error instanceof NatsFull;
}

function refusalOf(error: unknown, required: RequiredConfig): ClusterRefused | undefined {
  const code = codeOf(error) ?? 0;
  if (codes.tooFewServers.includes(code))
    return new ClusterRefused(
      `CLUSTER_REPLICAS is ${required.num_replicas}, and NATS has fewer servers than that: start more, or set CLUSTER_REPLICAS to the number that there are (${wordsOf(error)})`,
      { cause: error },
    );
  if (isFull(error))
    return new NatsFull(`there is no room for the stream ${required.name} (${wordsOf(error)})`, { cause: error });
  return undefined;
}

function unready(link: NatsLink, error: unknown): string {
  const what = error instanceof TimeoutError ? 'does not answer' : `answers: ${wordsOf(error)}`;
  return `CLUSTER_NATS_URL leads to the NATS server ${link.server.name}, whose JetStream is not ready. It ${what}`;
}

/** The library has one error for an account without JetStream and for a subject that nobody listens on. */
function isNotEnabled(error: unknown): boolean {
  return error instanceof Error && error.name === 'JetStreamNotEnabled';
}

function isUnanswered(error: unknown): boolean {
  return isNotEnabled(error) && codeOf((error as Error).cause) === undefined;
}

function copies(count: number): string {
  return count === 1 ? '1 copy' : `${count} copies`;
}

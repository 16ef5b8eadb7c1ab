// The secrets that every node must have alike. A fingerprint of each is in the log, beside those of the workspaces, so
// that a node with another one stops before it takes anything. Whoever changes one on purpose stops every node first:
// the first one to start then records its own.

import { hkdfSync, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Fenced, LogUnreachable, type NodeRecord, type WorkspaceLogs } from '../../engine/runtime/cluster/ports.ts';
import type { Log } from '../../engine/runtime/log.ts';
import { ClusterRefused } from '../../workers/cluster/address.ts';
import { notTheClusters } from '../process/folder-keys.ts';

export type SharedSecrets = Readonly<Record<'JWT_SECRET' | 'SECRETS_KEY' | 'CLUSTER_SECRET', string>>;

/** Fingerprints of the secrets, under the names of their settings. */
export type SecretPrints = SharedSecrets;

/** Its log has the fingerprints as its newest entry. No workspace has this id. */
export const secretsId = 'secrets';
const printBytes = 16;
const appendMs = 10_000;
/** Each time, another node has recorded its own meanwhile. */
const maxAttempts = 5;

/** One way, and not the same in another cluster. */
export function printsOf(secrets: SharedSecrets, clusterName: string): SecretPrints {
  const printOf = (setting: keyof SharedSecrets): string => {
    const label = `switchboard cluster fingerprint ${setting}`;
    return Buffer.from(hkdfSync('sha256', secrets[setting], clusterName, label, printBytes)).toString('base64url');
  };
  return {
    JWT_SECRET: printOf('JWT_SECRET'),
    SECRETS_KEY: printOf('SECRETS_KEY'),
    CLUSTER_SECRET: printOf('CLUSTER_SECRET'),
  };
}

export interface SameSecretsOptions {
  readonly logs: Pick<WorkspaceLogs, 'append' | 'read' | 'purge'>;
  readonly log: Log;
  readonly prints: SecretPrints;
  /** Whether another node is there that has, or may have, other secrets. */
  areOthersThere(): Promise<boolean>;
}

/**
 * Call when this node is there for the others, so that of two that start together one sees the other. `mayBegin`: records
 * its own if there are none, as in a new cluster and in one of an earlier version. Rejects with
 * ClusterRefused, which names the setting, or with LogUnreachable.
 */
export async function requireSameSecrets(
  { logs, log, prints, areOthersThere }: SameSecretsOptions,
  { mayBegin }: { readonly mayBegin: boolean },
): Promise<void> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const { sequence, recorded } = await recordedIn(logs);
    if (isDeepStrictEqual(recorded, prints) || (recorded === undefined && !mayBegin)) return;
    const changed = recorded === undefined ? [] : changedIn(recorded, prints);
    const [first] = changed;
    // What another SECRETS_KEY sealed could be read no more.
    if (first !== undefined && (first === 'SECRETS_KEY' || (await areOthersThere())))
      throw new ClusterRefused(notTheClusters(first));
    if (changed.length > 0)
      log.warn({ settings: changed }, 'secrets of the cluster have changed: no other node was there');
    if (await record(logs, { prints, sequence })) return;
  }
  throw new LogUnreachable('the record of the secrets changes all the time');
}

function changedIn(recorded: Partial<SecretPrints>, prints: SecretPrints): (keyof SharedSecrets)[] {
  return (['SECRETS_KEY', 'JWT_SECRET', 'CLUSTER_SECRET'] as const).filter(
    (setting) => recorded[setting] !== prints[setting],
  );
}

async function recordedIn(
  logs: SameSecretsOptions['logs'],
): Promise<{ readonly sequence: number; readonly recorded?: Partial<SecretPrints> }> {
  let newest: { readonly sequence: number; readonly recorded?: Partial<SecretPrints> } = { sequence: 0 };
  for await (const { sequence, bytes } of logs.read(secretsId, 0))
    newest = { sequence, recorded: JSON.parse(Buffer.from(bytes).toString('utf8')) as Partial<SecretPrints> };
  return newest;
}

/** False if another node has recorded its own meanwhile. */
async function record(
  logs: SameSecretsOptions['logs'],
  { prints, sequence }: { readonly prints: SecretPrints; readonly sequence: number },
): Promise<boolean> {
  const entry = { id: randomUUID(), expected: sequence, bytes: Buffer.from(JSON.stringify(prints)) };
  try {
    await logs.append(secretsId, entry, AbortSignal.timeout(appendMs));
  } catch (error) {
    if (error instanceof Fenced) return false;
    throw error;
  }
  if (sequence > 0) await logs.purge(secretsId, sequence);
  return true;
}

/** Whether one of the nodes is not this one, and does not have these secrets. Those of older versions do not say. */
export function areOthersAmong(
  nodes: Iterable<NodeRecord>,
  { node, prints }: { readonly node: string; readonly prints: SecretPrints },
): boolean {
  return [...nodes].some((one) => one.node !== node && !isDeepStrictEqual(one.secrets, prints));
}

// `switchboard cluster status`, `move` and `drain`: shows a cluster and moves its workspaces, from any machine that
// reaches NATS. What they ask, the nodes do: nothing is changed here.

import { setTimeout as pause } from 'node:timers/promises';
import { leaseMs } from '../../engine/runtime/cluster/lease.ts';
import {
  CallRefused,
  CallTimedOut,
  changingBy,
  directoryId,
  NodeAway,
  type NodeRecord,
  noNodesSchema,
  type Ownership,
} from '../../engine/runtime/cluster/ports.ts';
import { canOpen, isTooNew } from '../../engine/runtime/cluster/sharing.ts';
import type { ClusterStore } from '../../workers/cluster/cluster.ts';
import { type ClusterConfig, type Config, readConfig } from '../process/config.ts';
import { type Command, exitCodes, ProgramError, say } from './command.ts';
import { createProgress } from './progress.ts';

const copiesMs = 5000;
/** The next node first reads what it lacks, and what acts outside for the workspace ends; then it rests for a moment. */
const moveMs = 240_000;
/** A drain is given up by the command, not by the node, when nothing was handed over for this long. */
const standstillMs = 120_000;
const drainMs = 3_600_000;
const lookEveryMs = 500;
/** A node whose record ended for a moment renews it within 2.5 s. */
const goneMs = 5000;

const settingsText =
  'The settings of the cluster are those of a node (switchboard config check): CLUSTER_NATS_URL and what it needs.';

interface CopyOf {
  readonly node: string;
  readonly sequence: number;
}

/** What `--json` prints. */
export interface ClusterStatus {
  readonly nodes: readonly {
    readonly node: string;
    readonly url: string;
    readonly version: string;
    readonly isReady: boolean;
    /** How many it owns. */
    readonly workspaces: number;
  }[];
  readonly workspaces: readonly {
    /** `directory` is the directory's file. */
    readonly workspaceId: string;
    /** It may be gone. */
    readonly owner: string;
    readonly epoch: number;
    /** A newer version has changed it, and none of its nodes is there: nobody serves it. */
    readonly needsNewerNode: boolean;
    /** Of the log's newest entry. */
    readonly sequence: number;
    readonly copies: readonly CopyOf[];
  }[];
}

export const status: Command = {
  usage: '[--json]',
  description: `Prints the nodes of the cluster, what each owns, and how far the copies on other nodes have followed the log.
${settingsText}

  --json  print {nodes: [{node, url, version, isReady, workspaces}], workspaces: [{workspaceId, owner, epoch, needsNewerNode, sequence,
          copies: [{node, sequence}]}]}. needsNewerNode: a newer version has changed it, and none of its nodes is there. A node that
          does not answer is named on stderr: its copies are not known`,
  options: { json: { type: 'boolean' } },
  operands: { min: 0, max: 0 },
  run: ({ values }) =>
    withCluster(async (store) => {
      const { records, found, silent } = await look(store);
      const lines = values['json'] === true ? [JSON.stringify(found)] : inWords(found, { records, silent });
      for (const line of lines) say(line);
      for (const node of silent) process.stderr.write(`switchboard: ${silenceOf(node)}\n`);
      return exitCodes.done;
    }),
};

export const move: Command = {
  usage: 'WORKSPACE NODE',
  description: `Moves a workspace, given by its id as cluster status prints it, to a node, where it stays while that node is there. Clients notice a
moment's pause.
${settingsText}`,
  options: {},
  operands: { min: 2, max: 2 },
  run: ({ operands: [workspaceId = '', to = ''] }) =>
    withCluster(async (store) => {
      const [records, owners] = await Promise.all([store.inventory.nodes(), store.inventory.owners()]);
      const ownership = owners.get(workspaceId);
      if (ownership === undefined) throw new ProgramError(`the cluster has no workspace with the id ${workspaceId}`);
      const target = recordOf(records, to);
      if (!canOpen(target, ownership))
        throw new ProgramError(
          `the node ${to} is of version ${target.version}, and a newer one has changed ${workspaceId}: only nodes of that can open it`,
        );
      if (target.isDraining || !target.isReady) throw new ProgramError(`the node ${to} takes no workspaces now`);
      const { node: from } = ownership;
      if (from === to) {
        say(`${workspaceId} is on ${to} already.`);
        return exitCodes.done;
      }
      const owner = records.get(from);
      if (owner === undefined || !canOpen(owner, ownership))
        throw new ProgramError(
          `its node ${from} ${owner === undefined ? 'is not there' : 'was started with an older version'}; another takes the workspace in a moment. Try again then`,
        );
      await asked(from, () => store.calls.ask(from, 'move', { workspaceId, node: to }, moveMs));
      // What could not be handed over just then is told by the record alone.
      const now = (await store.owners.of(workspaceId))?.ownership.node;
      if (now !== to) throw new ProgramError(`${workspaceId} was not moved: it is on ${now ?? 'no node'}. Try again`);
      say(`${workspaceId} moved from ${from} to ${to}.`);
      return exitCodes.done;
    }),
};

export const drain: Command = {
  usage: 'NODE',
  description: `Has a node hand over its workspaces to the others, a few at a time, and take no more until it is started again. Afterwards it can be
stopped without anybody noticing; a node that is stopped does the same, but waits at most five seconds for what acts outside. Workspaces that a newer version has
changed stay where no other node has that version, and the command says how many.
${settingsText}

If the command is interrupted, the node goes on.`,
  options: {},
  operands: { min: 1, max: 1 },
  run: ({ operands: [node = ''] }) =>
    withCluster(async (store) => {
      const records = await store.inventory.nodes();
      recordOf(records, node);
      const stuck = stuckOn(node, records.values(), await store.inventory.owners());
      const over = new AbortController();
      try {
        await Promise.race([
          asked(node, () => store.calls.ask(node, 'drain', {}, drainMs)),
          followDrain(store, { node, stuck }, over.signal),
        ]);
      } finally {
        over.abort();
      }
      const left = ownedBy(node, await store.inventory.owners());
      if (left > 0 && left === stuck)
        throw new ProgramError(
          `${node} still owns ${countOf(stuck)} that no other node could open: a newer version has changed them. Start another node with that version`,
        );
      if (left > 0) throw new ProgramError(`${node} says that it is drained, and still owns ${countOf(left)}`);
      say(`${node} owns no workspace any more and can be stopped.`);
      return exitCodes.done;
    }),
};

/** Throws ProgramError if this is no cluster. */
export function clusterOf(config: Config): ClusterConfig {
  if (config.cluster === undefined)
    throw new ProgramError('CLUSTER_NATS_URL is not set: these are the settings of a server alone');
  return config.cluster;
}

/** Throws ProgramError if this is no cluster. */
export async function openStore(config: Config, { mustExist }: { mustExist: boolean }): Promise<ClusterStore> {
  const cluster = clusterOf(config);
  const { storage } = config;
  const { openCluster } = await import('../../workers/cluster/cluster.ts');
  return openCluster({
    url: cluster.natsUrl,
    credsFile: cluster.natsCredsFile,
    caFile: cluster.natsCaFile,
    name: cluster.name,
    replicas: cluster.replicas,
    node: 'command line',
    leaseMs,
    mustExist,
    bucket: storage.provider === 's3' ? storage : undefined,
    notice: (_, text) => void process.stderr.write(`switchboard: ${text}\n`),
  });
}

async function withCluster(work: (store: ClusterStore) => Promise<number>): Promise<number> {
  const store = await openStore(readConfig(process.env), { mustExist: true });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

interface Seen {
  readonly records: ReadonlyMap<string, NodeRecord>;
  readonly found: ClusterStatus;
  /** Nodes that did not say what copies they have. */
  readonly silent: readonly string[];
}

async function look({ inventory, calls }: ClusterStore): Promise<Seen> {
  const [records, owners] = await Promise.all([inventory.nodes(), inventory.owners()]);
  const sequences = await inventory.sequences(owners.keys());
  const names = [...records.keys()].sort();
  const answers = await Promise.allSettled(names.map((node) => copiesOn(calls, node)));
  const copies = answers.flatMap((answer, index) =>
    answer.status === 'fulfilled' ? [{ node: names[index] ?? '', copies: answer.value }] : [],
  );
  const silent = names.filter((_, index) => answers[index]?.status === 'rejected');
  const workspaces = [...owners]
    // Not one whose making failed.
    .filter(([workspaceId, { schema }]) => schema !== noNodesSchema || workspaceId === directoryId)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([workspaceId, ownership]) => ({
      workspaceId,
      owner: ownership.node,
      epoch: ownership.epoch,
      needsNewerNode: records.size > 0 && isTooNew(ownership, records.values()),
      sequence: sequences.get(workspaceId) ?? 0,
      copies: copies.flatMap(({ node, copies: there }) => {
        const sequence = there.get(workspaceId);
        return sequence === undefined ? [] : [{ node, sequence }];
      }),
    }));
  const nodes = names.map((node) => {
    const { url, version, isReady } = recordOf(records, node);
    return { node, url, version, isReady, workspaces: ownedBy(node, owners) };
  });
  return { records, found: { nodes, workspaces }, silent };
}

async function copiesOn(calls: ClusterStore['calls'], node: string): Promise<ReadonlyMap<string, number>> {
  const copies = new Map<string, number>();
  const { copiesPerAnswer } = await import('../../workers/cluster/inventory.ts');
  for (;;) {
    const after = [...copies.keys()].at(-1);
    const page = Object.entries((await calls.ask(node, 'copies', { after }, copiesMs)) as Record<string, number>);
    const known = copies.size;
    for (const [workspaceId, sequence] of page) copies.set(workspaceId, sequence);
    if (page.length < copiesPerAnswer || copies.size === known) return copies;
  }
}

function inWords(
  { nodes, workspaces }: ClusterStatus,
  { records, silent }: { readonly records: ReadonlyMap<string, NodeRecord>; readonly silent: readonly string[] },
): string[] {
  const stateOf = (node: string): string => {
    const record = records.get(node);
    if (record?.isDraining === true) return 'drains';
    return record?.isReady === true ? (silent.includes(node) ? 'does not answer' : 'ready') : 'not ready';
  };
  const left = workspaces.filter(({ needsNewerNode }) => needsNewerNode).length;
  return [
    ...table(
      ['NODE', 'STATE', 'WORKSPACES', 'VERSION', 'URL'],
      nodes.map(({ node, url, version, workspaces: owned }) => [node, stateOf(node), `${owned}`, version, url]),
    ),
    '',
    ...table(
      ['WORKSPACE', 'OWNER', 'EPOCH', 'SEQUENCE', 'COPIES'],
      workspaces.map(({ workspaceId, owner, epoch, needsNewerNode, sequence, copies }) => [
        workspaceId,
        ownerInWords(owner, { isThere: records.has(owner), needsNewerNode }),
        `${epoch}`,
        `${sequence}`,
        copies.map((one) => `${one.node} ${one.sequence >= sequence ? 'up to date' : `at ${one.sequence}`}`).join(', '),
      ]),
    ),
    ...(left === 0
      ? []
      : [
          '',
          `A newer version has changed ${countOf(left)}, and none of its nodes is there: nobody serves ${left === 1 ? 'it' : 'them'}. Start a node of that version.`,
        ]),
  ];
}

function ownerInWords(
  owner: string,
  { isThere, needsNewerNode }: { readonly isThere: boolean; readonly needsNewerNode: boolean },
): string {
  if (needsNewerNode) return `${owner} (newer version)`;
  if (owner.startsWith(changingBy)) return 'nobody: an erasure was interrupted, repeat it';
  // No node has such a name: it was brought in, and none has started since.
  if (owner.startsWith('-')) return 'nobody yet';
  return isThere ? owner : `${owner} (not there)`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)));
  return [head, ...rows].map((row) =>
    row
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function silenceOf(node: string): string {
  return `the node ${node} does not answer: its copies are not known`;
}

function recordOf(records: ReadonlyMap<string, NodeRecord>, node: string): NodeRecord {
  const record = records.get(node);
  if (record !== undefined) return record;
  const names = [...records.keys()].sort();
  throw new ProgramError(
    `the cluster has no node ${node} now; ${names.length === 0 ? 'none is there' : `there are ${names.join(', ')}`}`,
  );
}

/** How many workspaces of the node nobody else could open. Throws ProgramError if nobody could take any. */
function stuckOn(node: string, nodes: Iterable<NodeRecord>, owners: ReadonlyMap<string, Ownership>): number {
  const takers = [...nodes].filter((one) => one.node !== node && one.isReady && !one.isDraining);
  if (takers.length === 0) throw new ProgramError(`no other node could take the workspaces of ${node}`);
  let stuck = 0;
  for (const ownership of owners.values())
    if (ownership.node === node && !takers.some((one) => canOpen(one, ownership))) stuck += 1;
  if (stuck > 0 && stuck === ownedBy(node, owners))
    throw new ProgramError(
      `no other node could open the workspaces of ${node}: a newer version has changed them. Start another node with that version first`,
    );
  return stuck;
}

function ownedBy(node: string, owners: ReadonlyMap<string, Ownership>): number {
  let owned = 0;
  for (const ownership of owners.values()) if (ownership.node === node) owned += 1;
  return owned;
}

/** Asks a node. Throws ProgramError in a person's words. */
async function asked(node: string, ask: () => Promise<unknown>): Promise<void> {
  try {
    await ask();
  } catch (error) {
    if (error instanceof CallRefused) throw new ProgramError(`the node ${node} refused: ${error.message}`);
    if (error instanceof NodeAway) throw new ProgramError(`the node ${node} cannot be asked: ${error.message}`);
    if (error instanceof CallTimedOut)
      throw new ProgramError(`${error.message}. switchboard cluster status shows whether it was done`);
    throw error;
  }
}

/** Shows how far it is, until only what is stuck is left. Throws ProgramError when the node leaves or nothing moves. */
async function followDrain(
  { inventory }: ClusterStore,
  { node, stuck }: { node: string; stuck: number },
  signal: AbortSignal,
): Promise<void> {
  const progress = createProgress();
  let atFirst = 0;
  let least = Number.POSITIVE_INFINITY;
  let movedMs = performance.now();
  let lastThere = { ms: performance.now(), owned: 0 };
  try {
    while (!signal.aborted) {
      const [records, owners] = await Promise.all([inventory.nodes(), inventory.owners()]);
      const left = ownedBy(node, owners);
      atFirst = Math.max(atFirst, left);
      if (left <= stuck && records.get(node)?.isDraining === true) return;
      if (records.has(node)) lastThere = { ms: performance.now(), owned: left };
      if (performance.now() - lastThere.ms > goneMs)
        throw new ProgramError(`${node} left while it was drained, and owned ${countOf(lastThere.owned)}`);
      if (left < least) [least, movedMs] = [left, performance.now()];
      if (performance.now() - movedMs > standstillMs)
        throw new ProgramError(
          `${node} still owns ${countOf(left)} and handed none over for ${standstillMs / 1000} seconds; it goes on trying. Its log says why`,
        );
      progress.at(atFirst === 0 ? 1 : 1 - left / atFirst, `${countOf(left)} left on ${node}`);
      await pause(lookEveryMs, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    progress.end();
  }
}

function countOf(workspaces: number): string {
  return workspaces === 1 ? '1 workspace' : `${workspaces} workspaces`;
}

// What a cluster keeps in NATS, opened: connected, complete and checked. Loaded in a cluster only, by a dynamic import.

import type { NodeCalls, Nodes, Owners, Snapshots, WorkspaceLogs } from '../../engine/runtime/cluster/ports.ts';
import type { NatsSettings } from './address.ts';
import { NatsLink } from './connection.ts';
import { Inventory } from './inventory.ts';
import type { Layout } from './layout.ts';
import { NatsCalls } from './node-calls.ts';
import { JetStreamNodes } from './nodes.ts';
import { JetStreamOwners } from './owners.ts';
import { prepare } from './preparation.ts';
import { Records } from './records.ts';
import { JetStreamSnapshots } from './snapshots.ts';
import { JetStreamLogs } from './workspace-logs.ts';

export interface ClusterOptions extends Omit<NatsSettings, 'clientName' | 'patienceMs'>, Layout {
  /** CLUSTER_NODE. */
  readonly node: string;
  /** How long a node counts as there without a word of it. NATS counts whole seconds: it is rounded up. */
  readonly leaseMs: number;
  /** How long the start waits for NATS, which may start at the same time. */
  readonly patienceMs?: number;
  /** For whoever only looks: what is missing is not made, but refused. */
  readonly mustExist?: boolean;
  /** This machine's clock, in milliseconds since 1970. */
  readonly nowMs?: () => number;
}

export interface ClusterStore {
  readonly logs: WorkspaceLogs;
  readonly owners: Owners;
  readonly nodes: Nodes;
  readonly snapshots: Snapshots;
  readonly calls: NodeCalls;
  readonly inventory: Inventory;
  /** Whether a server of NATS is connected now. */
  readonly isConnected: boolean;
  close(): Promise<void>;
}

const defaultPatienceMs = 20_000;

/** Rejects with ClusterRefused, whose message names the setting. */
export async function openCluster(options: ClusterOptions): Promise<ClusterStore> {
  const {
    name,
    replicas,
    node,
    leaseMs,
    patienceMs = defaultPatienceMs,
    mustExist = false,
    nowMs = Date.now,
  } = options;
  const layout = { name, replicas };
  const link = await NatsLink.open({ ...options, clientName: `${name} ${node}`, patienceMs });
  try {
    await prepare(link, layout, { patienceMs, mustExist, nowMs });
  } catch (error) {
    await link.close();
    throw error;
  }
  const records = { owners: new Records(link, layout, 'owners'), nodes: new Records(link, layout, 'nodes') };
  return {
    logs: new JetStreamLogs(link, layout),
    owners: new JetStreamOwners(records.owners),
    nodes: new JetStreamNodes(records.nodes, leaseMs),
    snapshots: new JetStreamSnapshots(link, layout),
    calls: new NatsCalls(link, layout, node),
    inventory: new Inventory(link, layout, records),
    get isConnected() {
      return link.isConnected;
    },
    close: () => link.close(),
  };
}

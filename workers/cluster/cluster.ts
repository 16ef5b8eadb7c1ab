// What a cluster keeps in NATS, opened: connected, complete and checked. Loaded in a cluster only, by a dynamic import.

import type { NodeCalls, Nodes, Owners, Snapshots, WorkspaceLogs } from '../../engine/runtime/cluster/ports.ts';
import { S3Bucket, type S3Settings } from '../providers/s3-bucket.ts';
import type { NatsSettings } from './address.ts';
import { BucketContent } from './bucket-content.ts';
import { NatsLink, persistently, within } from './connection.ts';
import { Inventory } from './inventory.ts';
import { type Layout, snapshotPlaces } from './layout.ts';
import { NatsCalls } from './node-calls.ts';
import { JetStreamNodes } from './nodes.ts';
import { JetStreamOwners } from './owners.ts';
import { prepare } from './preparation.ts';
import { Records } from './records.ts';
import { type ContentBucket, type Notice, RecordedSnapshots } from './snapshots.ts';
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
  /** For the content of snapshots. Undefined: it is in JetStream. */
  readonly bucket?: S3Settings | undefined;
  readonly notice?: Notice | undefined;
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
  /** Whether NATS had no room for what this node last wrote. */
  readonly isFull: boolean;
  close(): Promise<void>;
}

const defaultPatienceMs = 20_000;
/** An election takes 4 to 9 s. */
const answerMs = 12_000;

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
    notice,
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
  const inventory = new Inventory(link, layout, records);
  const bucket = options.bucket && bucketOf(options.bucket, { link, layout, inventory });
  return {
    logs: new JetStreamLogs(link, layout),
    owners: new JetStreamOwners(records.owners),
    nodes: new JetStreamNodes(records.nodes, leaseMs),
    snapshots: new RecordedSnapshots(link, layout, { bucket, notice }),
    calls: new NatsCalls(link, layout, node),
    inventory,
    get isConnected() {
      return link.isConnected;
    },
    get isFull() {
      return link.isFull;
    },
    close: () => link.close(),
  };
}

function bucketOf(
  settings: S3Settings,
  { link, layout, inventory }: { readonly link: NatsLink; readonly layout: Layout; readonly inventory: Inventory },
): ContentBucket {
  const bucket = new S3Bucket(settings);
  let folder: string | undefined;
  return {
    name: bucket.name,
    content: new BucketContent(bucket, async () => (folder ??= await folderOf(link, layout))),
    nodes: () => inventory.nodes(),
  };
}

/** Another cluster of the same name, as one that was made from a backup, was made at another time. */
async function folderOf(link: NatsLink, layout: Layout): Promise<string> {
  const { stream } = snapshotPlaces(layout, '-');
  const { created } = await persistently(link, within(answerMs), () => link.jsm.streams.info(stream));
  return `${layout.name}-${created.replaceAll(/[^0-9]/g, '')}`;
}

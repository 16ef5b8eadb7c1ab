// What a cluster keeps in NATS, and under which names: streams for the logs, key-value buckets for owners and nodes
// (ADR-8), an object store for snapshots (ADR-20), so that the tools of NATS can read them. Asks nothing.

import { DiscardPolicy, RetentionPolicy, StorageType, type StreamConfig } from '@nats-io/jetstream';

/** Workspaces are spread over these by hash, so their number cannot change. Each has a leader of its own. */
export const logStreams = 8;
/** How long NATS knows the ids of appends. An append that is asked again later is recognised by what follows `expected`. */
const idsAreKnownMs = 120_000;
/** How long NATS keeps the word that a key's time has ended, for those who watch. */
const markerMs = 60_000;
/** A workspace's id, or the name of a node: one token of a subject. */
const tokenShape = /^[A-Za-z0-9_-]{1,128}$/;

export interface Layout {
  /** CLUSTER_NAME. */
  readonly name: string;
  /** CLUSTER_REPLICAS. */
  readonly replicas: number;
}

/** Where messages of one kind are, and where NATS says that one has come. */
export interface Place {
  readonly stream: string;
  readonly subject: string;
  /** Each new message is announced here with its number, without its content. */
  readonly news: string;
}

/** The part of a stream's configuration that the cluster rests on. */
export type RequiredConfig = Partial<StreamConfig> & Pick<StreamConfig, 'name' | 'num_replicas'>;

export function logPlace({ name }: Layout, workspaceId: string): Place {
  const index = hashOf(workspaceId) % logStreams;
  const token = requireToken(workspaceId);
  return {
    stream: logStream(name, index),
    subject: `${name}.log.${index}.${token}`,
    news: `${name}.news.log.${index}.${token}`,
  };
}

/** All keys of a bucket. */
export function bucketPlace({ name }: Layout, bucket: Bucket): Place {
  return { stream: `KV_${name}-${bucket}`, subject: `$KV.${name}-${bucket}.>`, news: `${name}.news.${bucket}.>` };
}

export function keySubject({ name }: Layout, bucket: Bucket, key: string): string {
  return `$KV.${name}-${bucket}.${requireToken(key)}`;
}

/** Where a node answers the calls of others. No stream takes it. */
export function callSubject({ name }: Layout, node: string): string {
  return `${name}.node.${requireToken(node)}`;
}

export type Bucket = 'owners' | 'nodes';

export function snapshotPlaces(layout: Layout, workspaceId: string) {
  const store = `${layout.name}-snapshots`;
  return {
    store,
    stream: `OBJ_${store}`,
    record: `$O.${store}.M.${paddedBase64Url(Buffer.from(requireToken(workspaceId)))}`,
    /** What the subjects of its packed files begin with. */
    content: `$O.${store}.C.${workspaceId}`,
  };
}

/** Everything that must be there. */
export function requiredStreams(layout: Layout): RequiredConfig[] {
  const { name } = layout;
  const logs = Array.from({ length: logStreams }, (_, index) => ({
    ...shared(layout),
    name: logStream(name, index),
    subjects: [`${name}.log.${index}.*`],
    max_msgs_per_subject: -1,
    duplicate_window: nanosOf(idsAreKnownMs),
    allow_atomic: true,
    deny_delete: true,
    republish: { src: `${name}.log.${index}.*`, dest: `${name}.news.log.${index}.{{wildcard(1)}}`, headers_only: true },
  }));
  const buckets = (['owners', 'nodes'] as const).map((bucket) => ({
    ...shared(layout),
    name: bucketPlace(layout, bucket).stream,
    subjects: [`$KV.${name}-${bucket}.>`],
    max_msgs_per_subject: 1,
    allow_rollup_hdrs: true,
    deny_delete: true,
    allow_msg_ttl: true,
    subject_delete_marker_ttl: nanosOf(markerMs),
    republish: { src: `$KV.${name}-${bucket}.>`, dest: `${name}.news.${bucket}.>`, headers_only: true },
  }));
  const snapshots = {
    ...shared(layout),
    name: `OBJ_${name}-snapshots`,
    subjects: [`$O.${name}-snapshots.C.>`, `$O.${name}-snapshots.M.>`],
    max_msgs_per_subject: -1,
    allow_rollup_hdrs: true,
  };
  return [...logs, ...buckets, snapshots];
}

/** As ADR-20 writes names and digests. */
export function paddedBase64Url(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('+', '-').replaceAll('/', '_');
}

function shared({ replicas }: Layout) {
  return {
    num_replicas: replicas,
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    // A full stream refuses what is new, and forgets nothing.
    discard: DiscardPolicy.New,
    max_age: 0,
    max_msgs: -1,
    max_msg_size: -1,
    allow_direct: true,
    deny_purge: false,
    sealed: false,
  };
}

function logStream(name: string, index: number): string {
  return `${name}-log-${index}`;
}

function requireToken(text: string): string {
  if (!tokenShape.test(text)) throw new Error(`not a name that NATS can keep a key under: ${text}`);
  return text;
}

function nanosOf(ms: number): number {
  return ms * 1_000_000;
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

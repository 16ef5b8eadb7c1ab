// Packed database files (ADR-20): content, in JetStream or in a bucket, and one record per workspace in JetStream that says
// which content counts and where it is. The record is changed by compare-and-set after the content, so that a file is
// there whole or not at all, and a late one never replaces a newer.

import { createHash, type Hash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import {
  type NodeRecord,
  type Snapshot,
  type Snapshots,
  SnapshotsUnreachable,
} from '../../engine/runtime/cluster/ports.ts';
import { type NatsLink, publishWithin } from './connection.ts';
import { type Layout, paddedBase64Url, snapshotPlaces } from './layout.ts';
import { newestOf } from './reading.ts';
import type { ContentId, SnapshotContent } from './snapshot-content.ts';
import { messageMs, StreamContent } from './stream-content.ts';

const partBytes = 512 * 1024;

/** The record, as ADR-20 has it. */
interface StoreRecord {
  readonly name: string;
  readonly bucket: string;
  /** What the subject of its content ends with. */
  readonly nuid: string;
  readonly size: number;
  readonly chunks: number;
  readonly mtime: string;
  /** Of the packed file. */
  readonly digest: string;
  readonly metadata: { readonly [Key in keyof Snapshot]: string } & {
    /** Where its content is; without, in JetStream: so it is in records of programs that knew no bucket. */
    readonly contentBucket?: string;
    readonly contentKey?: string;
  };
}

type Written = Pick<StoreRecord, 'size' | 'chunks' | 'digest'> & { readonly key: string | undefined };

/** A bucket for content, and who is there to read from it. */
export interface ContentBucket {
  readonly name: string;
  readonly content: SnapshotContent;
  nodes(): Promise<ReadonlyMap<string, NodeRecord>>;
}

/** What whoever runs the cluster should know; nothing is lost by it. */
export type Notice = (fields: { readonly workspaceId: string; readonly err?: unknown }, text: string) => void;

interface Found {
  readonly record: StoreRecord;
  readonly snapshot: Snapshot;
}

interface State {
  /** Undefined: there is none, or an operator deleted it. */
  readonly found: Found | undefined;
  /** What a change must name. */
  readonly revision: number;
}

export interface RecordedSnapshotsOptions {
  /** Undefined: all content is in JetStream. */
  readonly bucket?: ContentBucket | undefined;
  readonly notice?: Notice | undefined;
}

export class RecordedSnapshots implements Snapshots {
  readonly #link: NatsLink;
  readonly #layout: Layout;
  readonly #stream: StreamContent;
  readonly #bucket: ContentBucket | undefined;
  readonly #notice: Notice;

  constructor(link: NatsLink, layout: Layout, { bucket, notice = () => undefined }: RecordedSnapshotsOptions) {
    this.#link = link;
    this.#layout = layout;
    this.#stream = new StreamContent(link, layout);
    this.#bucket = bucket;
    this.#notice = notice;
  }

  async newest(workspaceId: string): Promise<Snapshot | undefined> {
    return (await this.#state(workspaceId)).found?.snapshot;
  }

  async put(workspaceId: string, snapshot: Snapshot, path: string): Promise<void> {
    const { store } = snapshotPlaces(this.#layout, workspaceId);
    const before = await this.#state(workspaceId);
    if (before.found !== undefined && before.found.snapshot.sequence >= snapshot.sequence) return;
    const id = `${snapshot.sequence}-${randomUUID()}`;
    const bucket = (await this.#isBucketReadByAll(workspaceId)) ? this.#bucket : undefined;
    const { key, ...written } = await write(bucket?.content ?? this.#stream, { workspaceId, id, path });
    const record: StoreRecord = {
      name: workspaceId,
      bucket: store,
      nuid: `${workspaceId}.${id}`,
      ...written,
      mtime: new Date().toISOString(),
      metadata: {
        ...metadataOf(snapshot),
        ...(bucket === undefined || key === undefined ? {} : { contentBucket: bucket.name, contentKey: key }),
      },
    };
    // What breaks off before this is removed by the next one that is declared, and may count already if this breaks off.
    const isDeclared = await this.#declare(workspaceId, record, before);
    await this.#remove(workspaceId, (one) =>
      isDeclared ? one !== id && sequenceOf(one) <= snapshot.sequence : one === id,
    );
  }

  async get(workspaceId: string, snapshot: Snapshot, path: string): Promise<void> {
    const { found, revision } = await this.#state(workspaceId);
    if (found?.snapshot.sequence !== snapshot.sequence || found.snapshot.sha256 !== snapshot.sha256)
      throw new Error(`the snapshot ${snapshot.sequence} of ${workspaceId} is no longer there`);
    const part = `${path}.${randomUUID()}.part`;
    try {
      await this.#fetch(workspaceId, { record: found.record, revision }, part);
      await rename(part, path);
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
  }

  async #state(workspaceId: string): Promise<State> {
    const { stream, record: subject } = snapshotPlaces(this.#layout, workspaceId);
    const message = await newestOf(this.#link, { stream, subject });
    if (message === undefined) return { found: undefined, revision: 0 };
    const record = JSON.parse(Buffer.from(message.bytes).toString('utf8')) as StoreRecord & { deleted?: boolean };
    const found = record.deleted === true ? undefined : { record, snapshot: snapshotFrom(record) };
    return { found, revision: message.sequence };
  }

  /** An older program, or a node with other settings, may have to take the workspace over. */
  async #isBucketReadByAll(workspaceId: string): Promise<boolean> {
    if (this.#bucket === undefined) return false;
    const { name } = this.#bucket;
    const nodes = await this.#bucket.nodes();
    const others = [...nodes.values()].filter(({ snapshotBucket }) => snapshotBucket !== name);
    if (others.length > 0)
      this.#notice(
        { workspaceId },
        `the snapshot goes into NATS, not into the bucket ${name}, because ${others.map(({ node }) => node).join(', ')} cannot read it there: an older version, or other settings (STORAGE_PROVIDER, S3_BUCKET)`,
      );
    return others.length === 0;
  }

  /** Makes the content count. False if other content of this sequence or a later one does. */
  async #declare(workspaceId: string, record: StoreRecord, before: State): Promise<boolean> {
    const { record: subject } = snapshotPlaces(this.#layout, workspaceId);
    const { sequence } = snapshotFrom(record);
    const bytes = Buffer.from(JSON.stringify(record));
    for (let state = before; ; state = await this.#state(workspaceId)) {
      const { found, revision } = state;
      // An earlier attempt may have been taken without an answer.
      if (found?.record.nuid === record.nuid) return true;
      if (found !== undefined && found.snapshot.sequence >= sequence) return false;
      const fields = { 'Nats-Rollup': 'sub', 'Nats-Expected-Last-Subject-Sequence': `${revision}` };
      if ((await publishWithin(this.#link, messageMs, { subject, bytes, fields })) !== undefined) return true;
    }
  }

  async #fetch(
    workspaceId: string,
    { record, revision }: { readonly record: StoreRecord; readonly revision: number },
    path: string,
  ): Promise<void> {
    const { contentKey: key, contentBucket } = record.metadata;
    const id = record.nuid.slice(workspaceId.length + 1);
    const { size, digest } = record;
    const content = this.#contentOf(workspaceId, record);
    const hash = createHash('sha256');
    let bytes = 0;
    const file = await open(path, 'wx');
    try {
      for await (const part of content.read(workspaceId, { id, size, revision, key })) {
        hash.update(part);
        bytes += part.byteLength;
        if (bytes > size) break;
        await file.writeFile(part);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    if (bytes === size && digestOf(hash.digest()) === digest) return;
    const place = contentBucket === undefined ? '' : ` in the bucket ${contentBucket}`;
    throw new Error(`the snapshot of ${workspaceId}${place} was removed while it was read, or is damaged`);
  }

  #contentOf(workspaceId: string, { metadata: { contentBucket } }: StoreRecord): SnapshotContent {
    if (contentBucket === undefined) return this.#stream;
    if (this.#bucket !== undefined) return this.#bucket.content;
    throw new SnapshotsUnreachable(
      `the snapshot of ${workspaceId} is in the bucket ${contentBucket}, and there is no bucket here: set STORAGE_PROVIDER=s3, S3_BUCKET=${contentBucket} and what belongs to it, as on the other nodes`,
    );
  }

  async #remove(workspaceId: string, isMeant: (id: ContentId) => boolean): Promise<void> {
    if (this.#bucket !== undefined)
      try {
        await removeFrom(this.#bucket.content, workspaceId, isMeant);
      } catch (err) {
        // The snapshot counts all the same, and a key that must not remove would have it made again for ever.
        const { name } = this.#bucket;
        this.#notice(
          { workspaceId, err },
          `old snapshots could not be removed from the bucket ${name}; the next snapshot removes them. The key in S3_ACCESS_KEY must be allowed to list and to delete`,
        );
      }
    await removeFrom(this.#stream, workspaceId, isMeant);
  }
}

async function removeFrom(
  content: SnapshotContent,
  workspaceId: string,
  isMeant: (id: ContentId) => boolean,
): Promise<void> {
  for (const id of await content.ids(workspaceId)) if (isMeant(id)) await content.remove(workspaceId, id);
}

async function write(
  content: SnapshotContent,
  { workspaceId, id, path }: { readonly workspaceId: string; readonly id: ContentId; readonly path: string },
): Promise<Written> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const hash = createHash('sha256');
    const told = { bytes: 0, parts: 0 };
    const key = await content.write(workspaceId, id, { size, parts: hashed(partsOf(file), { hash, told }) });
    // Elsewhere than in a stream, it has none of its chunks.
    return { size: told.bytes, chunks: key === undefined ? told.parts : 0, digest: digestOf(hash.digest()), key };
  } finally {
    await file.close();
  }
}

async function* hashed(
  parts: AsyncIterable<Uint8Array>,
  { hash, told }: { readonly hash: Hash; readonly told: { bytes: number; parts: number } },
): AsyncGenerator<Uint8Array, void, void> {
  for await (const part of parts) {
    hash.update(part);
    told.bytes += part.byteLength;
    told.parts += 1;
    yield part;
  }
}

async function* partsOf(file: FileHandle): AsyncGenerator<Uint8Array, void, void> {
  for (;;) {
    // A new one each time: the connection may still hold the last.
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(partBytes), 0, partBytes, null);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

function digestOf(hash: Buffer): string {
  return `SHA-256=${paddedBase64Url(hash)}`;
}

function metadataOf({ sequence, sha256, bytes, version, link }: Snapshot): StoreRecord['metadata'] {
  return { sequence: `${sequence}`, sha256, bytes: `${bytes}`, version: `${version}`, link };
}

function snapshotFrom({ metadata: { sequence, sha256, bytes, version, link } }: StoreRecord): Snapshot {
  return { sequence: Number(sequence), sha256, bytes: Number(bytes), version: Number(version), link };
}

/** `<sequence>-<random>` */
function sequenceOf(id: string): number {
  return Number(id.split('-', 1)[0]);
}

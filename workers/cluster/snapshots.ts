// Packed database files in an object store of JetStream (ADR-20): messages of content, and one record per workspace that
// says which content counts. The record is changed by compare-and-set after the content, so that a file is there whole or
// not at all, and a late one never replaces a newer. The library's own reader holds a file in memory.

import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { LogUnreachable, type Snapshot, type Snapshots } from '../../engine/runtime/cluster/ports.ts';
import { wordsOf } from './address.ts';
import { type NatsLink, persistently, publishWithin, within } from './connection.ts';
import { type Layout, paddedBase64Url, snapshotPlaces } from './layout.ts';
import { messagesOf, newestOf } from './reading.ts';

const chunkBytes = 512 * 1024;
/** For one message, with its repetitions. */
const messageMs = 12_000;

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
  readonly metadata: { readonly [Key in keyof Snapshot]: string };
}

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

export class JetStreamSnapshots implements Snapshots {
  readonly #link: NatsLink;
  readonly #layout: Layout;

  constructor(link: NatsLink, layout: Layout) {
    this.#link = link;
    this.#layout = layout;
  }

  async newest(workspaceId: string): Promise<Snapshot | undefined> {
    return (await this.#state(workspaceId)).found?.snapshot;
  }

  async put(workspaceId: string, snapshot: Snapshot, path: string): Promise<void> {
    const { store, content } = snapshotPlaces(this.#layout, workspaceId);
    const before = await this.#state(workspaceId);
    if (before.found !== undefined && before.found.snapshot.sequence >= snapshot.sequence) return;
    const id = `${snapshot.sequence}-${randomUUID()}`;
    const sent = await this.#send(path, `${content}.${id}`);
    const record: StoreRecord = {
      name: workspaceId,
      bucket: store,
      nuid: `${workspaceId}.${id}`,
      ...sent,
      mtime: new Date().toISOString(),
      metadata: metadataOf(snapshot),
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

  async #send(path: string, subject: string): Promise<Pick<StoreRecord, 'size' | 'chunks' | 'digest'>> {
    const hash = createHash('sha256');
    let size = 0;
    let chunks = 0;
    const file = await open(path, 'r');
    try {
      for await (const chunk of chunksOf(file)) {
        hash.update(chunk);
        size += chunk.byteLength;
        chunks += 1;
        const fields = { 'Nats-Msg-Id': `${subject} ${chunks}` };
        await publishWithin(this.#link, messageMs, { subject, bytes: chunk, fields });
      }
    } finally {
      await file.close();
    }
    return { size, chunks, digest: digestOf(hash.digest()) };
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
    const { stream, store } = snapshotPlaces(this.#layout, workspaceId);
    const hash = createHash('sha256');
    let size = 0;
    const file = await open(path, 'wx');
    try {
      const place = { stream, subject: `$O.${store}.C.${record.nuid}` };
      for await (const { bytes } of messagesOf(this.#link, place, { after: 0, upTo: revision })) {
        hash.update(bytes);
        size += bytes.byteLength;
        await file.writeFile(bytes);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    if (size !== record.size || digestOf(hash.digest()) !== record.digest)
      throw new Error(`the snapshot of ${workspaceId} was removed while it was read, or is damaged`);
  }

  /** Removes content, by the last token of its subject. */
  async #remove(workspaceId: string, isMeant: (id: string) => boolean): Promise<void> {
    const { stream, content } = snapshotPlaces(this.#layout, workspaceId);
    const { streams } = this.#link.jsm;
    try {
      await persistently(this.#link, within(messageMs), async () => {
        const { state } = await streams.info(stream, { subjects_filter: `${content}.*` });
        for (const subject of Object.keys(state.subjects ?? {}))
          if (isMeant(subject.slice(content.length + 1))) await streams.purge(stream, { filter: subject });
      });
    } catch (error) {
      throw new LogUnreachable(`old snapshots of ${workspaceId} cannot be removed: ${wordsOf(error)}`, {
        cause: error,
      });
    }
  }
}

async function* chunksOf(file: FileHandle): AsyncGenerator<Uint8Array, void, void> {
  for (;;) {
    // A new one each time: the connection may still hold the last.
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(chunkBytes), 0, chunkBytes, null);
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

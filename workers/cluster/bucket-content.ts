// The content of snapshots in the bucket of STORAGE_PROVIDER=s3, one object each, below a prefix that no upload's key has:
// those begin with a workspace's id. Streamed from and to the disk. A bucket that fails is left alone for a moment, so
// that a hundred workspaces do not wait for it one after the other.

import { SnapshotsUnreachable } from '../../engine/runtime/cluster/ports.ts';
import { StorageUnavailable } from '../providers/objects.ts';
import type { S3Bucket } from '../providers/s3-bucket.ts';
import { abortable, within } from './connection.ts';
import type { ContentId, Declared, Packed, SnapshotContent } from './snapshot-content.ts';

/** No key of an upload begins with it (workers/providers/objects.ts). */
export const snapshotPrefix = 'switchboard-snapshots';
/** For one answer. */
const answerMs = 30_000;
/** Content may take longer the larger it is. */
const leastBytesPerMs = 256;
/** After a failure, the bucket is not asked for so long. */
const restMs = 10_000;
/** Of one workspace: what is left beyond these goes the next time. */
const maxIds = 1000;
/** S3 takes no more at once. */
const maxBytes = 5 * 1024 ** 3;
const contentType = 'application/octet-stream';

export class BucketContent implements SnapshotContent {
  readonly #bucket: S3Bucket;
  readonly #folder: () => Promise<string>;
  #failure: { readonly error: SnapshotsUnreachable; untilMs: number } | undefined;

  /**
   * `folder` names the cluster's data, not only the cluster: the copy of a cluster that writes into the same bucket must
   * never remove what is not its own.
   */
  constructor(bucket: S3Bucket, folder: () => Promise<string>) {
    this.#bucket = bucket;
    this.#folder = folder;
  }

  async write(workspaceId: string, id: ContentId, { size, parts }: Packed): Promise<string> {
    if (size > maxBytes) throw new Error(`the snapshot of ${workspaceId} is too large for a bucket: ${size} bytes`);
    const key = `${await this.#place(workspaceId)}${id}`;
    await this.#asked(boundMs(size), (signal) => this.#bucket.put(key, { contentType, size, signal }, parts));
    return key;
  }

  async *read(_: string, { size, key = '' }: Declared): AsyncGenerator<Uint8Array, void, void> {
    // A record can be changed in NATS by hand.
    if (!key.startsWith(`${snapshotPrefix}/`)) throw new Error(`${key} is not the key of a snapshot`);
    const signal = within(boundMs(size));
    const parts = await this.#asked(answerMs, () => this.#bucket.read(key));
    if (parts === undefined) return;
    const iterator = parts[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { done, value } = await this.#told(abortable(iterator.next(), signal));
        if (done === true) return;
        yield value;
      }
    } finally {
      // Not waited for: it may hang where its source does.
      iterator.return?.().catch(() => undefined);
    }
  }

  async ids(workspaceId: string): Promise<ContentId[]> {
    const place = await this.#place(workspaceId);
    const signal = within(answerMs);
    const keys = await this.#inWords(abortable(this.#bucket.keys(place, maxIds), signal));
    return keys.map((key) => key.slice(place.length));
  }

  async remove(workspaceId: string, id: ContentId): Promise<void> {
    const key = `${await this.#place(workspaceId)}${id}`;
    await this.#inWords(abortable(this.#bucket.remove(key), within(answerMs)));
  }

  async #place(workspaceId: string): Promise<string> {
    return `${snapshotPrefix}/${await this.#folder()}/${workspaceId}/`;
  }

  async #asked<Answer>(ms: number, ask: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    const failure = this.#failure;
    if (failure !== undefined) {
      if (performance.now() < failure.untilMs) throw failure.error;
      // One asks, and the others need not.
      failure.untilMs = performance.now() + restMs;
    }
    const signal = within(ms);
    const answer = await this.#told(abortable(ask(signal), signal));
    this.#failure = undefined;
    return answer;
  }

  /** As #inWords, and a failure keeps others from asking for a while. */
  async #told<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      return await this.#inWords(answer);
    } catch (error) {
      if (error instanceof SnapshotsUnreachable) this.#failure = { error, untilMs: performance.now() + restMs };
      throw error;
    }
  }

  /**
   * The bucket's failure in a person's words; any other as it is. A key that may not list or remove says nothing of what
   * is written and read.
   */
  async #inWords<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      return await answer;
    } catch (cause) {
      const isLate = cause instanceof DOMException && cause.name === 'TimeoutError';
      if (!isLate && !(cause instanceof StorageUnavailable)) throw cause;
      const why = isLate ? 'it took too long' : cause.message;
      throw new SnapshotsUnreachable(
        `the bucket ${this.#bucket.name} (S3_BUCKET), where snapshots are, cannot be used now: ${why}`,
        { cause },
      );
    }
  }
}

function boundMs(size: number): number {
  return answerMs + Math.ceil(size / leastBytesPerMs);
}

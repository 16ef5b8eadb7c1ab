// A key-value bucket of JetStream (ADR-8): small records under keys, changed by compare-and-set, which may end by
// themselves. Read from the leader. The library's own buckets cannot renew a key's time, and their watch hangs on one server.

import { LogUnreachable } from '../../engine/runtime/cluster/ports.ts';
import { type NatsLink, pauseBetweenAttempts, publishWithin } from './connection.ts';
import { type Bucket, bucketPlace, keySubject, type Layout } from './layout.ts';
import { followingOf, messagesOf, newestOf, type Stored } from './reading.ts';

/** For a change, with its repetitions. Its outcome is unknown afterwards. */
const changeMs = 6000;
/** The word that a key was removed is kept for those who watch. */
const removedSeconds = 60;

export interface Kept {
  /** Undefined: there is none, or no longer. */
  readonly value: unknown;
  /** What a change must name; 0: there never was one. */
  readonly revision: number;
}

export class Records {
  readonly #link: NatsLink;
  readonly #layout: Layout;
  readonly #bucket: Bucket;

  constructor(link: NatsLink, layout: Layout, bucket: Bucket) {
    this.#link = link;
    this.#layout = layout;
    this.#bucket = bucket;
  }

  /** Rejects with LogUnreachable. */
  async get(key: string): Promise<Kept> {
    const { stream } = bucketPlace(this.#layout, this.#bucket);
    const found = await newestOf(this.#link, { stream, subject: keySubject(this.#layout, this.#bucket, key) });
    return { value: found && valueOf(found), revision: found?.sequence ?? 0 };
  }

  /** Every record, by key. Rejects with LogUnreachable. */
  async list(): Promise<Map<string, unknown>> {
    const place = bucketPlace(this.#layout, this.#bucket);
    const records = new Map<string, unknown>();
    let position = 0;
    for (;;) {
      // A record that is changed while the others are read is kept behind them only, and is found in the next turn.
      const upTo = (await newestOf(this.#link, place))?.sequence ?? 0;
      if (upTo <= position) return records;
      for await (const message of messagesOf(this.#link, place, { after: position, upTo })) {
        const value = valueOf(message);
        if (value === undefined) records.delete(keyOf(message));
        else records.set(keyOf(message), value);
        position = message.sequence;
      }
      position = Math.max(position, upTo);
    }
  }

  /**
   * The new revision; undefined if the record is no longer at `revision`, which may be by an earlier attempt of this very
   * call. Rejects with LogUnreachable.
   */
  put(key: string, value: object, at: { readonly revision: number; readonly seconds?: number }) {
    return this.#change(key, Buffer.from(JSON.stringify(value)), {
      'Nats-Expected-Last-Subject-Sequence': `${at.revision}`,
      ...(at.seconds === undefined ? {} : { 'Nats-TTL': `${at.seconds}s` }),
    });
  }

  /** As `put`. */
  remove(key: string, at: { readonly revision: number }) {
    return this.#change(key, new Uint8Array(), {
      'Nats-Expected-Last-Subject-Sequence': `${at.revision}`,
      'KV-Operation': 'PURGE',
      'Nats-Rollup': 'sub',
      'Nats-TTL': `${removedSeconds}s`,
    });
  }

  /** Every record, then every change, until `signal` aborts. Who was cut off gets what changed meanwhile. */
  async *watch(signal: AbortSignal): AsyncGenerator<Kept & { readonly key: string }, void, void> {
    const place = bucketPlace(this.#layout, this.#bucket);
    const known = new Map<string, number>();
    while (!signal.aborted) {
      // The word that a key was removed may be gone after a time without NATS: so everything is listed then.
      const cut = new AbortController();
      const stop = this.#link.onReconnect(() => cut.abort());
      const uncut = AbortSignal.any([signal, cut.signal]);
      try {
        const upTo = (await newestOf(this.#link, place, uncut))?.sequence ?? 0;
        const listed = new Set<string>();
        let position = 0;
        for await (const message of messagesOf(this.#link, place, { after: 0, upTo, signal: uncut })) {
          listed.add(keyOf(message));
          position = message.sequence;
          yield* changeOf(message, known);
        }
        for (const key of [...known.keys()].filter((one) => !listed.has(one))) {
          // It may have been changed while the others were listed: that comes next.
          if ((await this.get(key)).value !== undefined) continue;
          const revision = known.get(key) ?? 0;
          known.delete(key);
          yield { key, value: undefined, revision };
        }
        for await (const message of followingOf(this.#link, place, { after: position, signal: uncut }))
          yield* changeOf(message, known);
      } catch (error) {
        if (!(error instanceof LogUnreachable)) throw error;
        await pauseBetweenAttempts(signal);
      } finally {
        stop();
      }
    }
  }

  #change(key: string, bytes: Uint8Array, fields: Readonly<Record<string, string>>): Promise<number | undefined> {
    return publishWithin(this.#link, changeMs, { subject: keySubject(this.#layout, this.#bucket, key), bytes, fields });
  }
}

/** What is new to whoever knows `known`. A removed key that was not known is not worth a word. */
function* changeOf(message: Stored, known: Map<string, number>) {
  const key = keyOf(message);
  const before = known.get(key);
  if (before !== undefined && before >= message.sequence) return;
  const value = valueOf(message);
  if (value === undefined) known.delete(key);
  else known.set(key, message.sequence);
  if (value !== undefined || before !== undefined) yield { key, value, revision: message.sequence };
}

/** `$KV.<bucket>.<key>` */
function keyOf({ subject }: Stored): string {
  return subject.split('.')[2] ?? '';
}

function valueOf(message: Stored): unknown {
  const isRemoved = message.header('KV-Operation') !== undefined || message.header('Nats-Marker-Reason') !== undefined;
  if (isRemoved) return undefined;
  try {
    return JSON.parse(Buffer.from(message.bytes).toString('utf8'));
  } catch (error) {
    throw new Error(`somebody else wrote ${message.subject} in NATS: it is not JSON`, { cause: error });
  }
}

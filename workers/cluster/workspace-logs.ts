// The logs of workspaces, on JetStream. One code alone is the fence's word: the stream's last sequence of the workspace is
// not the expected one. Any other failure is asked again under the same id, which NATS knows for two minutes. Whoever is
// refused looks at the entry behind `expected`: if it has the id, it is the own one, whose acknowledgement was lost,
// however long ago.

import { randomUUID } from 'node:crypto';
import { directoryId, Fenced, type LogEntry, type WorkspaceLogs } from '../../engine/runtime/cluster/ports.ts';
import { isOutdated, type NatsLink, persistently, unreachable, within } from './connection.ts';
import { type Layout, logPlace, type Place } from './layout.ts';
import { entriesFrom, follows, type Part, partsOf, placeInEntry } from './log-entries.ts';
import { followingOf, messagesOf, newestOf, nextOf } from './reading.ts';

const purgeMs = 12_000;
/** A copy whose news was lost: who takes the workspace reads its log. A node follows thousands, and most are quiet. */
const askOfQuietEveryMs = 60_000;

interface Appended {
  readonly id: string;
  readonly expected: number;
  readonly bytes: Uint8Array;
}

export class JetStreamLogs implements WorkspaceLogs {
  readonly #link: NatsLink;
  readonly #layout: Layout;

  constructor(link: NatsLink, layout: Layout) {
    this.#link = link;
    this.#layout = layout;
  }

  async append(workspaceId: string, entry: Appended, signal: AbortSignal): Promise<number> {
    const place = logPlace(this.#layout, workspaceId);
    const parts = partsOf(entry);
    let outcome: number | undefined;
    try {
      outcome = await persistently(this.#link, signal, () => this.#append(place, entry, parts, signal));
    } catch (error) {
      throw unreachable(this.#link, 'the log takes no entry', error);
    }
    if (outcome === undefined)
      throw new Fenced(`the log of ${workspaceId} goes on behind ${entry.expected} with an entry of another owner`);
    return outcome;
  }

  async *read(workspaceId: string, after: number): AsyncGenerator<LogEntry, void, void> {
    const place = logPlace(this.#layout, workspaceId);
    const newest = await newestOf(this.#link, place);
    if (newest === undefined || newest.sequence <= after) return;
    // A copy that follows is one entry behind at most, most of the time.
    const isNext = follows(newest, after);
    yield* entriesFrom(isNext ? [newest] : messagesOf(this.#link, place, { after, upTo: newest.sequence }));
  }

  follow(workspaceId: string, after: number, signal: AbortSignal): AsyncGenerator<LogEntry, void, void> {
    // The directory is read from its copies.
    const every = workspaceId === directoryId ? {} : { everyMs: askOfQuietEveryMs };
    return entriesFrom(followingOf(this.#link, logPlace(this.#layout, workspaceId), { after, signal, ...every }));
  }

  async purge(workspaceId: string, upTo: number): Promise<void> {
    const place = logPlace(this.#layout, workspaceId);
    const newest = await newestOf(this.#link, place);
    if (newest === undefined) return;
    const newestBegins = newest.sequence - placeInEntry(newest).part + 1;
    const seq = Math.min(upTo + 1, newestBegins);
    // NATS takes 0 for no limit, and did not always take 1 for nothing.
    if (seq <= 1) return;
    try {
      await persistently(this.#link, within(purgeMs), () =>
        this.#link.jsm.streams.purge(place.stream, { filter: place.subject, seq }),
      );
    } catch (error) {
      throw unreachable(this.#link, `the log of ${workspaceId} cannot be purged`, error);
    }
  }

  /** The entry's sequence; undefined if another one follows `expected`. */
  async #append(
    place: Place,
    entry: Appended,
    parts: readonly Part[],
    signal: AbortSignal,
  ): Promise<number | undefined> {
    try {
      return await this.#publish(place, entry, parts);
    } catch (error) {
      if (!isOutdated(error)) throw error;
      return this.#findOwn(place, entry, signal);
    }
  }

  async #publish({ stream, subject }: Place, { id, expected }: Appended, parts: readonly Part[]): Promise<number> {
    const batchId = randomUUID();
    let sequence: number | undefined;
    // Each is acknowledged, so that one at a time is under way.
    for (const [index, { bytes, headers }] of parts.entries()) {
      const isFirst = index === 0;
      const isLast = index === parts.length - 1;
      sequence = await this.#link.publish(subject, bytes, {
        ...headers,
        ...(isFirst ? { 'Nats-Expected-Stream': stream, 'Nats-Expected-Last-Subject-Sequence': `${expected}` } : {}),
        ...(parts.length === 1
          ? // Streams are shared, and so is what they know of ids.
            { 'Nats-Msg-Id': `${subject} ${id}` }
          : { 'Nats-Batch-Id': batchId, 'Nats-Batch-Sequence': `${index + 1}` }),
        ...(parts.length > 1 && isLast ? { 'Nats-Batch-Commit': '1' } : {}),
      });
    }
    if (sequence === undefined) throw new Error('NATS did not say where it put an entry');
    return sequence;
  }

  async #findOwn(place: Place, { id, expected }: Appended, signal: AbortSignal): Promise<number | undefined> {
    const first = await nextOf(this.#link, place, { after: expected, signal });
    if (first === undefined || placeInEntry(first).id !== id) return undefined;
    const sequence = first.sequence + placeInEntry(first).count - 1;
    if (sequence === first.sequence) return sequence;
    const last = await nextOf(this.#link, place, { after: sequence - 1, signal });
    if (last?.sequence !== sequence || placeInEntry(last).id !== id)
      throw new Error(`the parts of ${id} are not one behind the other`);
    return sequence;
  }
}

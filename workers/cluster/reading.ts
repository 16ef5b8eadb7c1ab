// Reads what streams keep: one message from the leader, which is slow and right, or many from whichever server is near,
// which may be behind or break off; the leader is asked where that did not lead on. No consumers: NATS would keep one for
// each reader, on one server, and a reader of large messages stalled. Bounded memory: one batch at a time.

import type { StoredMsg } from '@nats-io/jetstream';
import type { Msg } from '@nats-io/transport-node';
import { LogUnreachable } from '../../engine/runtime/cluster/ports.ts';
import { abortable, type NatsLink, pauseBetweenAttempts, persistently, unreachable, within } from './connection.ts';
import type { Place } from './layout.ts';

/** What NATS sends at once, and one message more. */
const batchBytes = 4 * 1024 * 1024;
const batchMessages = 1000;
/** For a batch; what is missing then is asked for again. A server that died meanwhile costs this. */
const batchMs = 3000;
/** For one answer of the leader. An election takes 4 to 9 s. */
const leaderMs = 12_000;
/** How often a reader that hears nothing asks whether there is something, since news can be lost. */
const askEveryMs = 5000;
/** The leader's answer if there is no such message. */
const nothingFound = 10037;

export interface Stored {
  readonly subject: string;
  readonly sequence: number;
  readonly bytes: Uint8Array;
  header(name: string): string | undefined;
}

/** The subject's newest message, as the leader has it. Rejects with LogUnreachable. */
export function newestOf(
  link: NatsLink,
  { stream, subject }: Pick<Place, 'stream' | 'subject'>,
  signal?: AbortSignal,
): Promise<Stored | undefined> {
  return fromLeader(link, stream, { last_by_subj: subject }, signal);
}

/** The subject's first message after `after`, as the leader has it. Rejects with LogUnreachable. */
export function nextOf(
  link: NatsLink,
  { stream, subject }: Pick<Place, 'stream' | 'subject'>,
  { after, signal }: { readonly after: number; readonly signal?: AbortSignal | undefined },
): Promise<Stored | undefined> {
  return fromLeader(link, stream, { seq: after + 1, next_by_subj: subject }, signal);
}

/** The subject's messages after `after`, in order, at least up to the sequence `upTo`. Rejects with LogUnreachable. */
export async function* messagesOf(
  link: NatsLink,
  place: Pick<Place, 'stream' | 'subject'>,
  { after, upTo, signal }: { readonly after: number; readonly upTo: number; readonly signal?: AbortSignal },
): AsyncGenerator<Stored, void, void> {
  let position = after;
  while (position < upTo) {
    const before = position;
    for await (const message of nearBatch(link, place, position)) {
      yield message;
      position = message.sequence;
    }
    if (position > before) continue;
    const next = await nextOf(link, place, { after: position, signal });
    if (next === undefined) return;
    yield next;
    position = next.sequence;
  }
}

/**
 * The subject's messages after `after`, in order, and each that comes, until `signal` aborts.
 * While NATS cannot be reached, none come.
 */
export async function* followingOf(
  link: NatsLink,
  place: Place,
  {
    after,
    signal,
    everyMs = askEveryMs,
  }: { readonly after: number; readonly signal: AbortSignal; readonly everyMs?: number },
): AsyncGenerator<Stored, void, void> {
  const news = new News(link, place.news, everyMs);
  let position = after;
  try {
    while (!signal.aborted) {
      try {
        const upTo = news.take() ?? (await newestAfter(link, place, { after: position, signal }));
        for await (const message of messagesOf(link, place, { after: position, upTo, signal })) {
          if (signal.aborted) return;
          yield message;
          position = message.sequence;
        }
      } catch (error) {
        if (!(error instanceof LogUnreachable)) throw error;
        await pauseBetweenAttempts(signal);
        news.doubt();
      }
      await news.after(position, signal);
    }
  } finally {
    news.close();
  }
}

/** The sequence of the newest message; `after`, if there is none behind it, which costs no content. */
async function newestAfter(
  link: NatsLink,
  place: Place,
  { after, signal }: { readonly after: number; readonly signal: AbortSignal },
): Promise<number> {
  if ((await nextOf(link, place, { after, signal })) === undefined) return after;
  return (await newestOf(link, place, signal))?.sequence ?? after;
}

/** Knows the newest sequence that was announced, and when it is time to ask. */
class News {
  readonly #ends: (() => void)[];
  #announced = 0;
  #isDoubtful = true;
  #wake: (() => void) | undefined;

  constructor(link: NatsLink, subject: string, everyMs: number) {
    const doubt = (): void => this.doubt();
    const timer = setInterval(doubt, everyMs).unref();
    this.#ends = [
      link.listen(subject, (message) => {
        this.#announced = Math.max(this.#announced, Number(message.headers?.get('Nats-Sequence') ?? 0));
        this.#wake?.();
      }),
      link.onReconnect(doubt),
      () => clearInterval(timer),
    ];
  }

  /** Something may have been announced that this has not heard of. */
  doubt(): void {
    this.#isDoubtful = true;
    this.#wake?.();
  }

  /** The newest that was announced; undefined: the leader must be asked. */
  take(): number | undefined {
    const wasDoubtful = this.#isDoubtful;
    this.#isDoubtful = false;
    return wasDoubtful ? undefined : this.#announced;
  }

  /** Resolves when there may be more than what is at `position`, or `signal` aborts. */
  async after(position: number, signal: AbortSignal): Promise<void> {
    if (this.#isDoubtful || this.#announced > position) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await abortable(promise, signal).catch(() => undefined);
    this.#wake = undefined;
  }

  close(): void {
    for (const end of this.#ends) end();
  }
}

async function fromLeader(
  link: NatsLink,
  stream: string,
  query: { readonly last_by_subj: string } | { readonly seq: number; readonly next_by_subj: string },
  signal: AbortSignal | undefined,
): Promise<Stored | undefined> {
  try {
    const found = await persistently(link, within(leaderMs, signal), async () => {
      try {
        return await link.jsm.streams.getMessage(stream, query);
      } catch (error) {
        if ((error as { code?: unknown }).code === nothingFound) return null;
        throw error;
      }
    });
    return found === null ? undefined : storedFrom(found);
  } catch (error) {
    throw unreachable(link, `the stream ${stream} cannot be read`, error);
  }
}

function storedFrom(found: StoredMsg): Stored {
  return {
    subject: found.subject,
    sequence: found.seq,
    bytes: found.data,
    header: (name) => found.header.get(name) || undefined,
  };
}

/** As much as comes in order; nothing, if that server is behind or gone. */
async function* nearBatch(
  link: NatsLink,
  place: Pick<Place, 'stream' | 'subject'>,
  after: number,
): AsyncGenerator<Stored, void, void> {
  const question = {
    seq: after + 1,
    next_by_subj: place.subject,
    batch: batchMessages,
    max_bytes: batchBytes,
  };
  let last = 0;
  try {
    for await (const message of link.requestMany(`$JS.API.DIRECT.GET.${place.stream}`, question, batchMs)) {
      const stored = directFrom(message);
      // It names the one sent before: if a connection broke, some in between are lost.
      if (stored === undefined || Number(stored.header('Nats-Last-Sequence')) !== last) return;
      last = stored.sequence;
      yield stored;
    }
  } catch {
    // Where nothing came, the leader is asked next, and says what is wrong.
  }
}

/** Undefined for what ends a batch. */
function directFrom({ headers, data }: Msg): Stored | undefined {
  const sequence = Number(headers?.get('Nats-Sequence') ?? 0);
  if (headers === undefined || headers.code !== 0 || sequence === 0) return undefined;
  return {
    subject: headers.get('Nats-Subject'),
    sequence,
    bytes: data,
    header: (name) => headers.get(name) || undefined,
  };
}

// Streamed bodies, too large for memory: a request body read at the pace of its consumer, and a reply body written at
// the pace of its client. Both end at once when the connection closes. Uses only a few calls of uWebSockets.js.

import { Refusal, refusals } from '../../engine/errors.ts';
import { GatheredBytes, Pieces } from '../limits/gathered-bytes.ts';
import type { Room } from '../limits/held-bytes.ts';
import type { Streamed } from '../request.ts';

/** The part of a request that is read here. */
export interface Incoming {
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  pause(): void;
  resume(): void;
}

/** The part of a reply that is written here, after its head. */
export interface Outgoing {
  cork(write: () => void): unknown;
  tryEnd(chunk: Uint8Array, totalBytes: number): [boolean, boolean];
  onWritable(handler: (offset: number) => boolean): unknown;
  close(): unknown;
}

/** Bytes received and not yet consumed; at this limit the sender is paused. */
const highWaterBytes = 256 * 1024;
/** Seconds until there may be memory for another body. */
export const noRoomRetrySeconds = 1;

/** The body of one request, for one consumer, read once. */
export class BodyStream implements AsyncIterable<Uint8Array> {
  readonly #incoming: Incoming;
  readonly #silenceMs: number;
  readonly #room: Room;
  readonly #pace: (bytes: number) => Promise<void>;
  readonly #gathered = new GatheredBytes();
  readonly #pieces = new Pieces();
  #isPaused = false;
  #isComplete = false;
  #failure: Refusal | undefined;
  #wake: (() => void) | undefined;

  /**
   * `silenceMs`: how long a sender may pause while its bytes are awaited. `room`: memory for bytes received and not yet
   * consumed. `pace` resolves when more may be consumed after this many bytes.
   */
  constructor(
    incoming: Incoming,
    {
      silenceMs,
      room,
      pace,
    }: { readonly silenceMs: number; readonly room: Room; readonly pace: (bytes: number) => Promise<void> },
  ) {
    this.#incoming = incoming;
    this.#silenceMs = silenceMs;
    this.#room = room;
    this.#pace = pace;
    incoming.onData((chunk, isLast) => {
      this.#isComplete = isLast;
      if (this.#failure !== undefined) return;
      if (!this.#pieces.allow(chunk.byteLength) || !room.reserve(chunk.byteLength)) {
        this.#fail(
          new Refusal(
            'rate_limited',
            'Too many large requests from your network at once. Try again later.',
            undefined,
            {
              retryAfter: noRoomRetrySeconds,
            },
          ),
        );
        return;
      }
      if (chunk.byteLength > 0) this.#gathered.add(new Uint8Array(chunk));
      if (this.#gathered.byteLength > highWaterBytes && !isLast && !this.#isPaused) {
        this.#isPaused = true;
        incoming.pause();
      }
      this.#wake?.();
    });
  }

  /**
   * The reply does not need the rest, which is received and dropped: a sender that is cut off would not read the reply.
   */
  forget(): void {
    if (this.#isPaused) this.#incoming.resume();
    this.#isPaused = false;
    this.end();
  }

  /** The connection has closed: the consumer's next read throws, and the request is not touched again. */
  end(): void {
    // The request must not be touched any more.
    this.#isPaused = false;
    this.#fail(new Refusal('request_timeout', 'The request body is incomplete.', undefined));
  }

  #fail(refusal: Refusal): void {
    this.#failure ??= refusal;
    this.#room.release(this.#gathered.take().byteLength);
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#gathered.byteLength > 0) {
        const part = this.#gathered.takeFirst();
        this.#room.release(part.byteLength);
        yield part;
        await this.#pace(part.byteLength);
      } else if (this.#isComplete) return;
      else await this.#more();
    }
  }

  async #more(): Promise<void> {
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#incoming.resume();
    }
    const timer = setTimeout(
      () => this.#fail(new Refusal('request_timeout', refusals.request_timeout.message, undefined)),
      this.#silenceMs,
    );
    await new Promise<void>((resolve) => (this.#wake = resolve));
    clearTimeout(timer);
    this.#wake = undefined;
  }
}

/**
 * Writes a reply's body after its head, at the pace of the client and no faster than `pace`. Call gone() when the
 * connection closes. A client that accepts nothing for `stallMs` is disconnected.
 */
export function pour(
  outgoing: Outgoing,
  body: Streamed,
  { stallMs, pace }: { readonly stallMs: number; pace(bytes: number): Promise<void> },
): { readonly done: Promise<void>; gone(): void } {
  let isGone = false;
  let isComplete = false;
  let wake: (() => void) | undefined;

  function write(part: Uint8Array): boolean {
    let isTaken = true;
    outgoing.cork(() => ([isTaken, isComplete] = outgoing.tryEnd(part, body.byteLength)));
    return isTaken;
  }

  /**
   * Waits until the connection accepts more, and writes the rest of `part`, whose first byte is the body's byte `from`.
   */
  function rewrite(part: Uint8Array, from: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the caller reads nothing')), stallMs).unref();
      const done = (): void => {
        clearTimeout(timer);
        resolve();
      };
      wake = done;
      outgoing.onWritable((offset) => {
        timer.refresh();
        const isTaken = write(part.subarray(offset - from));
        if (isTaken) done();
        return isTaken;
      });
    });
  }

  async function run(): Promise<void> {
    let from = 0;
    try {
      for await (const part of body.parts) {
        await pace(part.byteLength);
        if (isGone) return;
        if (!write(part)) await rewrite(part, from);
        from += part.byteLength;
      }
    } finally {
      // A body that ends early cannot be reported by a status any more, only by closing the connection.
      if (!isGone && !isComplete) outgoing.close();
    }
  }

  return {
    done: run(),
    gone() {
      isGone = true;
      wake?.();
    },
  };
}

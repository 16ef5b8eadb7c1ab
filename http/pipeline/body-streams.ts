// Bodies that are too large to be held whole: a request's, read at the pace of whoever consumes it, and a reply's,
// written at the pace of whoever takes it. Both end at once when the connection does. Knows of uWebSockets.js only the
// few calls it makes.

import { Refusal, refusals } from '../../engine/errors.ts';
import { GatheredBytes, Pieces } from '../limits/gathered-bytes.ts';
import type { Room } from '../limits/held-bytes.ts';
import type { Streamed } from '../request.ts';

/** What is read of a request. */
export interface Incoming {
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  pause(): void;
  resume(): void;
}

/** What is written of a reply after its head. */
export interface Outgoing {
  cork(write: () => void): unknown;
  tryEnd(chunk: Uint8Array, totalBytes: number): [boolean, boolean];
  onWritable(handler: (offset: number) => boolean): unknown;
  close(): unknown;
}

/** Received and not yet consumed; beyond it the sender is made to wait. */
const highWaterBytes = 1024 * 1024;
/** Seconds after which there may be room for another body. */
export const noRoomRetrySeconds = 1;

/** The body of one request. Read by one consumer, once. */
export class BodyStream implements AsyncIterable<Uint8Array> {
  readonly #incoming: Incoming;
  readonly #silenceMs: number;
  readonly #room: Room;
  readonly #gathered = new GatheredBytes();
  readonly #pieces = new Pieces();
  #isPaused = false;
  #isComplete = false;
  #failure: Refusal | undefined;
  #wake: (() => void) | undefined;

  /**
   * `silenceMs`: how long a sender may send nothing while it is waited for. `room`: for what is received and not yet
   * consumed.
   */
  constructor(incoming: Incoming, { silenceMs, room }: { readonly silenceMs: number; readonly room: Room }) {
    this.#incoming = incoming;
    this.#silenceMs = silenceMs;
    this.#room = room;
    incoming.onData((chunk, isLast) => {
      this.#isComplete = isLast;
      if (this.#failure !== undefined) return;
      if (!this.#pieces.allow(chunk.byteLength) || !room.take(chunk.byteLength)) {
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
   * The reply is made without the rest, which is let in and forgotten: a sender that is cut off would not read the
   * reply.
   */
  forget(): void {
    if (this.#isPaused) this.#incoming.resume();
    this.#isPaused = false;
    this.end();
  }

  /** The connection is gone: the consumer's next step throws, and the request is touched no more. */
  end(): void {
    // Nothing may be asked of the request from here on.
    this.#isPaused = false;
    this.#fail(new Refusal('request_timeout', 'The request body is incomplete.', undefined));
  }

  #fail(refusal: Refusal): void {
    this.#failure ??= refusal;
    this.#room.giveBack(this.#gathered.take().byteLength);
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#gathered.byteLength > 0) {
        const part = this.#gathered.take();
        this.#room.giveBack(part.byteLength);
        yield part;
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
 * Writes a reply's body after its head. gone() is to be called when the connection is. A caller that takes nothing for
 * `stallMs` is let go.
 */
export function pour(
  outgoing: Outgoing,
  body: Streamed,
  stallMs: number,
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
   * Waits until the connection takes again, and gives it what is left of `part`, whose first byte is the body's byte
   * `from`.
   */
  function rewrite(part: Uint8Array, from: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the caller takes nothing')), stallMs).unref();
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
        if (isGone) return;
        if (!write(part)) await rewrite(part, from);
        from += part.byteLength;
      }
    } finally {
      // What ends too early cannot be told by a status any more, only by the connection.
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

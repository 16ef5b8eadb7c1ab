// Replies that are worth it, compressed as their caller takes them: JSON and text, whole or in parts, on other threads
// than the loop's. So many at a time; who comes when there are more gets what it asked for as it is. Nothing that a
// browser sends by itself opens anything here, so no page of a stranger's can guess at secrets by the length of answers
// (BREACH). Files and documents that do not change are compressed once instead: compressed-file.ts. Used by
// exchange.ts.

import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import { type Encoding, encodingFor } from '../browser/compressed-file.ts';
import type { Room } from '../limits/held-bytes.ts';
import type { Reply } from '../request.ts';

/** Less fits into a packet as it is. */
const leastBytes = 1024;
/** Whole replies at once; each holds a thread of those that also write and hash. */
const maxUnderWay = 4;
const maxWaiting = 64;
/** Replies in parts at once; each holds its compressor's memory for as long as its caller takes. */
const maxStreams = 16;
/** As much smaller as gzip's default for half of its time. */
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 } };
const compressible = /^(?:text\/|application\/(?:json|javascript)\b)/;
const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

export class Compression {
  #underWay = 0;
  #streams = 0;
  readonly #waiting: (() => void)[] = [];

  /**
   * The reply itself where it goes as it is. `room` holds the text until it is compressed, and what became of it until
   * the request is over.
   */
  reply(reply: Reply, accepted: string | undefined, room: Room): Reply | Promise<Reply> {
    const { status, headers, body } = reply;
    if (
      status !== 200 ||
      body === undefined ||
      body instanceof Uint8Array ||
      !compressible.test(headers['Content-Type'] ?? '')
    )
      return reply;
    // Another representation would need another tag.
    if (headers['Content-Encoding'] !== undefined || headers['ETag'] !== undefined) return reply;
    if (typeof body === 'string')
      return body.length < leastBytes
        ? reply
        : this.#text(varying(reply), body, { encoding: encodingFor(accepted), room });
    return 'parts' in body ? reply : this.#parts(varying(reply), body, encodingFor(accepted));
  }

  #text(reply: Reply, text: string, { encoding, room }: { encoding: Encoding; room: Room }): Reply | Promise<Reply> {
    if (encoding === 'identity' || this.#waiting.length >= maxWaiting) return reply;
    const bytes = Buffer.from(text);
    if (!room.take(bytes.length)) return reply;
    return this.#turn()
      .then(() => (encoding === 'br' ? compressBrotli(bytes, brotli) : compressGzip(bytes)))
      .then((compressed) => {
        room.giveBack(bytes.length - compressed.length);
        return encoded(reply, compressed, encoding);
      })
      .catch(() => {
        // Memory for it was not to be had: it goes as it is.
        room.giveBack(bytes.length);
        return reply;
      })
      .finally(() => this.#next());
  }

  /** Resolves when it may begin. */
  async #turn(): Promise<void> {
    if (this.#underWay >= maxUnderWay) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#underWay += 1;
  }

  /** Whoever waits takes over the place. */
  #next(): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#underWay -= 1;
    else waiting();
  }

  #parts(reply: Reply, parts: AsyncIterable<string | Uint8Array>, encoding: Encoding): Reply {
    if (encoding === 'identity' || this.#streams >= maxStreams) return reply;
    return encoded(reply, this.#compressed(parts, encoding), encoding);
  }

  async *#compressed(parts: AsyncIterable<string | Uint8Array>, encoding: Encoding): AsyncGenerator<Uint8Array> {
    this.#streams += 1;
    const compressor = encoding === 'br' ? createBrotliCompress(brotli) : createGzip();
    try {
      // What fails in a part ends the compressor, and with it the loop below; who stops taking ends the parts.
      yield* pipeline(Readable.from(parts), compressor, () => undefined) as AsyncIterable<Uint8Array>;
    } finally {
      this.#streams -= 1;
    }
  }
}

function varying(reply: Reply): Reply {
  return { ...reply, headers: { ...reply.headers, Vary: 'Accept-Encoding' } };
}

function encoded(reply: Reply, body: Reply['body'], encoding: Encoding): Reply {
  return { ...reply, headers: { ...reply.headers, 'Content-Encoding': encoding }, body };
}

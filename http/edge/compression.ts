// Compresses replies that benefit from it, JSON and text: short ones at once, in less time than another thread would need
// to take them over, long ones and those in parts on other threads than the event loop's. Their number at a time is
// limited; beyond it, they are sent uncompressed. Browsers send no credentials to the API by
// themselves, so a stranger's page cannot guess secrets from the length of replies (BREACH). Static files and documents
// are compressed once instead, in compressed-file.ts. Used by exchange.ts.

import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
} from 'node:zlib';
import { type Encoding, encodingFor } from '../browser/compressed-file.ts';
import type { Room } from '../limits/held-bytes.ts';
import type { Reply } from '../request.ts';

/** Smaller replies fit into one packet uncompressed. */
const leastBytes = 1024;
/** Characters; takes a tenth of a millisecond. */
const maxAtOnce = 32 * 1024;
/** Whole replies compressed at once. Each occupies a thread of the pool that also writes and hashes. */
const maxUnderWay = 4;
const maxWaiting = 64;
/** Streamed replies compressed at once. Each holds its memory for as long as the client reads. */
const maxStreams = 16;
/** As good as gzip's default, in half the time. */
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 } };
/** A tenth more bytes, in a fifth of the time. */
const quickBrotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 18 } };
const quickGzip = { level: constants.Z_BEST_SPEED };
const compressible = /^(?:text\/|application\/(?:json|javascript)\b)/;
const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

export class Compression {
  #underWay = 0;
  #streams = 0;
  readonly #waiting: (() => void)[] = [];

  /**
   * Returns the reply itself if it stays uncompressed. `room` holds the text while it is compressed, and the result
   * until the request is over.
   */
  reply(reply: Reply, accepted: string | undefined, room: Room): Reply | Promise<Reply> {
    const { status, headers, body } = reply;
    if (
      status !== 200 ||
      reply.isForwarded === true ||
      body === undefined ||
      body instanceof Uint8Array ||
      !compressible.test(headers['Content-Type'] ?? '')
    )
      return reply;
    // A different representation would need a different ETag.
    if (headers['Content-Encoding'] !== undefined || headers['ETag'] !== undefined) return reply;
    const encoding = encodingFor(accepted);
    // Its parts are read as they come: a compressor would hold them back.
    if (reply.headers['Content-Type']?.startsWith('text/event-stream') === true) return reply;
    if (typeof body !== 'string') return 'parts' in body ? reply : this.#parts(varying(reply), body, encoding);
    if (body.length < leastBytes) return reply;
    if (body.length <= maxAtOnce) return compressedAtOnce(varying(reply), body, encoding);
    return this.#text(varying(reply), body, { encoding, room });
  }

  #text(reply: Reply, text: string, { encoding, room }: { encoding: Encoding; room: Room }): Reply | Promise<Reply> {
    if (encoding === 'identity' || this.#waiting.length >= maxWaiting) return reply;
    const bytes = Buffer.from(text);
    if (!room.reserve(bytes.length)) return reply;
    return this.#turn()
      .then(() => (encoding === 'br' ? compressBrotli(bytes, brotli) : compressGzip(bytes)))
      .then((compressed) => {
        room.release(bytes.length - compressed.length);
        return encoded(reply, compressed, encoding);
      })
      .catch(() => {
        // Out of memory: send it uncompressed.
        room.release(bytes.length);
        return reply;
      })
      .finally(() => this.#next());
  }

  /** Resolves when it may begin. */
  async #turn(): Promise<void> {
    if (this.#underWay >= maxUnderWay) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#underWay += 1;
  }

  /** Hands the place to the next in the queue. */
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
      // A failed part destroys the compressor and ends the loop below; a client that stops reading ends the parts.
      yield* pipeline(Readable.from(parts), compressor, () => undefined) as AsyncIterable<Uint8Array>;
    } finally {
      this.#streams -= 1;
    }
  }
}

function compressedAtOnce(reply: Reply, text: string, encoding: Encoding): Reply {
  switch (encoding) {
    case 'br':
      return encoded(reply, brotliCompressSync(text, quickBrotli), encoding);
    case 'gzip':
      return encoded(reply, gzipSync(text, quickGzip), encoding);
    case 'identity':
      return reply;
  }
}

function varying(reply: Reply): Reply {
  const { Vary: by } = reply.headers;
  return {
    ...reply,
    headers: { ...reply.headers, Vary: by === undefined ? 'Accept-Encoding' : `${by}, Accept-Encoding` },
  };
}

function encoded(reply: Reply, body: Reply['body'], encoding: Encoding): Reply {
  return { ...reply, headers: { ...reply.headers, 'Content-Encoding': encoding }, body };
}

// Writes a reply no faster than the connection accepts it. The library would buffer any length for a slow reader, so
// the rest stays here, counted, at most one reply per connection, and the request counts as open until the last byte is
// accepted. If another request arrives meanwhile, the library closes the connection, so a client cannot pile up replies
// by not reading. Uses only a few calls of uWebSockets.js; called by exchange.ts.

import type { Room } from '../limits/held-bytes.ts';
import { type Outgoing as Poured, pour } from '../pipeline/body-streams.ts';
import type { Reply, Streamed } from '../request.ts';
import { statusText } from '../status-text.ts';

export interface Outgoing extends Poured {
  writeStatus(status: string): unknown;
  writeHeader(name: string, value: string): unknown;
  tryEnd(chunk: string | Uint8Array, totalBytes: number): [boolean, boolean];
  write(chunk: Uint8Array): boolean;
  end(body?: string | Uint8Array, close?: boolean): unknown;
  endWithoutBody(): unknown;
}

export interface ReplyOptions {
  readonly isHead: boolean;
  /** Headers beside the reply's own. */
  readonly headers: Readonly<Record<string, string>>;
  /** The connection is closed after this reply. */
  readonly close: boolean;
  /** Whether replies in progress are the last of their connections. */
  isStopping(): boolean;
  /** A connection that accepts nothing for this long is closed. */
  readonly stallMs: number;
  /**
   * Memory for the part that is not accepted yet. Without room the connection is closed. The receiver of done() gives
   * it back.
   */
  readonly room: Pick<Room, 'reserve'>;
  /** Resolves when this many bytes more of a streamed file may be sent. */
  pace(bytes: number): Promise<void>;
  /** Called once, when nothing of the reply is left here. The connection may be closed. */
  done(): void;
}

/** A reply that is not completely accepted yet. */
export interface Sending {
  /** The connection is gone. */
  gone(): void;
}

const nothingLeft: Sending = { gone: () => {} };
/**
 * The smallest piece to send when a connection reports that it accepts more. A larger piece would pile up for a slow
 * client.
 */
const pieceBytes = 16 * 1024;

/** Starts sending. done() may be called before this returns. */
export function sendReply(res: Outgoing, reply: Reply, options: ReplyOptions): Sending {
  const { body } = reply;
  // For HEAD and 304, only the length is sent (RFC 9110 §8.6).
  const isBodiless = options.isHead || reply.status === 304;
  if (isStreamed(body) && !isBodiless) return sendParts(res, { head: reply, body }, options);
  if (isMeasured(body) && body.byteLength > 0 && !isBodiless) return sendStream(res, { head: reply, body }, options);
  if (reply.status === 204 || isStreamed(body)) {
    res.cork(() => {
      writeHead(res, reply, options);
      // Without an argument: a length that is undefined is written as 2^63. The connection stays open, and is closed
      // with the others.
      res.endWithoutBody();
    });
    options.done();
    return nothingLeft;
  }
  if (isBodiless || body === undefined || isMeasured(body)) return sendLength(res, reply, options);
  return sendBody(res, { head: reply, body }, options);
}

/** Nobody takes the reply: whatever would write its parts ends. */
export function discardReply({ body }: Reply): void {
  const parts = isMeasured(body) ? body.parts : isStreamed(body) ? body : undefined;
  void parts?.[Symbol.asyncIterator]().return?.();
}

function writeHead(res: Outgoing, reply: Reply, { headers }: Pick<ReplyOptions, 'headers'>): void {
  res.writeStatus(`${reply.status} ${statusText(reply.status)}`);
  for (const name in headers) res.writeHeader(name, headers[name] ?? '');
  for (const name in reply.headers) res.writeHeader(name, reply.headers[name] ?? '');
}

function sendBody(
  res: Outgoing,
  { head, body }: { head: Reply; body: string | Uint8Array },
  options: ReplyOptions,
): Sending {
  // Short, like every error: queued behind anything that waits.
  if (options.close && body.length < pieceBytes) {
    res.cork(() => {
      writeHead(res, head, options);
      res.end(body, true);
    });
    options.done();
    return nothingLeft;
  }
  const total = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
  let isComplete = false;
  res.cork(() => {
    writeHead(res, head, options);
    [, isComplete] = res.tryEnd(body, total);
  });
  if (isComplete) {
    options.done();
    return nothingLeft;
  }
  // A text is copied; bytes belong to a file that is held once for all clients.
  if (typeof body === 'string' && !options.room.reserve(total)) {
    res.close();
    options.done();
    return nothingLeft;
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return finishLater(res, options, (offset) => {
    const [isTaken, isWhole] = res.tryEnd(bytes.subarray(offset), total);
    return { isTaken, isComplete: isWhole };
  });
}

/** A reply without a body, with the length that the body would have. */
function sendLength(res: Outgoing, reply: Reply, options: ReplyOptions): Sending {
  const { body } = reply;
  const total =
    body === undefined || isStreamed(body) ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
  let isTaken = true;
  let isComplete = true;
  res.cork(() => {
    writeHead(res, reply, options);
    // Sends nothing, but reports whether the connection accepted what was sent before.
    [isTaken, isComplete] = res.tryEnd('', total);
    if (isTaken && !isComplete) {
      res.endWithoutBody();
      isComplete = true;
    }
  });
  if (isComplete) {
    options.done();
    return nothingLeft;
  }
  return finishLater(res, options, () => {
    res.endWithoutBody();
    return { isTaken: true, isComplete: true };
  });
}

/**
 * Continues whenever the connection accepts more, until the reply is complete. Closes a connection that accepts nothing
 * for too long.
 */
function finishLater(
  res: Outgoing,
  options: ReplyOptions,
  goOn: (offset: number) => { isTaken: boolean; isComplete: boolean },
): Sending {
  let isOver = false;
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    options.done();
  };
  const timer = setTimeout(() => {
    if (!isOver) res.close();
    over();
  }, options.stallMs).unref();
  res.onWritable((offset) => {
    if (isOver) return true;
    timer.refresh();
    let step = { isTaken: true, isComplete: false };
    res.cork(() => (step = goOn(offset)));
    if (step.isComplete) over();
    return step.isTaken;
  });
  return { gone: over };
}

function sendStream(res: Outgoing, { head, body }: { head: Reply; body: Streamed }, options: ReplyOptions): Sending {
  res.cork(() => writeHead(res, head, options));
  const pouring = pour(res, body, options);
  void pouring.done.catch(() => undefined).finally(() => options.done());
  return { gone: () => pouring.gone() };
}

/**
 * Writes each part after the one before it was accepted, so that a slow client costs the memory of one part, and a
 * stalled one is disconnected.
 */
function sendParts(
  res: Outgoing,
  { head, body }: { head: Reply; body: AsyncIterable<string | Uint8Array> },
  options: ReplyOptions,
): Sending {
  let isGone = false;
  let wake = (): void => {};
  res.onWritable(() => {
    wake();
    return true;
  });
  const ready = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the caller takes nothing')), options.stallMs).unref();
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function run(): Promise<void> {
    try {
      res.cork(() => writeHead(res, head, options));
      for await (const part of body) {
        const bytes = typeof part === 'string' ? Buffer.from(part) : part;
        for (let at = 0; at < bytes.length && !isGone; at += pieceBytes) {
          let hasLeft = false;
          res.cork(() => {
            hasLeft = res.write(bytes.subarray(at, at + pieceBytes));
          });
          if (!hasLeft) await ready();
        }
        if (isGone) return;
      }
      res.cork(() => void res.end(undefined, options.isStopping()));
    } catch {
      // The pipeline logs the failure of a part. The connection must be closed, or the reply would look complete.
      if (!isGone) res.close();
    }
  }

  void run().finally(() => options.done());
  return {
    gone() {
      isGone = true;
      wake();
    },
  };
}

function isMeasured(body: Reply['body']): body is Streamed {
  return typeof body === 'object' && 'parts' in body;
}

function isStreamed(body: Reply['body']): body is AsyncIterable<string | Uint8Array> {
  return typeof body === 'object' && Symbol.asyncIterator in body;
}

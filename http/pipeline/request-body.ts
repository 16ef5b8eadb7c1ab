// Reads a whole request body within limits of size, time and its network's memory. The rest of a body that is too large
// is received and dropped, up to a limit, so that the sender reads the refusal: ordinary clients look for a reply only
// after sending everything. Uses only a few calls of uWebSockets.js; called by exchange.ts.

import { GatheredBytes, Pieces } from '../limits/gathered-bytes.ts';
import type { Room } from '../limits/held-bytes.ts';
import type { Incoming } from './body-streams.ts';

export type BodyFailure = 'payload_too_large' | 'request_timeout' | 'rate_limited';

export interface BodyOptions {
  readonly maxBytes: number;
  /** In each span of this length, an incomplete body must grow by minBytesPerSecond. */
  readonly timeoutMs: number;
  /** Its Content-Length; undefined without one. */
  readonly announcedBytes: number | undefined;
  /** The body is ignored, however large it is. */
  readonly isUnwanted: boolean;
  /** Memory for the incomplete body; given back by the caller. */
  readonly room: Pick<Room, 'reserve'>;
  /** The body is complete. The bytes belong to the library and are valid until this returns. */
  whole(body: Uint8Array): void;
  /**
   * It arrives in too many and too small pieces. What has arrived is still scanned to its end unless the connection is
   * closed.
   */
  crumbled(): void;
  /** `isRead`: the whole body was received, and the connection can serve another request. */
  failed(why: BodyFailure, isRead: boolean): void;
}

/** The slowest allowed upload; the library requires the same over its own, longer span. */
const minBytesPerSecond = 16 * 1024;
/** At most this much of an oversized body is received and dropped: a bit more than the largest allowed upload. */
const maxDrainedBytes = 32 * 1024 * 1024;
/** A sender that pauses for this long is waiting for a reply. */
const quietMs = 500;
const maxDrainMs = 10_000;

/** For the bodies that began in this turn of the loop. */
let waiting: (() => void)[] = [];

/** Calls after this turn, in which most bodies arrive whole: a timer for each would cost more than reading it. */
function afterTurn(call: () => void): void {
  if (waiting.push(call) > 1) return;
  setImmediate(() => {
    const calls = waiting;
    waiting = [];
    for (const one of calls) one();
  });
}

/** `end` abandons the body; the caller gives its memory back. */
export function readBody(incoming: Incoming, options: BodyOptions): { end(): void } {
  const pieces = new Pieces();
  /** Of a body that comes in more than one piece. */
  let gathered: GatheredBytes | undefined;
  let length = 0;
  let state: 'reading' | 'draining' | 'ended' = 'reading';
  let timer: NodeJS.Timeout | undefined;
  let deadline: NodeJS.Timeout | undefined;

  const end = (): void => {
    state = 'ended';
    gathered = undefined;
    clearTimeout(timer);
    clearTimeout(deadline);
  };
  const fail = (why: BodyFailure, isRead = false): void => {
    end();
    options.failed(why, isRead);
  };
  const drain = (): void => {
    clearTimeout(timer);
    state = 'draining';
    gathered = undefined;
    timer = setTimeout(() => fail('payload_too_large'), quietMs).unref();
    deadline = setTimeout(() => fail('payload_too_large'), maxDrainMs).unref();
  };
  const watch = (lengthBefore: number): void => {
    timer = setTimeout(() => {
      if ((length - lengthBefore) * 1000 < minBytesPerSecond * options.timeoutMs) fail('request_timeout');
      else watch(length);
    }, options.timeoutMs).unref();
  };

  afterTurn(() => {
    if (state === 'reading') watch(0);
  });
  if (options.isUnwanted || (options.announcedBytes ?? 0) > options.maxBytes) drain();
  incoming.onData((chunk, isLast) => {
    if (state === 'ended') return;
    length += chunk.byteLength;
    if (!pieces.allow(chunk.byteLength)) {
      end();
      options.crumbled();
      return;
    }
    if (state === 'reading' && length > options.maxBytes) drain();
    if (state === 'draining') {
      if (isLast) fail('payload_too_large', true);
      else if (length > maxDrainedBytes) fail('payload_too_large');
      else timer?.refresh();
      return;
    }
    if (isLast && (gathered?.byteLength ?? 0) === 0) {
      end();
      // Parsed before this callback returns, so the library's memory is not copied.
      options.whole(new Uint8Array(chunk));
      return;
    }
    if (chunk.byteLength > 0 && !options.room.reserve(chunk.byteLength)) {
      fail('rate_limited');
      return;
    }
    gathered ??= new GatheredBytes();
    gathered.add(new Uint8Array(chunk));
    if (!isLast) return;
    const body = gathered.take();
    end();
    options.whole(body);
  });
  return { end };
}

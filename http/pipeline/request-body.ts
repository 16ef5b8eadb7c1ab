// A request's body, read whole within bounds of bytes, of time, and of what its network may have held here. One that is
// too large is let in and forgotten as far as that is bearable, so that whoever sends it reads why it was refused:
// ordinary clients look for an answer when they have sent everything. Knows of uWebSockets.js only the few calls it
// makes; called by exchange.ts.

import { GatheredBytes, Pieces } from '../limits/gathered-bytes.ts';
import type { Room } from '../limits/held-bytes.ts';
import type { Incoming } from './body-streams.ts';

export type BodyFailure = 'payload_too_large' | 'request_timeout' | 'rate_limited';

export interface BodyOptions {
  readonly maxBytes: number;
  /** In each span of so long, a body that is not complete must have grown by minBytesPerSecond. */
  readonly timeoutMs: number;
  /** What its Content-Length says; undefined where it says nothing. */
  readonly announcedBytes: number | undefined;
  /** Nothing is done with it, however large it is. */
  readonly isUnwanted: boolean;
  /** For what is held until the body is complete; given back by the caller. */
  readonly room: Pick<Room, 'take'>;
  /** Complete. The bytes are the library's, and good until this returns. */
  whole(body: Uint8Array): void;
  /**
   * It comes in more and smaller pieces than anybody means well with: what is here of them already is gone through to
   * its end unless the connection is closed.
   */
  crumbled(): void;
  /** `isRead`: the whole of it was let in, and the connection can serve another request. */
  failed(why: BodyFailure, isRead: boolean): void;
}

/** As slow as a request may come in. The same as the library asks for over its own, longer span. */
const minBytesPerSecond = 16 * 1024;
/** Let in and forgotten of a body that is too large: a bit more than the largest file that anybody may upload. */
const maxDrainedBytes = 32 * 1024 * 1024;
/** Who sends nothing for so long waits for an answer. */
const quietMs = 500;
const maxDrainMs = 10_000;

/** `end` lets go of a body that nobody waits for any more; what it held is the caller's to give back. */
export function readBody(incoming: Incoming, options: BodyOptions): { end(): void } {
  const pieces = new Pieces();
  const gathered = new GatheredBytes();
  let length = 0;
  let state: 'reading' | 'draining' | 'ended' = 'reading';
  let timer: NodeJS.Timeout | undefined;
  let deadline: NodeJS.Timeout | undefined;

  const end = (): void => {
    state = 'ended';
    gathered.take();
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
    gathered.take();
    timer = setTimeout(() => fail('payload_too_large'), quietMs).unref();
    deadline = setTimeout(() => fail('payload_too_large'), maxDrainMs).unref();
  };
  const watch = (lengthBefore: number): void => {
    timer = setTimeout(() => {
      if ((length - lengthBefore) * 1000 < minBytesPerSecond * options.timeoutMs) fail('request_timeout');
      else watch(length);
    }, options.timeoutMs).unref();
  };

  watch(0);
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
    if (isLast && gathered.byteLength === 0) {
      end();
      // Parsed before this callback returns, so the library's memory needs no copy.
      options.whole(new Uint8Array(chunk));
      return;
    }
    if (chunk.byteLength > 0 && !options.room.take(chunk.byteLength)) {
      fail('rate_limited');
      return;
    }
    gathered.add(new Uint8Array(chunk));
    if (!isLast) return;
    const body = gathered.take();
    end();
    options.whole(body);
  });
  return { end };
}

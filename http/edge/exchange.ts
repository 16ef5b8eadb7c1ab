// One request and its reply, from head to last byte: queued fairly between networks, within its network's memory limit,
// and stopped when its connection closes. A handler that has started runs to its end, even if the client is gone. Made
// by server.ts for each request.

import type { FairTurns } from '../limits/fair-turns.ts';
import { type HeldBytes, NetworkRoom } from '../limits/held-bytes.ts';
import type { Pace } from '../limits/pace.ts';
import { BodyStream, type Incoming } from '../pipeline/body-streams.ts';
import type { Begun } from '../pipeline/http-call.ts';
import { maxBodyBytes, type Pipeline } from '../pipeline/pipeline.ts';
import { readBody } from '../pipeline/request-body.ts';
import type { Reply } from '../request.ts';
import type { Compression } from './compression.ts';
import { discardReply, type Outgoing, type Sending, sendReply } from './reply-writer.ts';
import type { Head } from './request-head.ts';

/** Operations on the connection of a request. */
export interface Line extends Incoming, Outgoing {
  /** The connection has closed and must not be touched again. */
  onAborted(handler: () => void): unknown;
}

export interface ExchangeParts {
  readonly pipeline: Pipeline;
  readonly turns: FairTurns;
  readonly held: HeldBytes;
  readonly pace: Pace;
  readonly compression: Compression;
  readonly bodyTimeoutMs: number;
  readonly stallTimeoutMs: number;
  isStopping(): boolean;
  /** Headers of every reply, and of the last one of a connection. */
  readonly headers: Readonly<Record<string, string>>;
  readonly lastHeaders: Readonly<Record<string, string>>;
}

const noBody = new Uint8Array(0);
/** Arrives in one piece and is cheap to read, so the size limit is checked after it is counted. */
const smallBodyBytes = 16 * 1024;

type State =
  /** The body is received, or the request waits for its network's turn. `body` is a whole body on its way. */
  | { readonly name: 'arriving'; readonly body: { end(): void } | undefined }
  /** The pipeline has the request. `body` is a stream that its handler reads. */
  | { readonly name: 'handled'; readonly body: BodyStream | undefined }
  /** The connection closed while the pipeline has the request; the reply will be dropped. */
  | { readonly name: 'abandoned' }
  | { readonly name: 'replying'; readonly sending: Sending | undefined }
  | { readonly name: 'over' };

export class Exchange {
  readonly #line: Line;
  readonly #head: Head;
  readonly #parts: ExchangeParts;
  readonly #room: NetworkRoom;
  /** Called once, when nothing of the exchange is left. */
  readonly #over: () => void;
  #state: State = { name: 'arriving', body: undefined };

  constructor(line: Line, head: Head, parts: ExchangeParts, over: () => void) {
    this.#line = line;
    this.#head = head;
    this.#parts = parts;
    this.#over = over;
    this.#room = new NetworkRoom(parts.held, () => head.network);
  }

  begin(): void {
    const { pipeline, turns } = this.#parts;
    const isFree = turns.isFree(this.#head.startedMs);
    const begun = pipeline.begin(this.#head);
    this.#line.onAborted(() => this.#abort());
    if ('compiled' in begun) this.#receive(begun);
    else if (begun.endsConnection === true) this.#refuse(begun);
    else if (isFree) this.#respond(begun);
    else turns.wait(this.#room.network, () => this.#respond(begun));
  }

  /**
   * It is unknown where this request ends, so the rest of the connection must not be read. The library reads no more of it
   * after a reply that is sent in a later turn.
   */
  #refuse(reply: Reply): void {
    this.#parts.turns.wait(this.#room.network, () => {
      // A reply without a body would leave the connection open.
      if (this.#isOpen && this.#head.method === 'HEAD') this.#line.close();
      this.#respond(reply, true);
    });
  }

  #receive(begun: Begun): void {
    const { bodyTimeoutMs } = this.#parts;
    const { method } = this.#head;
    if (method === 'GET' || method === 'HEAD') this.#finishInTurn(begun, noBody);
    else if (begun.compiled.route.receive !== undefined)
      this.#finish(
        begun,
        new BodyStream(this.#line, {
          silenceMs: bodyTimeoutMs,
          room: this.#room,
          pace: (bytes) => this.#pace(bytes),
        }),
      );
    else this.#receiveWhole(begun);
  }

  #receiveWhole(begun: Begun): void {
    const { headers } = this.#head;
    const announcedBytes = Number(headers['content-length'] ?? 0);
    const isLarge = announcedBytes > smallBodyBytes || headers['transfer-encoding'] !== undefined;
    const refused = isLarge ? this.#parts.pipeline.refusedUnread(begun) : undefined;
    const body = readBody(this.#line, {
      maxBytes: maxBodyBytes,
      timeoutMs: this.#parts.bodyTimeoutMs,
      announcedBytes,
      isUnwanted: refused !== undefined,
      room: this.#room,
      whole: (bytes) => this.#finishInTurn(begun, bytes),
      crumbled: () => this.#line.close(),
      failed: (why, isRead) => this.#respondOnce(refused ?? this.#parts.pipeline.failed(begun, why), !isRead),
    });
    this.#state = { name: 'arriving', body };
  }

  /** The library reuses the body's memory after this returns, so a queued request copies it. */
  #finishInTurn(begun: Begun, body: Uint8Array): void {
    const { pipeline, turns } = this.#parts;
    if (!this.#isChunked && turns.isFree(performance.now())) {
      this.#finish(begun, body);
      return;
    }
    const isEmpty = body.byteLength === 0;
    const isOurs = isEmpty || this.#room.reserved > 0;
    if (!isOurs && !this.#room.reserve(body.byteLength)) {
      this.#respond(pipeline.failed(begun, 'rate_limited'), true);
      return;
    }
    const bytes = isEmpty ? noBody : isOurs ? body : body.slice();
    turns.wait(this.#room.network, () => {
      if (this.#isOpen) this.#finish(begun, bytes);
      else this.#end();
    });
  }

  #finish(begun: Begun, body: Uint8Array | BodyStream): void {
    this.#state = { name: 'handled', body: body instanceof BodyStream ? body : undefined };
    this.#parts.pipeline.finish(begun, body, (reply) => this.#respondOnce(reply));
  }

  /**
   * The library checks neither the line ends of chunks nor trailers, so what follows a chunked body may be its own rest,
   * and would be read as a request. Its reply is the last of its connection, and is sent in a later turn: if more came
   * with the body, the library closes the connection, since this request is still unanswered.
   */
  #respondOnce(reply: Reply, close = false): void {
    if (this.#isChunked) this.#parts.turns.wait(this.#room.network, () => this.#respond(reply, true));
    else this.#respond(reply, close);
  }

  /** `close`: the connection is closed after this reply. */
  #respond(reply: Reply, close = false): void {
    if (this.#state.name === 'handled') this.#state.body?.forget();
    this.#room.releaseAll();
    const compressed = this.#isOpen
      ? this.#parts.compression.reply(reply, this.#head.headers['accept-encoding'], this.#room)
      : reply;
    if (compressed instanceof Promise) void compressed.then((smaller) => this.#send(smaller, close));
    else this.#send(compressed, close);
  }

  #send(reply: Reply, close: boolean): void {
    const { stallTimeoutMs, isStopping, headers, lastHeaders } = this.#parts;
    if (!this.#isOpen) {
      discardReply(reply);
      this.#end();
      return;
    }
    this.#state = { name: 'replying', sending: undefined };
    const isLast = close || isStopping();
    const sending = sendReply(this.#line, reply, {
      isHead: this.#head.method === 'HEAD',
      headers: isLast || this.#head.endsConnection ? lastHeaders : headers,
      close: isLast,
      isStopping,
      stallMs: stallTimeoutMs,
      room: this.#room,
      pace: (bytes) => this.#pace(bytes),
      done: () => this.#end(),
    });
    // A short reply is sent, and the exchange over, by now.
    if (this.#isOpen) this.#state = { name: 'replying', sending };
  }

  #pace(bytes: number): Promise<void> {
    return this.#parts.pace.take(this.#room.network, bytes);
  }

  get #isChunked(): boolean {
    return this.#head.headers['transfer-encoding'] !== undefined;
  }

  /** The connection may be used. */
  get #isOpen(): boolean {
    return this.#state.name !== 'abandoned' && this.#state.name !== 'over';
  }

  /** The connection has closed. */
  #abort(): void {
    this.#head.forget();
    const state = this.#state;
    switch (state.name) {
      case 'arriving':
        state.body?.end();
        this.#end();
        break;
      case 'handled':
        this.#state = { name: 'abandoned' };
        state.body?.end();
        break;
      case 'replying':
        state.sending?.gone();
        break;
    }
  }

  #end(): void {
    this.#room.releaseAll();
    if (this.#state.name === 'over') return;
    this.#state = { name: 'over' };
    this.#over();
  }
}

// One request and its reply, from head to last byte: queued fairly between networks, within its network's memory limit,
// and stopped when its connection closes. A handler that has started runs to its end, even if the client is gone. Made
// by server.ts for each request.

import type { FairTurns } from '../limits/fair-turns.ts';
import { type HeldBytes, NetworkRoom } from '../limits/held-bytes.ts';
import { BodyStream, type Incoming } from '../pipeline/body-streams.ts';
import { type Begun, maxBodyBytes, type Pipeline } from '../pipeline/pipeline.ts';
import { readBody } from '../pipeline/request-body.ts';
import type { Reply } from '../request.ts';
import type { Compression } from './compression.ts';
import { type Outgoing, type Sending, sendReply } from './reply-writer.ts';
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

export class Exchange {
  readonly #line: Line;
  readonly #head: Head;
  readonly #parts: ExchangeParts;
  readonly #room: NetworkRoom;
  /** Called once, when nothing of the exchange is left. */
  readonly #over: () => void;
  #isOpen = true;
  #isOver = false;
  /** The request was passed to the pipeline. */
  #isHanded = false;
  #reading: { end(): void } | undefined;
  #received: BodyStream | undefined;
  #sending: Sending | undefined;

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
   * The bytes that follow on this connection cannot be told apart from this request. The library reads none of them
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
    const { method, headers } = this.#head;
    if (method === 'GET' || method === 'HEAD') this.#finishInTurn(begun, noBody);
    else if (begun.compiled.route.receive !== undefined) {
      this.#received = new BodyStream(this.#line, { silenceMs: bodyTimeoutMs, room: this.#room });
      this.#finish(begun, this.#received);
    } else {
      const announcedBytes = Number(headers['content-length'] ?? 0);
      const isLarge = announcedBytes > smallBodyBytes || headers['transfer-encoding'] !== undefined;
      const refused = isLarge ? this.#parts.pipeline.refusedUnread(begun) : undefined;
      this.#reading = readBody(this.#line, {
        maxBytes: maxBodyBytes,
        timeoutMs: bodyTimeoutMs,
        announcedBytes,
        isUnwanted: refused !== undefined,
        room: this.#room,
        whole: (body) => this.#finishInTurn(begun, body),
        crumbled: () => this.#line.close(),
        failed: (why, isRead) => this.#respond(refused ?? this.#parts.pipeline.failed(begun, why), !isRead),
      });
    }
  }

  /** The library reuses the body's memory after this returns, so a queued request copies it. */
  #finishInTurn(begun: Begun, body: Uint8Array): void {
    const { pipeline, turns } = this.#parts;
    if (turns.isFree(performance.now())) {
      this.#finish(begun, body);
      return;
    }
    const isEmpty = body.byteLength === 0;
    const isOurs = isEmpty || this.#room.taken > 0;
    if (!isOurs && !this.#room.take(body.byteLength)) {
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
    this.#isHanded = true;
    this.#parts.pipeline.finish(begun, body, (reply) => this.#respond(reply));
  }

  /** `close`: the connection is closed after this reply. */
  #respond(reply: Reply, close = false): void {
    this.#received?.forget();
    this.#room.giveBackAll();
    const compressed = this.#isOpen
      ? this.#parts.compression.reply(reply, this.#head.headers['accept-encoding'], this.#room)
      : reply;
    if (compressed instanceof Promise) void compressed.then((smaller) => this.#send(smaller, close));
    else this.#send(compressed, close);
  }

  #send(reply: Reply, close: boolean): void {
    const { stallTimeoutMs, isStopping, headers, lastHeaders } = this.#parts;
    if (!this.#isOpen) {
      this.#end();
      return;
    }
    const isLast = close || isStopping();
    this.#sending = sendReply(this.#line, reply, {
      isHead: this.#head.method === 'HEAD',
      headers: isLast || this.#head.endsConnection ? lastHeaders : headers,
      close: isLast,
      isStopping,
      stallMs: stallTimeoutMs,
      room: this.#room,
      done: () => {
        this.#isOpen = false;
        this.#end();
      },
    });
  }

  #abort(): void {
    this.#head.forget();
    this.#isOpen = false;
    this.#reading?.end();
    this.#received?.end();
    this.#sending?.gone();
    if (!this.#isHanded) this.#end();
  }

  #end(): void {
    this.#room.giveBackAll();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#over();
  }
}

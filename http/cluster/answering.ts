// The answer of another node to a request that was sent on, from its first byte to its last, as a reply that the edge
// writes. A short one is whole before it is given; of a longer one the parts are passed on as the client takes them, and
// the connection to the other node ends when the client leaves. Used by forwarding.ts.

import type { Dispatcher } from 'undici';
import { type NodeAnswer, nodeHeader } from '../pipeline/node-answers.ts';
import type { Reply } from '../request.ts';
import { headersToReturn } from './forwarded-headers.ts';

type Controller = Dispatcher.DispatchController;

export interface Settling {
  /** `answer`: the node has answered this one, not the client. */
  replied(reply: Reply, answer: NodeAnswer | undefined): void;
  failed(error: Error): void;
  /** Nothing more arrives: the connection is free. */
  over(): void;
}

/** Longer answers are passed on in parts. A reply in parts holds as much for a slow client. */
const wholeBytes = 64 * 1024;
/** A reply that nobody begins to read for this long is given up. Whoever reads it has a limit of its own. */
const unreadMs = 30_000;

/** The client of HTTP calls this with what arrives. */
export class Answering implements Dispatcher.DispatchHandler {
  readonly #method: string;
  readonly #settle: Settling;
  readonly #whole: Uint8Array[] = [];
  #answer: NodeAnswer | undefined;
  /** Of a short answer. */
  #head: { readonly status: number; readonly headers: Record<string, string> } | undefined;
  #parts: Parts | undefined;
  /** Something may have been sent. */
  hasBegun = false;

  /** Either `replied` or `failed` is called, then `over`. A failure after `replied` is one of the reply's parts. */
  constructor(method: string, settle: Settling) {
    this.#method = method;
    this.#settle = settle;
  }

  onRequestStart(): void {
    this.hasBegun = true;
  }

  onResponseStart(controller: Controller, status: number, parsed: Readonly<Record<string, unknown>>): void {
    if (status < 200) return;
    const raw = controller.rawHeaders;
    const headers = Array.isArray(raw) ? headersToReturn(raw) : {};
    const announced = parsed['content-length'];
    this.#answer = parsed[nodeHeader.toLowerCase()] as NodeAnswer | undefined;
    const byteLength = announced === undefined ? undefined : Number(announced);
    if (this.#method === 'HEAD' || status === 304 || status === 204) {
      this.#reply({ status, headers, body: status === 204 ? undefined : bodiless(byteLength) });
      return;
    }
    if (byteLength !== undefined && byteLength <= wholeBytes) {
      this.#head = { status, headers };
      return;
    }
    const parts = new Parts(controller);
    this.#parts = parts;
    this.#reply({ status, headers, body: byteLength === undefined ? parts : { byteLength, parts } });
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#parts === undefined) this.#whole.push(chunk);
    else this.#parts.add(chunk);
  }

  onResponseEnd(): void {
    this.#parts?.end();
    if (this.#head !== undefined) this.#reply({ ...this.#head, body: Buffer.concat(this.#whole) });
    this.#settle.over();
  }

  onResponseError(_controller: Controller, error: Error): void {
    if (this.#parts === undefined) this.#settle.failed(error);
    else this.#parts.fail(error);
    this.#settle.over();
  }

  #reply(reply: Reply): void {
    this.#settle.replied({ ...reply, isForwarded: true }, this.#answer);
  }
}

/** Only a body's length, which HEAD and 304 are answered with. */
function bodiless(byteLength: number | undefined): Reply['body'] {
  return byteLength === undefined ? noParts : { byteLength, parts: noParts };
}

const noParts: AsyncIterable<never> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};

/** Parts of an answer, for one reader, who may leave at any time. */
class Parts implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array, undefined> {
  readonly #controller: Controller;
  readonly #unread: NodeJS.Timeout;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #end: { readonly error: Error | undefined } | undefined;
  #wake: (() => void) | undefined;

  constructor(controller: Controller) {
    this.#controller = controller;
    this.#unread = setTimeout(() => void this.return(), unreadMs).unref();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  add(part: Uint8Array): void {
    this.#waiting.push(part);
    this.#waitingBytes += part.byteLength;
    if (this.#waitingBytes >= wholeBytes) this.#controller.pause();
    this.#wake?.();
  }

  end(): void {
    this.#end ??= { error: undefined };
    this.#wake?.();
  }

  fail(error: Error): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    clearTimeout(this.#unread);
    for (;;) {
      const part = this.#waiting.shift();
      if (part !== undefined) {
        this.#waitingBytes -= part.byteLength;
        if (this.#waiting.length === 0 && this.#controller.paused) this.#controller.resume();
        return { done: false, value: part };
      }
      if (this.#end !== undefined) return this.#ended(this.#end.error);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** The reader has left. */
  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    clearTimeout(this.#unread);
    this.#waiting = [];
    if (this.#end === undefined) {
      this.#end = { error: undefined };
      this.#controller.abort(new Error('the client has left'));
    }
    this.#wake?.();
    return { done: true, value: undefined };
  }

  #ended(error: Error | undefined): IteratorResult<Uint8Array, undefined> {
    if (error !== undefined) throw error;
    return { done: true, value: undefined };
  }
}

// A test socket: keeps every frame in order, validates it by the AsyncAPI document, and waits for frames by type.

import WebSocket from 'ws';
import { problemOf } from './frames.ts';

export interface Frame {
  readonly type: string;
  readonly seq?: number;
  readonly data?: any;
  readonly [field: string]: any;
}

export class TestSocket {
  readonly #socket: WebSocket;
  readonly frames: Frame[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  #read = 0;
  #wake: (() => void)[] = [];
  #lastId = 0;
  /** The first frame that was not as declared. */
  problem: string | undefined;

  constructor(url: string, protocols: string[], headers: Record<string, string> = {}) {
    const namespace = new URL(url).pathname.slice(1);
    this.#socket = new WebSocket(url, protocols, { headers });
    this.#socket.on('message', (data) => {
      const frame = JSON.parse(String(data));
      this.problem ??= problemOf(namespace, frame);
      this.frames.push(frame);
      this.#wakeAll();
    });
    this.closed = new Promise((resolve) => {
      this.#socket.on('close', (code, reason) => {
        resolve({ code, reason: String(reason) });
        this.#wakeAll();
      });
    });
    this.#socket.on('error', () => {});
  }

  /** Opens with the token as subprotocol and waits for ready. */
  static async open(url: string, token: string, options: { since?: number } = {}): Promise<TestSocket> {
    const query = options.since === undefined ? '' : `?since=${options.since}`;
    const socket = new TestSocket(`${url}${query}`, ['messaging.v1', `bearer.${token}`]);
    await socket.next('ready');
    return socket;
  }

  get protocol(): string {
    return this.#socket.protocol;
  }

  opened(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket.readyState === WebSocket.OPEN) resolve();
      else this.#socket.once('open', () => resolve());
    });
  }

  send(frame: unknown): void {
    this.#socket.send(typeof frame === 'string' || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame));
  }

  /** The next frame of this type that no earlier call has returned. Rejects if the socket closes first. */
  async next(type: string): Promise<Frame> {
    for (;;) {
      while (this.#read < this.frames.length) {
        const frame = this.frames[this.#read];
        this.#read += 1;
        if (frame?.type === type) return frame;
      }
      await this.#more(type);
    }
  }

  /** The first frame of all that matches. */
  async until(isIt: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const frame = this.frames.find(isIt);
      if (frame !== undefined) return frame;
      await this.#more('a frame');
    }
  }

  /** Runs a command and waits for its reply. */
  async call(method: string, params: object = {}): Promise<{ status: number; body: any }> {
    this.#lastId += 1;
    const id = this.#lastId;
    let looked = this.frames.length;
    this.send({ id, type: 'call', method, params });
    for (;;) {
      for (; looked < this.frames.length; looked += 1) {
        const reply = this.frames[looked];
        if (reply?.type === 'reply' && reply['id'] === id) return { status: reply['status'], body: reply['body'] };
      }
      await this.#more(`a reply to ${method}`);
    }
  }

  /** Everything that the server sent before it answered this ping. */
  async flushed(): Promise<Frame[]> {
    const pongs = this.frames.filter((frame) => frame.type === 'pong').length;
    this.send({ type: 'ping' });
    while (this.frames.filter((frame) => frame.type === 'pong').length === pongs) await this.#more('pong');
    return this.frames;
  }

  /** The numbered events so far, in order. */
  get numbered(): Frame[] {
    return this.frames.filter((frame) => frame.seq !== undefined && frame.type !== 'ready' && frame.type !== 'resync');
  }

  /** Their types. */
  get events(): string[] {
    return this.numbered.map((frame) => frame.type);
  }

  /** The number that a new socket resumes from. */
  get lastSeq(): number {
    return this.numbered.at(-1)?.seq ?? this.frames.find((frame) => frame.type === 'ready')?.seq ?? 0;
  }

  /** Stops reading, so that the server's frames pile up. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Drops the connection like a network failure. */
  tear(): void {
    this.#socket.terminate();
  }

  async close(): Promise<void> {
    this.#socket.close();
    await this.closed;
  }

  async #more(what: string): Promise<void> {
    if (this.problem !== undefined) throw new Error(this.problem);
    if (this.#socket.readyState === WebSocket.CLOSED) throw new Error(`closed while waiting for ${what}`);
    await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  #wakeAll(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const call of wake) call();
  }
}

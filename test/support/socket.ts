// A socket as a test uses it: every frame kept in order, waited for by type.

import WebSocket from 'ws';

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

  constructor(url: string, protocols: string[], headers: Record<string, string> = {}) {
    this.#socket = new WebSocket(url, protocols, { headers });
    this.#socket.on('message', (data) => {
      this.frames.push(JSON.parse(String(data)));
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

  /** The next frame of this type that no earlier call has passed. Rejects when the socket closes before. */
  async next(type: string): Promise<Frame> {
    for (;;) {
      while (this.#read < this.frames.length) {
        const frame = this.frames[this.#read];
        this.#read += 1;
        if (frame?.type === type) return frame;
      }
      if (this.#socket.readyState === WebSocket.CLOSED) throw new Error(`closed while waiting for ${type}`);
      await new Promise<void>((resolve) => this.#wake.push(resolve));
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
      if (this.#socket.readyState === WebSocket.CLOSED) throw new Error(`closed while waiting for a reply to ${method}`);
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  /** Everything that the server sent before it answered this ping. */
  async flushed(): Promise<Frame[]> {
    const pongs = this.frames.filter((frame) => frame.type === 'pong').length;
    this.send({ type: 'ping' });
    while (this.frames.filter((frame) => frame.type === 'pong').length === pongs) await new Promise<void>((resolve) => this.#wake.push(resolve));
    return this.frames;
  }

  /** Types of the numbered events so far, in order. */
  get events(): string[] {
    return this.frames.filter((frame) => frame.seq !== undefined && frame.type !== 'ready').map((frame) => frame.type);
  }

  /** Stops reading, so that what the server sends piles up. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  async close(): Promise<void> {
    this.#socket.close();
    await this.closed;
  }

  #wakeAll(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const call of wake) call();
  }
}

// A socket that reconnects: when it is cut, by a test or by the end of the service, it resumes from the last event it
// has seen. It checks that each event arrives once, in order, and that none it may see is missing.

import { setTimeout as pause } from 'node:timers/promises';
import WebSocket from 'ws';
import { EventOrder, type Fault, type FaultKind } from './event-order.ts';

export interface Frame {
  readonly type: string;
  readonly seq?: number;
  /** ISO. */
  readonly at?: string;
  readonly conversationId?: string;
  /** A record as in HTTP answers; callers know the types of its fields. */
  readonly data?: any;
}

/** Where a client connects: the address, read before each connection, and whether it is up. */
export interface Place {
  readonly isUp: boolean;
  readonly url: string;
}

/** Who is told what a line noticed. */
export interface LineLedger {
  count(what: string): void;
  surprise(what: string, kind: FaultKind): void;
}

export interface LineOptions {
  readonly host: Place;
  readonly ledger: LineLedger;
  readonly namespace: 'agent' | 'visitor';
  readonly token: string;
  /** For a client that may see everything: no number may be missing. */
  readonly seesEverything?: boolean;
  /** The event after which it begins; by default the newest. */
  readonly since?: number;
  /** A call may remain without an answer: its connection is cut then, as a client would, and nobody is surprised. */
  readonly mayBeSilent?: boolean;
  /** For deliberate defects: what the line sees of a frame. */
  readonly tap?: (frame: Frame) => readonly Frame[];
  onEvent?(frame: Frame): void;
}

const retryMs = 50;
const callTimeoutMs = 20_000;
const handshakeTimeoutMs = 10_000;

/** The outcome of a call. Undefined: the connection was cut before the answer. */
export type Reply = { readonly status: number; readonly body: any } | undefined;

export class Line {
  readonly #options: LineOptions;
  readonly #order: EventOrder;
  #socket: WebSocket | undefined;
  #isReady = false;
  #isClosed = false;
  #lastId = 0;
  readonly #calls = new Map<number, (reply: Reply) => void>();
  #wake: (() => void)[] = [];

  constructor(options: LineOptions) {
    this.#options = options;
    this.#order = new EventOrder({ seesEverything: options.seesEverything ?? false, since: options.since });
    void this.#connect();
  }

  get lastSeq(): number {
    return this.#order.last ?? 0;
  }

  /** Resolves when it is connected and ready. */
  async ready(): Promise<void> {
    while (!this.#isReady && !this.#isClosed) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  /** Resolves when it has received this event. */
  async reaches(seq: number): Promise<void> {
    while (this.lastSeq < seq && !this.#isClosed) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  call(method: string, params: object): Promise<Reply> {
    const socket = this.#socket;
    if (!this.#isReady || socket === undefined) return Promise.resolve(undefined);
    const { ledger, mayBeSilent = false } = this.#options;
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        if (!mayBeSilent) ledger.surprise(`${method} was not answered within ${callTimeoutMs / 1000} s`, 'wrong');
        socket.terminate();
      }, callTimeoutMs);
      this.#calls.set(id, (reply) => {
        clearTimeout(timer);
        resolve(reply);
      });
      socket.send(JSON.stringify({ id, type: 'call', method, params }));
    });
  }

  /** Cuts the connection like a network failure; it reconnects. */
  tear(): void {
    this.#socket?.terminate();
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.terminate();
    this.#wakeAll();
  }

  async #connect(): Promise<void> {
    const { host, namespace, token, ledger } = this.#options;
    while (!this.#isClosed && !host.isUp) await pause(retryMs);
    if (this.#isClosed) return;
    const { last } = this.#order;
    const query = last === undefined ? '' : `?since=${last}`;
    const socket = new WebSocket(
      `${host.url.replace('http', 'ws')}/${namespace}${query}`,
      ['messaging.v1', `bearer.${token}`],
      { handshakeTimeout: handshakeTimeoutMs },
    );
    this.#socket = socket;
    socket.on('message', (data) => {
      const frame = JSON.parse(String(data));
      for (const seen of this.#options.tap?.(frame) ?? [frame]) this.#take(seen);
    });
    // The close event, which follows, reports it.
    socket.on('error', () => socket.terminate());
    socket.on('close', (code) => {
      this.#isReady = false;
      for (const settle of this.#calls.values()) settle(undefined);
      this.#calls.clear();
      // 1006 is a cut connection, 1012 a restart, 1013 a file that cannot be read now, 4408 a slow consumer.
      if (![1006, 1012, 1013, 4408].includes(code)) ledger.surprise(`a socket was closed with ${code}`, 'wrong');
      if (this.#isClosed) return;
      if (this.#order.last !== undefined) ledger.count('resumed sockets');
      setTimeout(() => void this.#connect(), retryMs);
    });
  }

  #take(frame: Frame & { readonly id?: number; readonly status?: number; readonly body?: unknown }): void {
    const { ledger, onEvent } = this.#options;
    switch (frame.type) {
      case 'ready':
        this.#order.begin(frame.seq ?? 0);
        this.#isReady = true;
        break;
      case 'resync':
        this.#say(this.#order.startOver(frame.seq ?? 0));
        break;
      case 'reply': {
        const settle = this.#calls.get(frame.id ?? 0);
        this.#calls.delete(frame.id ?? 0);
        settle?.({ status: frame.status ?? 0, body: frame.body });
        return;
      }
      default:
        if (frame.seq === undefined) return;
        this.#say(this.#order.take(frame.seq));
        ledger.count('events received');
        onEvent?.(frame);
    }
    this.#wakeAll();
  }

  #say(fault: Fault | undefined): void {
    if (fault !== undefined) this.#options.ledger.surprise(fault.text, fault.kind);
  }

  #wakeAll(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const call of wake) call();
  }
}

// The visitor's socket. It resumes from the last known event, reconnects on its own, and notices when the server is gone
// without closing. It passes on every frame once and in order, and does not interpret them.

import { backoffMs } from './api.ts';
import { guarded, later, report } from './guard.ts';
import type { Frame } from './protocol.ts';

export interface VisitorSocketOptions {
  readonly base: string;
  token(): string | undefined;
  /** The last event received, to resume from. */
  since(): number | undefined;
  onFrame(frame: Frame): void;
  /** Called when the socket becomes ready, and when it is lost. */
  onState(isUp: boolean): void;
  /** The visitor is blocked, or its token is invalid. */
  onRefused(isBlocked: boolean): void;
}

/** Ping the server after this silence, and wait this long for an answer. */
const silenceMs = 25_000;
const answerMs = 10_000;
const closeCodes = { unauthorized: 4401, forbidden: 4403 } as const;

export class VisitorSocket {
  readonly #options: VisitorSocketOptions;
  #socket: WebSocket | undefined;
  #isWanted = false;
  #isUp = false;
  #attempt = 0;
  #timer: { cancel(): void } | undefined;

  constructor(options: VisitorSocketOptions) {
    this.#options = options;
    window.addEventListener(
      'online',
      guarded(() => this.#hurry()),
    );
    document.addEventListener(
      'visibilitychange',
      guarded(() => document.hidden || this.#hurry()),
    );
    // An open socket would keep the page out of the back/forward cache.
    window.addEventListener(
      'pagehide',
      guarded(() => this.#drop()),
    );
    window.addEventListener(
      'pageshow',
      guarded(() => this.#hurry()),
    );
  }

  open(): void {
    this.#isWanted = true;
    if (this.#socket === undefined) this.#connect();
  }

  close(): void {
    this.#isWanted = false;
    this.#drop();
  }

  /** Drops the frame when there is no connection. */
  send(frame: object): void {
    if (this.#isUp) this.#socket?.send(JSON.stringify(frame));
  }

  #connect(): void {
    const token = this.#options.token();
    if (token === undefined) return;
    const since = this.#options.since();
    const socket = new WebSocket(
      `${this.#options.base.replace(/^http/, 'ws')}visitor${since === undefined ? '' : `?since=${since}`}`,
      ['messaging.v1', `bearer.${token}`],
    );
    this.#socket = socket;
    const isCurrent = (): boolean => this.#socket === socket;
    socket.addEventListener(
      'message',
      guarded((event: MessageEvent<string>) => isCurrent() && this.#received(event.data)),
    );
    socket.addEventListener(
      'close',
      guarded((event: CloseEvent) => isCurrent() && this.#lost(event.code)),
    );
    this.#awaitAnswer();
  }

  #received(text: string): void {
    const frame = JSON.parse(text) as Frame;
    this.#heard();
    if (frame.type === 'ready') {
      this.#attempt = 0;
      this.#setUp(true);
    }
    this.#options.onFrame(frame);
  }

  /** Restarts the silence timer after a frame. */
  #heard(): void {
    this.#timer?.cancel();
    this.#timer = later(silenceMs, () => {
      this.send({ type: 'ping' });
      this.#awaitAnswer();
    });
  }

  #awaitAnswer(): void {
    this.#timer?.cancel();
    this.#timer = later(answerMs, () => this.#lost(0));
  }

  #lost(code: number): void {
    this.#drop();
    if (code === closeCodes.unauthorized || code === closeCodes.forbidden) {
      this.#isWanted = false;
      this.#options.onRefused(code === closeCodes.forbidden);
    }
    if (!this.#isWanted) return;
    this.#timer = later(backoffMs(this.#attempt), () => this.#connect());
    this.#attempt += 1;
  }

  #hurry(): void {
    if (!this.#isWanted || this.#socket !== undefined) return;
    this.#timer?.cancel();
    this.#connect();
  }

  #drop(): void {
    this.#timer?.cancel();
    const socket = this.#socket;
    this.#socket = undefined;
    try {
      socket?.close();
    } catch (error) {
      report(error);
    }
    this.#setUp(false);
  }

  #setUp(isUp: boolean): void {
    if (isUp === this.#isUp) return;
    this.#isUp = isUp;
    this.#options.onState(isUp);
  }
}

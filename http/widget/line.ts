// The visitor's socket: connects, says where it stopped, comes back by itself, and notices when the other side has gone
// without a word. Hands every frame on once and in order; knows nothing of what they mean.

import { backoffMs } from './api.ts';
import { guarded, later, report } from './guard.ts';
import type { Frame } from './protocol.ts';

export interface LineOptions {
  readonly base: string;
  token(): string | undefined;
  /** The last event that is known, to go on from. */
  since(): number | undefined;
  onFrame(frame: Frame): void;
  /** Whether frames can come. */
  onState(isUp: boolean): void;
  /** It was not let in: it is blocked, or its token does not count. */
  onRefused(isBlocked: boolean): void;
}

/** Silence after which the other side is asked for a word, and how long it gets. */
const silenceMs = 25_000;
const answerMs = 10_000;
const closeCodes = { unauthorized: 4401, forbidden: 4403 } as const;

export class Line {
  readonly #options: LineOptions;
  #socket: WebSocket | undefined;
  #isWanted = false;
  #isUp = false;
  #attempt = 0;
  #timer: { cancel(): void } | undefined;

  constructor(options: LineOptions) {
    this.#options = options;
    window.addEventListener(
      'online',
      guarded(() => this.#hurry()),
    );
    document.addEventListener(
      'visibilitychange',
      guarded(() => document.hidden || this.#hurry()),
    );
    // An open socket would keep the page out of the browser's memory of pages.
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

  /** Lost when there is no connection. */
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

  /** Something came. After a silence the other side is asked for a word. */
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

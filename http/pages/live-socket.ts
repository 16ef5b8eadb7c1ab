// One agent's socket, kept open: it reconnects with the number of the last event it saw, so that the server sends what
// was missed, in order and once. It knows nothing of the pages, and its clock and its sockets are given to it.

import type { LiveEvent } from './records.ts';
import type { Stop } from './subscriptions.ts';

export type Connection = 'off' | 'connecting' | 'live' | 'waiting';

/** The part of a WebSocket that is used here. */
export interface Socket {
  onopen: ((event: Event) => void) | null;
  onmessage: ((event: MessageEvent) => void) | null;
  onclose: ((event: CloseEvent) => void) | null;
  readonly readyState: number;
  send(text: string): void;
  close(): void;
}

/** Opens a socket that resumes after this number, or begins now. */
export type OpenSocket = (since: number | undefined) => Socket;

export interface Receiver {
  changed(connection: Connection): void;
  ready(frame: LiveEvent): void;
  received(event: LiveEvent): void;
  /** Events were missed that the server no longer has. */
  resynced(): void;
  signedOut(): void;
}

export interface Clock {
  /** Runs it after this time, unless stopped. */
  after(ms: number, run: () => void): Stop;
  /** From 0 up to 1. */
  random(): number;
}

const browserClock: Clock = {
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

const firstPauseMs = 500;
const maxPauseMs = 15_000;
/**
 * A connection attempt that hangs is given up after 2 s. Each failed attempt doubles this, so that a network that takes
 * longer to connect gets there as well.
 */
const firstAttemptMs = 2000;
const maxAttemptMs = 16_000;
/** How long an open connection may be silent before it is probed: before its first frame, and after that. */
const firstFrameMs = 4000;
const quietMs = 25_000;
/** How long a probed connection has to respond. */
const probeMs = 5000;
const signedOutCode = 4401;
/** WebSocket.OPEN */
const openState = 1;

export class LiveSocket {
  readonly #receiver: Receiver;
  readonly #clock: Clock;
  #open: OpenSocket | undefined;
  #socket: Socket | undefined;
  #connection: Connection = 'off';
  #lastSeq: number | undefined;
  #failures = 0;
  /** The one timer: of the attempt, of the silence, or of the pause before the next attempt. */
  #stopTimer: Stop = () => undefined;

  constructor(receiver: Receiver, clock: Clock = browserClock) {
    this.#receiver = receiver;
    this.#clock = clock;
  }

  /** Connects, and stays connected until stopped. Knows of no event yet. */
  start(open: OpenSocket): void {
    this.stop();
    this.#open = open;
    this.#connect();
  }

  stop(): void {
    this.#drop();
    this.#open = undefined;
    this.#lastSeq = undefined;
    this.#failures = 0;
    this.#become('off');
  }

  /** Sends it only if the connection is live: what is sent here would be out of date later. */
  send(frame: object): void {
    if (this.#connection === 'live') this.#socket?.send(JSON.stringify(frame));
  }

  /** The network may have changed: probes a live connection, and ends a pause. */
  checkNow(): void {
    if (this.#connection === 'live' && this.#socket !== undefined) this.#probe(this.#socket);
    else this.reconnectNow();
  }

  /** Ends the pause before the next attempt. */
  reconnectNow(): void {
    if (this.#connection !== 'waiting') return;
    this.#failures = 0;
    this.#connect();
  }

  #become(connection: Connection): void {
    this.#connection = connection;
    this.#receiver.changed(connection);
  }

  #connect(): void {
    this.#drop();
    if (this.#open === undefined) return;
    this.#become('connecting');
    const socket = this.#open(this.#lastSeq);
    this.#socket = socket;
    this.#in(Math.min(maxAttemptMs, firstAttemptMs * 2 ** this.#failures), () => this.#fail());
    socket.onopen = () => {
      if (this.#socket === socket) this.#awaitFrame(socket, firstFrameMs);
    };
    socket.onmessage = ({ data }) => {
      if (this.#socket !== socket || typeof data !== 'string') return;
      this.#awaitFrame(socket, quietMs);
      // A frame of the server's own, whose shape its document gives.
      this.#take(JSON.parse(data) as LiveEvent);
    };
    socket.onclose = ({ code }) => {
      if (this.#socket !== socket) return;
      if (code !== signedOutCode) return this.#fail();
      this.stop();
      this.#receiver.signedOut();
    };
  }

  /** Closes the socket, which is not listened to any more, and stops the timer. */
  #drop(): void {
    this.#stopTimer();
    const former = this.#socket;
    this.#socket = undefined;
    former?.close();
  }

  /** The attempt or the connection failed: pauses, longer each time and never equally long in all tabs. */
  #fail(): void {
    this.#drop();
    this.#failures += 1;
    const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** (this.#failures - 1));
    this.#in(pauseMs * (0.5 + this.#clock.random() / 2), () => this.#connect());
    this.#become('waiting');
  }

  #awaitFrame(socket: Socket, ms: number): void {
    this.#in(ms, () => this.#probe(socket));
  }

  /** Any frame is a response. Without one the connection is given up, and the next one gets what was missed. */
  #probe(socket: Socket): void {
    if (socket.readyState === openState) socket.send('{"type":"ping"}');
    this.#in(probeMs, () => this.#fail());
  }

  #in(ms: number, run: () => void): void {
    this.#stopTimer();
    this.#stopTimer = this.#clock.after(ms, run);
  }

  #take(frame: LiveEvent): void {
    if (frame.type === 'ready') {
      this.#failures = 0;
      this.#lastSeq ??= frame.seq;
      this.#become('live');
      this.#receiver.ready(frame);
    } else if (frame.type === 'resync') {
      this.#lastSeq = frame.seq ?? undefined;
      this.#receiver.resynced();
    } else if (frame.type !== 'pong' && frame.type !== 'error' && frame.type !== 'reply') {
      if (frame.seq !== undefined) {
        if (this.#lastSeq !== undefined && frame.seq <= this.#lastSeq) return;
        this.#lastSeq = frame.seq;
      }
      this.#receiver.received(frame);
    }
  }
}

// What sockets may cost: frames and bytes of one socket and of one network within a minute, and sockets that a network
// has open. Far above what people and their programs send, whose calls have budgets of their own; below what would hold
// up others.

import type { Clock } from '../../engine/runtime/clock.ts';

/** Within a minute that begins with the first frame. */
class Spent {
  #endsMs = 0;
  frames = 0;
  bytes = 0;
  malformed = 0;

  add(nowMs: number, what: { readonly frames: number; readonly bytes: number }): this {
    if (this.#endsMs <= nowMs) {
      this.#endsMs = nowMs + minuteMs;
      this.frames = 0;
      this.bytes = 0;
      this.malformed = 0;
    }
    this.frames += what.frames;
    this.bytes += what.bytes;
    return this;
  }
}

/** Of one socket. */
export interface SocketSpent {
  readonly spent: Spent;
  readonly network: string;
}

interface Network {
  readonly spent: Spent;
  sockets: number;
}

const minuteMs = 60_000;
const mebibyte = 1024 * 1024;
/**
 * Frames of a socket for each call that a person may make, so that there is room for what is no call; and the least.
 */
const framesPerCall = 2;
const leastFrames = 1200;
const maxBytesOfSocket = 16 * mebibyte;
const maxMalformed = 60;
/** Sockets of a network that may spend all they have. */
const spenders = 10;
/** What an upgrade counts as: it reads a token, a person, and what was missed. */
const framesOfOpening = 20;
/** Remembered at the most, those with open sockets apart. */
const maxNetworks = 10_000;
const lookedAtOnce = 32;

export class FrameBudget {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #isOn: boolean;
  readonly #maxFrames: number;
  readonly #maxSockets: number;
  readonly #networks = new Map<string, Network>();

  /** `isOn`: false refuses nothing. `maxSockets`: of a network. */
  constructor(
    clock: Pick<Clock, 'now'>,
    options: { readonly isOn: boolean; readonly callsPerMinute: number; readonly maxSockets: number },
  ) {
    this.#clock = clock;
    this.#isOn = options.isOn;
    this.#maxSockets = options.maxSockets;
    this.#maxFrames = Math.max(leastFrames, framesPerCall * options.callsPerMinute);
  }

  /** Undefined when the network has too many sockets, or opens too many. What is given is to be closed. */
  open(network: string): SocketSpent | undefined {
    const nowMs = this.#clock.now();
    const entry = this.#networks.get(network) ?? this.#add(network);
    const { frames } = entry.spent.add(nowMs, { frames: framesOfOpening, bytes: 0 });
    if (this.#isOn && (entry.sockets >= this.#maxSockets || frames > spenders * this.#maxFrames)) return undefined;
    entry.sockets += 1;
    return { spent: new Spent(), network };
  }

  close({ network }: SocketSpent): void {
    const entry = this.#networks.get(network);
    if (entry !== undefined) entry.sockets -= 1;
  }

  /** Counts a frame. False when there is nothing left for it. */
  take({ spent, network }: SocketSpent, bytes: number): boolean {
    if (!this.#isOn) return true;
    const nowMs = this.#clock.now();
    const own = spent.add(nowMs, { frames: 1, bytes });
    const all = this.#networks.get(network)?.spent.add(nowMs, { frames: 1, bytes });
    if (own.frames > this.#maxFrames || own.bytes > maxBytesOfSocket) return false;
    return all === undefined || (all.frames <= spenders * this.#maxFrames && all.bytes <= spenders * maxBytesOfSocket);
  }

  /**
   * Counts one that says nothing, which take() has counted as a frame. False when it was one too many, also of its
   * network: a socket is soon opened again.
   */
  takeMalformed({ spent, network }: SocketSpent): boolean {
    const all = this.#networks.get(network)?.spent;
    spent.malformed += 1;
    if (all !== undefined) all.malformed += 1;
    return (
      !this.#isOn ||
      (spent.malformed <= maxMalformed && (all === undefined || all.malformed <= spenders * maxMalformed))
    );
  }

  /** Networks that are remembered. */
  get size(): number {
    return this.#networks.size;
  }

  #add(network: string): Network {
    if (this.#networks.size >= maxNetworks) this.#forgetOne();
    const entry = { spent: new Spent(), sockets: 0 };
    this.#networks.set(network, entry);
    return entry;
  }

  /**
   * The oldest without a socket, as far as one is found soon. Those before it get in line again, so that what stays is
   * bounded by the sockets.
   */
  #forgetOne(): void {
    let looked = 0;
    for (const [network, entry] of this.#networks) {
      this.#networks.delete(network);
      if (entry.sockets === 0) return;
      this.#networks.set(network, entry);
      looked += 1;
      if (looked === lookedAtOnce) return;
    }
  }
}

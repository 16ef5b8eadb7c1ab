// Budgets for sockets: frames and bytes per minute of one socket and of one network, and open sockets of a network.
// They are far above what people and their programs send (calls have budgets of their own), and below what would slow
// down others.

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
  /** Another node counts the frames of its network. */
  readonly isForwarded: boolean;
}

interface Network {
  readonly spent: Spent;
  sockets: number;
}

const minuteMs = 60_000;
const mebibyte = 1024 * 1024;
/** Frames of a socket per call that a person may make, which leaves room for other frames; and the minimum. */
const framesPerCall = 2;
const leastFrames = 1200;
const maxBytesOfSocket = 16 * mebibyte;
const maxMalformed = 60;
/** One that is too intricate costs as much as this many others, which are refused at their first bytes. */
const intricateCost = 10;
/** This many sockets of a network may use their whole budget. */
const spenders = 10;
/** An upgrade costs as much as this many frames: it verifies a token and reads an agent and the missed events. */
const framesOfOpening = 20;
/** Networks kept, without those that have open sockets. */
const maxNetworks = 10_000;
const lookedAtOnce = 32;

export class FrameBudget {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #isOn: boolean;
  readonly #maxFrames: number;
  readonly #maxSockets: number;
  readonly #networks = new Map<string, Network>();

  /** `isOn`: false disables every limit. `maxSockets`: per network. */
  constructor(
    clock: Pick<Clock, 'now'>,
    options: { readonly isOn: boolean; readonly callsPerMinute: number; readonly maxSockets: number },
  ) {
    this.#clock = clock;
    this.#isOn = options.isOn;
    this.#maxSockets = options.maxSockets;
    this.#maxFrames = Math.max(leastFrames, framesPerCall * options.callsPerMinute);
  }

  /**
   * Undefined when the network has too many sockets or opens them too fast. The caller closes the budget it gets.
   * `isForwarded`: another node counted that.
   */
  open(network: string, { isForwarded = false } = {}): SocketSpent | undefined {
    const nowMs = this.#clock.now();
    const entry = this.#networks.get(network) ?? this.#add(network);
    if (isForwarded) {
      entry.sockets += 1;
      return { spent: new Spent(), network, isForwarded };
    }
    const { frames } = entry.spent.add(nowMs, { frames: framesOfOpening, bytes: 0 });
    if (this.#isOn && (entry.sockets >= this.#maxSockets || frames > spenders * this.#maxFrames)) return undefined;
    entry.sockets += 1;
    return { spent: new Spent(), network, isForwarded };
  }

  close({ network }: SocketSpent): void {
    const entry = this.#networks.get(network);
    if (entry !== undefined) entry.sockets -= 1;
  }

  /** Counts a frame. False when the budget is used up. */
  take({ spent, network, isForwarded }: SocketSpent, bytes: number): boolean {
    if (!this.#isOn || isForwarded) return true;
    const nowMs = this.#clock.now();
    const own = spent.add(nowMs, { frames: 1, bytes });
    const all = this.#networks.get(network)?.spent.add(nowMs, { frames: 1, bytes });
    if (own.frames > this.#maxFrames || own.bytes > maxBytesOfSocket) return false;
    return all === undefined || (all.frames <= spenders * this.#maxFrames && all.bytes <= spenders * maxBytesOfSocket);
  }

  /**
   * Counts an invalid frame, which take() has counted as a frame already. False when there were too many, also for the
   * network, since a socket is quickly reopened.
   */
  takeMalformed({ spent, network }: SocketSpent, { isIntricate = false } = {}): boolean {
    const cost = isIntricate ? intricateCost : 1;
    const all = this.#networks.get(network)?.spent;
    spent.malformed += cost;
    if (all !== undefined) all.malformed += cost;
    return (
      !this.#isOn ||
      (spent.malformed <= maxMalformed && (all === undefined || all.malformed <= spenders * maxMalformed))
    );
  }

  /** The number of networks kept. */
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
   * The oldest network without a socket, if one is among the first few. Those with sockets are moved to the end, so
   * the number kept is bounded by the sockets.
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

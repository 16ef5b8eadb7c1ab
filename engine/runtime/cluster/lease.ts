// This node's lease: that it is there, and until when it may believe so. The belief ends before the lease does, by this
// node's own clock and counted from when it asked, so nobody else serves a workspace while this node still answers from
// its file. Knows no workspace.

import type { Clock, Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import { LogFull, type NodeRecord, type Nodes } from './ports.ts';

/** Longer than an election of the log's servers (4 to 9 s), shorter than anybody wants to wait for a dead node. */
export const leaseMs = 10_000;
const renewEveryMs = 2500;
/** By this much the belief ends earlier: clocks differ in pace, and the log's servers in time. */
export const leaseMarginMs = 1000;
/** For the first answer. As long as a start waits, whoever starts the program does not see why. */
const startWithinMs = 30_000;
/** A node that was killed a moment ago is still there by its lease; one of the same name that lives renews it. */
const nameWaitMs = leaseMs * 1.5;

/** A node of the same name is there. */
export class NameTaken extends Error {
  override readonly name = 'NameTaken';
}

export interface LeaseHooks {
  /** It is held, for the first time or again: what was served before counts no more. */
  onTerm(): void;
  /** Another node of this name is there, since this one was away: it must stop. */
  onReplaced(): void;
}

export class Lease {
  readonly #nodes: Nodes;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #hooks: LeaseHooks;
  #record: NodeRecord;
  #untilMs = Number.NEGATIVE_INFINITY;
  #term = 0;
  #timer: Timer | undefined;
  #isOver = false;
  #failure: unknown;

  constructor(options: { nodes: Nodes; clock: Clock; log: Log; record: NodeRecord; hooks: LeaseHooks }) {
    this.#nodes = options.nodes;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#record = options.record;
    this.#hooks = options.hooks;
  }

  get record(): NodeRecord {
    return this.#record;
  }

  /** Whether this node may answer from its files. */
  get isHeld(): boolean {
    return this.#clock.now() < this.#untilMs;
  }

  /** One more each time that it is held again after it was not. */
  get term(): number {
    return this.#term;
  }

  /**
   * Resolves when it is held. Rejects with NameTaken, or with LogUnreachable if nothing answered for half a minute.
   * Afterwards it is renewed until leave().
   */
  async start(): Promise<void> {
    let takenSinceMs = Number.POSITIVE_INFINITY;
    let answeredMs = this.#clock.now();
    while (!this.#isOver && !this.isHeld) {
      const isMine = await this.#renew();
      const isTaken = isMine === false;
      if (isMine !== undefined) answeredMs = this.#clock.now();
      else if (this.#clock.now() - answeredMs >= startWithinMs) throw this.#failure;
      takenSinceMs = isTaken ? Math.min(takenSinceMs, this.#clock.now()) : Number.POSITIVE_INFINITY;
      if (this.#clock.now() - takenSinceMs >= nameWaitMs)
        throw new NameTaken(`another node named ${this.#record.node} is there: each needs a name of its own`);
      if (!this.isHeld) await new Promise<void>((resolve) => void this.#clock.after(renewEveryMs, resolve));
    }
    this.#renewLater();
  }

  /** Says something else of this node from now on. */
  async update(change: Partial<Pick<NodeRecord, 'isReady' | 'isDraining'>>): Promise<void> {
    this.#record = { ...this.#record, ...change };
    await this.#renew();
  }

  /** Ends it at once. Call when nothing is served any more. */
  async leave(): Promise<void> {
    this.#end();
    await this.#nodes.leave(this.#record);
  }

  #end(): void {
    this.#isOver = true;
    this.#untilMs = Number.NEGATIVE_INFINITY;
    this.#timer?.cancel();
  }

  #renewLater(): void {
    if (this.#isOver) return;
    this.#timer = this.#clock.after(renewEveryMs, () => {
      void this.#renew().then((isMine) => {
        if (isMine !== false) {
          this.#renewLater();
          return;
        }
        this.#end();
        this.#hooks.onReplaced();
      });
    });
  }

  /** Undefined if nothing answered. */
  async #renew(): Promise<boolean | undefined> {
    const askedMs = this.#clock.now();
    let isMine: boolean;
    try {
      isMine = await this.#nodes.renew(this.#record);
    } catch (error) {
      const why = error instanceof LogFull ? ': NATS is full, and takes nothing until it has more room' : '';
      this.#log.warn({ node: this.#record.node, err: error }, `the lease of this node could not be renewed${why}`);
      this.#failure = error;
      return undefined;
    }
    const untilMs = askedMs + leaseMs - leaseMarginMs;
    if (!isMine || this.#isOver || untilMs <= this.#clock.now()) return isMine;
    const wasHeld = this.isHeld;
    this.#untilMs = Math.max(this.#untilMs, untilMs);
    if (!wasHeld) {
      this.#term += 1;
      this.#hooks.onTerm();
    }
    return true;
  }
}

// Work whose senders take turns: so much at once, so much of one sender, and the rest waits in bounded lines. A sender
// with much work delays its own.

export interface SenderLimits {
  readonly atOnce: number;
  /** Of one sender. */
  readonly atOncePerSender: number;
  /** Of one sender, at work and waiting. */
  readonly perSender: number;
  /** Of all senders. */
  readonly waiting: number;
}

interface Sender {
  atWork: number;
  readonly line: (() => void)[];
}

export class SenderTurns {
  readonly #limits: SenderLimits;
  /** Those with work, in the order in which they are next. */
  readonly #senders = new Map<string, Sender>();
  #atWork = 0;
  #waiting = 0;

  constructor(limits: SenderLimits) {
    this.#limits = limits;
  }

  /** Does the work when it is the sender's turn, and settles as the work does. Undefined: too much waits. */
  take<Result>(name: string, work: () => Promise<Result>): Promise<Result> | undefined {
    if (!this.hasRoom(name)) return undefined;
    const sender = this.#of(name);
    this.#senders.set(name, sender);
    return new Promise((resolve, reject) => {
      sender.line.push(() => {
        void work()
          .then(resolve, reject)
          .finally(() => {
            sender.atWork -= 1;
            this.#atWork -= 1;
            if (sender.atWork === 0 && sender.line.length === 0) this.#senders.delete(name);
            this.#begin();
          });
      });
      this.#waiting += 1;
      this.#begin();
    });
  }

  /** Whether take() would do another work of this sender, now or in its turn. */
  hasRoom(name: string): boolean {
    const sender = this.#of(name);
    const { perSender, waiting } = this.#limits;
    if (sender.atWork + sender.line.length >= perSender) return false;
    return this.#mayBegin(sender) || this.#waiting < waiting;
  }

  #of(name: string): Sender {
    return this.#senders.get(name) ?? { atWork: 0, line: [] };
  }

  #mayBegin(sender: Sender): boolean {
    return this.#atWork < this.#limits.atOnce && sender.atWork < this.#limits.atOncePerSender;
  }

  #begin(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const [name, sender] = next;
      // Of those with as much at work, the others are next.
      this.#senders.delete(name);
      this.#senders.set(name, sender);
      sender.atWork += 1;
      this.#atWork += 1;
      this.#waiting -= 1;
      sender.line.shift()?.();
    }
  }

  /** The one with the least at work. */
  #next(): readonly [string, Sender] | undefined {
    let next: readonly [string, Sender] | undefined;
    for (const one of this.#senders)
      if (one[1].line.length > 0 && this.#mayBegin(one[1]) && (next === undefined || one[1].atWork < next[1].atWork))
        next = one;
    return next;
  }
}

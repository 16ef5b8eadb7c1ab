// The order of the events of one socket, over its reconnections: each once, in order, and for a client that may see
// everything without a gap.

/** What is wrong with what a client was told. */
export type FaultKind = 'lost' | 'doubled' | 'unordered' | 'wrong';

export interface Fault {
  readonly kind: FaultKind;
  readonly text: string;
}

export class EventOrder {
  readonly #seesEverything: boolean;
  #last: number | undefined;

  /** `since`: where it begins; undefined: where the service says. */
  constructor({ seesEverything, since }: { readonly seesEverything: boolean; readonly since?: number | undefined }) {
    this.#seesEverything = seesEverything;
    this.#last = since;
  }

  /** Undefined before it has begun. */
  get last(): number | undefined {
    return this.#last;
  }

  begin(seq: number): void {
    this.#last ??= seq;
  }

  /** The service has forgotten what follows the last event, or never knew that one. */
  startOver(seq: number): Fault {
    const text = `a socket that came back since ${this.#last} was told to start over at ${seq}`;
    this.#last = seq;
    return { kind: 'lost', text };
  }

  take(seq: number): Fault | undefined {
    const last = this.#last ?? 0;
    this.#last = Math.max(last, seq);
    const text = `event ${seq} arrived after ${last}`;
    if (seq <= last) return { kind: this.#seesEverything || seq === last ? 'doubled' : 'unordered', text };
    return this.#seesEverything && seq !== last + 1
      ? { kind: 'lost', text: `${text}, without those between` }
      : undefined;
  }
}

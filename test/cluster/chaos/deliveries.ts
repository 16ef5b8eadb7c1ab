// What must reach the outside, webhooks or mails: each at least once, always under one id, and in the order of its lane.
// Holds a line of text per delivery of a run.

import type { Fault } from '../../support/event-order.ts';

export interface Delivery {
  /** What it is about: the same for every attempt, and for nothing else. */
  readonly key: string;
  /** By which a receiver knows repetitions. */
  readonly id: string;
  /** First arrivals of one lane come in the order of their numbers. */
  readonly order?: { readonly lane: string; readonly number: number };
}

export class Deliveries {
  readonly #what: string;
  readonly #say: (fault: Fault) => void;
  readonly #ids = new Map<string, string>();
  readonly #keys = new Map<string, string>();
  readonly #newest = new Map<string, number>();
  readonly #outstanding = new Set<string>();
  #repetitions = 0;

  constructor(what: string, say: (fault: Fault) => void) {
    this.#what = what;
    this.#say = say;
  }

  get arrived(): number {
    return this.#ids.size;
  }

  get repetitions(): number {
    return this.#repetitions;
  }

  /** Expected and not there yet. */
  get outstanding(): ReadonlySet<string> {
    return this.#outstanding;
  }

  expect(key: string): void {
    if (!this.#ids.has(key)) this.#outstanding.add(key);
  }

  arrive({ key, id, order }: Delivery): void {
    const known = this.#ids.get(key);
    const about = this.#keys.get(id);
    if (known !== undefined && known !== id)
      this.#say({ kind: 'doubled', text: `the ${this.#what} of ${key} arrived as ${known} and as ${id}` });
    if (about !== undefined && about !== key)
      this.#say({ kind: 'wrong', text: `the ${this.#what} ${id} was of ${about} and then of ${key}` });
    if (known !== undefined) {
      this.#repetitions += 1;
      return;
    }
    this.#ids.set(key, id);
    this.#keys.set(id, key);
    this.#outstanding.delete(key);
    if (order === undefined) return;
    const newest = this.#newest.get(order.lane) ?? -1;
    if (order.number < newest)
      this.#say({ kind: 'unordered', text: `the ${this.#what} of ${key} arrived after that of number ${newest}` });
    this.#newest.set(order.lane, Math.max(newest, order.number));
  }
}

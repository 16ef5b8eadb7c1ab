// What a run counted, and everything that is not as it must be. Bounded: of faults that are alike only the
// first are kept, and the number of all.

import type { Fault, FaultKind } from '../../support/event-order.ts';
import type { LineLedger } from '../../support/line.ts';

/** Of one shape: texts that differ in ids, numbers and what was written. */
const maxAlike = 5;
const maxTexts = 200;
const maxTextChars = 2000;

export class Findings implements LineLedger {
  readonly #counts = new Map<string, number>();
  readonly #faults = new Map<FaultKind, number>();
  readonly #texts: string[] = [];
  readonly #alike = new Map<string, number>();

  /** The first ones, each with its kind in front. */
  get texts(): readonly string[] {
    return this.#texts;
  }

  get total(): number {
    return [...this.#faults.values()].reduce((sum, count) => sum + count, 0);
  }

  faults(kind: FaultKind): number {
    return this.#faults.get(kind) ?? 0;
  }

  count(what: string, by = 1): void {
    this.#counts.set(what, this.of(what) + by);
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  surprise(text: string, kind: FaultKind): void {
    this.#faults.set(kind, this.faults(kind) + 1);
    const shape = text.replace(/“[^”]*”|[\da-f-]{8,}|\d+/g, '');
    const alike = this.#alike.get(shape) ?? 0;
    if (alike >= maxAlike || this.#texts.length >= maxTexts) return;
    this.#alike.set(shape, alike + 1);
    this.#texts.push(`${kind}: ${text.slice(0, maxTextChars)}`);
  }

  say(faults: Iterable<Fault>): void {
    for (const { text, kind } of faults) this.surprise(text, kind);
  }
}

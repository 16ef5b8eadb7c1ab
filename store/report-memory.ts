// What was read for reports, kept for as long as it would be read the same: until something of its days changes. A report over a year then
// reads what has changed and the last minutes. One for each connection that only reads: what a transaction wrote and took back would be
// remembered as if it had been. Called by report-reads.ts and report-lists.ts, inside a transaction, so that a report is of one moment.

import type { Database } from './database.ts';
import type { GoalSums } from './report-lists.ts';
import type { PieceSums } from './report-reads.ts';
import { type Changing, changesOf, type Days } from './rollup-changes.ts';

/** Of each kind: little more than a megabyte. A year of 50 agents is 130,000. */
const maxNumbers = 300_000;

/** The counts of a sum, and what tells whose they are. */
const numbersPerSum = 20;

/** What one read found, and what it was of. */
interface Remembered<Value> {
  readonly value: Value;
  readonly changes: number;
  readonly numbers: number;
}

export interface Recalling {
  /** Tells what is read from everything else of its kind. */
  readonly key: string;
  readonly what: Changing;
  /** All days of which anything is read. */
  readonly days: Days;
}

/** What is read of one kind, the least recently asked for forgotten first. Not while rollups are made again: what changes on a day that is not made yet is noted when it is. */
class Memory<Value> {
  /** In the order of their last use. */
  readonly #remembered = new Map<string, Remembered<Value>>();
  readonly #numbersIn: (value: Value) => number;
  #numbers = 0;

  constructor(numbersIn: (value: Value) => number) {
    this.#numbersIn = numbersIn;
  }

  /** What `read` returns, or returned when nothing of these days has changed since. Nobody may change it. */
  recall(db: Database, { key, what, days }: Recalling, read: () => Value): Value {
    const changes = changesOf(db, what, days);
    const known = this.#remembered.get(key);
    this.#forget(key);
    if (known?.changes === changes) {
      this.#remember(key, known);
      return known.value;
    }
    const value = read();
    this.#remember(key, { value, changes, numbers: this.#numbersIn(value) + key.length });
    return value;
  }

  #remember(key: string, remembered: Remembered<Value>): void {
    this.#remembered.set(key, remembered);
    this.#numbers += remembered.numbers;
    for (const oldest of this.#remembered.keys()) {
      if (this.#numbers <= maxNumbers) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#numbers -= this.#remembered.get(key)?.numbers ?? 0;
    this.#remembered.delete(key);
  }
}

/** What is remembered of one file. */
export class ReportMemory {
  /** Of pieces of a range, by agent. */
  readonly sums = new Memory<ReadonlyMap<string | null, PieceSums>>((byAgent) => [...byAgent.values()].reduce((sum, { firstResponses, resolutions }) => sum + numbersPerSum + firstResponses.length + resolutions.length, 0));
  /** Of pieces of a range, by goal. */
  readonly goals = new Memory<GoalSums>((byGoal) => byGoal.size * numbersPerSum);
  /** Of the buckets of a month. */
  readonly buckets = new Memory<Int32Array>((sums) => sums.length);
}

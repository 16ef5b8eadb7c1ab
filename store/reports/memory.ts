// What was read for reports, kept for as long as it would be read the same: until something of its days changes. A
// report over a year then reads what has changed and the last minutes. One for each connection that only reads: what a
// transaction wrote and took back would be remembered as if it had been. Called by report-reads.ts and report-lists.ts,
// inside a transaction, so that a report is of one moment.

import type { Database } from '../database.ts';
import { toJson } from '../json.ts';
import { type Changing, changesByDay, changesOf, type Days } from './changes.ts';
import type { ReportedConversation } from './rollups.ts';
import type { ByAgent, DayChanges, GoalSums, PieceSums, Totals } from './sums.ts';

/** What an array and an object of a few fields cost; of figures by month and agent there are many. */
const bytesPerArray = 120;
const bytesPerSum = 300;
const bytesPerNumber = 4;
const bytesPerPair = 40;
const bytesPerFlag = 100;

/** What one read found, and what it was of. */
interface Remembered<Value> {
  readonly value: Value;
  readonly changes: number;
  readonly bytes: number;
}

export interface Recalling {
  /** Tells what is read from everything else of its kind. */
  readonly key: string;
  /** How often all days have changed of which anything is read; undefined when it is not to be remembered. */
  readonly changes: number | undefined;
}

/** What is read of one kind, the least recently asked for forgotten first. */
class Memory<Value> {
  /** In the order of their last use. */
  readonly #remembered = new Map<string, Remembered<Value>>();
  readonly #maxBytes: number;
  readonly #bytesOf: (value: Value) => number;
  #bytes = 0;

  constructor(maxBytes: number, bytesOf: (value: Value) => number) {
    this.#maxBytes = maxBytes;
    this.#bytesOf = bytesOf;
  }

  /** About what it takes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What `read` returns, or returned when nothing of these days has changed since. Nobody may change it. */
  recall({ key, changes }: Recalling, read: () => Value): Value {
    if (changes === undefined) return read();
    const known = this.#remembered.get(key);
    this.#forget(key);
    const remembered = known?.changes === changes ? known : this.#rememberedOf(key, changes, read());
    this.#remember(key, remembered);
    return remembered.value;
  }

  #rememberedOf(key: string, changes: number, value: Value): Remembered<Value> {
    return { value, changes, bytes: this.#bytesOf(value) + bytesPerSum + key.length };
  }

  #remember(key: string, remembered: Remembered<Value>): void {
    this.#remembered.set(key, remembered);
    this.#bytes += remembered.bytes;
    for (const oldest of this.#remembered.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#remembered.get(key)?.bytes ?? 0;
    this.#remembered.delete(key);
  }
}

/** What is remembered of one file. A year of 50 agents takes 1.2 MB of `sums`. */
export class ReportMemory {
  /** Of pieces of a range, by agent. */
  readonly sums = new Memory<ByAgent<PieceSums>>(2_000_000, (byAgent) =>
    [...byAgent.values()].reduce((sum, of) => sum + bytesOfPiece(of), 0),
  );
  /** Of all pieces of a range together, by agent. */
  readonly totals = new Memory<ByAgent<Totals>>(500_000, (byAgent) => byAgent.size * bytesPerSum);
  /** Conversations of the days at the ends of a range. */
  readonly rows = new Memory<readonly ReportedConversation[]>(
    1_000_000,
    (conversations) => conversations.length * bytesPerSum,
  );
  /** How many conversations each day had of one kind. */
  readonly days = new Memory<readonly (readonly [day: number, count: number])[]>(
    500_000,
    (days) => days.length * bytesPerPair,
  );
  /** Of pieces of a range, by goal. */
  readonly goals = new Memory<GoalSums>(500_000, (byGoal) => byGoal.size * bytesPerSum);
  /** Of the buckets of a month. */
  readonly buckets = new Memory<Int32Array>(500_000, bytesOfArray);
  /** Whether some days had more conversations than are read one by one. */
  readonly many = new Memory<boolean>(100_000, () => bytesPerFlag);
  /** How often some days had changed, summed up to each of them. */
  readonly changed = new Memory<Float64Array>(500_000, ({ byteLength }) => bytesPerArray + byteLength);

  /**
   * Of these days, as of this transaction: one statement while none of them has changed, for no day's number falls, so
   * none has while their sum is the same.
   */
  changes(db: Database, of: { readonly what: Changing; readonly isRebuilding: boolean }, days: Days): DayChanges {
    if (of.isRebuilding) return { in: () => undefined };
    const upTo = this.changed.recall({ key: toJson([of.what, days]), changes: changesOf(db, of.what, days) }, () =>
      sumsUpTo(days, changesByDay(db, of.what, days)),
    );
    // Of days beyond them it is no number, and nothing is known by that.
    return { in: ({ first, next }) => (upTo[next - days.first] ?? NaN) - (upTo[first - days.first] ?? NaN) };
  }
}

/** The first is 0, the last is of all days. */
function sumsUpTo({ first, next }: Days, changes: readonly (readonly [day: number, changes: number])[]): Float64Array {
  const sums = new Float64Array(next - first + 1);
  for (const [day, count] of changes) sums[day - first + 1] = count;
  for (let at = 1; at < sums.length; at += 1) sums[at] = (sums[at] ?? 0) + (sums[at - 1] ?? 0);
  return sums;
}

function bytesOfPiece({ firstResponses, resolutions }: PieceSums): number {
  return bytesPerSum + bytesOfArray(firstResponses) + bytesOfArray(resolutions);
}

function bytesOfArray(array: Int32Array): number {
  return bytesPerArray + bytesPerNumber * array.length;
}

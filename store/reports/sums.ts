// The figures that reports are made of. Types only.

import type { GoalStatus } from '../growth/goals.ts';
import type { Days } from './changes.ts';
import type { CountedDurations } from './histogram.ts';
import type { Counts } from './rollups.ts';

export interface GoalTotals {
  readonly goalId: string;
  readonly name: string;
  /** `deleted` is a goal that is gone but was reached in the range. */
  readonly status: GoalStatus | 'deleted';
  readonly completions: number;
  readonly valueCents: number;
}

export interface GoalRow {
  readonly goalId: string;
  readonly name: string;
  readonly status: GoalStatus;
  readonly isDeleted: number;
}

/** By goal, of those that were completed. */
export type GoalSums = Map<string, { completions: number; valueCents: number }>;

/** How often each day of a report had changed at the moment that it is of. */
export interface DayChanges {
  /**
   * Of some of the days. Undefined while rollups are made again: what changes on a day that is not made yet is noted
   * when it is.
   */
  in(days: Days): number | undefined;
}

/** Seconds, null when there is nothing to go by. */
export interface DurationFigures {
  readonly medianSeconds: number | null;
  readonly p90Seconds: number | null;
}

export interface Totals extends Counts {
  readonly firstResponse: DurationFigures;
  readonly resolution: DurationFigures;
}

/** By agent; null is everybody in the scope. */
export type ByAgent<Of> = ReadonlyMap<string | null, Of>;

/** What one piece of a range adds, as it is remembered. */
export interface PieceSums {
  readonly counts: Counts;
  readonly firstResponses: CountedDurations;
  readonly resolutions: CountedDurations;
}

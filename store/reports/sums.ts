// The types of report figures.

import type { GoalStatus } from '../growth/goals.ts';
import type { Days } from './changes.ts';
import type { CountedDurations } from './histogram.ts';
import type { Counts } from './rollups.ts';

export interface GoalTotals {
  readonly goalId: string;
  readonly name: string;
  /** `deleted`: the goal is deleted but was reached in the range. */
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

/** By goal, only completed ones. */
export type GoalSums = Map<string, { completions: number; valueCents: number }>;

/** How often each day of a report had changed at the report's moment. */
export interface DayChanges {
  /**
   * The sum over some of the days. Undefined during a rebuild: a change on a day not rebuilt yet is counted when it is.
   */
  in(days: Days): number | undefined;
}

/** Seconds, null without data. */
export interface DurationFigures {
  readonly medianSeconds: number | null;
  readonly p90Seconds: number | null;
}

export interface Totals extends Counts {
  readonly firstResponse: DurationFigures;
  readonly resolution: DurationFigures;
}

/** By agent; null is the whole scope. */
export type ByAgent<Of> = ReadonlyMap<string | null, Of>;

/** The cached contribution of one piece of a range. */
export interface PieceSums {
  readonly counts: Counts;
  readonly firstResponses: CountedDurations;
  readonly resolutions: CountedDurations;
}

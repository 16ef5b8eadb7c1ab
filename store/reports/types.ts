// The types of report figures.

import type { GoalStatus } from '../growth/goals.ts';
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

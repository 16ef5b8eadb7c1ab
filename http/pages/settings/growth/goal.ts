// A goal as the API's record and as form values, and the ranges of its figures.

import type { Goal, GoalCompletion, GoalStatus, UrlMatch } from '../../records.ts';
import { amountText, centsOf } from '../amounts.ts';

export interface Completions {
  readonly completions: readonly GoalCompletion[];
  readonly total: number;
  readonly totalValueCents: number;
}

export interface GoalValues {
  readonly name: string;
  readonly condition: UrlMatch;
  /** As typed, in whole units: "12.50". */
  readonly value: string;
}

export const goalStatusNames: Readonly<Record<GoalStatus, string>> = {
  active: 'Active',
  paused: 'Paused',
  archived: 'Archived',
};

export const ranges = [
  { value: '7', label: 'The last 7 days' },
  { value: '30', label: 'The last 30 days' },
  { value: '90', label: 'The last 90 days' },
  { value: '365', label: 'The last 365 days' },
] as const;
export type RangeDays = (typeof ranges)[number]['value'];

const dayMs = 24 * 3600_000;

/** Until now, which is the service's default. */
export function sinceOf(days: RangeDays, nowMs: number): { readonly from: string } {
  return { from: new Date(nowMs - Number(days) * dayMs).toISOString() };
}

/** In the form of the reports' query; the longest range has no name there. */
export function reportRangeOf(days: RangeDays, nowMs: number): Readonly<Record<string, string>> {
  return days === '365'
    ? { range: 'custom', ...sinceOf(days, nowMs), to: new Date(nowMs).toISOString() }
    : { range: `${days}d` };
}

export function valuesOf(goal: Goal | undefined): GoalValues {
  return {
    name: goal?.name ?? '',
    condition: goal?.condition ?? { operator: 'contains', value: '' },
    value: amountText(goal?.valueCents ?? null),
  };
}

export function bodyOf({ name, condition, value }: GoalValues): {
  readonly name: string;
  readonly condition: UrlMatch;
  readonly valueCents: number | string | null;
} {
  return { name, condition, valueCents: centsOf(value) };
}

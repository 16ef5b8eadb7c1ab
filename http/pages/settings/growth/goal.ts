// A goal as the API has it, as a form holds it, and the ranges its figures are of.

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

/** Up to now, which is the service's to say. */
export function sinceOf(days: RangeDays, nowMs: number): { readonly from: string } {
  return { from: new Date(nowMs - Number(days) * dayMs).toISOString() };
}

/** As reports are asked for it: the longest has no word of its own there. */
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

// Cuts a range into what reports read of it: whole months, the whole days beside them, and the hours at its ends, which
// are read row by row. Pure.

import { type Days, dayMs, daysOfMonth, monthOf } from './rollups.ts';

/** [fromMs, toMs). */
export interface ReportRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Consecutive days or months, from `first` to before `next`. */
export interface Periods {
  readonly grain: 'day' | 'month';
  readonly first: number;
  readonly next: number;
}

export interface Cut {
  /** They begin and end anywhere. */
  readonly ends: readonly ReportRange[];
  readonly periods: readonly Periods[];
}

/** With `byDay`, months are cut into days: while rollups are rebuilt, a month is not the sum of its days. */
export function cutRange(range: ReportRange, { byDay }: { byDay: boolean }): Cut {
  const days = { first: Math.ceil(range.fromMs / dayMs), next: Math.floor(range.toMs / dayMs) };
  if (days.first >= days.next) return { ends: [range], periods: [] };
  const ends = [
    { fromMs: range.fromMs, toMs: days.first * dayMs },
    { fromMs: days.next * dayMs, toMs: range.toMs },
  ];
  const periods = byDay ? [{ grain: 'day', ...days } as const] : periodsOf(days);
  return {
    ends: ends.filter(({ fromMs, toMs }) => fromMs < toMs),
    periods: periods.filter(({ first, next }) => first < next),
  };
}

function periodsOf(days: Days): Periods[] {
  const firstMonth = monthOf((days.first - 1) * dayMs) + 1;
  const nextMonth = monthOf(days.next * dayMs);
  if (firstMonth >= nextMonth) return [{ grain: 'day', ...days }];
  return [
    { grain: 'day', first: days.first, next: daysOfMonth(firstMonth).first },
    { grain: 'month', first: firstMonth, next: nextMonth },
    { grain: 'day', first: daysOfMonth(nextMonth).first, next: days.next },
  ];
}

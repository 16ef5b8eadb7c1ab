// A range cut into what reports read of it: whole months, whole days beside them, what is left of the days at its ends
// in whole quarters of an hour, and the minutes before and after. A range without a whole day stays one. Pure.

import type { Days } from './changes.ts';
import { quarterMs } from './quarters.ts';
import { dayMs, daysOfMonth, monthOf } from './rollups.ts';

/** [fromMs, toMs). */
export interface ReportRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Quarters of an hour in a row, less than a day, that are read row by row. */
export interface Rows extends ReportRange {
  readonly times: 1;
}

/** Some days or months in a row, to be added or, when they stand in a month that was added whole, to be taken away. */
export interface Periods {
  readonly grain: 'day' | 'month';
  readonly first: number;
  readonly next: number;
  readonly times: 1 | -1;
}

export type Piece = Rows | Periods;

export interface Cut {
  /** They begin and end anywhere. */
  readonly ends: readonly ReportRange[];
  readonly pieces: readonly Piece[];
}

/** While months are not the sums of their days, days alone are wanted. */
export function cutRange(range: ReportRange, { byDayAlone }: { byDayAlone: boolean }): Cut {
  const days = daysWithin(range);
  if (days.first >= days.next) return { ends: [range], pieces: [] };
  const fromMs = Math.ceil(range.fromMs / quarterMs) * quarterMs;
  const toMs = Math.floor(range.toMs / quarterMs) * quarterMs;
  const ends = [
    { fromMs: range.fromMs, toMs: fromMs },
    { fromMs: toMs, toMs: range.toMs },
  ];
  const rows: Rows[] = [
    { fromMs, toMs: days.first * dayMs, times: 1 },
    { fromMs: days.next * dayMs, toMs, times: 1 },
  ];
  const periods = byDayAlone ? lastDays(days) : periodsOf(days);
  return {
    ends: ends.filter(isNotEmpty),
    pieces: [...rows.filter(isNotEmpty), ...periods.filter(({ first, next }) => first < next)],
  };
}

/** Those that lie whole within it; none when the first is not before the next. */
export function daysWithin({ fromMs, toMs }: ReportRange): Days {
  return { first: Math.ceil(fromMs / dayMs), next: Math.floor(toMs / dayMs) };
}

function periodsOf(days: Days): Periods[] {
  const [firstMonth, lastMonth] = [monthOf(days.first * dayMs), monthOf(days.next * dayMs)];
  if (firstMonth === lastMonth) return lastDays(days);
  const { first } = daysOfMonth(lastMonth);
  return [
    ...endOfMonth(firstMonth, days.first),
    { grain: 'month', first: firstMonth + 1, next: lastMonth, times: 1 },
    ...lastDays({ first, next: days.next }),
  ];
}

/** The days that a piece has anything of. */
export function daysIn(piece: Piece): Days {
  if (!('grain' in piece)) return { first: Math.floor(piece.fromMs / dayMs), next: Math.ceil(piece.toMs / dayMs) };
  if (piece.grain === 'day') return piece;
  return { first: daysOfMonth(piece.first).first, next: daysOfMonth(piece.next).first };
}

/** From the first day that one of them has anything of to the last. There is at least one. */
export function daysInAll(pieces: readonly Piece[]): Days {
  const days = pieces.map(daysIn);
  return { first: Math.min(...days.map(({ first }) => first)), next: Math.max(...days.map(({ next }) => next)) };
}

/**
 * The days of the month from `day` on. When they are most of it: the month without the others, which are fewer to read.
 */
function endOfMonth(month: number, day: number): Periods[] {
  const { first, next } = daysOfMonth(month);
  if (next - day <= day - first) return [{ grain: 'day', first: day, next, times: 1 }];
  return [
    { grain: 'month', first: month, next: month + 1, times: 1 },
    { grain: 'day', first, next: day, times: -1 },
  ];
}

/** So many days before the range's end are apart: what changes is mostly young, and has only them read again. */
const youngDays = 3;

/**
 * Days up to the range's end. Never a month without the others: most ranges end today, and today changes all the time.
 */
function lastDays({ first, next }: Days): Periods[] {
  const young = Math.max(first, next - youngDays);
  return [
    { grain: 'day', first, next: young, times: 1 },
    { grain: 'day', first: young, next, times: 1 },
  ];
}

const isNotEmpty = ({ fromMs, toMs }: ReportRange): boolean => fromMs < toMs;

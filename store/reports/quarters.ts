// What a day's quarters of an hour hold, as rollups store it: for each quarter that is not empty, how far it is from
// the one before and its figures. Pure functions.

import { NumeralReader, numeralsOf } from './numerals.ts';

export const quarterMs = 15 * 60_000;
export const quartersPerDay = 96;

/** Some figures, the same ones in every quarter of a table. */
export type QuarterFigures = readonly number[];

/** What was encoded, and `added` to it. */
export function withQuarter(
  encoded: string,
  added: { readonly quarter: number; readonly figures: QuarterFigures },
): string {
  const count = added.figures.length;
  const quarters = new Map<number, QuarterFigures>();
  const held = decodeQuarters(encoded, count);
  for (let at = 0; at < held.length; at += 1 + count) quarters.set(held[at] ?? 0, held.slice(at + 1, at + 1 + count));
  const before = quarters.get(added.quarter) ?? [];
  quarters.set(
    added.quarter,
    added.figures.map((figure, index) => figure + (before[index] ?? 0)),
  );
  return encodeQuarters(quarters);
}

export function encodeQuarters(quarters: ReadonlyMap<number, QuarterFigures>): string {
  const numbers: number[] = [];
  let before = 0;
  for (const [quarter, figures] of [...quarters].sort(([a], [b]) => a - b)) {
    if (figures.every((figure) => figure === 0)) continue;
    // No numeral is below zero. A damaged rollup is reported by its check, not by a text that cannot be read.
    numbers.push(quarter - before, ...figures.map((figure) => Math.max(0, figure)));
    before = quarter;
  }
  return numeralsOf(numbers);
}

/**
 * For each quarter its number, 0 to 95, and its `count` figures, all in one list: a year of them is read in a
 * millisecond or two.
 */
export function decodeQuarters(encoded: string, count: number): number[] {
  const numbers = new NumeralReader(encoded);
  const list: number[] = [];
  for (let quarter = 0; !numbers.isAtEnd; ) {
    quarter += numbers.next();
    list.push(quarter);
    for (let index = 0; index < count; index += 1) list.push(numbers.next());
  }
  return list;
}

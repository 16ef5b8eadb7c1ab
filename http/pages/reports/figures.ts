// Figures as text: names of buckets, the change from the previous period, and a sentence that describes a chart to
// people who do not see it. Plain functions.

import type { SeriesPoint } from '../records.ts';
import { countOf, spanOf } from '../times.ts';
import type { Granularity } from './range.ts';

const none = 'none yet';

const day = new Intl.DateTimeFormat(undefined, { timeZone: 'UTC', day: 'numeric', month: 'short' });
const weekdayAndDay = new Intl.DateTimeFormat(undefined, {
  timeZone: 'UTC',
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
});
const monthAndYear = new Intl.DateTimeFormat(undefined, { timeZone: 'UTC', month: 'short', year: 'numeric' });
const hour = new Intl.DateTimeFormat(undefined, { timeZone: 'UTC', hour: 'numeric', minute: '2-digit' });
const dayAndHour = new Intl.DateTimeFormat(undefined, {
  timeZone: 'UTC',
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: 'numeric',
  minute: '2-digit',
});

/** A bucket's local time, parsed as UTC: it is in the workspace's zone, wherever the reader is. */
function clockOf(bucket: string): Date {
  return new Date(`${bucket.slice(0, 23)}Z`);
}

/** The length of the buckets, from the distance of the first two. */
export function granularityOf(series: readonly { readonly bucket: string }[]): Granularity {
  const [first, second] = series;
  if (first === undefined || second === undefined) return 'day';
  const hours = (clockOf(second.bucket).getTime() - clockOf(first.bucket).getTime()) / 3600_000;
  return hours < 20 ? 'hour' : hours < 100 ? 'day' : hours < 400 ? 'week' : 'month';
}

/** Short, for an axis: "14:00", "3 Mar", "Mar 2026". */
export function shortBucket(bucket: string, granularity: Granularity): string {
  const at = clockOf(bucket);
  if (granularity === 'hour') return at.getUTCHours() === 0 ? day.format(at) : hour.format(at);
  return granularity === 'month' ? monthAndYear.format(at) : day.format(at);
}

/** In full: "Tue, 3 Mar 2026", "Week of Mon, 2 Mar 2026", "Mar 2026", "Tue, 3 Mar, 14:00". */
export function longBucket(bucket: string, granularity: Granularity): string {
  const at = clockOf(bucket);
  if (granularity === 'hour') return dayAndHour.format(at);
  if (granularity === 'month') return monthAndYear.format(at);
  return granularity === 'week' ? `Week of ${weekdayAndDay.format(at)}` : weekdayAndDay.format(at);
}

/** "12% more than before", "8% less than before", "as before"; undefined if there is nothing to compare. */
export function changeOf(now: number | null, before: number | null): string | undefined {
  if (now === null || before === null) return undefined;
  if (now === before) return 'unchanged';
  if (before === 0) return 'none in the previous period';
  const percent = Math.round((Math.abs(now - before) / before) * 100);
  return percent === 0 ? 'unchanged' : `${percent}% ${now > before ? 'more' : 'less'} than in the previous period`;
}

export function secondsOf(seconds: number | null): string {
  return seconds === null ? none : spanOf(seconds);
}

/** "4.4 of 5" */
export function scoreOf(score: number | null): string {
  return score === null ? none : `${score.toFixed(1)} of 5`;
}

export function percentOf(rate: number): string {
  return new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 }).format(rate);
}

const hourMs = 3600_000;
const bucketMs = { hour: hourMs, day: 24 * hourMs, week: 7 * 24 * hourMs } as const;

/** The last seven days touch eight dates, so a daily average divides by the range's length. */
function bucketsIn(
  { start, end }: { readonly start: string; readonly end: string },
  series: readonly SeriesPoint[],
): number {
  const granularity = granularityOf(series);
  return granularity === 'month'
    ? series.length
    : Math.max(1, Math.round(((Date.parse(end) - Date.parse(start)) / bucketMs[granularity]) * 10) / 10);
}

/** A chart's content as a sentence. `range`: the period. */
export function summaryOf(
  series: readonly SeriesPoint[],
  options: {
    readonly what: string;
    readonly range: { readonly start: string; readonly end: string };
    readonly format?: (value: number) => string;
    readonly isSum: boolean;
  },
): string {
  const { what, range, format = countOf, isSum } = options;
  const granularity = granularityOf(series);
  const counted = isSum ? series : series.filter(({ value }) => value > 0);
  const [first] = counted;
  if (first === undefined || counted.every(({ value }) => value === 0)) return `No ${what} in this period.`;
  const most = counted.reduce((best, one) => (one.value > best.value ? one : best), first);
  const total = counted.reduce((sum, { value }) => sum + value, 0);
  const mean = Math.round((total / bucketsIn(range, series)) * 10) / 10;
  const whole = isSum
    ? `${format(total)} ${total === 1 ? what.replace(/s$/, '') : what}${mean === 0 ? '' : `, ${format(mean)} per ${granularity} on average`}.`
    : `${counted.length} of ${series.length} ${granularity}s ${counted.length === 1 ? 'has' : 'have'} ${what}.`;
  return `${whole} The ${isSum ? 'most' : 'best'}: ${format(most.value)}, ${longBucket(most.bucket, granularity)}.`;
}

// A report's period: as in the address, as in the API's query, and the previous one to compare with. Days are in the
// workspace's time zone, like the reports' buckets. Plain functions.

export type RangeName = '1d' | '7d' | '30d' | '90d' | 'custom';
export type Granularity = 'hour' | 'day' | 'week' | 'month';

export const rangeNames: readonly { readonly value: RangeName; readonly label: string }[] = [
  { value: '1d', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
  { value: '90d', label: 'Last 90 days' },
  { value: 'custom', label: 'Custom dates' },
];

export const maxRangeDays = 365;
/** A longer range would have too many hours to read. */
const maxHourlyDays = 31;
const dayMs = 24 * 3600_000;
const dayPattern = /^\d{4}-\d\d-\d\d$/;

export interface ChosenRange {
  readonly range: RangeName;
  /** For `custom`, as in the address: a day, or a time. */
  readonly from: string;
  readonly to: string;
  readonly granularity: Granularity | undefined;
}

const granularities: readonly string[] = ['hour', 'day', 'week', 'month'];

export function rangeOf(query: URLSearchParams): ChosenRange {
  const range = rangeNames.find(({ value }) => value === query.get('range'))?.value ?? '7d';
  const granularity = query.get('by');
  return {
    range,
    from: query.get('from') ?? '',
    to: query.get('to') ?? '',
    // Each value in the list is one of the type.
    granularity: granularity !== null && granularities.includes(granularity) ? (granularity as Granularity) : undefined,
  };
}

export interface RangeProblem {
  readonly from?: string;
  readonly to?: string;
}

/** The start and the end in milliseconds, or the error. The last day is included. */
export function customRange(
  { from, to }: Pick<ChosenRange, 'from' | 'to'>,
  timeZone: string,
): { readonly fromMs: number; readonly toMs: number } | RangeProblem {
  const fromMs = instantOf(from, timeZone, 0);
  const toMs = instantOf(to, timeZone, 1);
  if (fromMs === undefined) return { from: 'Choose the first day.' };
  if (toMs === undefined) return { to: 'Choose the last day.' };
  if (toMs <= fromMs) return { to: 'Choose a day after the first day.' };
  if (toMs - fromMs > maxRangeDays * dayMs) return { to: `Choose at most ${maxRangeDays} days.` };
  return { fromMs, toMs };
}

function instantOf(text: string, timeZone: string, laterDays: number): number | undefined {
  if (dayPattern.test(text)) {
    const ms = Date.parse(`${text}T00:00:00Z`);
    return Number.isNaN(ms) ? undefined : midnightOf(ms + laterDays * dayMs, timeZone);
  }
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** The start of the day there that has this date in UTC. */
export function midnightOf(dateMs: number, timeZone: string): number {
  let instantMs = dateMs - offsetMs(dateMs, timeZone);
  // The offset at that time may differ from the guess's, once.
  instantMs = dateMs - offsetMs(instantMs, timeZone);
  return instantMs;
}

function offsetMs(atMs: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(atMs);
  const part = (type: Intl.DateTimeFormatPartTypes): number =>
    Number(parts.find((one) => one.type === type)?.value ?? 0);
  return (
    Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second')) -
    Math.floor(atMs / 1000) * 1000
  );
}

/** The date of a time there, for a date field. */
export function dayOfInstant(text: string, timeZone: string): string {
  if (dayPattern.test(text) || Number.isNaN(Date.parse(text))) return dayPattern.test(text) ? text : '';
  const atMs = Date.parse(text);
  return new Date(atMs + offsetMs(atMs, timeZone)).toISOString().slice(0, 10);
}

export interface RangeQuery {
  readonly range: RangeName;
  readonly from?: string;
  readonly to?: string;
}

/** In the API's form; undefined while the days of a custom range are invalid. */
export function rangeQuery(chosen: ChosenRange, timeZone: string): RangeQuery | undefined {
  if (chosen.range !== 'custom') return { range: chosen.range };
  const found = customRange(chosen, timeZone);
  return 'fromMs' in found
    ? { range: 'custom', from: new Date(found.fromMs).toISOString(), to: new Date(found.toMs).toISOString() }
    : undefined;
}

/** The period of equal length just before a report's. */
export function rangeBefore({ start, end }: { readonly start: string; readonly end: string }): RangeQuery {
  const startMs = Date.parse(start);
  const lengthMs = Math.min(Date.parse(end) - startMs, maxRangeDays * dayMs);
  return { range: 'custom', from: new Date(startMs - lengthMs).toISOString(), to: start };
}

export function mayBeHourly(chosen: ChosenRange, timeZone: string): boolean {
  if (chosen.range === '90d') return false;
  if (chosen.range !== 'custom') return true;
  const found = customRange(chosen, timeZone);
  return 'fromMs' in found && found.toMs - found.fromMs <= maxHourlyDays * dayMs;
}

/** The end of a bucket: the start of the next one, or the end of the range. */
export function bucketRange(
  series: readonly { readonly bucket: string }[],
  index: number,
  range: { readonly start: string; readonly end: string },
): { readonly from: string; readonly to: string } {
  const startMs = Date.parse(series[index]?.bucket ?? range.start);
  const next = series[index + 1]?.bucket;
  return {
    from: new Date(Math.max(startMs, Date.parse(range.start))).toISOString(),
    to: next === undefined ? new Date(Date.parse(range.end) + 1).toISOString() : new Date(next).toISOString(),
  };
}

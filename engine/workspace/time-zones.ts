// Local time in IANA zones, daylight saving included. The only importer of luxon, of which it uses the zones alone:
// which instant a local time is when clocks are set is decided here, so that it is the same whenever it is asked.
// Called by whoever asks for days, hours or names of zones.

import { IANAZone } from 'luxon';

const minuteMs = 60_000;
export const dayMs = 24 * 60 * minuteMs;

/** IANA names alone; what only states an offset, such as +02:00, is none. */
export function isTimeZone(name: string): boolean {
  return !/^[+-]/.test(name) && IANAZone.isValidZone(name);
}

/** How a person there writes a time, such as `Nov 23, 2026, 5:48 AM GMT+1`. */
export function clockFor({ timezone, locale }: { timezone: string; locale: string }): (at: string) => string {
  const format = new Intl.DateTimeFormat(isLocale(locale) ? locale : 'en', {
    timeZone: timezone,
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
  });
  // Narrow spaces are odd signs in many a reader of mail.
  return (at) => format.format(new Date(at)).replace(/\s/g, ' ');
}

function isLocale(text: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(text).length > 0;
  } catch {
    return false;
  }
}

/** A day of the zone's calendar. With daylight saving it may have 23 or 25 hours. */
export interface LocalDay {
  /** YYYY-MM-DD. */
  readonly date: string;
  /** 1 Monday to 7 Sunday. */
  readonly weekday: number;
  readonly startMs: number;
  /** When the next day starts. */
  readonly endMs: number;
}

/** `count` days in a row; the first is `offset` days after the one that it is in the zone at `ms`. */
export function* localDays(ms: number, zone: string, range: { offset: number; count: number }): Generator<LocalDay> {
  const first = Math.floor((ms + offsetMs(ms, zone)) / dayMs) + range.offset;
  for (let day = first; day < first + range.count; day += 1) yield localDay(day, zone);
}

/**
 * When the zone's clocks show "HH:MM" on this day; "24:00" is its end. A time that is skipped is the moment of the
 * skip, one that comes twice its first.
 */
export function instantOn(day: LocalDay, time: string, zone: string): number {
  const [hour, minute] = [Number(time.slice(0, 2)), Number(time.slice(3))];
  if (hour === 24) return day.endMs;
  const sinceMidnightMs = (hour * 60 + minute) * minuteMs;
  const isPlain = day.endMs - day.startMs === dayMs;
  return isPlain ? day.startMs + sinceMidnightMs : instantOfWallTime(Date.parse(day.date) + sinceMidnightMs, zone);
}

export type Granularity = 'hour' | 'day' | 'week' | 'month';

const hourMs = 60 * minuteMs;

/**
 * Where the hours, days, weeks (from Monday) or months of the zone begin, from the one that `fromMs` is in to the last
 * before `toMs`.
 */
export function bucketStarts(
  granularity: Granularity,
  range: { fromMs: number; toMs: number },
  zone: string,
): number[] {
  if (granularity === 'hour') return hourStarts(range, zone);
  const days = Math.ceil((range.toMs - range.fromMs) / dayMs) + 2;
  // The first bucket began up to 30 days before.
  const starts: number[] = [];
  for (const { date, weekday, startMs } of localDays(range.fromMs, zone, {
    offset: granularity === 'day' ? 0 : -30,
    count: days + 30,
  })) {
    if (startMs >= range.toMs) break;
    if (
      granularity === 'day' ||
      (granularity === 'week' && weekday === 1) ||
      (granularity === 'month' && date.endsWith('-01'))
    )
      starts.push(startMs);
  }
  return fromBucketOf(range.fromMs, starts);
}

function fromBucketOf(ms: number, starts: readonly number[]): number[] {
  return starts.slice(
    Math.max(
      0,
      starts.findLastIndex((start) => start <= ms),
    ),
  );
}

function hourStarts(range: { fromMs: number; toMs: number }, zone: string): number[] {
  const startOf = (ms: number): number => ms - ((((ms + offsetMs(ms, zone)) % hourMs) + hourMs) % hourMs);
  const starts: number[] = [];
  for (let start = startOf(range.fromMs); start < range.toMs; ) {
    starts.push(start);
    const next = startOf(start + hourMs);
    // Clocks that are set by half an hour make an hour that is shorter or longer.
    start = next > start ? next : start + hourMs;
  }
  // Where they are set by half an hour, one more may have begun by then.
  return fromBucketOf(range.fromMs, starts);
}

/** Whole ones: the first may begin before the range. */
export interface LabelledBuckets {
  readonly starts: readonly number[];
  /** As isoWithOffset() has them. */
  readonly labels: readonly string[];
}

interface KnownBuckets extends LabelledBuckets {
  readonly granularity: Granularity;
  readonly zone: string;
  /** When the one after the last begins. */
  readonly endMs: number;
}

/**
 * The same ones are looked at again and again: by the reports of a page at once, and by the same page a moment later.
 * The newest first.
 */
let knownBuckets: readonly KnownBuckets[] = [];
/** Each takes up to 60 KB. */
const maxKnownBuckets = 32;
/** None is longer. */
const longestMs: Readonly<Record<Granularity, number>> = {
  hour: 3 * hourMs,
  day: 2 * dayMs,
  week: 8 * dayMs,
  month: 32 * dayMs,
};

/** The same as bucketStarts(), with what each is called. */
export function labelledBuckets(
  granularity: Granularity,
  range: { fromMs: number; toMs: number },
  zone: string,
): LabelledBuckets {
  const known = knownBuckets.find(
    (buckets) => buckets.granularity === granularity && buckets.zone === zone && fits(buckets, range),
  );
  if (known !== undefined) return known;
  const withNext = bucketStarts(granularity, { fromMs: range.fromMs, toMs: range.toMs + longestMs[granularity] }, zone);
  const starts = withNext.filter((start) => start < range.toMs);
  const made = {
    granularity,
    zone,
    starts,
    labels: starts.map((start) => isoWithOffset(start, zone)),
    endMs: withNext[starts.length] ?? range.toMs,
  };
  knownBuckets = [made, ...knownBuckets.slice(0, maxKnownBuckets - 1)];
  return made;
}

/** The range begins in the first of them and ends in the last. */
function fits({ starts, endMs }: KnownBuckets, { fromMs, toMs }: { fromMs: number; toMs: number }): boolean {
  const [first = endMs, second = endMs] = starts;
  return fromMs >= first && fromMs < second && toMs > (starts.at(-1) ?? endMs) && toMs <= endMs;
}

/** ISO 8601 with milliseconds and the zone's offset at that moment, such as 2026-03-29T09:00:00.000+02:00. */
export function isoWithOffset(ms: number, zone: string): string {
  const minutes = Math.round(offsetMs(ms, zone) / minuteMs);
  return `${new Date(ms + minutes * minuteMs).toISOString().slice(0, -1)}${offsetText(minutes)}`;
}

function offsetText(minutes: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
}

/** No zone's clocks were ever set twice within it, since 1970: what came closest was a week, in Brazil in 2000. */
const spanMs = 5 * dayMs;

interface SpanOffsets {
  readonly atStartMs: number;
  readonly atEndMs: number;
  /** When the one becomes the other; later than the span when they are the same. */
  readonly changeMs: number;
}

function offsetMs(ms: number, zone: string): number {
  const span = Math.floor(ms / spanMs);
  const { atStartMs, atEndMs, changeMs } = memberOf(offsets, zone, span, () => offsetsOf(span, zone));
  return ms < changeMs ? atStartMs : atEndMs;
}

function offsetsOf(span: number, zone: string): SpanOffsets {
  const ask = (ms: number): number => IANAZone.create(zone).offset(ms) * minuteMs;
  const [startMs, endMs] = [span * spanMs, (span + 1) * spanMs];
  const [atStartMs, atEndMs] = [ask(startMs), ask(endMs)];
  return {
    atStartMs,
    atEndMs,
    changeMs: atStartMs === atEndMs ? Number.POSITIVE_INFINITY : changeOfOffset(startMs, endMs, ask),
  };
}

/** `wallMs` is the local time as if it were UTC. */
function instantOfWallTime(wallMs: number, zone: string): number {
  const before = offsetMs(wallMs - dayMs, zone);
  const after = offsetMs(wallMs + dayMs, zone);
  const candidates = [wallMs - before, wallMs - after].filter((ms) => ms + offsetMs(ms, zone) === wallMs);
  return candidates.length > 0
    ? Math.min(...candidates)
    : changeOfOffset(wallMs - dayMs, wallMs + dayMs, (ms) => offsetMs(ms, zone));
}

/** The first instant in (low, high] with another offset than `low` has. */
function changeOfOffset(low: number, high: number, offsetAt: (ms: number) => number): number {
  const before = offsetAt(low);
  let same = low;
  let changed = high;
  while (changed - same > 1) {
    const middle = Math.floor((same + changed) / 2);
    if (offsetAt(middle) === before) same = middle;
    else changed = middle;
  }
  return changed;
}

/**
 * By zone and day or span: each costs some microseconds, and a question about office hours or a report walks through a
 * year.
 */
type ByZone<Known> = Map<string, Map<number, Known>>;

const days: ByZone<LocalDay> = new Map();
const offsets: ByZone<SpanOffsets> = new Map();
/** One takes half a megabyte at most. */
const maxZones = 12;
/** A report's year of days, with the month after it, several times over. */
const maxPerZone = 2500;

function localDay(day: number, zone: string): LocalDay {
  return memberOf(days, zone, day, () => {
    // The first of January 1970 was a Thursday.
    const weekday = ((((day + 3) % 7) + 7) % 7) + 1;
    return {
      date: new Date(day * dayMs).toISOString().slice(0, 10),
      weekday,
      startMs: instantOfWallTime(day * dayMs, zone),
      endMs: instantOfWallTime((day + 1) * dayMs, zone),
    };
  });
}

function memberOf<Known>(known: ByZone<Known>, zone: string, of: number, find: () => Known): Known {
  let ofZone = known.get(zone);
  if (ofZone === undefined) {
    const [oldest] = known.keys();
    if (oldest !== undefined && known.size >= maxZones) known.delete(oldest);
    ofZone = new Map();
    known.set(zone, ofZone);
  }
  let value = ofZone.get(of);
  if (value === undefined) {
    if (ofZone.size >= maxPerZone) ofZone.clear();
    value = find();
    ofZone.set(of, value);
  }
  return value;
}

/** The same day and time so many months later, in UTC; the last day of a month that has no such day. */
export function monthsAfter(ms: number, months: number): number {
  const from = new Date(ms);
  const [year, month] = [from.getUTCFullYear(), from.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return (
    Date.UTC(year, month, Math.min(from.getUTCDate(), lastDay)) +
    (ms - Date.UTC(from.getUTCFullYear(), from.getUTCMonth(), from.getUTCDate()))
  );
}

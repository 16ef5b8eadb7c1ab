// Local time in IANA zones, with daylight saving. The only importer of luxon, and only of its zones: how a local time
// maps to an instant at a clock change is decided here, so that it is always the same.

import { IANAZone } from 'luxon';

const minuteMs = 60_000;
export const dayMs = 24 * 60 * minuteMs;

/** Only IANA names; a plain offset such as +02:00 is not a time zone. */
export function isTimeZone(name: string): boolean {
  return !/^[+-]/.test(name) && IANAZone.isValidZone(name);
}

/** A formatter for local times, such as `Nov 23, 2026, 5:48 AM GMT+1`. */
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
  // Many mail clients show narrow spaces as odd characters.
  return (at) => format.format(new Date(at)).replace(/\s/g, ' ');
}

function isLocale(text: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(text).length > 0;
  } catch {
    return false;
  }
}

/** A calendar day of the zone. With daylight saving it may have 23 or 25 hours. */
export interface LocalDay {
  /** YYYY-MM-DD. */
  readonly date: string;
  /** 1 Monday to 7 Sunday. */
  readonly weekday: number;
  readonly startMs: number;
  /** When the next day starts. */
  readonly endMs: number;
}

/** `count` consecutive days, starting `offset` days after the local day of `ms`. */
export function* localDays(ms: number, zone: string, range: { offset: number; count: number }): Generator<LocalDay> {
  const first = Math.floor((ms + offsetMs(ms, zone)) / dayMs) + range.offset;
  for (let day = first; day < first + range.count; day += 1) yield localDay(day, zone);
}

/**
 * When the zone's clocks show "HH:MM" on this day; "24:00" is its end. A skipped time maps to the moment of the change,
 * an ambiguous one to its first occurrence.
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
 * Starts of the zone's hours, days, weeks (from Monday) or months, from the one that contains `fromMs` to the last
 * before `toMs`.
 */
export function bucketStarts(
  granularity: Granularity,
  range: { fromMs: number; toMs: number },
  zone: string,
): number[] {
  if (granularity === 'hour') return hourStarts(range, zone);
  const days = Math.ceil((range.toMs - range.fromMs) / dayMs) + 2;
  // The first bucket may have begun up to 30 days earlier.
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
    // A clock change of half an hour makes one hour shorter or longer.
    start = next > start ? next : start + hourMs;
  }
  // With a change of half an hour, one more bucket may have begun by then.
  return fromBucketOf(range.fromMs, starts);
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

/** Since 1970 no zone changed its clocks twice within this time; the closest were a week apart, in Brazil in 2000. */
const spanMs = 5 * dayMs;

interface SpanOffsets {
  readonly atStartMs: number;
  readonly atEndMs: number;
  /** When the offset changes; beyond the span if it does not. */
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
 * Caches by zone and day or span: each computation takes microseconds, and office hours or a report need a year of
 * them.
 */
type ByZone<Known> = Map<string, Map<number, Known>>;

const days: ByZone<LocalDay> = new Map();
const offsets: ByZone<SpanOffsets> = new Map();
/** Each takes half a megabyte at most. */
const maxZones = 12;
/** A report's year of days and the month after it, several times over. */
const maxPerZone = 2500;

function localDay(day: number, zone: string): LocalDay {
  return memberOf(days, zone, day, () => {
    // 1 January 1970 was a Thursday.
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

/** The same day and time `months` later, in UTC, or the last day of a shorter month. */
export function monthsAfter(ms: number, months: number): number {
  const from = new Date(ms);
  const [year, month] = [from.getUTCFullYear(), from.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return (
    Date.UTC(year, month, Math.min(from.getUTCDate(), lastDay)) +
    (ms - Date.UTC(from.getUTCFullYear(), from.getUTCMonth(), from.getUTCDate()))
  );
}

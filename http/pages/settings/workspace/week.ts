// Changes weekly hours and formats them. A span that closes at or before its opening ends on the next day. Midnight at
// the end of a day is 24:00 in the API and 00:00 in a time field.

import type { OpeningHours } from '../../records.ts';

export const weekdays = [1, 2, 3, 4, 5, 6, 7] as const;
// 5 January 2026 was a Monday.
const dayNames = weekdays.map((weekday) => new Date(Date.UTC(2026, 0, 4 + weekday)));
const longDay = new Intl.DateTimeFormat(undefined, { weekday: 'long', timeZone: 'UTC' });
const shortDay = new Intl.DateTimeFormat(undefined, { weekday: 'short', timeZone: 'UTC' });
const clock = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit', timeZone: 'UTC' });
const dateInWords = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});

export function weekdayName(weekday: number): string {
  return longDay.format(dayNames[weekday - 1]);
}

export const usualWeek: readonly OpeningHours[] = [1, 2, 3, 4, 5].map((weekday) => ({
  weekday,
  opens: '09:00',
  closes: '17:00',
}));

/** For a time field. */
export function timeInField(closes: string): string {
  return closes === '24:00' ? '00:00' : closes;
}

/** In the API's form: a day that closes at midnight closes at 24:00. */
export function closingFromField(text: string): string {
  return text === '00:00' ? '24:00' : text;
}

export function endsNextDay({ opens, closes }: OpeningHours): boolean {
  return closes <= opens;
}

/** The hours added to a day: after its existing ones, if there is room. */
export function nextSpan(days: readonly OpeningHours[], weekday: number): OpeningHours {
  const last = days.filter((one) => one.weekday === weekday).at(-1);
  if (last === undefined) return { weekday, opens: '09:00', closes: '17:00' };
  const hour = Number(last.closes.slice(0, 2));
  return hour < 22 && !endsNextDay(last)
    ? { weekday, opens: `${two(hour + 1)}:00`, closes: `${two(Math.min(hour + 4, 23))}:00` }
    : { weekday, opens: '20:00', closes: '23:00' };
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

/** Copies the hours of one day to others and replaces theirs. */
export function copyDay(days: readonly OpeningHours[], from: number, to: readonly number[]): readonly OpeningHours[] {
  const copied = days.filter(({ weekday }) => weekday === from);
  const kept = days.filter(({ weekday }) => weekday === from || !to.includes(weekday));
  return sortWeek([
    ...kept,
    ...to.filter((weekday) => weekday !== from).flatMap((weekday) => copied.map((one) => ({ ...one, weekday }))),
  ]);
}

function sortWeek(days: readonly OpeningHours[]): readonly OpeningHours[] {
  return [...days].sort((a, b) => a.weekday - b.weekday || a.opens.localeCompare(b.opens));
}

function spanInWords({ opens, closes }: OpeningHours): string {
  if (opens === '00:00' && closes === '24:00') return 'all day';
  return [opens, timeInField(closes)].map((time) => clock.format(new Date(`2026-01-05T${time}:00Z`))).join('–');
}

/** "Mon–Fri 9:00 AM–5:30 PM, Sat all day", in the reader's format: consecutive days with equal hours are combined. */
export function weekInWords(days: readonly OpeningHours[]): string {
  const byDay = weekdays.map((weekday) =>
    sortWeek(days.filter((one) => one.weekday === weekday))
      .map(spanInWords)
      .join(' and '),
  );
  const runs: { from: number; to: number; hours: string }[] = [];
  byDay.forEach((hours, index) => {
    const last = runs.at(-1);
    if (last !== undefined && last.hours === hours) last.to = index;
    else runs.push({ from: index, to: index, hours });
  });
  const open = runs.filter(({ hours }) => hours !== '');
  if (open.length === 0) return 'Never open';
  const name = (index: number): string => shortDay.format(dayNames[index]);
  return open
    .map(({ from, to, hours }) => `${from === to ? name(from) : `${name(from)}–${name(to)}`} ${hours}`)
    .join(', ');
}

/** The date there, in the API's form. */
export function dateIn(timeZone: string, at = new Date()): string {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).formatToParts(at);
  return (['year', 'month', 'day'] as const)
    .map((type) => parts.find((one) => one.type === type)?.value ?? '')
    .join('-');
}

/** "Fri, 25 December 2026": a date without a zone. */
export function dateInFull(date: string): string {
  const at = Date.parse(`${date}T00:00:00Z`);
  return Number.isNaN(at) ? date : dateInWords.format(new Date(at));
}

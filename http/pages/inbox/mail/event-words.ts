// The words of a calendar event: when it is, in the reader's time zone and language, and how it repeats.

import type { Invitation } from '../../records.ts';

type When = Pick<Invitation, 'start' | 'end' | 'isAllDay'>;

const kinds = {
  request: 'Invitation',
  cancel: 'Cancelled',
  reply: 'Answer to an invitation',
  counter: 'Proposes another time',
  publish: 'Event',
} as const;

export function kindOf({ method, isCancelled, isOneOfSeries }: Invitation): string {
  const kind = isCancelled ? 'Cancelled' : kinds[method ?? 'publish'];
  return isOneOfSeries ? `${kind}, one of a series` : kind;
}

/** `zone`: the reader's by default. */
export function whenOf({ start, end, isAllDay }: When, zone?: string): string {
  const day = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' } as const;
  const clock = { hour: 'numeric', minute: '2-digit' } as const;
  // A day, or a time on some clock, is the same everywhere.
  if (isAllDay) return rangeOf(start.local, end?.local, { ...day, timeZone: 'UTC' });
  if (start.at === null) {
    const words = rangeOf(`${start.local}Z`, end === null ? undefined : `${end.local}Z`, {
      ...day,
      ...clock,
      timeZone: 'UTC',
    });
    return `${words}, ${start.zone === null ? 'in a time zone that is not named' : `time zone ${start.zone}`}`;
  }
  const own = zone === undefined ? {} : { timeZone: zone };
  return rangeOf(start.at, end?.at ?? undefined, { ...day, ...clock, timeZoneName: 'short', ...own });
}

function rangeOf(from: string, to: string | undefined, options: Intl.DateTimeFormatOptions): string {
  const format = new Intl.DateTimeFormat(undefined, options);
  const begin = new Date(from);
  return to === undefined || to === from ? format.format(begin) : format.formatRange(begin, new Date(to));
}

const lastDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

const steps = {
  yearly: ['Every year', 'years'],
  monthly: ['Every month', 'months'],
  weekly: ['Every week', 'weeks'],
  daily: ['Every day', 'days'],
} as const;

export function repeatsOf({ recurrence }: Pick<Invitation, 'recurrence'>): string | undefined {
  if (recurrence === null) return undefined;
  const { frequency, interval, days, count, until } = recurrence;
  const [each, many] = steps[frequency];
  const names = days.map((name) => name.charAt(0).toUpperCase() + name.slice(1));
  const on = names.length === 0 ? '' : ` on ${new Intl.ListFormat('en').format(names)}`;
  return [
    (interval === 1 ? each : `Every ${interval} ${many}`) + on,
    ...(count === null ? [] : [count === 1 ? 'once' : `${count} times`]),
    ...(until === null ? [] : [`until ${lastDay.format(new Date(until))}`]),
  ].join(', ');
}

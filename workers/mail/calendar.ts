// Reads calendar invitations: what, when, where and from whom. The only importer of ical.js. No series is expanded, so
// that no rule of a stranger can keep the thread busy; its rule is repeated instead. Nor does the library compare times or
// work out an end, since it would consult zones whose rules are not bounded. Runs in the thread for opened mails.
// RFC 5545, RFC 5546.

import type { CalendarEvent, CalendarMoment, CalendarRecurrence } from '../../store/mail/records.ts';
import { decodeText } from '../knowledge/charset.ts';

export interface CalendarReading {
  /** In the order of the file. */
  readonly events: readonly CalendarEvent[];
  /** The events beyond the limits. */
  readonly more: number;
}

type Ical = typeof import('ical.js')['default'];
type Component = InstanceType<Ical['Component']>;
type Property = InstanceType<Ical['Property']>;
type Time = InstanceType<Ical['Time']>;
type Duration = InstanceType<Ical['Duration']>;

const nothing: CalendarReading = { events: [], more: 0 };
/** An invitation has one, and a series with moved dates a few. A file with more is somebody's calendar. */
const maxEvents = 10;
/** Readable or not, of all calendars of a file. */
const maxLookedAt = 100;
/** An event that lasts longer has no end here. The library adds a duration month by month. */
const maxSeconds = 10 * 366 * 24 * 3600;
/** Characters shown of a name or a place. */
const maxTextChars = 500;
/** Standard and daylight time of some zones, or of one with its history. Each takes milliseconds to work out. */
const maxObservances = 20;
/** Years for which a zone is worked out. */
const firstYear = 1970;
const lastYear = 2100;
const frequencies = ['yearly', 'monthly', 'weekly', 'daily'] as const;
const weekdays = {
  MO: 'monday',
  TU: 'tuesday',
  WE: 'wednesday',
  TH: 'thursday',
  FR: 'friday',
  SA: 'saturday',
  SU: 'sunday',
} as const;
const methods = ['publish', 'request', 'reply', 'cancel', 'counter'] as const;

/** Nothing for a file that is no calendar. */
export async function readCalendar(bytes: Uint8Array): Promise<CalendarReading> {
  const { default: ical } = await import('ical.js');
  let calendars: Component[];
  try {
    // One stream may hold several calendars.
    const parsed: unknown[] = ical.parse(decodeText(Buffer.from(bytes), undefined));
    const each = typeof parsed[0] === 'string' ? [parsed] : parsed;
    calendars = each
      .map((one) => new ical.Component(one as ConstructorParameters<Ical['Component']>[0]))
      .filter(({ name }) => name === 'vcalendar');
  } catch {
    // The library throws plain errors for whatever it cannot read.
    return nothing;
  }
  const events: CalendarEvent[] = [];
  let more = 0;
  let lookedAt = 0;
  const zones = zonesOf(ical, calendars);
  for (const calendar of calendars) {
    const components = calendar.getAllSubcomponents('vevent');
    const method = textOf(calendar, 'method');
    for (const [index, component] of components.entries()) {
      if (events.length === maxEvents || lookedAt === maxLookedAt) {
        more += components.length - index;
        break;
      }
      lookedAt += 1;
      const event = eventOf(component, { method, zones });
      if (event !== undefined) events.push(event);
    }
  }
  return { events, more };
}

/** Undefined for one without a readable beginning. */
function eventOf(
  component: Component,
  { method, zones }: { method: string | null; zones: Zones },
): CalendarEvent | undefined {
  try {
    const begin = component.getFirstProperty('dtstart');
    const startDate = begin?.getFirstValue() as Time | null | undefined;
    if (begin === null || startDate == null || !isDated(startDate)) return undefined;
    const endDate = endOf(component, startDate);
    const zoneName = textParameter(begin, 'tzid');
    const endZoneName = textParameter(component.getFirstProperty('dtend') ?? begin, 'tzid') ?? zoneName;
    const isAllDay = startDate.isDate || isWholeDays(component, [startDate, endDate ?? startDate]);
    const moment = (time: Time, name: string | null): CalendarMoment =>
      isAllDay ? dayOf(time) : momentOf(time, name, zones);
    const start = moment(startDate, zoneName);
    const end = endDate === null ? null : moment(endDate, endZoneName);
    const said = methods.find((one) => one === method?.toLowerCase()) ?? null;
    return {
      uid: textOf(component, 'uid'),
      method: said,
      isCancelled: said === 'cancel' || textOf(component, 'status')?.toUpperCase() === 'CANCELLED',
      isOneOfSeries: component.hasProperty('recurrence-id'),
      summary: textOf(component, 'summary'),
      location: textOf(component, 'location'),
      organiser: organiserOf(component.getFirstProperty('organizer')),
      isAllDay,
      start,
      end: endDate === null || end === null || !isAfter(end, start) ? null : isAllDay ? dayBefore(endDate) : end,
      recurrence: recurrenceOf(component),
    };
  } catch {
    // As above: one event that cannot be read says nothing about the others.
    return undefined;
  }
}

/** As its file says, or after its duration. A day without either ends with itself. */
function endOf(component: Component, start: Time): Time | null {
  const given = component.getFirstPropertyValue('dtend') as Time | null;
  if (given !== null) return isDated(given) ? given : null;
  const end = start.clone();
  const duration = component.getFirstPropertyValue('duration') as Duration | null;
  if (duration === null) {
    if (!start.isDate) return null;
    end.adjust(1, 0, 0, 0);
  } else if (Math.abs(duration.toSeconds()) <= maxSeconds) end.addDuration(duration);
  else return null;
  return isDated(end) ? end : null;
}

/** By the clock of both if either's zone is unknown. */
function isAfter(end: CalendarMoment, start: CalendarMoment): boolean {
  return end.at !== null && start.at !== null ? end.at > start.at : end.local > start.local;
}

function isDated({ year, month, day }: Time): boolean {
  return year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/** Outlook writes all-day events as midnight to midnight. */
function isWholeDays(component: Component, times: readonly Time[]): boolean {
  return (
    textOf(component, 'x-microsoft-cdo-alldayevent')?.toUpperCase() === 'TRUE' &&
    times.every((time) => time.hour === 0 && time.minute === 0)
  );
}

const two = (value: number): string => String(value).padStart(2, '0');
const dateOf = ({ year, month, day }: Time): string => `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
const dayOf = (time: Time): CalendarMoment => ({ at: null, local: dateOf(time), zone: null });

/** A calendar's end of whole days is the day after the last one. */
function dayBefore(end: Time): CalendarMoment {
  const last = end.clone();
  last.adjust(-1, 0, 0, 0);
  return dayOf(last);
}

function momentOf(time: Time, zoneName: string | null, zones: Zones): CalendarMoment {
  const local = `${dateOf(time)}T${two(time.hour)}:${two(time.minute)}`;
  const isUtc = time.zone?.tzid === 'UTC';
  const offsetMs = isUtc ? 0 : zoneName === null ? undefined : zones.offsetMs(zoneName, time);
  return {
    at: offsetMs === undefined ? null : new Date(asUtc(time) - offsetMs).toISOString(),
    local,
    zone: isUtc ? 'UTC' : zoneName,
  };
}

const asUtc = ({ year, month, day, hour, minute, second }: Time): number =>
  Date.UTC(year, month - 1, day, hour, minute, second);

interface Zones {
  /** How far the zone's clocks are ahead of UTC at this local time; undefined for an unknown zone. */
  offsetMs(name: string, time: Time): number | undefined;
}

/** By their names, and otherwise as the file describes them: Outlook has names of its own. */
function zonesOf(ical: Ical, calendars: readonly Component[]): Zones {
  const described = new Map<string, InstanceType<Ical['Timezone']>>();
  let observances = 0;
  for (const zone of calendars.flatMap((one) => one.getAllSubcomponents('vtimezone'))) {
    const name = textOf(zone, 'tzid');
    const parts = zone.getAllSubcomponents();
    observances += parts.length;
    if (name === null || observances > maxObservances) continue;
    for (const observance of parts) boundRule(observance);
    described.set(name, new ical.Timezone({ component: zone, tzid: name }));
  }
  return {
    offsetMs(name, time) {
      if (time.year < firstYear || time.year > lastYear) return undefined;
      const seconds = offsetByName(name, asUtc(time)) ?? described.get(name)?.utcOffset(time);
      return seconds === undefined ? undefined : seconds * 1000;
    },
  };
}

/**
 * The library lists every date of a rule, and looks for the next one until there is one. So only a rule such as "the
 * last Sunday of March" may reach it, and none from 1601, where Outlook begins.
 */
function boundRule(observance: Component): void {
  if (!observance.getAllProperties('rrule').every(isYearly)) observance.removeAllProperties('rrule');
  const begin = observance.getFirstProperty('dtstart');
  const value = begin?.getFirstValue() as Time | null | undefined;
  if (begin === null || value == null || !observance.hasProperty('rrule') || value.year >= firstYear) return;
  const later = value.clone();
  later.year = firstYear;
  begin.setValue(later);
}

function isYearly(rule: Property): boolean {
  const { freq, interval, parts } = recurOf(rule);
  const { BYMONTH = [], BYDAY = [], BYMONTHDAY = [], ...others } = parts;
  // A fifth Sunday that is also the eighth of its month never comes.
  const days = BYMONTHDAY.length === 0 ? /^(?:[+-]?[1-5])?(?:MO|TU|WE|TH|FR|SA|SU)$/ : /^(?:MO|TU|WE|TH|FR|SA|SU)$/;
  return (
    freq === 'YEARLY' &&
    interval === 1 &&
    Object.keys(others).length === 0 &&
    BYMONTH.every((month) => Number(month) >= 1 && Number(month) <= 12) &&
    BYDAY.every((day) => days.test(String(day))) &&
    BYMONTHDAY.every((day) => Number(day) >= 1 && Number(day) <= 28)
  );
}

/** In seconds; undefined for an unknown zone. Some programs put a path of their own before the name. */
function offsetByName(name: string, localMs: number): number | undefined {
  const zone = /(?:^|\/)([A-Z][A-Za-z_]+(?:\/[A-Z][A-Za-z_+-]+){1,2})$/.exec(name)?.[1];
  if (zone === undefined) return undefined;
  try {
    const first = offsetAt(zone, localMs);
    return offsetAt(zone, localMs - first * 1000);
  } catch {
    // No such zone.
    return undefined;
  }
}

/** Throws a RangeError for an unknown zone. */
function offsetAt(zone: string, ms: number): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000 - Math.floor(ms / 1000);
}

function recurrenceOf(component: Component): CalendarRecurrence | null {
  const rule = component.getFirstProperty('rrule');
  if (rule === null) return null;
  const { freq, interval, count, until, parts } = recurOf(rule);
  const frequency = frequencies.find((one) => one === freq.toLowerCase());
  // Hourly and faster ones are no one's appointment.
  if (frequency === undefined) return null;
  const days = (frequency === 'weekly' ? (parts.BYDAY ?? []) : []).flatMap((day) => {
    const key = String(day);
    return key in weekdays ? [weekdays[key as keyof typeof weekdays]] : [];
  });
  return {
    frequency,
    interval: Math.min(Math.max(1, interval), 1000),
    days: [...new Set(days)],
    count: count ?? null,
    until: until == null ? null : dateOf(until),
  };
}

/** A recurrence rule as the library has it; its types say less. */
function recurOf(rule: Property): {
  freq: string;
  interval: number;
  count: number | null;
  until: Time | null;
  parts: { BYMONTH?: unknown[]; BYDAY?: unknown[]; BYMONTHDAY?: unknown[] };
} {
  return rule.getFirstValue() as unknown as ReturnType<typeof recurOf>;
}

function organiserOf(property: Property | null): CalendarEvent['organiser'] {
  const value = property?.getFirstValue();
  if (property === null || typeof value !== 'string') return null;
  const address = value.replace(/^mailto:/i, '').trim();
  const name = textParameter(property, 'cn');
  if (address === '' && name === null) return null;
  return { name, address: /^[^\s@]+@[^\s@]+$/.test(address) ? bounded(address) : null };
}

function textOf(component: Component, name: string): string | null {
  const value = component.getFirstPropertyValue(name);
  return typeof value === 'string' ? shown(value) : null;
}

function textParameter(property: Property, name: string): string | null {
  const value = property.getParameter(name);
  return typeof value === 'string' ? shown(value) : null;
}

function shown(text: string): string | null {
  const line = bounded(
    text
      .slice(0, 2 * maxTextChars)
      .replace(/\s+/g, ' ')
      .trim(),
  );
  return line === '' ? null : line;
}

function bounded(text: string): string {
  return Array.from(text).slice(0, maxTextChars).join('');
}

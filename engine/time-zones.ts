// Local time in IANA zones, daylight saving included. The only importer of luxon.

import { DateTime, IANAZone } from 'luxon';

export function isTimeZone(name: string): boolean {
  return IANAZone.isValidZone(name);
}

export interface LocalDay {
  /** YYYY-MM-DD. */
  readonly date: string;
  /** 1 Monday to 7 Sunday. */
  readonly weekday: number;
}

/** The day that it is in the zone at `ms`, and the `count - 1` days after it. */
export function localDays(ms: number, zone: string, count: number): LocalDay[] {
  const start = DateTime.fromMillis(ms, { zone }).startOf('day');
  return Array.from({ length: count }, (_, index) => {
    const day = start.plus({ days: index });
    return { date: day.toISODate() ?? '', weekday: day.weekday };
  });
}

/** When the zone's clocks show this date and "HH:MM" ("24:00" is the next midnight). A time that daylight saving skips is the moment of the skip. */
export function instantOf(date: string, time: string, zone: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  const midnight = DateTime.fromISO(date, { zone });
  const day = hour === 24 ? midnight.plus({ days: 1 }) : midnight;
  return day.set({ hour: hour === 24 ? 0 : hour, minute }).toMillis();
}

/** ISO 8601 with milliseconds and the zone's offset at that moment. */
export function isoWithOffset(ms: number, zone: string): string {
  return DateTime.fromMillis(ms, { zone }).toISO() ?? '';
}

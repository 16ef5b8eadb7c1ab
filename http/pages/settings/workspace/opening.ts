// Opening states as text.

import type { OfficeHours } from '../../records.ts';
import { serverNow } from '../../server-clock.ts';

/** "until Friday, 17:30", in the workspace's time zone, as its hours are. */
export function nextChangeInWords({ officeHoursOpen, nextChange }: OfficeHours, timeZone: string): string {
  if (nextChange === null) return officeHoursOpen ? 'always' : 'with no upcoming hours';
  const at = new Date(nextChange);
  const far = at.getTime() - serverNow() > 6 * 24 * 3600_000;
  const words = new Intl.DateTimeFormat(undefined, {
    weekday: 'long',
    hour: 'numeric',
    minute: '2-digit',
    ...(far ? { day: 'numeric', month: 'long' } : {}),
    timeZone,
  }).format(at);
  return `${officeHoursOpen ? 'until' : 'opens'} ${words}`;
}

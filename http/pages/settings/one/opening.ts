// What is open, as the API has it and in words.

import type { OpeningHours } from '../../records.ts';

export interface HoursRule {
  readonly id: string;
  readonly name: string;
  readonly days: readonly OpeningHours[];
  readonly holidays: readonly string[];
  readonly siteId: string | null;
  readonly departmentId: string | null;
  readonly createdAt: string;
}

export interface Opening {
  readonly officeHoursOpen: boolean;
  readonly nextChange: string | null;
}

export interface HoursNow {
  readonly workspace: Opening;
  readonly sites: readonly (Opening & { readonly siteId: string })[];
  readonly departments: readonly (Opening & { readonly departmentId: string })[];
}

/** "until Friday, 17:30", in the workspace's own time, which is the one that its hours are written in. */
export function nextChangeInWords({ officeHoursOpen, nextChange }: Opening, timeZone: string): string {
  if (nextChange === null) return officeHoursOpen ? 'always' : 'and no hours ahead';
  const at = new Date(nextChange);
  const far = at.getTime() - Date.now() > 6 * 24 * 3600_000;
  const words = new Intl.DateTimeFormat(undefined, { weekday: 'long', hour: '2-digit', minute: '2-digit', ...(far ? { day: 'numeric', month: 'long' } : {}), timeZone }).format(at);
  return `${officeHoursOpen ? 'until' : 'opens'} ${words}`;
}

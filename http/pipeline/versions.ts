// The version of the API that a request gets: the Service-Version header names a date. A change of behaviour adds a row
// here and checks behaviourOn() for its date. Specification 9.

import { refuseField } from '../../engine/errors.ts';

/** Dates on which behaviour changed, oldest first. */
export const serviceVersions = ['2026-11-20'] as const;

/**
 * The version in force on the date of the header: the newest that is not later, or the first. Refuses invalid_query for
 * an invalid date.
 */
export function versionFor(
  header: string | undefined,
  versions: readonly [string, ...string[]] = serviceVersions,
): string {
  if (header === undefined) return versions.at(-1) ?? versions[0];
  if (!isDate(header)) refuseField('invalid_query', 'Service-Version', 'must be a date, YYYY-MM-DD');
  return versions.findLast((version) => version <= header) ?? versions[0];
}

/** Date.parse() accepts 30 February as a day in March. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

// Which behaviour a request is answered with: the Service-Version header pins a date. A later change of behaviour is
// one more row here, and asks behaviourOn() for the date it came with. Specification 9.

import { refuseField } from '../../engine/errors.ts';

/** Dates on which behaviour changed, oldest first. */
export const serviceVersions = ['2026-11-20'] as const;

/**
 * The version in force for the header's date: the newest that is not after it, or the first. Refuses invalid_query for
 * what is no date.
 */
export function versionFor(
  header: string | undefined,
  versions: readonly [string, ...string[]] = serviceVersions,
): string {
  if (header === undefined) return versions.at(-1) ?? versions[0];
  if (!isDate(header)) refuseField('invalid_query', 'Service-Version', 'must be a date, YYYY-MM-DD');
  return versions.findLast((version) => version <= header) ?? versions[0];
}

/** Date.parse() takes the 30th of February for a day in March. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

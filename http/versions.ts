// Which behaviour a request is answered with: the Service-Version header pins a date. A later change of behaviour is one more
// row here, and asks behaviourOn() for the date it came with. Specification 9.

import { refuseField } from '../engine/errors.ts';

/** Dates on which behaviour changed, oldest first. */
export const serviceVersions = ['2026-11-20'] as const;

const first = serviceVersions[0];
const latest: string = serviceVersions.at(-1) ?? first;

/** The version in force for the header's date: the newest that is not after it. Refuses invalid_query for what is no date. */
export function versionFor(header: string | undefined): string {
  if (header === undefined) return latest;
  if (!/^\d{4}-\d{2}-\d{2}$/.test(header) || Number.isNaN(Date.parse(header))) refuseField('invalid_query', 'Service-Version', 'must be a date, YYYY-MM-DD');
  return serviceVersions.findLast((version) => version <= header) ?? first;
}

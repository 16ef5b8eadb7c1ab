// Checks that many commands begin with.

import { refuse, refuseField } from './errors.ts';
import { isBlank } from './lines.ts';

/** Refuses stale_version if a version was given and is not the current one. */
export function requireVersion(record: { readonly version: number }, expectedVersion: number | undefined): void {
  if (expectedVersion !== undefined && expectedVersion !== record.version)
    refuse('stale_version', { detail: { currentVersion: record.version } });
}

/** Refuses a body without anything visible (decisions, settled questions). */
export function requireText(body: string, path = 'body'): void {
  if (isBlank(body)) refuseField('invalid_body', path, 'must not be empty');
}

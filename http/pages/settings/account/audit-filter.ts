// Searches the audit log. The service returns it newest first, without a filter, so the search covers the loaded
// entries.

import { folded } from '../../folding.ts';
import type { AuditEntry } from '../../records.ts';
import { actorOf, areaOf, deedOf, type Names } from './audit-sentences.ts';

export interface AuditFilter {
  /** Empty for all. */
  readonly area: string;
  /** An agent's id, `service`, or empty for all. */
  readonly actor: string;
  readonly words: string;
}

export function isFiltered({ area, actor, words }: AuditFilter): boolean {
  return area !== '' || actor !== '' || words.trim() !== '';
}

export function filterEntries(
  entries: readonly AuditEntry[],
  { area, actor, words }: AuditFilter,
  names: Names,
): readonly AuditEntry[] {
  const wanted = folded(words)
    .split(/\s+/u)
    .filter((word) => word !== '');
  return entries.filter((entry) => {
    if (area !== '' && areaOf(entry) !== area) return false;
    if (actor !== '' && (entry.actorAgentId ?? 'service') !== actor) return false;
    if (wanted.length === 0) return true;
    const text = folded(
      `${actorOf(entry, names)} ${deedOf(entry, names)} ${JSON.stringify([entry.before, entry.after, entry.context])}`,
    );
    return wanted.every((word) => text.includes(word));
  });
}

// Tags used before: those of known conversations, and those chosen on this browser.

import { distinctNames } from '../../folding.ts';
import { knownConversations } from '../conversations.ts';

const key = 'switchboard.tags';
const maxKept = 100;

/** Most used first, then those chosen on this browser. */
export function knownTags(): string[] {
  const counts = new Map<string, number>();
  for (const { tags } of knownConversations()) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const used = [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).map(([tag]) => tag);
  return distinctNames([...used, ...readKept()]);
}

export function keepTags(tags: readonly string[]): void {
  try {
    localStorage.setItem(key, JSON.stringify(distinctNames([...tags, ...readKept()]).slice(0, maxKept)));
  } catch {
    // A browser without storage offers the tags of known conversations.
    return;
  }
}

function readKept(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(kept) ? kept.filter((tag): tag is string => typeof tag === 'string') : [];
  } catch {
    return [];
  }
}

// What was begun and not sent, per conversation: kept in the browser, so that going elsewhere or loading the page again loses nothing.

import type { SentFile } from './timeline.ts';

export interface Draft {
  readonly body: string;
  readonly mode: 'message' | 'note';
  readonly attachments: readonly SentFile[];
}

const prefix = 'switchboard.draft.';
const maxKept = 200;

export function draftOf(conversationId: string): Draft | undefined {
  try {
    // Written by keepDraft() alone.
    return (JSON.parse(localStorage.getItem(prefix + conversationId) ?? 'null') as Draft | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/** An empty one is forgotten. */
export function keepDraft(conversationId: string, draft: Draft): void {
  try {
    if (draft.body === '' && draft.attachments.length === 0) return localStorage.removeItem(prefix + conversationId);
    const others = Object.keys(localStorage).filter((key) => key.startsWith(prefix) && key !== prefix + conversationId);
    for (const key of others.slice(maxKept)) localStorage.removeItem(key);
    localStorage.setItem(prefix + conversationId, JSON.stringify(draft));
  } catch {
    // A browser that keeps nothing: it is there for as long as the conversation is shown.
    return;
  }
}

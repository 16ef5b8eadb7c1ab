// Drafts, by agent and conversation, stored in the browser, so that going elsewhere or reloading loses nothing.

import { me } from '../session.ts';
import type { SentFile } from './timeline.ts';

export interface Draft {
  readonly body: string;
  readonly mode: 'message' | 'note';
  readonly attachments: readonly SentFile[];
  /** False: only to the customer. */
  readonly copy?: false;
}

const prefix = (): string => `switchboard.draft.${me.peek()?.agent.id ?? ''}.`;
const maxKept = 200;

export function draftOf(conversationId: string): Draft | undefined {
  try {
    // Only keepDraft() writes it.
    return (JSON.parse(localStorage.getItem(prefix() + conversationId) ?? 'null') as Draft | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/** An empty draft is removed. */
export function keepDraft(conversationId: string, draft: Draft): void {
  try {
    const own = prefix() + conversationId;
    if (draft.body === '' && draft.attachments.length === 0) return localStorage.removeItem(own);
    const others = Object.keys(localStorage).filter((key) => key.startsWith(prefix()) && key !== own);
    if (localStorage.getItem(own) === null) for (const key of others.slice(maxKept - 1)) localStorage.removeItem(key);
    localStorage.setItem(own, JSON.stringify(draft));
  } catch {
    // A browser without storage: kept while the conversation is shown.
    return;
  }
}

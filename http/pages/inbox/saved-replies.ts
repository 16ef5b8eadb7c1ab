// Saved replies: loaded once, found by the text after a slash, inserted with their placeholders filled in.

import { signal } from '@preact/signals';
import { token } from '../api.ts';
import { folded } from '../folding.ts';
import { readAll } from '../paging.ts';
import type { Conversation, Visitor } from '../records.ts';
import type { Stop } from '../subscriptions.ts';

export interface SavedReply {
  readonly id: string;
  readonly shortcut: string;
  readonly title: string;
  readonly body: string;
  readonly channels: readonly ('chat' | 'ticket')[];
}

/** Undefined until they are loaded. */
export const savedReplies = signal<readonly SavedReply[] | undefined>(undefined);
/** They could not be read. The next letter after a slash tries again. */
export const haveRepliesFailed = signal(false);

/** There is no event for a new reply, so they are read again after 5 s. */
const freshMs = 5000;
const maxFound = 8;
let readAtMs = 0;

/** Forgets them when another agent signs in. */
export function startSavedReplies(): Stop {
  return token.subscribe(() => {
    savedReplies.value = undefined;
    readAtMs = 0;
  });
}

/** Loads them, unless they were loaded a moment ago. */
export function refreshSavedReplies(): void {
  if (Date.now() - readAtMs < freshMs) return;
  readAtMs = Date.now();
  const asked = token.peek();
  readAll<SavedReply>('/saved-replies', 'savedReplies').then(
    (replies) => {
      if (token.peek() === asked) savedReplies.value = replies;
      haveRepliesFailed.value = false;
    },
    () => {
      readAtMs = 0;
      haveRepliesFailed.value = true;
    },
  );
}

/** The word before the caret if it begins with a slash: its start, and the text after the slash. */
export function slashWord(text: string, caret: number): { readonly start: number; readonly word: string } | undefined {
  const match = /(?:^|\s)\/([^\s/]*)$/u.exec(text.slice(0, caret));
  return match === null ? undefined : { start: caret - (match[1]?.length ?? 0) - 1, word: match[1] ?? '' };
}

/** Those of the channel that match a word: by shortcut first, then title, then body. */
export function findReplies(
  replies: readonly SavedReply[],
  { word, channel }: { readonly word: string; readonly channel: Conversation['channel'] },
): readonly SavedReply[] {
  const sought = folded(word);
  const rank = ({ shortcut, title, body }: SavedReply): number => {
    if (folded(shortcut).startsWith(`/${sought}`)) return 0;
    if (folded(`${title}\n${shortcut}`).includes(sought)) return 1;
    return folded(body).includes(sought) ? 2 : 3;
  };
  return replies
    .filter(({ channels }) => channel === 'call' || channels.includes(channel))
    .map((reply) => ({ reply, place: rank(reply) }))
    .filter(({ place }) => place < 3)
    .sort((a, b) => a.place - b.place || a.reply.shortcut.localeCompare(b.reply.shortcut))
    .slice(0, maxFound)
    .map(({ reply }) => reply);
}

export interface ReplyScene {
  readonly visitor: Pick<Visitor, 'name' | 'email'> | undefined;
  readonly agentName: string;
  readonly workspaceName: string;
  /** For a ticket. */
  readonly subject: string | null;
}

/** Fills in the placeholders of the specification (2, saved replies); other text in braces stays. */
export function resolveReply(body: string, { visitor, agentName, workspaceName, subject }: ReplyScene): string {
  const name = visitor?.name?.trim() ?? '';
  const values = new Map([
    ['visitor.name', name === '' ? 'there' : name],
    ['visitor.firstName', name === '' ? 'there' : name.split(/\s+/u)[0]],
    ['visitor.email', visitor?.email ?? ''],
    ['agent.name', agentName],
    ['workspace.name', workspaceName],
    ['conversation.subject', subject ?? undefined],
  ]);
  return body.replaceAll(/\{\{\s*([\w.]+)\s*\}\}/g, (literal, key: string) => values.get(key) ?? literal);
}

// What could answer the customer's last question: places in the knowledge base and saved replies, read once per question.
// Without markup.

import { useEffect, useState } from 'preact/hooks';
import { webUrl } from '../addresses.ts';
import { call } from '../api.ts';
import type { Conversation, Message } from '../records.ts';
import { me } from '../session.ts';
import type { SavedReply } from './saved-replies.ts';

export type Suggestion =
  | {
      readonly kind: 'chunk';
      readonly id: string;
      readonly title: string;
      readonly score: number;
      readonly plainText: string;
      readonly markdown: string;
      readonly link: string | undefined;
    }
  | {
      readonly kind: 'reply';
      readonly id: string;
      readonly title: string;
      readonly score: number;
      readonly body: string;
    };

interface Answer {
  readonly chunks: readonly {
    readonly chunkId: string;
    readonly title: string;
    readonly headings: readonly string[];
    readonly text: string;
    readonly plainText: string;
    readonly url: string | null;
    readonly score: number;
  }[];
  readonly replies?: readonly (SavedReply & { readonly score: number })[];
}

const maxShown = 2;
const maxQueryChars = 2000;
/** Who goes through conversations quickly asks for none. */
const waitMs = 400;
/** Of the questions that were read last. */
const maxKept = 50;
const kept = new Map<string, readonly Suggestion[]>();
/** Another agent on the same browser has other saved replies. */
const keyOf = (messageId: string): string => `${me.peek()?.agent.id ?? ''} ${messageId}`;

/** What the customer wrote since an agent's last message. Undefined if an agent wrote last. */
export function questionIn(messages: readonly Message[]): { readonly id: string; readonly text: string } | undefined {
  // The assistant's answers leave the question to the agent who takes over.
  const said = messages.filter(({ senderType }) => senderType !== 'system' && senderType !== 'ai');
  const asked = said.slice(said.findLastIndex(({ senderType }) => senderType !== 'visitor') + 1);
  const last = asked.at(-1);
  const text = asked.map(({ body }) => body).join('\n');
  return last === undefined ? undefined : { id: last.id, text: text.slice(-maxQueryChars) };
}

/** None until they are read, without a question, and once they were dismissed. */
export function useSuggestions(
  { channel }: Pick<Conversation, 'channel'>,
  question: ReturnType<typeof questionIn>,
): { readonly found: readonly Suggestion[]; dismiss(): void } {
  const [, setRead] = useState(0);
  const { id, text = '' } = question ?? {};
  useEffect(() => {
    if (id === undefined || channel === 'call' || text.trim() === '' || kept.has(keyOf(id))) return undefined;
    const gone = new AbortController();
    const timer = setTimeout(() => {
      read({ text, channel }, gone.signal).then(
        (found) => {
          keep(id, found);
          setRead((count) => count + 1);
        },
        () => {
          // Without a knowledge base, or offline: nothing is suggested.
        },
      );
    }, waitMs);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [id, text, channel]);
  return {
    found: id === undefined ? [] : (kept.get(keyOf(id)) ?? []),
    dismiss() {
      if (id !== undefined) keep(id, []);
      setRead((count) => count + 1);
    },
  };
}

async function read(
  { text, channel }: { text: string; channel: 'chat' | 'ticket' },
  signal: AbortSignal,
): Promise<readonly Suggestion[]> {
  const { chunks, replies = [] } = await call<Answer>('POST', '/kb/suggestions', {
    body: { query: text, channel, limit: maxShown },
    signal,
  });
  return [
    ...chunks.map(
      ({ chunkId, title, headings, score, plainText, text: markdown, url }): Suggestion => ({
        kind: 'chunk',
        id: chunkId,
        title: headings.at(-1) ?? title,
        score,
        plainText,
        markdown,
        link: webUrl(url),
      }),
    ),
    ...replies.map(({ id, title, score, body }): Suggestion => ({ kind: 'reply', id, title, score, body })),
  ]
    .sort((a, b) => b.score - a.score)
    .slice(0, maxShown);
}

function keep(messageId: string, found: readonly Suggestion[]): void {
  kept.set(keyOf(messageId), found);
  const [oldest] = kept.keys();
  if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
}

/** For a mail as Markdown, for a chat as plain text; each with its source. */
export function textOf(suggestion: Suggestion & { kind: 'chunk' }, channel: Conversation['channel']): string {
  const { title, markdown, plainText, link } = suggestion;
  if (channel !== 'ticket') return link === undefined ? plainText : `${plainText}\n${link}`;
  return link === undefined ? markdown : `${markdown.trim()}\n\n[${title.replaceAll(/[[\]]/g, '')}](${link})`;
}

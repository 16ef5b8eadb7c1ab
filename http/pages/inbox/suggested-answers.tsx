// Answers to the customer's last question beside the composer: the best places in the knowledge base and saved replies.

import type { JSX } from 'preact';
import { IconButton } from '../design/button.tsx';
import { Icon } from '../design/icon.tsx';
import type { Conversation } from '../records.ts';
import { type Suggestion, textOf, useSuggestions } from './suggestions.ts';

export interface SuggestedAnswersProps {
  readonly conversation: Conversation;
  readonly question: { readonly id: string; readonly text: string } | undefined;
  /** A reply's text with its placeholders filled in. */
  readonly resolve: (body: string) => string;
  readonly onText: (text: string) => void;
}

export function SuggestedAnswers({
  conversation,
  question,
  resolve,
  onText,
}: SuggestedAnswersProps): JSX.Element | null {
  const { channel } = conversation;
  const { found, dismiss } = useSuggestions(conversation, question);
  if (found.length === 0) return null;
  return (
    <section class="inbox-suggestions" aria-label="Suggested answers">
      <ul>
        {found.map((suggestion) => (
          <li key={suggestion.id}>
            <button
              type="button"
              class="inbox-suggestion"
              title={excerptOf(suggestion, resolve)}
              onClick={() =>
                onText(suggestion.kind === 'reply' ? resolve(suggestion.body) : textOf(suggestion, channel))
              }
            >
              <Icon name={suggestion.kind === 'reply' ? 'bolt' : 'book'} size={16} />
              <span>
                <strong>{suggestion.title}</strong> <span class="soft">{excerptOf(suggestion, resolve)}</span>
              </span>
            </button>
            {suggestion.kind === 'chunk' && suggestion.link !== undefined && (
              <LinkButton title={suggestion.title} link={suggestion.link} onText={onText} />
            )}
          </li>
        ))}
      </ul>
      <IconButton icon="cross" label="Hide the suggestions" onClick={dismiss} />
    </section>
  );
}

function LinkButton({
  title,
  link,
  onText,
}: {
  readonly title: string;
  readonly link: string;
  readonly onText: (text: string) => void;
}): JSX.Element {
  return <IconButton icon="link" label={`Insert the link to ${title}`} onClick={() => onText(link)} />;
}

const maxExcerptChars = 160;

function excerptOf(suggestion: Suggestion, resolve: (body: string) => string): string {
  const text = suggestion.kind === 'reply' ? resolve(suggestion.body) : suggestion.plainText;
  return text.replaceAll(/\s+/g, ' ').slice(0, maxExcerptChars);
}

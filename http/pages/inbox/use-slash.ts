// Saved replies while writing: a slash and a word open a menu, which the arrows and Enter work without leaving the text.

import { useEffect, useState } from 'preact/hooks';
import type { Conversation } from '../records.ts';
import { me } from '../session.ts';
import { visitorOf } from './customers.ts';
import {
  findReplies,
  refreshSavedReplies,
  resolveReply,
  type SavedReply,
  savedReplies,
  slashWord,
} from './saved-replies.ts';
import type { ComposerState } from './use-composer.ts';

export interface SlashMenu {
  readonly isOpen: boolean;
  /** It is open, and some reply fits. */
  readonly hasChoices: boolean;
  /** Undefined until the replies were read. */
  readonly found: readonly SavedReply[] | undefined;
  /** The index of the one that Enter inserts. */
  readonly active: number;
  choose(reply: SavedReply): void;
  /** A reply's text with its placeholders filled in. */
  resolve(body: string): string;
  /** A letter was typed: a menu that was dismissed may open again. */
  reopen(): void;
  /** Returns whether the menu took the key. */
  press(event: KeyboardEvent): boolean;
}

export function useSlash(
  composer: Pick<ComposerState, 'isNote' | 'text' | 'caret' | 'insert'>,
  conversation: Pick<Conversation, 'channel' | 'visitorId' | 'subject'>,
): SlashMenu {
  const [active, setActive] = useState(0);
  const [isDismissed, setDismissed] = useState(false);
  const { channel } = conversation;
  const slash = composer.isNote || isDismissed ? undefined : slashWord(composer.text, composer.caret);
  const word = slash?.word;
  const found =
    word === undefined || savedReplies.value === undefined
      ? undefined
      : findReplies(savedReplies.value, { word, channel });
  useEffect(() => {
    if (word !== undefined) refreshSavedReplies();
    setActive(0);
  }, [word]);

  const resolve = (body: string): string => {
    const scene = {
      visitor: visitorOf(conversation.visitorId),
      agentName: me.peek()?.agent.name ?? '',
      workspaceName: me.peek()?.workspace.name ?? '',
      subject: channel === 'ticket' ? conversation.subject : null,
    };
    return resolveReply(body, scene);
  };
  const choose = ({ body }: SavedReply): void => {
    if (slash !== undefined) composer.insert(resolve(body), { start: slash.start, end: composer.caret });
  };

  const press = ({ key, ctrlKey, metaKey, shiftKey }: KeyboardEvent): boolean => {
    if (found === undefined || found.length === 0) return false;
    const reply = found[active];
    if (key === 'ArrowDown') setActive((active + 1) % found.length);
    else if (key === 'ArrowUp') setActive((active + found.length - 1) % found.length);
    else if ((key === 'Enter' || key === 'Tab') && !ctrlKey && !metaKey && !shiftKey && reply !== undefined)
      choose(reply);
    else if (key === 'Escape') setDismissed(true);
    else return false;
    return true;
  };

  const hasChoices = found !== undefined && found.length > 0;
  return {
    isOpen: slash !== undefined,
    hasChoices,
    found,
    active,
    choose,
    resolve,
    reopen: () => setDismissed(false),
    press,
  };
}

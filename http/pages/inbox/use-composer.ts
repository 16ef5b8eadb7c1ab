// What the composer does: its text, its mode and its files, kept as a draft, and sending them. Without markup.

import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useCommands } from '../commands.ts';
import { useLatest, useSame } from '../design/steady.ts';
import type { Conversation } from '../records.ts';
import { type ComposedFiles, filesOf } from './composed-files.ts';
import { draftOf, keepDraft } from './drafts.ts';
import { send } from './outgoing.ts';
import { tellTyping } from './typing.ts';

export const maxChars = 10_000;
const isMerged = 'This ticket was merged into another one, which has its messages. Write there.';
const isClosed: Readonly<Partial<Record<Conversation['status'], string>>> = {
  solved: 'This conversation is solved. Reopen it to write to the customer.',
  closed: 'This conversation is closed. Reopen it to write to the customer.',
  spam: 'This conversation is spam. Mark it as not spam to write to the customer.',
};

export type Mode = 'message' | 'note';

/** A part of the text, by its places in it. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

export interface ComposerState {
  readonly text: string;
  readonly caret: number;
  readonly isNote: boolean;
  /** Why nothing can be written to the customer. */
  readonly closed: string | undefined;
  /** Whether it also goes to the addresses that the ticket is copied to. */
  readonly isCopied: boolean;
  readonly uploads: ComposedFiles;
  readonly canSend: boolean;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly picker: RefObject<HTMLInputElement | null>;
  write(text: string, caret: number): void;
  setCaret(caret: number): void;
  setCopied(isCopied: boolean): void;
  choose(mode: Mode): void;
  /** Replaces the range, or what is selected, and puts the caret after it. */
  insert(inserted: string, range?: TextRange): void;
  submit(): void;
}

export function useComposer({ id: conversationId, channel, status, mergedInto }: Conversation): ComposerState {
  const draft = useRef(draftOf(conversationId)).current;
  const [text, setText] = useState(draft?.body ?? '');
  const [mode, setMode] = useState<Mode>(draft?.mode ?? (channel === 'call' ? 'note' : 'message'));
  const [caret, setCaret] = useState(0);
  const [isCopied, setCopied] = useState(draft?.copy !== false);
  const uploads = filesOf(conversationId);
  const { isBusy } = uploads;
  const arrived = useSame(uploads.arrived);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const isNote = mode === 'note';
  const closed = mergedInto !== null ? isMerged : isNote ? undefined : isClosed[status];

  // Before it is painted, so that whatever the writer sees survives a reload at that moment.
  useLayoutEffect(
    () => keepDraft(conversationId, { body: text, mode, attachments: arrived, ...(isCopied ? {} : { copy: false }) }),
    [conversationId, text, mode, arrived, isCopied],
  );

  const insert = (inserted: string, range?: TextRange): void => {
    const element = field.current;
    const { start, end } = range ?? {
      start: element?.selectionStart ?? text.length,
      end: element?.selectionEnd ?? text.length,
    };
    setText(text.slice(0, start) + inserted + text.slice(end));
    requestAnimationFrame(() => {
      element?.focus();
      element?.setSelectionRange(start + inserted.length, start + inserted.length);
      setCaret(start + inserted.length);
    });
  };

  const hasContent = text.trim() !== '' || (!isNote && arrived.length > 0);
  const canSend = hasContent && text.length <= maxChars && closed === undefined && (isNote || !isBusy);
  const submit = (): void => {
    if (!canSend) return;
    send({
      conversationId,
      kind: mode,
      // The service wants words: a message of files alone has their names.
      body: text.trim() === '' ? arrived.map(({ name }) => name).join(', ') : text,
      attachments: isNote ? [] : arrived,
      ...(isNote || isCopied ? {} : { copy: false }),
    });
    setText('');
    if (!isNote) setCopied(true);
    if (!isNote) uploads.clear();
    if (channel !== 'call') setMode('message');
    field.current?.focus();
  };

  return {
    text,
    caret,
    isNote,
    closed,
    isCopied,
    uploads,
    canSend,
    field,
    picker,
    write: (written, at) => {
      setText(written);
      setCaret(at);
      if (!isNote && written.trim() !== '') tellTyping(conversationId);
    },
    setCaret,
    setCopied,
    choose: (next) => {
      setMode(next);
      field.current?.focus();
    },
    insert,
    submit,
  };
}

/** The composer's commands and their keys. */
export function useComposerCommands(composer: ComposerState, openAnswers: () => void): void {
  const choose = useLatest(composer.choose);
  const toggle = useLatest(() => composer.choose(composer.isNote ? 'message' : 'note'));
  const openPicker = useLatest(() => composer.picker.current?.click());
  const ask = useLatest(openAnswers);
  useCommands(
    () => [
      {
        id: 'conversation.reply',
        title: 'Write to the customer',
        group: 'Conversation',
        keys: ['r'],
        run: () => choose('message'),
      },
      { id: 'conversation.note', title: 'Write a note', group: 'Conversation', keys: ['n'], run: () => choose('note') },
      {
        id: 'conversation.toggleNote',
        title: 'Message or note',
        group: 'Conversation',
        keys: ['alt+n'],
        whileTyping: true,
        run: toggle,
      },
      { id: 'conversation.attach', title: 'Attach a file', group: 'Conversation', run: openPicker },
      {
        id: 'conversation.answers',
        title: 'Find an answer in the knowledge base',
        group: 'Conversation',
        words: 'insert article',
        run: ask,
      },
    ],
    [choose, toggle, openPicker, ask],
  );
}

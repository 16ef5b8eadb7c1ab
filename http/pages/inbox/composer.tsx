// Where an agent writes to the customer, or a note for colleagues, which looks clearly different. What it does is in
// use-composer.ts, saved replies are in use-slash.ts, and what was sent is followed in outgoing.ts.

import type { JSX } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button, IconButton } from '../design/button.tsx';
import { Banner } from '../design/feedback.tsx';
import { Icon } from '../design/icon.tsx';
import { Lazy, LazyDialog, type Load } from '../design/lazy.tsx';
import type { Conversation } from '../records.ts';
import { me } from '../session.ts';
import type { AnswersDialogProps } from './answers-dialog.tsx';
import type { Editor } from './mail/editor.ts';
import { ReplyMenu } from './reply-menu.tsx';
import { SuggestedAnswers } from './suggested-answers.tsx';
import { questionIn } from './suggestions.ts';
import type { Thread } from './threads.ts';
import { UploadList } from './upload-list.tsx';
import { type ComposerState, maxChars, useComposer, useComposerCommands } from './use-composer.ts';
import { useDrop } from './use-drop.ts';
import { type SlashMenu, useSlash } from './use-slash.ts';

const answersDialog: Load<AnswersDialogProps> = async () => (await import('./answers-dialog.tsx')).AnswersDialog;

/** From here on the room that is left is shown. */
const nearChars = 9_500;
const maxFieldPx = 280;

const assistantBar = async () => (await import('./assistant-bar.tsx')).AssistantBar;
const ticketMail = async () => (await import('./mail/ticket-mail.tsx')).TicketMail;

/** One per conversation: use the conversation's id as key. */
export function Composer({
  conversation,
  thread,
}: {
  readonly conversation: Conversation;
  readonly thread: Thread;
}): JSX.Element {
  const composer = useComposer(conversation);
  const slash = useSlash(composer, conversation);
  const [isAsking, setAsking] = useState(false);
  const openAnswers = (): void => setAsking(true);
  useComposerCommands(composer, openAnswers);
  const { isNote, closed, uploads } = composer;
  // A ticket is answered by an email, which has a composer of its own.
  const isMail = !isNote && conversation.channel === 'ticket';
  const editor = useRef<Editor | null>(null);
  const insert = (chosen: string): void => {
    if (isMail) editor.current?.insert(chosen);
    else composer.insert(chosen);
  };
  const takesFiles = !isNote && !isMail && closed === undefined;
  const isOver =
    useDrop((files) => {
      if (takesFiles) uploads.add(files);
    }) && takesFiles;
  const id = useId();
  const lastAsked = thread.messages.value.findLast(({ senderType }) => senderType === 'visitor')?.body ?? '';
  return (
    <form
      class={`inbox-composer ${isNote ? 'note' : ''} ${isOver ? 'over' : ''}`}
      aria-label={isNote ? 'Write a note' : 'Write to the customer'}
      onSubmit={(event) => {
        event.preventDefault();
        composer.submit();
      }}
    >
      <Modes composer={composer} channel={conversation.channel} />
      {closed !== undefined && <Banner>{closed}</Banner>}
      {conversation.unreachable && !isNote && closed === undefined && (
        <Banner>The customer has left without an email address, so your answer waits until they come back.</Banner>
      )}
      {conversation.assistant === 'answering' && conversation.status === 'open' && (
        <Banner>The assistant is answering here. It stops as soon as you write or take the conversation.</Banner>
      )}
      {!isNote && closed === undefined && composer.text.trim() === '' && (
        <SuggestedAnswers
          conversation={conversation}
          question={questionIn(thread.messages.value)}
          resolve={slash.resolve}
          onText={insert}
        />
      )}
      {!isNote && closed === undefined && me.value?.providers.assistant === true && (
        <Lazy
          load={assistantBar}
          props={{
            conversationId: conversation.id,
            text: isMail ? undefined : composer.text,
            onWrite: (text: string) => composer.write(text, text.length),
            onInsert: insert,
          }}
        />
      )}
      {isMail && closed === undefined && (
        <Lazy load={ticketMail} props={{ conversation, thread, onAnswers: openAnswers, handle: editor }} />
      )}
      {!isMail && slash.isOpen && (
        <ReplyMenu id={`${id}-replies`} replies={slash.found} active={slash.active} onChoose={slash.choose} />
      )}
      {!isMail && (
        <>
          <Field composer={composer} slash={slash} menuId={`${id}-replies`} roomId={`${id}-room`} />
          {!isNote && <UploadList uploads={uploads} />}
          <Tools composer={composer} roomId={`${id}-room`} onAnswers={openAnswers} />
        </>
      )}
      {isAsking && (
        <LazyDialog
          load={answersDialog}
          props={{
            question: lastAsked,
            onClose: () => setAsking(false),
            onChoose: (chosen) => {
              setAsking(false);
              insert(chosen);
            },
          }}
        />
      )}
    </form>
  );
}

function Modes({
  composer: { isNote, choose },
  channel,
}: {
  readonly composer: ComposerState;
  readonly channel: Conversation['channel'];
}): JSX.Element {
  return (
    <div class="inbox-modes" role="group" aria-label="Message type">
      <button type="button" aria-pressed={!isNote} onClick={() => choose('message')}>
        {channel === 'ticket' ? 'Email' : 'Message'}
      </button>
      <button type="button" aria-pressed={isNote} title="Alt+N" onClick={() => choose('note')}>
        <Icon name="note" size={16} /> Note
      </button>
      {isNote && <span>Only colleagues see it.</span>}
    </div>
  );
}

interface FieldProps {
  readonly composer: ComposerState;
  readonly slash: SlashMenu;
  readonly menuId: string;
  readonly roomId: string;
}

function Field({ composer, slash, menuId, roomId }: FieldProps): JSX.Element {
  const { field, text, isNote, closed, uploads } = composer;
  // The element's height follows its text, which is drawn by now.
  useLayoutEffect(() => fit(field.current), [field, text]);
  return (
    <textarea
      ref={field}
      rows={1}
      aria-label={isNote ? 'Note' : 'Message'}
      aria-autocomplete="list"
      aria-controls={slash.hasChoices ? menuId : undefined}
      aria-activedescendant={slash.hasChoices ? `${menuId}-${slash.active}` : undefined}
      aria-describedby={roomId}
      placeholder={isNote ? 'A note for your colleagues' : 'Write an answer, or / for a saved reply'}
      value={text}
      disabled={closed !== undefined}
      onInput={(event) => {
        composer.write(event.currentTarget.value, event.currentTarget.selectionStart);
        slash.reopen();
      }}
      onSelect={(event) => composer.setCaret(event.currentTarget.selectionStart)}
      onKeyDown={(event) => pressKey(event, composer, slash)}
      onPaste={(event) => {
        const files = event.clipboardData?.files;
        // A copy from a table or a document has a picture of its text as well: the text is meant.
        if (
          isNote ||
          files === undefined ||
          files.length === 0 ||
          event.clipboardData?.types.includes('text/plain') === true
        )
          return;
        event.preventDefault();
        uploads.add(files);
      }}
    />
  );
}

/** Makes it as high as its text, up to a bound. */
function fit(element: HTMLTextAreaElement | null): void {
  if (element === null) return;
  element.style.height = 'auto';
  element.style.height = `${Math.min(maxFieldPx, element.scrollHeight + 2)}px`;
}

/** The menu comes first. Enter sends, Escape leaves the field. */
function pressKey(event: KeyboardEvent, composer: ComposerState, slash: SlashMenu): void {
  if (event.isComposing) return;
  if (slash.press(event)) {
    event.preventDefault();
    event.stopPropagation();
  } else if (event.key === 'Enter' && !event.shiftKey && !event.altKey && !slash.hasChoices) {
    event.preventDefault();
    composer.submit();
  } else if (event.key === 'Escape') composer.field.current?.blur();
}

interface ToolsProps {
  readonly composer: ComposerState;
  readonly roomId: string;
  readonly onAnswers: () => void;
}

function Tools({ composer, roomId, onAnswers }: ToolsProps): JSX.Element {
  const { text, isNote, closed, canSend, picker } = composer;
  return (
    <div class="inbox-tools">
      {!isNote && (
        <>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-label="Files to attach"
            onChange={(event) => {
              composer.uploads.add(event.currentTarget.files ?? []);
              event.currentTarget.value = '';
            }}
          />
          <IconButton
            icon="clip"
            label="Attach files"
            disabled={closed !== undefined}
            onClick={() => picker.current?.click()}
          />
          <IconButton
            icon="bolt"
            label="Saved replies"
            disabled={closed !== undefined}
            onClick={() => composer.insert(text === '' || /\s$/.test(text) ? '/' : ' /')}
          />
        </>
      )}
      <IconButton
        icon="book"
        label="Answers from the knowledge base"
        disabled={closed !== undefined}
        onClick={onAnswers}
      />
      <Room length={text.length} id={roomId} />
      <Button type="submit" kind="primary" icon={isNote ? 'note' : 'send'} disabled={!canSend}>
        {isNote ? 'Add note' : 'Send'}
      </Button>
    </div>
  );
}

function Room({ length, id }: { readonly length: number; readonly id: string }): JSX.Element {
  return (
    <p id={id} class={`inbox-room ${length > maxChars ? 'bad' : ''}`} role="status">
      {length >= nearChars &&
        (length > maxChars ? `${length - maxChars} characters too many` : `${maxChars - length} characters left`)}
    </p>
  );
}

// The composer: a message to the customer, or a note for colleagues, which looks different. Drafts are kept. A sent
// message is shown immediately and followed until it is acknowledged (outgoing.ts).

import type { JSX } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useCommands } from '../commands.ts';
import { Button, IconButton } from '../design/button.tsx';
import { Banner } from '../design/feedback.tsx';
import { Checkbox } from '../design/field.tsx';
import { Icon } from '../design/icon.tsx';
import type { Conversation } from '../records.ts';
import { me } from '../session.ts';
import { AnswersDialog } from './answers-dialog.tsx';
import { filesOf } from './composed-files.ts';
import { visitorOf } from './customers.ts';
import { draftOf, keepDraft } from './drafts.ts';
import { namesOf } from './mail-marks.tsx';
import { send } from './outgoing.ts';
import { ReplyMenu } from './reply-menu.tsx';
import {
  findReplies,
  refreshSavedReplies,
  resolveReply,
  type SavedReply,
  savedReplies,
  slashWord,
} from './saved-replies.ts';
import type { Thread } from './threads.ts';
import { tellTyping } from './typing.ts';
import { UploadList } from './upload-list.tsx';
import { useDrop } from './use-drop.ts';

const maxChars = 10_000;
/** From this length it shows how many characters are left. */
const nearChars = 9_500;
const maxFieldPx = 280;
const isClosed: Readonly<Partial<Record<Conversation['status'], string>>> = {
  solved: 'This conversation is solved. Reopen it to write to the customer.',
  closed: 'This conversation is closed. Reopen it to write to the customer.',
  spam: 'This conversation is spam. Mark it as not spam to write to the customer.',
};

/** One per conversation: use the conversation's id as key. */
export function Composer({
  conversation,
  thread,
}: {
  readonly conversation: Conversation;
  readonly thread: Thread;
}): JSX.Element {
  const { id: conversationId, channel } = conversation;
  const begun = useRef(draftOf(conversationId)).current;
  const [text, setText] = useState(begun?.body ?? '');
  const [mode, setMode] = useState<'message' | 'note'>(begun?.mode ?? (channel === 'call' ? 'note' : 'message'));
  const [caret, setCaret] = useState(0);
  const [active, setActive] = useState(0);
  const [isDismissed, setDismissed] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const [isCopied, setCopied] = useState(begun?.copy !== false);
  const uploads = filesOf(conversationId);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const id = useId();

  const isNote = mode === 'note';
  const closed = isNote ? undefined : isClosed[conversation.status];
  const isOver =
    useDrop((files) => {
      if (!isNote && closed === undefined) uploads.add(files);
    }) &&
    !isNote &&
    closed === undefined;
  const { arrived, isBusy } = uploads;
  // Before painting, so that what is visible is saved, even if the page is reloaded at that moment.
  useLayoutEffect(
    () => keepDraft(conversationId, { body: text, mode, attachments: arrived, ...(isCopied ? {} : { copy: false }) }),
    [text, mode, arrived.length, isCopied],
  );
  useLayoutEffect(() => {
    const element = field.current;
    if (element === null) return;
    element.style.height = 'auto';
    element.style.height = `${Math.min(maxFieldPx, element.scrollHeight + 2)}px`;
  }, [text]);

  const choose = (next: 'message' | 'note'): void => {
    setMode(next);
    field.current?.focus();
  };
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
        run: () => choose(isNote ? 'message' : 'note'),
      },
      { id: 'conversation.attach', title: 'Attach a file', group: 'Conversation', run: () => picker.current?.click() },
      {
        id: 'conversation.answers',
        title: 'Find an answer in the knowledge base',
        group: 'Conversation',
        words: 'insert article',
        run: () => setAsking(true),
      },
    ],
    [isNote],
  );

  const slash = isNote || isDismissed ? undefined : slashWord(text, caret);
  const word = slash?.word;
  const found =
    word === undefined
      ? undefined
      : savedReplies.value === undefined
        ? undefined
        : findReplies(savedReplies.value, { word, channel });
  useEffect(() => {
    if (word !== undefined) refreshSavedReplies();
    setActive(0);
  }, [word]);

  /** Inserts at the caret and replaces the selection. */
  const insert = (inserted: string, range?: { start: number; end: number }): void => {
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
  const insertReply = ({ body }: SavedReply): void => {
    if (slash === undefined) return;
    const scene = {
      visitor: visitorOf(conversation.visitorId),
      agentName: me.peek()?.agent.name ?? '',
      workspaceName: me.peek()?.workspace.name ?? '',
      subject: channel === 'ticket' ? conversation.subject : null,
    };
    insert(resolveReply(body, scene), { start: slash.start, end: caret });
  };

  const canSend = text.trim() !== '' && text.length <= maxChars && closed === undefined && (isNote || !isBusy);
  const submit = (): void => {
    if (!canSend) return;
    send({
      conversationId,
      kind: mode,
      body: text,
      attachments: isNote ? [] : arrived,
      ...(isNote || isCopied ? {} : { copy: false }),
    });
    setText('');
    if (!isNote) setCopied(true);
    if (!isNote) uploads.clear();
    if (channel !== 'call') setMode('message');
    field.current?.focus();
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (slash !== undefined && found !== undefined && found.length > 0) {
      const reply = found[active];
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp')
        setActive((active + (event.key === 'ArrowDown' ? 1 : found.length - 1)) % found.length);
      else if (
        (event.key === 'Enter' || event.key === 'Tab') &&
        !event.ctrlKey &&
        !event.metaKey &&
        !event.shiftKey &&
        reply !== undefined
      )
        insertReply(reply);
      else if (event.key === 'Escape') setDismissed(true);
      else return;
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      submit();
    } else if (event.key === 'Escape') field.current?.blur();
  };

  const lastAsked = thread.messages.value.findLast(({ senderType }) => senderType === 'visitor')?.body ?? '';
  const menuId = `${id}-replies`;
  return (
    <form
      class={`inbox-composer ${isNote ? 'note' : ''} ${isOver ? 'over' : ''}`}
      aria-label={isNote ? 'Write a note' : 'Write to the customer'}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <div class="inbox-modes" role="group" aria-label="Message type">
        <button type="button" aria-pressed={!isNote} onClick={() => choose('message')}>
          {channel === 'ticket' ? 'Email' : 'Message'}
        </button>
        <button type="button" aria-pressed={isNote} title="Alt+N" onClick={() => choose('note')}>
          <Icon name="note" size={16} /> Note
        </button>
        {isNote && <span>Only colleagues see it.</span>}
      </div>
      {closed !== undefined && <Banner>{closed}</Banner>}
      {slash !== undefined && <ReplyMenu id={menuId} replies={found} active={active} onChoose={insertReply} />}
      <textarea
        ref={field}
        rows={2}
        aria-label={isNote ? 'Note' : 'Message'}
        aria-autocomplete="list"
        aria-controls={slash !== undefined && found !== undefined && found.length > 0 ? menuId : undefined}
        aria-activedescendant={
          slash !== undefined && found !== undefined && found.length > 0 ? `${menuId}-${active}` : undefined
        }
        aria-describedby={`${id}-room`}
        placeholder={isNote ? 'A note for your colleagues' : 'Write an answer, or / for a saved reply'}
        value={text}
        disabled={closed !== undefined}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setCaret(event.currentTarget.selectionStart);
          setDismissed(false);
          if (!isNote && event.currentTarget.value.trim() !== '') tellTyping(conversationId);
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          const files = event.clipboardData?.files;
          // A copied table or document contains both text and an image of it; paste the text.
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
      {!isNote && <UploadList uploads={uploads} />}
      {!isNote && closed === undefined && conversation.copiedTo.length > 0 && (
        <div class="inbox-copies" title={conversation.copiedTo.join(', ')}>
          <Checkbox label={`Also to ${namesOf(conversation.copiedTo)}`} checked={isCopied} onChecked={setCopied} />
        </div>
      )}
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
                uploads.add(event.currentTarget.files ?? []);
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
              onClick={() => insert(text === '' || /\s$/.test(text) ? '/' : ' /')}
            />
          </>
        )}
        <IconButton
          icon="book"
          label="Answers from the knowledge base"
          disabled={closed !== undefined}
          onClick={() => setAsking(true)}
        />
        <p id={`${id}-room`} class={`inbox-room ${text.length > maxChars ? 'bad' : ''}`} role="status">
          {text.length >= nearChars &&
            (text.length > maxChars
              ? `${text.length - maxChars} characters too many`
              : `${maxChars - text.length} characters left`)}
        </p>
        <Button type="submit" kind="primary" icon={isNote ? 'note' : 'send'} disabled={!canSend}>
          {isNote ? 'Add note' : 'Send'}
        </Button>
      </div>
      {isAsking && (
        <AnswersDialog
          question={lastAsked}
          onClose={() => setAsking(false)}
          onChoose={(chosen) => {
            setAsking(false);
            insert(chosen);
          }}
        />
      )}
    </form>
  );
}

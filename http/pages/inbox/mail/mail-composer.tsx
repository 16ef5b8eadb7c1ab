// Where an agent answers a ticket by mail, or writes a new one: who it goes to, the text, its files, and when it leaves.

import type { JSX, RefObject } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { Button, IconButton } from '../../design/button.tsx';
import { Banner } from '../../design/feedback.tsx';
import { Checkbox, SelectField } from '../../design/field.tsx';
import { Icon } from '../../design/icon.tsx';
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { notifyFailure } from '../../notices.ts';
import type { Conversation } from '../../records.ts';
import { ReplyMenu } from '../reply-menu.tsx';
import { UploadList } from '../upload-list.tsx';
import { upload } from '../uploads.ts';
import { useDrop } from '../use-drop.ts';
import { useSlash } from '../use-slash.ts';
import type { CaretLine, Editor } from './editor.ts';
import { type DraftMail, habit, senders } from './mail-drafts.ts';
import { RecipientField } from './recipient-field.tsx';
import { RichEditor } from './rich-editor.tsx';
import { SendLaterDialog } from './send-later-dialog.tsx';
import type { MailWriting } from './use-mail-writing.ts';

const maxChars = 10_000;
const pictures = /^image\/(?:png|jpeg|gif|webp)$/;

/** Of a mail in a ticket: who it goes to unless the writer says otherwise. */
export interface DefaultPeople {
  readonly to: readonly string[];
  readonly cc: readonly string[];
}

interface MailComposerProps {
  readonly writing: MailWriting;
  readonly handle: RefObject<Editor | null>;
  readonly conversation: Pick<Conversation, 'channel' | 'visitorId' | 'subject'>;
  /** Undefined for a new mail, whose recipients are always shown. */
  readonly people: DefaultPeople | undefined;
  readonly autofocus?: boolean;
  /** Further ways to write from here, such as to forward. */
  readonly ways?: readonly MenuItem[];
  readonly onAnswers?: () => void;
}

export function MailComposer(props: MailComposerProps): JSX.Element {
  const { writing, handle, conversation, people, autofocus = false, ways = [], onAnswers } = props;
  const { written, files, isSending, problem, theirs, change, send } = writing;
  const { mail } = written;
  const [line, setLine] = useState<CaretLine>({ text: '', caret: 0 });
  const [isPicking, setPicking] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const id = useId();
  const slash = useSlash(
    {
      isNote: false,
      ...line,
      insert: (text, range) =>
        handle.current?.insert(text, range === undefined ? 0 : Math.max(0, range.end - range.start)),
    },
    conversation,
  );
  const take = (given: Iterable<File>): void => {
    for (const file of given) {
      if (pictures.test(file.type)) void insertPicture(handle.current ?? undefined, file);
      else files.add([file]);
    }
  };
  const isOver = useDrop((dropped) => files.add(dropped));
  const isReady =
    !isSending && !files.isBusy && !isBlankMail(mail) && mail.body.length <= maxChars && theirs === undefined;
  const submit = (): void => {
    if (isReady) send();
  };
  const onKey = (event: KeyboardEvent): boolean => {
    if (slash.press(event)) {
      event.preventDefault();
      event.stopPropagation();
      return true;
    }
    const isMod = event.ctrlKey || event.metaKey;
    const sendsByEnter = habit.value?.sendKey === 'enter';
    if (event.key !== 'Enter' || event.isComposing || event.altKey) return false;
    if (isMod ? sendsByEnter : !sendsByEnter || event.shiftKey) return false;
    event.preventDefault();
    submit();
    return true;
  };
  return (
    <div class={`mail-composer ${isOver ? 'over' : ''}`}>
      <Head
        key={written.draftId}
        mail={mail}
        people={people}
        problem={problem}
        change={change}
        autofocus={autofocus && people === undefined}
      />
      {theirs !== undefined && (
        <Banner>
          This draft was changed on another device.{' '}
          <Button small onClick={() => writing.replace(theirs)}>
            Use that one
          </Button>{' '}
          <Button small onClick={() => writing.replace({ ...written, version: theirs.version, isUnsaved: true })}>
            Keep this one
          </Button>
        </Banner>
      )}
      {slash.isOpen && (
        <ReplyMenu id={`${id}-replies`} replies={slash.found} active={slash.active} onChoose={slash.choose} />
      )}
      <RichEditor
        handle={handle}
        label="Email text"
        placeholder="Write an email, or / for a saved reply"
        markdown={mail.body}
        autofocus={autofocus && people !== undefined}
        onChange={(body) => change({ body })}
        onCaret={(at) => {
          setLine(at);
          if (at.text !== line.text) slash.reopen();
        }}
        onKey={onKey}
        onFiles={take}
      />
      <UploadList uploads={files} />
      <Below mail={mail} change={change} isAnswer={people !== undefined} />
      {problem !== undefined && !['to', 'cc', 'bcc', 'subject', 'from'].includes(problem.field) && (
        <Banner kind="bad">{problem.text}</Banner>
      )}
      {mail.body.length > maxChars && (
        <p class="inbox-room bad" role="status">
          {mail.body.length - maxChars} characters too many
        </p>
      )}
      <div class="inbox-tools">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files to attach"
          onChange={(event) => {
            files.add(event.currentTarget.files ?? []);
            event.currentTarget.value = '';
          }}
        />
        <IconButton icon="clip" label="Attach files" onClick={() => picker.current?.click()} />
        <IconButton icon="bolt" label="Saved replies" onClick={() => handle.current?.insert('/')} />
        {onAnswers !== undefined && (
          <IconButton icon="book" label="Answers from the knowledge base" onClick={onAnswers} />
        )}
        {ways.length > 0 && (
          <Menu label="Other ways to answer" align="start" above items={ways} class="button icon-only quiet">
            <Icon name="forward" size={18} />
          </Menu>
        )}
        {!writing.isEmpty && <IconButton icon="trash" label="Delete this draft" onClick={writing.throwAway} />}
        <span class="mail-gap" />
        <Button kind="primary" icon="send" busy={isSending} disabled={!isReady} title={sendKeyWords()} onClick={submit}>
          Send
        </Button>
        <Menu
          label="Other ways to send"
          above
          class="button primary icon-only"
          items={[
            {
              label: 'Send later…',
              icon: <Icon name="clock" size={16} />,
              disabled: !isReady,
              run: () => setPicking(true),
            },
            ...(people === undefined
              ? []
              : ([
                  { label: 'Send and solve', disabled: !isReady, run: () => send({ statusAfter: 'solved' }) },
                  {
                    label: 'Send and wait for an answer',
                    disabled: !isReady,
                    run: () => send({ statusAfter: 'pending' }),
                  },
                ] as const)),
          ]}
        >
          <Icon name="up" size={16} />
        </Menu>
      </div>
      {isPicking && (
        <SendLaterDialog
          onClose={() => setPicking(false)}
          onChoose={(sendAt) => {
            setPicking(false);
            send({ sendAt });
          }}
        />
      )}
    </div>
  );
}

interface HeadProps {
  readonly mail: DraftMail;
  readonly people: DefaultPeople | undefined;
  readonly problem: MailWriting['problem'];
  readonly change: MailWriting['change'];
  readonly autofocus: boolean;
}

/** Recipients, sender and subject. In a ticket one line, until the writer changes it. */
function Head({ mail, people, problem, change, autofocus }: HeadProps): JSX.Element {
  const isNew = people === undefined;
  const isForward = mail.forwardOf !== null;
  const hasPeople = problem !== undefined && ['to', 'cc', 'bcc', 'from'].includes(problem.field);
  const [isOpen, setOpen] = useState(isNew);
  const [hasMore, setMore] = useState((mail.bcc ?? []).length > 0);
  const to = mail.to ?? people?.to ?? [];
  const cc = mail.cc ?? people?.cc ?? [];
  const errorOf = (field: string): string | undefined => (problem?.field === field ? problem.text : undefined);
  if (!isOpen && !isForward && !hasPeople)
    return (
      <p class="mail-to">
        <span class="truncate" title={[...to, ...cc].join(', ')}>
          To {to.join(', ')}
          {cc.length > 0 && `, copy to ${cc.join(', ')}`}
          {mail.from !== null && `, from ${mail.from}`}
        </span>
        <Button
          small
          kind="quiet"
          onClick={() => {
            setOpen(true);
            change({ to: [...to], cc: [...cc] });
          }}
        >
          Change
        </Button>
      </p>
    );
  return (
    <div class="mail-head">
      <RecipientField
        label="To"
        addresses={to}
        autofocus={autofocus || (isForward && to.length === 0)}
        error={errorOf('to')}
        onChange={(addresses) => change({ to: [...addresses] })}
      />
      {(hasMore || cc.length > 0) && (
        <RecipientField
          label="Cc"
          addresses={cc}
          error={errorOf('cc')}
          onChange={(addresses) => change({ cc: [...addresses] })}
        />
      )}
      {hasMore ? (
        <RecipientField
          label="Bcc"
          addresses={mail.bcc ?? []}
          error={errorOf('bcc')}
          onChange={(addresses) => change({ bcc: [...addresses] })}
        />
      ) : (
        <Button small kind="quiet" class="mail-more" onClick={() => setMore(true)}>
          Cc, Bcc
        </Button>
      )}
      {senders.value.length > 1 && (
        <SelectField
          label="From"
          value={mail.from ?? senders.value[0]?.address ?? ''}
          error={errorOf('from')}
          choices={senders.value.map(({ address }) => ({ value: address, label: address }))}
          onValue={(from) => change({ from })}
        />
      )}
      {isNew && (
        <div class="mail-recipients">
          <label for="mail-subject">Subject</label>
          <div>
            <input
              id="mail-subject"
              maxLength={200}
              value={mail.subject ?? ''}
              aria-invalid={problem?.field === 'subject' || undefined}
              onInput={(event) => change({ subject: event.currentTarget.value })}
            />
          </div>
          {problem?.field === 'subject' && <p class="error">{problem.text}</p>}
        </div>
      )}
    </div>
  );
}

/** What is added below the text: the signature, and the mail that it answers. */
function Below({
  mail,
  change,
  isAnswer,
}: {
  readonly mail: DraftMail;
  readonly change: MailWriting['change'];
  readonly isAnswer: boolean;
}): JSX.Element | null {
  const address = mail.from ?? senders.value[0]?.address;
  const ofAddress = senders.value.find((sender) => sender.address === address)?.signature;
  const signature = [habit.value?.signature?.text, ofAddress?.text].filter((text) => text !== undefined).join('\n');
  if (signature === '' && !isAnswer) return null;
  return (
    <div class="mail-below">
      {signature !== '' && (
        <Checkbox
          label={
            <>
              Signature <span class="soft truncate">{signature.replaceAll('\n', ' · ')}</span>
            </>
          }
          checked={mail.withSignature}
          onChecked={(withSignature) => change({ withSignature })}
        />
      )}
      {isAnswer && mail.forwardOf === null && (
        <Checkbox
          label="Quote the email that it answers"
          checked={mail.withQuote}
          onChecked={(withQuote) => change({ withQuote })}
        />
      )}
    </div>
  );
}

/** A forwarded mail says enough by itself. */
function isBlankMail({ body, attachments, forwardOf }: DraftMail): boolean {
  return body.trim() === '' && attachments.length === 0 && forwardOf === null;
}

function sendKeyWords(): string {
  const mod = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl+';
  return habit.value?.sendKey === 'enter' ? 'Enter' : `${mod}Enter`;
}

/** Where the caret is, once it is uploaded. */
async function insertPicture(editor: Editor | undefined, file: File): Promise<void> {
  try {
    const { url } = await upload({ file, onProgress: () => {}, signal: new AbortController().signal });
    editor?.insertPicture({ src: url, alt: file.name });
  } catch (error) {
    notifyFailure(error);
  }
}

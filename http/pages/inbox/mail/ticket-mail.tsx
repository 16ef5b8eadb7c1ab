// The mail composer of a ticket: goes on with the draft that its agent began here or on another device, and shows the
// mails of this ticket that are about to leave.

import { effect } from '@preact/signals';
import type { JSX, RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { Loading } from '../../design/feedback.tsx';
import { Icon } from '../../design/icon.tsx';
import type { MenuItem } from '../../design/menu.tsx';
import { useLatest } from '../../design/steady.ts';
import { Time } from '../../design/time.tsx';
import type { Conversation, Draft, Message } from '../../records.ts';
import { exactTime } from '../../times.ts';
import { visitorOf } from '../customers.ts';
import type { Thread } from '../threads.ts';
import type { Editor } from './editor.ts';
import { MailComposer } from './mail-composer.tsx';
import {
  asWritten,
  draftOnServer,
  habit,
  keptLocally,
  readHabits,
  scheduledMails,
  startWritten,
  takeBack,
  takenBack,
  type Written,
} from './mail-drafts.ts';
import { useMailWriting } from './use-mail-writing.ts';

interface TicketMailProps {
  readonly conversation: Conversation;
  readonly thread: Thread;
  readonly onAnswers: () => void;
  /** Inserts an answer of the knowledge base. */
  readonly handle: RefObject<Editor | null>;
}

export function TicketMail(props: TicketMailProps): JSX.Element {
  const { id } = props.conversation;
  const [begun, setBegun] = useState<Written | undefined>(undefined);
  useEffect(() => {
    const local = keptLocally(id);
    if (habit.peek() === undefined)
      readHabits().catch(() => {
        // The defaults hold, and the service refuses what is not allowed.
      });
    if (local?.isUnsaved === true) return setBegun(local);
    draftOnServer(id).then(
      (found) => setBegun(found ?? startWritten(id)),
      () => setBegun(local ?? startWritten(id)),
    );
  }, [id]);
  return begun === undefined ? <Loading /> : <Begun {...props} begun={begun} />;
}

function Begun({ conversation, thread, onAnswers, handle, begun }: TicketMailProps & { begun: Written }): JSX.Element {
  const { id, copiedTo, visitorId } = conversation;
  const writing = useMailWriting(id, begun, {
    onReplaced: ({ mail }) => handle.current?.write(mail.body),
    onSent: () => handle.current?.focus(),
  });
  const replace = useLatest((draft: Draft) => {
    takenBack.value = undefined;
    writing.replace(asWritten(draft));
  });
  useEffect(
    () =>
      effect(() => {
        const draft = takenBack.value;
        if (draft?.conversationId === id) replace(draft);
      }),
    [id, replace],
  );
  const { mail } = writing.written;
  const about = thread.messages.value.find((message) => message.id === (mail.answerTo ?? mail.forwardOf));
  const customer = visitorOf(visitorId)?.email;
  const people =
    about !== undefined && mail.answerTo !== null
      ? peopleOf(about)
      : { to: customer == null ? [] : [customer], cc: mail.copy ? copiedTo : [] };
  return (
    <>
      <LeavingMails conversationId={id} />
      {about !== undefined && <About message={about} mail={mail} onEnd={() => writing.change(toCustomer)} />}
      <MailComposer
        writing={writing}
        handle={handle}
        conversation={conversation}
        people={people}
        onAnswers={onAnswers}
        ways={waysFrom(thread.messages.value, { hasCopies: copiedTo.length > 0, change: writing.change })}
      />
    </>
  );
}

const toCustomer = { to: null, cc: null, bcc: null, copy: true, answerTo: null, forwardOf: null } as const;

/** Who a mail to someone other than the customer was from, or went to. */
function peopleOf({ senderType, mail }: Message) {
  const { from, sentTo = [], copiedTo = [] } = mail ?? {};
  return { to: senderType === 'agent' ? sentTo : from === undefined ? [] : [from.address], cc: copiedTo };
}

function waysFrom(
  messages: readonly Message[],
  { hasCopies, change }: { hasCopies: boolean; change: (changes: Partial<Written['mail']>) => void },
): MenuItem[] {
  const said = messages.filter(({ senderType }) => senderType !== 'system');
  const side = said.findLast(({ senderType, mail }) => senderType === 'visitor' && mail?.side !== undefined);
  const last = said.findLast(({ mail }) => mail?.side === undefined);
  return [
    { label: hasCopies ? 'Answer everyone' : 'Answer the customer', run: () => change(toCustomer) },
    ...(hasCopies ? [{ label: 'Answer only the customer', run: () => change({ ...toCustomer, copy: false }) }] : []),
    ...(last === undefined
      ? []
      : [
          {
            label: 'Forward the last message',
            icon: <Icon name="forward" size={16} />,
            run: () => change({ ...toCustomer, to: [], cc: [], forwardOf: last.id, withQuote: true }),
          },
        ]),
    ...(side === undefined
      ? []
      : [
          {
            label: `Answer ${side.mail?.from.name ?? side.mail?.from.address ?? 'the other'}`,
            run: () => change({ ...toCustomer, answerTo: side.id }),
          },
        ]),
  ];
}

function About({
  message,
  mail,
  onEnd,
}: {
  readonly message: Message;
  readonly mail: Written['mail'];
  readonly onEnd: () => void;
}): JSX.Element {
  const excerpt = message.body.slice(0, 80);
  return (
    <p class="mail-about">
      <Icon name="forward" size={16} />
      <span class="truncate">
        {mail.forwardOf !== null ? `Forwards “${excerpt}”` : `Answers “${excerpt}”`}. The customer does not receive it.
      </span>
      <Button small kind="quiet" onClick={onEnd}>
        Answer the customer instead
      </Button>
    </p>
  );
}

/** Own mails that can still be taken back. */
function LeavingMails({ conversationId }: { readonly conversationId: string }): JSX.Element | null {
  const leaving = scheduledMails.value.filter((draft) => draft.conversationId === conversationId);
  if (leaving.length === 0) return null;
  return (
    <ul class="mail-leaving" aria-label="Emails that are about to leave">
      {leaving.map((draft) => (
        <li key={draft.id}>
          <Icon name="clock" size={16} />
          <span class="truncate">
            Leaves <Time at={draft.sendAt ?? ''} format={exactTime} />: {draft.mail.body.slice(0, 80)}
          </span>
          <Button small onClick={() => void takeBack(draft)}>
            Take back
          </Button>
        </li>
      ))}
    </ul>
  );
}

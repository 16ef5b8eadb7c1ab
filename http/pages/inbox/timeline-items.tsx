// The items of a timeline: messages of the customer and of agents, notes, lines of the service, days, and unsent
// messages.

import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Avatar } from '../design/avatar.tsx';
import { Button, IconButton } from '../design/button.tsx';
import { Icon } from '../design/icon.tsx';
import { LazyDialog, type Load } from '../design/lazy.tsx';
import { Time } from '../design/time.tsx';
import { isCutOff } from '../live.ts';
import { agentName, agents } from '../people.ts';
import type { Conversation, Message, Note } from '../records.ts';
import { hasRole, keepsMail, me } from '../session.ts';
import { clockTime, dayHeading, exactTime } from '../times.ts';
import { Attachments } from './attachments.tsx';
import { customerName } from './customers.ts';
import { Invitations, isCalendar } from './mail/invitations.tsx';
import { WithPictures } from './mail/mail-pictures.tsx';
import { ForgedMark, MailMarks, namesOf } from './mail-marks.tsx';
import { FormattedMail, isFormatted, MessageText } from './message-text.tsx';
import { NoteActions } from './note-dialogs.tsx';
import { discard, retry } from './outgoing.ts';
import type { SplitDialogProps } from './panel/merge-dialog.tsx';
import type { Item, Outgoing } from './timeline.ts';

export function TimelineItem({
  item,
  conversation,
}: {
  readonly item: Item;
  readonly conversation: Conversation;
}): JSX.Element {
  switch (item.kind) {
    case 'day':
      return (
        <h2 class="inbox-day">
          <Time at={item.at} format={dayHeading} />
        </h2>
      );
    case 'line':
      return <Line message={item.message} conversation={conversation} />;
    case 'note':
      return <NoteItem note={item.note} />;
    case 'outgoing':
      return <OnItsWay outgoing={item.outgoing} />;
    case 'message':
      return <Said message={item.message} conversation={conversation} isFirst={item.isFirst} isLast={item.isLast} />;
  }
}

export function senderName(message: Message, conversation: Conversation): string {
  if (message.senderType === 'visitor' && message.mail !== null && message.senderId !== conversation.visitorId)
    return message.mail.from.name ?? message.mail.from.address;
  if (message.senderType === 'visitor') return customerName(conversation);
  // Of an imported message: someone who is no agent here.
  if (message.senderType === 'agent' && message.senderId === null && message.mail !== null)
    return message.mail.from.name ?? message.mail.from.address;
  return message.senderType === 'ai' ? 'Assistant' : agentName(message.senderId);
}

function Said({
  message,
  conversation,
  isFirst,
  isLast,
}: {
  readonly message: Message;
  readonly conversation: Conversation;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}): JSX.Element {
  const isTheirs = message.senderType === 'visitor';
  const name = senderName(message, conversation);
  const sender = message.senderId === null ? undefined : agents.value.get(message.senderId);
  return (
    <Bubble
      side={isTheirs ? 'theirs' : 'ours'}
      isFirst={isFirst}
      name={name}
      at={message.createdAt}
      avatar={<Avatar name={name} url={isTheirs ? null : (sender?.avatarUrl ?? null)} size={28} />}
      beside={
        isTheirs && maySplit(conversation, message) ? (
          <SplitButton conversation={conversation} messageId={message.id} />
        ) : undefined
      }
    >
      {isTheirs && message.mail !== null && <ForgedMark mail={message.mail} />}
      {isTheirs && (message.mail?.remotePictures ?? 0) > 0 ? (
        <WithPictures message={message}>
          <Text message={message} />
        </WithPictures>
      ) : (
        <Text message={message} />
      )}
      {message.attachments.some(isCalendar) && <Invitations message={message} />}
      <Attachments attachments={message.attachments} />
      {isTheirs && message.mail !== null && (
        <MailMarks message={message} mail={message.mail} conversation={conversation} />
      )}
      {!isTheirs && <Delivery message={message} isLast={isLast} />}
    </Bubble>
  );
}

function Text({ message }: { readonly message: Message }): JSX.Element {
  return message.mail !== null && isFormatted(message.bodyHtml) ? (
    <FormattedMail html={message.bodyHtml} />
  ) : (
    <MessageText body={message.body} />
  );
}

const splitDialog: Load<SplitDialogProps> = async () => (await import('./panel/merge-dialog.tsx')).SplitDialog;

/** By whoever may create tickets. */
function maySplit({ channel, mergedInto, status }: Conversation, { mail }: Message): boolean {
  if (!hasRole('supervisor') && me.value?.agent.canTransfer !== true) return false;
  return channel === 'ticket' && mergedInto === null && status !== 'spam' && mail?.side === undefined;
}

function SplitButton(props: { readonly conversation: Conversation; readonly messageId: string }): JSX.Element {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <IconButton
        small
        class="inbox-split"
        icon="ticket"
        label="Make this message a ticket"
        onClick={() => setAsking(true)}
      />
      {isAsking && <LazyDialog load={splitDialog} props={{ ...props, onClose: () => setAsking(false) }} />}
    </>
  );
}

function Bubble({
  side,
  isFirst,
  name,
  at,
  avatar,
  beside,
  children,
}: {
  readonly side: 'theirs' | 'ours';
  readonly isFirst: boolean;
  readonly name: string;
  readonly at: string;
  readonly avatar: JSX.Element;
  readonly beside?: JSX.Element | undefined;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <article class={`inbox-said ${side} ${isFirst ? 'first' : ''}`} aria-label={`${name}, ${exactTime(at)}`}>
      {isFirst ? avatar : <span />}
      <div>
        {isFirst && (
          <p class="inbox-sender">
            <strong>{name}</strong> <Time at={at} format={clockTime} />
          </p>
        )}
        <div class="inbox-bubble" title={exactTime(at)}>
          {children}
        </div>
      </div>
      {beside}
    </article>
  );
}

/** `to`: of a chat's message, the address that the customer gave. */
function deliveryWords(status: 'queued' | 'sent', to: string | undefined): string {
  const toWhom = to === undefined ? '' : ` to ${to}`;
  if (keepsMail.value)
    return status === 'queued' ? 'On its way to the outbox' : `Kept in the outbox, not sent${toWhom}`;
  return status === 'queued' ? `Email${toWhom} on its way` : `Emailed${toWhom}`;
}

/** A server's words, with an end. */
const sentence = (words: string): string => (/[.!?]$/.test(words) ? words : `${words}.`);

/** The delivery state: always for mail; for chat under mailed messages, and under the last one, whether it was read. */
function Delivery({ message, isLast }: { readonly message: Message; readonly isLast: boolean }): JSX.Element | null {
  const { deliveryStatus, readAt } = message;
  if (deliveryStatus === 'failed') {
    return (
      <p class="inbox-delivery bad">
        <Icon name="warning" size={14} /> The email was not delivered
      </p>
    );
  }
  if (deliveryStatus !== null && (message.mail?.to === undefined || readAt === null)) {
    const { copiedTo = [], to, delayed } = message.mail ?? {};
    if (delayed !== undefined) {
      return (
        <p class="inbox-delivery" title={`Since ${exactTime(delayed.at)}`}>
          <Icon name="clock" size={14} /> Not delivered yet: {sentence(delayed.answer)} It will be tried again.
        </p>
      );
    }
    return (
      <p class="inbox-delivery" title={copiedTo.join(', ')}>
        {deliveryWords(deliveryStatus, to)}
        {copiedTo.length > 0 && `, also to ${namesOf(copiedTo)}`}
      </p>
    );
  }
  if (!isLast && deliveryStatus === null) return null;
  return <p class="inbox-delivery">{readAt === null ? 'Sent' : <span title={exactTime(readAt)}>Seen</span>}</p>;
}

function Line({
  message,
  conversation,
}: {
  readonly message: Message;
  readonly conversation: Conversation;
}): JSX.Element {
  return (
    <p class="inbox-line">
      {message.body} <Time at={message.createdAt} format={clockTime} />
      {conversation.channel === 'call' && (
        <>
          {' '}
          <a href={`/calls/${conversation.id}`}>The call</a>
        </>
      )}
    </p>
  );
}

function NoteItem({ note }: { readonly note: Note }): JSX.Element {
  return (
    <article class="inbox-note" aria-label={`Note by ${note.authorName}, ${exactTime(note.createdAt)}`}>
      <p class="inbox-sender">
        <Icon name="note" size={14} /> <strong>{note.authorName}</strong> noted{' '}
        <Time at={note.createdAt} format={clockTime} />
        {note.updatedAt !== note.createdAt && <span title={exactTime(note.updatedAt)}>(changed)</span>}
        <NoteActions note={note} />
      </p>
      <MessageText body={note.body} />
    </article>
  );
}

function OnItsWay({ outgoing }: { readonly outgoing: Outgoing }): JSX.Element {
  const { id, kind, body, attachments, state, problem } = outgoing;
  const at = new Date(outgoing.writtenAtMs).toISOString();
  const standing =
    state === 'pending' ? (
      <p class="inbox-delivery">
        {outgoing.isUncertain !== true
          ? 'Sending…'
          : isCutOff.value
            ? 'Waiting for a connection…'
            : 'Not sent yet, trying again…'}
      </p>
    ) : (
      <div class="inbox-failed" role="alert">
        <p class="inbox-delivery bad">
          <Icon name="warning" size={14} /> Not sent. {problem}
        </p>
        <div class="row">
          <Button small onClick={() => retry(id)}>
            Try again
          </Button>
          <Button small kind="quiet" onClick={() => discard(id)}>
            Discard
          </Button>
        </div>
      </div>
    );
  if (kind === 'note') {
    return (
      <article class="inbox-note pending" aria-label="Your note, not saved yet">
        <MessageText body={body} />
        {standing}
      </article>
    );
  }
  const name = me.value?.agent.name ?? '';
  return (
    <div class={`inbox-pending ${state}`}>
      <Bubble
        side="ours"
        isFirst
        name={name}
        at={at}
        avatar={<Avatar name={name} url={me.value?.agent.avatarUrl ?? null} size={28} />}
      >
        <MessageText body={body} />
        <Attachments attachments={attachments} />
        {standing}
      </Bubble>
    </div>
  );
}

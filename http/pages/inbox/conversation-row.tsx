// A conversation in a list: the customer, the last message, its time, and whether it is unread. Fast scrolling draws
// hundreds per second, so a row is one block of three lines with few elements.

import type { JSX } from 'preact';
import { Avatar } from '../design/avatar.tsx';
import { Badge } from '../design/feedback.tsx';
import { Icon } from '../design/icon.tsx';
import { Time } from '../design/time.tsx';
import { agentName } from '../people.ts';
import type { Conversation } from '../records.ts';
import { me } from '../session.ts';
import { now, shortTime } from '../times.ts';
import { conversationOf } from './conversations.ts';
import { lampOf } from './customer-presence.tsx';
import { customerName } from './customers.ts';
import { isUnread, waitsForAnyone } from './merging.ts';
import { snoozeTime } from './panel/snooze-times.ts';
import { isSelected, isSelecting } from './selection.ts';

const icons = { chat: 'chat', ticket: 'ticket', call: 'call' } as const;
const channelNames = { chat: 'Chat', ticket: 'Ticket', call: 'Call' } as const;
const unsaid = { chat: 'No messages yet', ticket: 'No messages yet', call: 'Phone call' } as const;
const shownTags = 2;

interface Mark {
  readonly text: string;
  readonly kind?: 'accent' | 'warn';
}

export function ConversationRow({
  conversationId,
  href,
  isCurrent,
}: {
  readonly conversationId: string;
  readonly href: string;
  readonly isCurrent: boolean;
}): JSX.Element | null {
  const conversation = conversationOf(conversationId);
  if (conversation === undefined) return null;
  const { channel, subject, lastMessageAt, createdAt, assignedAgentId, ticketNumber } = conversation;
  const name = customerName(conversation);
  const unread = isUnread(conversation);
  const number = ticketNumber === null ? '' : `#${ticketNumber} `;
  const preview = conversation.preview === null ? unsaid[channel] : apart(conversation.preview);
  const marks = marksOf(conversation, unread);
  const owner =
    assignedAgentId === null || assignedAgentId === me.value?.agent.id ? undefined : agentName(assignedAgentId);
  const at = lastMessageAt ?? createdAt;
  const row = (
    <a
      class={unread ? 'inbox-row unread' : 'inbox-row'}
      href={href}
      aria-current={isCurrent ? 'page' : undefined}
      data-time={shortTime(at)}
    >
      <Avatar name={name} size={36} presence={lampOf(conversation)} />
      <strong>{name}</strong>
      {unread && <span class="inbox-dot" role="img" aria-label="Unread." />}
      <br />
      <span class="soft">
        <Icon name={icons[channel]} size={14} label={channelNames[channel]} /> {number}
        {subject !== null && <span class="inbox-row-subject">{subject} · </span>}
        {speakerOf(conversation)}
        {preview}
      </span>
      {(marks.length > 0 || owner !== undefined) && (
        <span class="inbox-row-marks">
          {marks.map(({ text, kind }, place) => [
            <Badge key={place} kind={kind}>
              {text}
            </Badge>,
            ' ',
          ])}
          {owner !== undefined && <span class="inbox-row-owner soft">{owner}</span>}
        </span>
      )}
      <Time at={at} />
    </a>
  );
  if (!isSelecting.value) return row;
  return (
    <>
      <label class="inbox-box">
        <input
          type="checkbox"
          checked={isSelected(conversationId)}
          aria-label={`Select the conversation with ${name}`}
        />
      </label>
      {row}
    </>
  );
}

function marksOf(conversation: Conversation, unread: boolean): Mark[] {
  const { agentsReadUpTo, assistant, channel, firstResponseAt, handshake, snoozedUntil, status, tags } = conversation;
  const marks: Mark[] = [];
  const isWaiting = waitsForAnyone(conversation) && channel !== 'call';
  const isFresh = unread && agentsReadUpTo === null && (status === 'open' || status === 'pending');
  const waited = waitOf(conversation);
  if (assistant === 'answering' && status === 'open') marks.push({ text: 'Assistant' });
  else if ((isWaiting || isFresh) && firstResponseAt === null) {
    marks.push({ text: 'New', kind: 'accent' });
    if (waited !== undefined) marks.push({ text: waited });
  } else if (isWaiting || waited !== undefined) marks.push({ text: waited ?? 'Waiting', kind: 'accent' });
  if (handshake !== null) marks.push({ text: 'Offered', kind: 'warn' });
  if (status === 'pending')
    marks.push({
      text: snoozedUntil === null ? 'Pending' : `Until ${snoozeTime(snoozedUntil, now.value)}`,
      kind: 'warn',
    });
  return [...marks, ...tags.slice(0, shownTags).map((text) => ({ text }))];
}

/** "You: ", or the colleague who wrote last; nothing before the customer's own words. */
function speakerOf({ lastSenderType, lastSenderId, preview }: Conversation): string {
  if (preview === null || lastSenderType === null || lastSenderType === 'visitor') return '';
  if (lastSenderType === 'ai' || lastSenderId === null) return 'Answered: ';
  return lastSenderId === me.value?.agent.id ? 'You: ' : `${agentName(lastSenderId)}: `;
}

const minuteMs = 60_000;

/** "Waiting 12 min": how long the customer of an open conversation has waited, from a minute on. */
function waitOf({ status, channel, waitingSince }: Conversation): string | undefined {
  if (status !== 'open' || channel === 'call' || waitingSince === null) return undefined;
  const minutes = Math.floor((now.value - Date.parse(waitingSince)) / minuteMs);
  if (minutes < 1) return undefined;
  if (minutes < 60) return `Waiting ${minutes} min`;
  return minutes < 48 * 60 ? `Waiting ${Math.floor(minutes / 60)} h` : `Waiting ${Math.floor(minutes / 60 / 24)} d`;
}

/** Isolates the text's direction from its surroundings (Unicode FSI and PDI), with one element less than <bdi>. */
function apart(text: string): string {
  return `\u2068${text}\u2069`;
}

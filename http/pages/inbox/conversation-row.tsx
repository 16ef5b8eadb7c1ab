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
import { shortTime } from '../times.ts';
import { conversationOf } from './conversations.ts';
import { customerName } from './customers.ts';
import { isUnread } from './merging.ts';

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
  return (
    <a
      class={unread ? 'inbox-row unread' : 'inbox-row'}
      href={href}
      aria-current={isCurrent ? 'page' : undefined}
      data-time={shortTime(at)}
    >
      <Avatar name={name} size={36} />
      <strong>{name}</strong>
      {unread && <span class="inbox-dot" role="img" aria-label="Unread." />}
      <br />
      <span class="soft">
        <Icon name={icons[channel]} size={14} label={channelNames[channel]} /> {number}
        {subject !== null && <span class="inbox-row-subject">{subject} · </span>}
        {preview}
      </span>
      {(marks.length > 0 || owner !== undefined) && <br />}
      {owner !== undefined && <span class="inbox-row-owner soft">{owner}</span>}
      {marks.map(({ text, kind }, place) => [
        <Badge key={place} kind={kind}>
          {text}
        </Badge>,
        ' ',
      ])}
      <Time at={at} />
    </a>
  );
}

function marksOf({ agentsReadUpTo, firstResponseAt, handshake, status, tags }: Conversation, unread: boolean): Mark[] {
  const marks: Mark[] = [];
  if (unread && agentsReadUpTo === null && firstResponseAt === null && (status === 'open' || status === 'pending'))
    marks.push({ text: 'New', kind: 'accent' });
  if (handshake !== null) marks.push({ text: 'Offered', kind: 'warn' });
  if (status === 'pending') marks.push({ text: 'Pending', kind: 'warn' });
  return [...marks, ...tags.slice(0, shownTags).map((text) => ({ text }))];
}

/** Isolates the text's direction from its surroundings (Unicode FSI and PDI), with one element less than <bdi>. */
function apart(text: string): string {
  return `\u2068${text}\u2069`;
}

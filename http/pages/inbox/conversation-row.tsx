// A conversation in a list: who, what was said last, when, and whether it is unread.

import type { JSX } from 'preact';
import { Avatar } from '../design/avatar.tsx';
import { Badge } from '../design/feedback.tsx';
import { Icon } from '../design/icon.tsx';
import { Time } from '../design/time.tsx';
import { agentName } from '../people.ts';
import { me } from '../session.ts';
import { conversationOf } from './conversations.ts';
import { customerName } from './customers.ts';
import { isUnread } from './merging.ts';

const icons = { chat: 'chat', ticket: 'ticket', call: 'call' } as const;
const channelNames = { chat: 'Chat', ticket: 'Ticket', call: 'Call' } as const;

export function ConversationRow({ conversationId, href, isCurrent }: { readonly conversationId: string; readonly href: string; readonly isCurrent: boolean }): JSX.Element | null {
  const conversation = conversationOf(conversationId);
  if (conversation === undefined) return null;
  const { channel, status, subject, preview, lastMessageAt, createdAt, assignedAgentId, ticketNumber, tags } = conversation;
  const name = customerName(conversation);
  const unread = isUnread(conversation);
  const isNew = unread && conversation.agentsReadUpTo === null && conversation.firstResponseAt === null && (status === 'open' || status === 'pending');
  const owner = assignedAgentId === null || assignedAgentId === me.value?.agent.id ? undefined : agentName(assignedAgentId);
  return (
    <a class={`inbox-row ${unread ? 'unread' : ''}`} href={href} aria-current={isCurrent ? 'page' : undefined}>
      <Avatar name={name} size={36} />
      <span class="inbox-row-text">
        <span class="inbox-row-line">
          <strong class="truncate">{name}</strong>
          {unread && <span class="for-readers">Unread.</span>}
          <Time at={lastMessageAt ?? createdAt} />
        </span>
        <span class="inbox-row-line soft">
          <Icon name={icons[channel]} size={14} />
          <span class="for-readers">{channelNames[channel]}</span>
          <span class="truncate">
            {ticketNumber !== null && `#${ticketNumber} `}
            {subject !== null && <span class="inbox-row-subject">{subject} · </span>}
            {preview ?? 'Nothing was said yet'}
          </span>
        </span>
        <span class="inbox-row-line inbox-row-marks">
          {isNew && <Badge kind="accent">New</Badge>}
          {conversation.handshake !== null && <Badge kind="warn">Offered</Badge>}
          {status === 'pending' && <Badge kind="warn">Pending</Badge>}
          {tags.slice(0, 2).map((tag) => (
            <Badge key={tag}>{tag}</Badge>
          ))}
          {owner !== undefined && <span class="soft truncate">{owner}</span>}
        </span>
      </span>
      {unread && <span class="inbox-dot" />}
    </a>
  );
}

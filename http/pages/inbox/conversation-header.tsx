// The header of a conversation: the customer, the subject, its state and the actions.

import type { JSX } from 'preact';
import { Avatar } from '../design/avatar.tsx';
import { ButtonLink, IconButton } from '../design/button.tsx';
import { StatusBadge } from '../design/conversation-status.tsx';
import { agentName, departmentName } from '../people.ts';
import type { Conversation } from '../records.ts';
import { customerName, visitorOf } from './customers.ts';
import { ConversationActions } from './panel/actions.tsx';
import { unconfirmed } from './panel/changes.ts';

interface HeaderProps {
  readonly conversation: Conversation;
  /** The list to return to on a phone. */
  readonly back: string;
  readonly isPanelOpen: boolean;
  readonly onPanel: () => void;
}

export function ConversationHeader({ conversation, back, isPanelOpen, onPanel }: HeaderProps): JSX.Element {
  const name = customerName(conversation);
  const about = [
    conversation.ticketNumber === null ? undefined : `#${conversation.ticketNumber}`,
    conversation.subject ?? undefined,
    conversation.assignedAgentId === null ? 'Unassigned' : agentName(conversation.assignedAgentId),
    conversation.departmentId === null ? undefined : departmentName(conversation.departmentId),
    conversation.rating === null ? undefined : `rated ${conversation.rating} of 5`,
  ].filter((one) => one !== undefined);
  return (
    <header class="inbox-header">
      <a class="button quiet icon-only inbox-back" href={back} aria-label="Back to the list" title="Back to the list">
        ←
      </a>
      <Avatar name={name} size={36} />
      <div class="inbox-who">
        <h1>
          <span class="truncate" title={name}>
            {name}
          </span>
          <Status conversation={conversation} />
        </h1>
        <p class="soft truncate" title={about.join(' · ')}>
          {about.join(' · ')}
          {visitorOf(conversation.visitorId)?.blockedAt != null && ' · blocked'}
          {unconfirmed.value.has(conversation.id) && ' · saving…'}
        </p>
      </div>
      {conversation.channel === 'call' && (
        <ButtonLink href={`/calls/${conversation.id}`} small icon="call">
          The call
        </ButtonLink>
      )}
      <ConversationActions conversation={conversation} back={back} />
      <IconButton
        class="inbox-panel-toggle"
        icon="person"
        label={isPanelOpen ? 'Hide customer details' : 'Show customer details'}
        aria-pressed={isPanelOpen}
        onClick={onPanel}
      />
    </header>
  );
}

function Status({ conversation: { status } }: { readonly conversation: Conversation }): JSX.Element | null {
  if (status === 'open') return null;
  return <StatusBadge status={status} />;
}

// The header of a conversation: the customer, its status and the actions.

import type { JSX } from 'preact';
import { Avatar } from '../design/avatar.tsx';
import { ButtonLink, IconButton } from '../design/button.tsx';
import { StatusBadge } from '../design/conversation-status.tsx';
import type { Conversation } from '../records.ts';
import { CustomerPresence, lampOf } from './customer-presence.tsx';
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
  const visitor = visitorOf(conversation.visitorId);
  const about = [
    conversation.channel === 'ticket' && visitor?.email !== name ? (visitor?.email ?? undefined) : undefined,
    visitor?.blockedAt == null ? undefined : 'blocked',
    unconfirmed.value.has(conversation.id) ? 'saving…' : undefined,
  ].filter((one) => one !== undefined);
  return (
    <header class="inbox-header">
      <a class="button quiet icon-only inbox-back" href={back} aria-label="Back to the list" title="Back to the list">
        ←
      </a>
      <Avatar name={name} size={36} presence={lampOf(conversation)} />
      <div class="inbox-who">
        <h1>
          <span class="truncate" title={name}>
            {name}
          </span>
          <Status conversation={conversation} />
        </h1>
        <p class="soft truncate" title={about.join(' · ')}>
          {conversation.channel === 'chat' && visitor !== undefined && (
            <>
              <CustomerPresence conversation={conversation} />
              {about.length > 0 && ' · '}
            </>
          )}
          {about.join(' · ')}
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

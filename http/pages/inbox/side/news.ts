// Tells who looks elsewhere that a customer wrote: to this agent, or to nobody yet while this agent is available. A notification of
// the system, where it was asked for.

import { onEvent } from '../../live.ts';
import { showOnDesktop } from '../../notifications.ts';
import type { Conversation, Message } from '../../records.ts';
import { me } from '../../session.ts';
import { loadConversation } from '../conversations.ts';
import { customerName } from '../customers.ts';

/** Answers how to stop. */
export function tellOfMessages(): () => void {
  return onEvent(['message.created'], ({ data }) => {
    // The event's data, as the sockets' document gives it.
    const { message } = data as { message: Message };
    if (message.senderType !== 'visitor' || document.hasFocus()) return;
    loadConversation(message.conversationId).then(
      (conversation) => {
        if (isForMe(conversation)) showOnDesktop({ tag: `message-${conversation.id}`, title: customerName(conversation), body: message.body, href: `/inbox/${conversation.assignedAgentId === null ? 'unassigned' : 'mine'}/${conversation.id}` });
      },
      // Out of reach: no news for this agent.
      () => undefined,
    );
  });
}

function isForMe({ assignedAgentId, status }: Conversation): boolean {
  const own = me.peek()?.agent;
  if (own === undefined || status === 'spam') return false;
  return assignedAgentId === own.id || (assignedAgentId === null && own.status === 'available');
}

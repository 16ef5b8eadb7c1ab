// What is new, for who looks elsewhere: the count in the title, a notification of the desktop where the reader allowed it, a sound
// where it was asked for. Begun once per page, whatever page is shown.

import { effect } from '@preact/signals';
import { onEvent } from '../live.ts';
import { isLookedAt, isLookedAtElsewhere } from '../looking.ts';
import { playMessage, showOnDesktop } from '../notifications.ts';
import type { Conversation, Message } from '../records.ts';
import { me } from '../session.ts';
import { unreadCount } from '../title.ts';
import { conversationOf, loadConversation } from './conversations.ts';
import { customerName, customerRead } from './customers.ts';
import { isReachable, unreadOwn } from './lists.ts';
import { previewOf } from './merging.ts';

function concerns(conversation: Conversation): boolean {
  const agent = me.peek()?.agent;
  if (agent === undefined || conversation.status === 'spam' || !isReachable(conversation, agent)) return false;
  return conversation.assignedAgentId === null || conversation.assignedAgentId === agent.id || conversation.handshake?.toAgentId === agent.id;
}

async function tell(message: Message): Promise<void> {
  const conversation = conversationOf(message.conversationId) ?? (await loadConversation(message.conversationId));
  if (isLookedAt.peek() || !concerns(conversation) || (await isLookedAtElsewhere())) return;
  playMessage();
  // Somebody new is not known by name yet.
  await customerRead(conversation);
  showOnDesktop({
    tag: conversation.id,
    title: customerName(conversation),
    body: previewOf(message.body),
    href: `/inbox/${conversation.assignedAgentId === null ? 'unassigned' : 'mine'}/${conversation.id}`,
  });
}

effect(() => {
  unreadCount.value = unreadOwn.value;
});
onEvent(['message.created'], ({ data }) => {
  // As the sockets' document gives it.
  const { message } = data as { message: Message };
  if (message.senderType === 'visitor') tell(message).catch(() => undefined);
});

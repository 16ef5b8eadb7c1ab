// What is new while the agent looks elsewhere: the count in the title, a desktop notification and a sound where they are
// allowed. Runs on every page while someone is signed in.

import { effect } from '@preact/signals';
import { onEvent } from '../live.ts';
import { navigate } from '../location.ts';
import { notify } from '../notices.ts';
import { playMessage, showOnDesktop } from '../notifications.ts';
import type { Conversation, Message } from '../records.ts';
import { me } from '../session.ts';
import { type Stop, stopAll } from '../subscriptions.ts';
import { waitingCount } from '../title.ts';
import { isInUse, isInUseElsewhere } from '../visibility.ts';
import { conversationOf, loadConversation, onConversation } from './conversations.ts';
import { waiting } from './counts.ts';
import { customerName, customerRead } from './customers.ts';
import { isOpen, isReachable } from './list-definitions.ts';
import { previewOf } from './merging.ts';

function concerns(conversation: Conversation): boolean {
  const agent = me.peek()?.agent;
  if (agent === undefined || conversation.status === 'spam' || !isReachable(conversation, agent)) return false;
  if (conversation.assistant === 'answering') return false;
  return (
    conversation.assignedAgentId === null ||
    conversation.assignedAgentId === agent.id ||
    conversation.followerIds.includes(agent.id) ||
    conversation.handshake?.toAgentId === agent.id
  );
}

async function notifyMessage(message: Message): Promise<void> {
  const conversation = conversationOf(message.conversationId) ?? (await loadConversation(message.conversationId));
  await notifyWaiting(conversation, previewOf(message));
}

async function notifyWaiting(conversation: Conversation, body: string): Promise<void> {
  if (isInUse.peek() || !concerns(conversation) || (await isInUseElsewhere())) return;
  const own = me.peek()?.agent.id ?? '';
  const { assignedAgentId, followerIds } = conversation;
  const reason = assignedAgentId === null && !followerIds.includes(own) ? 'queue' : 'own_messages';
  const list = assignedAgentId === null ? 'unassigned' : assignedAgentId === own ? 'mine' : 'all';
  playMessage(reason);
  // A new customer's name may not be known yet.
  await customerRead(conversation);
  showOnDesktop({
    reason,
    tag: conversation.id,
    title: customerName(conversation),
    body,
    href: `/inbox/${list}/${conversation.id}`,
  });
}

/**
 * A colleague or the server assigned it to this agent, who may learn it long after: only what is still so is news. An
 * offer that was accepted is none.
 */
async function notifyAssigned(conversationId: string): Promise<void> {
  const conversation = await loadConversation(conversationId);
  const isOwn = conversation.assignedAgentId === me.peek()?.agent.id;
  if (!isOwn || !isOpen(conversation) || conversation.channel === 'call') return;
  await customerRead(conversation);
  const href = `/inbox/mine/${conversation.id}`;
  notify({
    kind: 'news',
    text: `The conversation with ${customerName(conversation)} is yours now.`,
    action: { label: 'Open', run: () => navigate(href) },
  });
  if (isInUse.peek() || (await isInUseElsewhere())) return;
  playMessage('offers');
  showOnDesktop({
    reason: 'offers',
    tag: conversation.id,
    title: customerName(conversation),
    body: 'This conversation is yours now.',
    href,
  });
}

export function startWatching(): Stop {
  return stopAll([
    // By its own event: the conversation may be one that this page did not know.
    onEvent(['assignment.given'], ({ data }) => {
      // The data of this event, by the AsyncAPI document.
      const { conversation } = data as { conversation: Conversation };
      if (conversation.assignedAgentId === me.peek()?.agent.id) notifyAssigned(conversation.id).catch(() => undefined);
    }),
    onConversation(({ before, after }) => {
      const isHandedOver = before?.assistant === 'answering' && after?.assistant === 'handed_over';
      if (after !== undefined && isHandedOver && after.assignedAgentId === null && after.waitingSince !== null)
        notifyWaiting(after, after.preview ?? '').catch(() => undefined);
    }),
    () => {
      waitingCount.value = 0;
    },
    effect(() => {
      waitingCount.value = waiting.value;
    }),
    onEvent(['message.created'], ({ data }) => {
      // The data of this event, by the AsyncAPI document.
      const { message } = data as { message: Message };
      if (message.senderType === 'visitor') notifyMessage(message).catch(() => undefined);
    }),
  ]);
}

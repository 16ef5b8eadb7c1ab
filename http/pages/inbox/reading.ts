// Marks the customer's messages as read once the agent sees them: the conversation is open, the page visible and focused.
// And marks the last one as unread again for an agent who wants to come back to it.

import { useEffect } from 'preact/hooks';
import { connection } from '../live.ts';
import type { Conversation } from '../records.ts';
import { me } from '../session.ts';
import { isInUse } from '../visibility.ts';
import { act, peekConversation } from './conversations.ts';
import { isUnread } from './merging.ts';

/** The conversation that the agent sees, and the marks under way. */
let seenId: string | undefined;
const underWay = new Map<string, Promise<void>>();

/** `isThere`: its newest messages are loaded. */
export function useReading(conversation: Conversation, isThere: boolean): void {
  const isSeen = isThere && isInUse.value;
  const isLive = connection.value === 'live';
  useEffect(() => {
    return isSeen ? see(conversation.id) : undefined;
  }, [isSeen, conversation.id]);
  // The next message and a new connection repeat what failed.
  useEffect(() => {
    if (isSeen) void markRead(conversation.id);
  }, [isSeen, isLive, conversation.id, conversation.lastCustomerMessageAt]);
}

/** Returns how to say that it is no longer seen. */
export function see(conversationId: string): () => void {
  seenId = conversationId;
  return () => {
    if (seenId === conversationId) seenId = undefined;
  };
}

/** Only its assignee sees for the customer. */
function isOthers({ assignedAgentId }: Conversation): boolean {
  return assignedAgentId !== null && assignedAgentId !== me.peek()?.agent.id;
}

/** Repeats until all is marked: a message that came during the call is seen as well. */
export function markRead(conversationId: string): Promise<void> {
  const marking =
    underWay.get(conversationId) ?? markWhileSeen(conversationId).finally(() => underWay.delete(conversationId));
  underWay.set(conversationId, marking);
  return marking;
}

async function markWhileSeen(conversationId: string): Promise<void> {
  try {
    for (let asked: string | null = null; seenId === conversationId; ) {
      const now = peekConversation(conversationId);
      if (now === undefined || !isUnread(now) || isOthers(now) || now.lastCustomerMessageAt === asked) return;
      asked = now.lastCustomerMessageAt;
      await act(conversationId, 'read');
    }
  } catch {
    // Still unread, and shown as unread.
    return;
  }
}

/**
 * Marks the customer's last message as unread. It is not seen until it is opened again, so the caller leaves it.
 * Rejects as act() does.
 */
export async function markUnread(conversationId: string): Promise<void> {
  if (seenId === conversationId) seenId = undefined;
  // A mark under way would mark it as read again.
  await underWay.get(conversationId);
  await act(conversationId, 'unread');
}

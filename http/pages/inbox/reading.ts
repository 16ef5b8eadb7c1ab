// Marks what the customer wrote as read once an agent has it before the eyes: the conversation is open, the page
// visible and focused. And takes the mark back for who wants to come back to it.

import { useEffect } from 'preact/hooks';
import { connection } from '../live.ts';
import type { Conversation } from '../records.ts';
import { isInUse } from '../visibility.ts';
import { act, peekConversation } from './conversations.ts';
import { isUnread } from './merging.ts';

/** What is before the eyes, and what the service is asked to mark. */
let seenId: string | undefined;
const underWay = new Map<string, Promise<void>>();

/** `isThere`: its newest messages were read from the service. */
export function useReading(conversation: Conversation, isThere: boolean): void {
  const isSeen = isThere && isInUse.value;
  const isLive = connection.value === 'live';
  useEffect(() => {
    return isSeen ? see(conversation.id) : undefined;
  }, [isSeen, conversation.id]);
  // What failed is asked for again with the next message, the next look, or when the connection is back.
  useEffect(() => {
    if (isSeen) void markRead(conversation.id);
  }, [isSeen, isLive, conversation.id, conversation.lastCustomerMessageAt]);
}

/** Answers how to say that it is no longer seen. */
export function see(conversationId: string): () => void {
  seenId = conversationId;
  return () => {
    if (seenId === conversationId) seenId = undefined;
  };
}

/** Until all of it is marked: what came while the service was asked is seen as well. */
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
      if (now === undefined || !isUnread(now) || now.lastCustomerMessageAt === asked) return;
      asked = now.lastCustomerMessageAt;
      await act(conversationId, 'read');
    }
  } catch {
    // Still unread, and shown so.
    return;
  }
}

/**
 * Its last message of the customer is unread again, and it is not seen until it is opened anew: whoever calls leaves
 * it. Rejects as act() does.
 */
export async function markUnread(conversationId: string): Promise<void> {
  if (seenId === conversationId) seenId = undefined;
  // What is under way would mark it again.
  await underWay.get(conversationId);
  await act(conversationId, 'unread');
}

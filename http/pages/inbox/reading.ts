// Marks what the customer wrote as read once an agent has it before the eyes: the conversation is open, the page visible and focused.

import { useEffect } from 'preact/hooks';
import { connection } from '../live.ts';
import { isLookedAt } from '../looking.ts';
import type { Conversation } from '../records.ts';
import { act, peekConversation } from './conversations.ts';
import { isUnread } from './merging.ts';

/** What is before the eyes, and what the service is asked to mark. */
let seenId: string | undefined;
const underWay = new Set<string>();

/** `isThere`: its newest messages were read from the service. */
export function useReading(conversation: Conversation, isThere: boolean): void {
  const isSeen = isThere && isLookedAt.value;
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
export async function markRead(conversationId: string): Promise<void> {
  if (underWay.has(conversationId)) return;
  underWay.add(conversationId);
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
  } finally {
    underWay.delete(conversationId);
  }
}

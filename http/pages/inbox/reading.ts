// Marks a customer's messages as read when an agent sees them: the conversation is open, the page visible and focused.
// Can also undo the mark, for an agent who wants to return later.

import { useEffect } from 'preact/hooks';
import { connection } from '../live.ts';
import type { Conversation } from '../records.ts';
import { isInUse } from '../visibility.ts';
import { act, peekConversation } from './conversations.ts';
import { isUnread } from './merging.ts';

/** The visible conversation, and those being marked. */
let seenId: string | undefined;
const underWay = new Map<string, Promise<void>>();

/** `isThere`: its newest messages are loaded. */
export function useReading(conversation: Conversation, isThere: boolean): void {
  const isSeen = isThere && isInUse.value;
  const isLive = connection.value === 'live';
  useEffect(() => {
    return isSeen ? see(conversation.id) : undefined;
  }, [isSeen, conversation.id]);
  // A failed call is repeated with the next message, when the page gets the focus, or when the connection returns.
  useEffect(() => {
    if (isSeen) void markRead(conversation.id);
  }, [isSeen, isLive, conversation.id, conversation.lastCustomerMessageAt]);
}

/** Returns a function that ends it. */
export function see(conversationId: string): () => void {
  seenId = conversationId;
  return () => {
    if (seenId === conversationId) seenId = undefined;
  };
}

/** Repeats until everything is marked, since messages that arrive during the call are seen, too. */
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
    // Still unread, and shown as unread.
    return;
  }
}

/**
 * Marks its last customer message as unread. It does not count as seen until it is opened again, so the caller must
 * leave it. Rejects as act() does.
 */
export async function markUnread(conversationId: string): Promise<void> {
  if (seenId === conversationId) seenId = undefined;
  // A call in progress would mark it as read again.
  await underWay.get(conversationId);
  await act(conversationId, 'unread');
}

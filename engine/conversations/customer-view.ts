// A conversation as its customer sees it: nothing of who handles it and how. Made here for replies and events alike.

import type { ConversationRecord } from '../../store/conversations/conversations.ts';

export interface CustomerConversation {
  readonly id: string;
  readonly channel: ConversationRecord['channel'];
  readonly status: ConversationRecord['status'];
  readonly subject: string | null;
  readonly rating: number | null;
  readonly preview: string | null;
  readonly lastMessageAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Also of the record that events carry. Spam looks open to who sent it. */
export function customerConversation(conversation: CustomerConversation): CustomerConversation {
  const { id, channel, status, subject, rating, preview, lastMessageAt, createdAt, updatedAt } = conversation;
  return {
    id,
    channel,
    status: status === 'spam' ? 'open' : status,
    subject,
    rating,
    preview,
    lastMessageAt,
    createdAt,
    updatedAt,
  };
}

/** False when what changed is the agents' alone to know: the customer is not told that something happened, either. */
export function customerSees(before: CustomerConversation, after: CustomerConversation): boolean {
  const [was, is] = [customerConversation(before), customerConversation(after)];
  return was.status !== is.status || was.subject !== is.subject || was.rating !== is.rating;
}

// A conversation as its customer sees it, without who handles it and how. Used for replies and events alike.

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

/** Also applied to the record that events carry. To its sender, spam looks open. */
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

/** Returns false if only agents may see the change: the customer then gets no event at all. */
export function customerSees(before: CustomerConversation, after: CustomerConversation): boolean {
  const [was, is] = [customerConversation(before), customerConversation(after)];
  return was.status !== is.status || was.subject !== is.subject || was.rating !== is.rating;
}

// The records of conversations.

import Type, { type Static } from 'typebox';
import { Id, nullable, type RecordOf, Time, Version } from '../record.ts';

export const Channel = Type.Enum(['chat', 'ticket', 'call']);
export type Channel = Static<typeof Channel>;

export const ConversationStatus = Type.Enum(['open', 'pending', 'solved', 'spam', 'closed']);
export type ConversationStatus = Static<typeof ConversationStatus>;

export const Handshake = Type.Object({
  toAgentId: Id,
  initiatedByAgentId: Id,
  previousAgentId: nullable(Id),
  note: nullable(Type.String()),
  expiresAt: Time,
});
export type Handshake = RecordOf<typeof Handshake>;

/** What agents see of a conversation: the record of the API and of events. */
export const ConversationView = Type.Object({
  id: Id,
  version: Version,
  channel: Channel,
  status: ConversationStatus,
  subject: nullable(Type.String()),
  ticketNumber: nullable(Type.Integer()),
  siteId: nullable(Id),
  visitorId: nullable(Id),
  contactId: nullable(Id),
  departmentId: nullable(Id),
  assignedAgentId: nullable(Id),
  tags: Type.Array(Type.String()),
  handshake: nullable(Handshake),
  copiedTo: Type.Array(Type.String(), {
    description:
      "For a ticket: who receives its replies beside the customer, as named in the customer's last mail. " +
      "A mail that failed its sender's DMARC, or that matched this ticket only by its subject, adds no one.",
  }),
  rating: nullable(Type.Integer({ minimum: 1, maximum: 5 })),
  ratingComment: nullable(Type.String({ description: "The customer's comment on the rating." })),
  preview: nullable(Type.String()),
  lastMessageAt: nullable(Time),
  lastCustomerMessageAt: nullable(Time),
  agentsReadUpTo: nullable(
    Type.String({ format: 'date-time', description: "The customer's messages after this time are unread." }),
  ),
  firstResponseAt: nullable(Time),
  solvedAt: nullable(Time),
  closedAt: nullable(Time),
  createdAt: Time,
  updatedAt: Time,
});
export type ConversationView = RecordOf<typeof ConversationView>;

/** A conversation as it is stored. */
export const ConversationRecord = Type.Object({
  ...ConversationView.properties,
  /** When routing assigned it, until an agent writes. Null if it was assigned or taken by hand. */
  routedAt: nullable(Time),
  /** Agents that routing skips while it is unassigned: those who gave it back or moved it on. */
  notToAgentIds: Type.Array(Id),
  /** The last agent to write before it was rated. */
  ratedAgentId: nullable(Id),
  /** The agent who wrote the first response or answered the call. */
  firstResponderId: nullable(Id),
  /** The createdAt of its newest message of any kind, including system lines. */
  lastLineAt: nullable(Time),
  customerReadUpTo: nullable(Time),
});
export type ConversationRecord = RecordOf<typeof ConversationRecord>;

/** What the customer sees, without who handles the conversation and how. */
export const CustomerConversation = Type.Pick(ConversationView, [
  'id',
  'channel',
  'status',
  'subject',
  'rating',
  'preview',
  'lastMessageAt',
  'createdAt',
  'updatedAt',
]);
export type CustomerConversation = RecordOf<typeof CustomerConversation>;

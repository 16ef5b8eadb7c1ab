// The records of conversations and their messages.

import Type, { type Static } from 'typebox';
import { MailAuthentication } from '../mail/records.ts';
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
      "For a ticket: who receives its replies beside the customer, as named in the customer's last mail or by an agent. " +
      "A mail that failed its sender's DMARC, or that matched this ticket only by its subject, adds no one.",
  }),
  followerIds: Type.Array(Id, {
    description: 'Agents who are notified of its messages as its assignee is. Following gives no access.',
  }),
  mergedInto: nullable(
    Type.String({
      format: 'uuid',
      description:
        'The ticket that has its messages now. That ticket may itself be merged into another later. ' +
        'A merged ticket is closed, takes no messages and counts in no report.',
    }),
  ),
  rating: nullable(Type.Integer({ minimum: 1, maximum: 5 })),
  ratingComment: nullable(Type.String({ description: "The customer's comment on the rating." })),
  unreachable: Type.Boolean({
    description:
      'For a chat: its visitor has had no page open for some minutes (`unseenMailMinutes`) and gave no address, ' +
      'so an answer reaches no one.',
  }),
  assistant: nullable(
    Type.Enum(['answering', 'handed_over'], {
      description:
        'For a chat of a site whose assistant answers by itself: whether it still does. Null for all others. ' +
        'One that it answers waits for no agent, and is handed over as soon as an agent takes it or writes.',
    }),
  ),
  preview: nullable(Type.String()),
  lastMessageAt: nullable(Time),
  lastSenderType: nullable(
    Type.Enum(['visitor', 'agent', 'ai'], { description: 'Who wrote the last message, apart from the service.' }),
  ),
  lastSenderId: nullable(
    Type.String({ format: 'uuid', description: 'The visitor or the agent who wrote the last message.' }),
  ),
  waitingSince: nullable(
    Type.String({
      format: 'date-time',
      description: "Of the customer's first message since the last answer. Null if an agent spoke last.",
    }),
  ),
  lastCustomerMessageAt: nullable(Time),
  agentsReadUpTo: nullable(
    Type.String({ format: 'date-time', description: "The customer's messages after this time are unread." }),
  ),
  snoozedUntil: nullable(
    Type.String({ format: 'date-time', description: 'A pending conversation is open again at this time.' }),
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
  /** While the preview is of a mail: who may see it, and the preview for others. */
  mailPreview: nullable(Type.Object({ emailHash: Type.String(), before: nullable(Type.String()) })),
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

export const SenderType = Type.Enum(['visitor', 'agent', 'ai', 'system'], {
  description: '`ai`: the assistant, on a site where it answers by itself.',
});
export type SenderType = Static<typeof SenderType>;

export const Attachment = Type.Object({
  url: Type.String(),
  name: nullable(Type.String()),
  size: nullable(Type.Integer()),
});
export type Attachment = RecordOf<typeof Attachment>;

export const Threading = Type.Object(
  {
    rule: Type.Enum(['in_reply_to', 'references', 'subject', 'new']),
    matchedMessageId: nullable(Id),
    reason: nullable(
      Type.Enum(['sender_not_on_thread', 'sender_disproved', 'unknown_reference'], {
        description:
          'For a mail that started a new conversation although it refers to an existing one: ' +
          'its sender is not part of that conversation; its subject belongs to one whose customer did not send it, ' +
          "according to the sender's domain; or what it refers to is unknown here.",
      }),
    ),
  },
  {
    description:
      'How a mail found its conversation, and through which of our messages. Null for messages that did not arrive by mail.',
  },
);
export type Threading = RecordOf<typeof Threading>;

export const MessageMail = Type.Object({
  from: Type.Object(
    { address: Type.String(), name: nullable(Type.String()) },
    {
      description:
        'As named in the mail. Differs from the customer if replies go elsewhere (Reply-To), or if someone else wrote it.',
    },
  ),
  to: Type.Optional(
    Type.String({ description: "For a chat's message that was mailed because it was unseen: the customer's address." }),
  ),
  sentTo: Type.Optional(Type.Array(Type.String(), { description: "Of an agent's mail: who is in its To." })),
  copiedTo: Type.Array(Type.String(), {
    description: 'The other recipients, beside the customer and the workspace.',
  }),
  bcc: Type.Optional(
    Type.Array(Type.String(), { description: "Of an agent's mail: who received it unseen by the others." }),
  ),
  side: Type.Optional(
    Type.Object(
      { messageId: Id },
      {
        description:
          'For a message to or from someone other than the customer, which the customer does not receive: ' +
          'a forwarded message, and the mails that answer it. `messageId` is the message that it forwards or answers.',
      },
    ),
  ),
  remotePictures: Type.Optional(
    Type.Integer({
      description:
        'How many pictures on other servers the mail would load. `bodyHtml` has none of them, because they tell the sender ' +
        'that the mail was read; `/pictures` of the message has them.',
    }),
  ),
  delayed: Type.Optional(
    Type.Object(
      { answer: Type.String(), at: Time },
      { description: 'While it is tried again: what the server answered, and when it first did.' },
    ),
  ),
  authentication: nullable(MailAuthentication),
});
export type MessageMail = RecordOf<typeof MessageMail>;

/** A message for those who may see it: the record of the API and of events. */
export const MessageView = Type.Object({
  id: Id,
  conversationId: Id,
  senderType: SenderType,
  senderId: nullable(Id),
  body: Type.String({ description: 'Plain text.' }),
  bodyHtml: Type.String({ description: 'For display; rendered by the service, never accepted as input.' }),
  attachments: Type.Array(Attachment),
  deliveryStatus: nullable(
    Type.Enum(['queued', 'sent', 'failed'], { description: 'For mailed messages; otherwise null.' }),
  ),
  threading: nullable(Threading),
  mail: nullable(MessageMail),
  readAt: nullable(Time),
  createdAt: Time,
});
export type MessageView = RecordOf<typeof MessageView>;

/** A message as it is stored. */
export const MessageRecord = Type.Object({
  ...MessageView.properties,
  /** Safe HTML of a mail; null if the display form derives from the body. */
  bodyHtml: nullable(Type.String()),
});
export type MessageRecord = RecordOf<typeof MessageRecord>;

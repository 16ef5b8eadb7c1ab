// Schemas that more than one route uses. Validation, the handlers' types and the documents are derived from them.

import Type, { type TNull, type TOptional, type TSchema, type TUnion } from 'typebox';
import { linePattern, textPattern, visiblePattern } from '../../engine/lines.ts';
import {
  Channel,
  ConversationStatus,
  ConversationView,
  CustomerConversation as CustomerView,
  Handshake,
} from '../../store/conversations/records.ts';
import { Id, nullable, Time, Version } from '../../store/record.ts';
import { worded } from './field-words.ts';
import { behind } from './scoped-members.ts';

export { Channel, ConversationStatus, Handshake } from '../../store/conversations/records.ts';
export { Id, nullable, Time, Version } from '../../store/record.ts';

type Clearable<Fields extends Record<string, TSchema>> = {
  [Name in keyof Fields]: TOptional<TUnion<[Fields[Name], TNull]>>;
};

/** Fields that may be left out or null, with the same meaning. */
export function clearable<Fields extends Record<string, TSchema>>(fields: Fields): Clearable<Fields> {
  // Each name with its own schema.
  return Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name, Type.Optional(nullable(schema))]),
  ) as Clearable<Fields>;
}

/** With non-ASCII letters before the @, mail only arrives if the servers on its way support SMTPUTF8 (RFC 6531). */
export const Email = Type.String({
  format: 'idn-email',
  maxLength: 254,
  description: 'In any script; normalized to NFC, the domain in its DNS form.',
});
/** Accepts any number: one that never existed is stale like every other. */
export const ExpectedVersion = Type.Integer({
  description: 'The version you read; returns 409 `stale_version` if the record has changed since.',
});
/**
 * Names and subjects, normalized by http/pipeline/value-forms.ts, so that no name can inject a mail header or imitate
 * another name.
 */
export const line = (
  maxLength: number,
  description = 'One line without control characters. Surrounding white space is removed; inner white space is collapsed to one space.',
) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: worded(linePattern, 'one line of visible text'),
    description,
  });
/** Text that contains something visible. */
export const prose = (maxLength: number, description?: string) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: worded(textPattern, 'visible text without NUL characters'),
    ...(description === undefined ? {} : { description }),
  });
/** The name of a page or a file as its program passes it; made a single line. */
export const said = (maxLength: number, description?: string) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: worded(visiblePattern, 'visible text'),
    ...(description === undefined ? {} : { description }),
  });
export const Name = line(120);
export const Subject = line(200);
export const Text = prose(10_000);
/** A bounded list without duplicates, compared without case. */
export const Tags = Type.Array(line(50), { maxItems: 50, description: 'Unique, ignoring case.' });
const webAddress = {
  maxLength: 2048,
  pattern: worded('^[hH][tT][tT][pP][sS]?://[^\\s/?#]', 'a web address, such as https://example.com'),
};
/** A web address. */
export const Url = Type.String({ format: 'uri', ...webAddress });
/**
 * The address of a page as browsers report it. They leave [ ] | ^ { } ` and a lone % unencoded, which no URI allows
 * (RFC 3986).
 */
export const PageUrl = Type.String({ ...webAddress, description: 'An http or https URL, as the browser reports it.' });
/** A web address as people type it: its host may be in any script. */
export const TypedUrl = Type.String({ ...webAddress, description: 'An http or https URL.' });
export const Hex = Type.String({
  pattern: worded('^#[0-9a-fA-F]{6}$', 'a hex colour, such as #2563eb'),
  description: 'A hex colour, such as #2563eb.',
});

export const Role = Type.Enum(['admin', 'supervisor', 'agent']);
export const AgentStatus = Type.Enum(['available', 'away', 'offline']);
export const StatusSource = Type.Enum(['chosen', 'automatic'], {
  description:
    '`chosen` by the agent, or `automatic`: set by the service because the agent connected, disconnected or signed out.',
});
export const AgentChannel = Type.Enum(['chats', 'tickets', 'calls']);
export const InviteStatus = Type.Enum(['pending', 'joined', 'deactivated']);
export const RequestedStatus = Type.Enum(['open', 'pending', 'solved', 'spam']);

/** `<ISO timestamp>|<uuid>` (specification 9). */
const cursorPattern =
  '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z\\|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

/** `limit` and `cursor` of lists that are paged by cursor (specification 8, 9). */
export const CursorQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
  cursor: Type.Optional(
    Type.String({
      pattern: worded(cursorPattern, 'the nextCursor of an earlier page'),
      maxLength: 100,
      description: 'The `nextCursor` of the previous page.',
    }),
  ),
};
export const NextCursor = nullable(Type.String({ description: 'Null on the last page.' }));

export const Agent = Type.Object({
  id: Id,
  email: Email,
  name: Type.String(),
  role: Role,
  status: AgentStatus,
  statusSource: StatusSource,
  isOnline: Type.Boolean({ description: 'Whether the agent has an open socket.' }),
  channels: Type.Array(AgentChannel),
  groups: Type.Array(Type.Object({ id: Id, name: Type.String() })),
  groupIds: Type.Array(Id),
  avatarUrl: nullable(Type.String()),
  hasPassword: Type.Boolean({ description: 'False until the invitation is accepted.' }),
  inviteStatus: InviteStatus,
  canTransfer: Type.Boolean({ description: 'Whether the agent may create tickets.' }),
  createdAt: Time,
});

const { copiedTo, ratingComment, preview } = ConversationView.properties;
export const Conversation = Type.Object({
  ...ConversationView.properties,
  copiedTo: behind('visitors:read', copiedTo),
  ratingComment: behind('messages:read', ratingComment),
  preview: behind('messages:read', preview),
});

export const E164 = Type.String({
  minLength: 8,
  maxLength: 16,
  pattern: worded('^\\+[1-9]\\d{6,14}$', 'a phone number, such as +14155550123'),
  description: 'A phone number, such as +14155550123.',
});

export const CallEvent = Type.Object({
  eventType: Type.Enum(
    ['ringing', 'answered', 'on_hold', 'resumed', 'transferred', 'ended', 'voicemail_left', 'ai_engaged'],
    { description: '`ai_engaged` is planned and does not occur yet.' },
  ),
  createdAt: Time,
  fromE164: behind('visitors:read', Type.String({ description: 'ringing: the caller, unless withheld.' })),
  agentId: Type.Optional(Type.String({ format: 'uuid', description: 'answered: by whom; transferred: to whom.' })),
  departmentId: Type.Optional(Type.String({ format: 'uuid', description: 'transferred: the department.' })),
  voicemailId: Type.Optional(Id),
  duration_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'ended: as the carrier reports it, otherwise counted from the first answer; 0 for a missed call.',
    }),
  ),
  recordingUrl: behind(
    'messages:read',
    Type.String({ description: 'ended: if the number records, once the recording is ready.' }),
  ),
});

export const Call = Type.Object({
  id: Id,
  version: Version,
  channel: Type.Literal('call'),
  status: ConversationStatus,
  state: Type.Enum(['ringing', 'answered', 'on_hold', 'voicemail', 'ended']),
  fromE164: behind('visitors:read', nullable(Type.String({ description: 'Null if the caller withholds it.' }))),
  callerName: behind('visitors:read', nullable(Type.String({ description: "The name of the caller's contact." }))),
  toE164: Type.String(),
  phoneNumberId: Id,
  departmentId: nullable(Id),
  assignedAgentId: nullable(Id),
  handshake: nullable(Handshake),
  ringingAgentIds: Type.Array(Id, { description: 'The agents it rings, the longest idle first.' }),
  visitorId: nullable(Id),
  contactId: nullable(Id),
  voicemailId: nullable(Id),
  events: Type.Array(CallEvent, { description: 'The timeline.' }),
  createdAt: Time,
  updatedAt: Time,
});

export const Voicemail = Type.Object({
  id: Id,
  conversationId: Id,
  fromE164: behind('visitors:read', nullable(Type.String())),
  callerName: behind('visitors:read', nullable(Type.String({ description: "The name of the caller's contact." }))),
  durationMs: nullable(Type.Integer()),
  recordingUrl: behind('messages:read', nullable(Type.String())),
  transcript: behind('messages:read', nullable(Type.String())),
  listenedAt: nullable(Time),
  createdAt: Time,
});

export const SearchRow = Type.Object({
  conversationId: Id,
  version: Version,
  channel: Channel,
  status: ConversationStatus,
  subject: nullable(Type.String()),
  ticketNumber: nullable(Type.Integer()),
  updatedAt: Time,
  matchedBody: behind(
    'messages:read',
    Type.String({
      description:
        "The matching part of the best message; of the newest message if only the customer's name or email, " +
        'the subject or the number matched.',
    }),
  ),
  visitorName: behind('visitors:read', nullable(Type.String())),
  visitorEmail: behind('visitors:read', nullable(Type.String())),
  tags: Type.Array(Type.String()),
});

export const ConversationAnswer = Type.Object({ conversation: Conversation });

export const Attachment = Type.Object({
  url: Type.String(),
  name: nullable(Type.String()),
  size: nullable(Type.Integer()),
});
export const AttachmentInput = Type.Object({
  url: Url,
  name: Type.Optional(Type.String({ maxLength: 500 })),
  size: Type.Optional(Type.Integer({ minimum: 0 })),
});

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

/** RFC 8601 §2.7. */
const AuthenticationResult = Type.String({ description: 'pass, fail, none, neutral, softfail, temperror, permerror.' });
export const MailAuthentication = Type.Object(
  { spf: AuthenticationResult, dkim: AuthenticationResult, dmarc: AuthenticationResult },
  {
    description:
      "What the sender's domain says about the mail. " +
      "Rely on `dmarc`: pass proves the sender's domain, fail means that the mail was sent by someone else, " +
      'anything else is inconclusive.',
  },
);
export const MessageMail = Type.Object(
  {
    from: behind(
      'visitors:read',
      Type.Object(
        { address: Type.String(), name: nullable(Type.String()) },
        {
          description:
            'As named in the mail. Differs from the customer if replies go elsewhere (Reply-To), or if someone else wrote it.',
        },
      ),
    ),
    copiedTo: behind(
      'visitors:read',
      Type.Array(Type.String(), { description: 'The other recipients, beside the customer and the workspace.' }),
    ),
    authentication: nullable(MailAuthentication),
  },
  {
    description:
      'For messages received or sent as mail; ' +
      'otherwise null. `authentication` is null for sent mail and for mail received through the webhook.',
  },
);
export const Message = Type.Object({
  id: Id,
  conversationId: Id,
  senderType: Type.Enum(['visitor', 'agent', 'ai', 'system'], {
    description: '`ai` is planned; no such messages exist yet.',
  }),
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

export const MessageList = Type.Object({
  messages: Type.Array(Message),
  nextCursor: nullable(
    Type.String({ description: 'The time to pass as `before`; null at the beginning of the conversation.' }),
  ),
});
const MessageInput = Type.Object({
  body: Text,
  attachments: Type.Optional(Type.Array(AttachmentInput, { maxItems: 20 })),
});
/** A UUID of version 4 or 7. */
export const chosenIdPattern =
  '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[47][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$';
/** A client that does not know whether its request arrived sends it again: the id prevents a second message or note. */
const chosenId = (what: string) =>
  Type.Optional(
    Type.String({
      pattern: worded(chosenIdPattern, 'an id: a UUID of version 4 or 7'),
      description: `The id for the new ${what}. Repeating the request with the same id returns the existing ${what}.`,
    }),
  );
export const RepeatableMessageInput = Type.Object({ ...MessageInput.properties, messageId: chosenId('message') });
export const AgentMessageInput = Type.Object({
  ...RepeatableMessageInput.properties,
  copy: Type.Optional(
    Type.Boolean({
      default: true,
      description:
        "On a ticket: false replies only to the customer, true also to the people in the conversation's \\`copiedTo\\`.",
    }),
  ),
});
export const RepeatableNoteInput = Type.Object({ body: Text, noteId: chosenId('note') });
export const MessageQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
  before: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only messages before this time (exclusive).' }),
  ),
});

export const Note = Type.Object({
  id: Id,
  conversationId: Id,
  visitorId: nullable(Id),
  authorAgentId: Id,
  authorName: Type.String(),
  authorAvatarUrl: nullable(Type.String()),
  body: Type.String(),
  createdAt: Time,
  updatedAt: Time,
});

export const OpeningHours = Type.Object({
  weekday: Type.Integer({ minimum: 1, maximum: 7, description: '1 is Monday, 7 is Sunday.' }),
  opens: Type.String({
    pattern: worded('^([01]\\d|2[0-3]):[0-5]\\d$', 'a time of day, such as 09:00'),
    description: "HH:MM in the workspace's time zone.",
  }),
  closes: Type.String({
    pattern: worded('^(([01]\\d|2[0-3]):[0-5]\\d|24:00)$', 'a time of day, such as 17:30'),
    description: 'HH:MM; a time earlier than `opens` is on the next day.',
  }),
});
export const Holidays = Type.Array(Type.String({ format: 'date' }), { maxItems: 366 });
export const WeeklyHours = Type.Object({
  days: Type.Array(OpeningHours, { maxItems: 50 }),
  holidays: Type.Optional(Holidays),
});

export const Site = Type.Object({
  id: Id,
  version: Version,
  name: Type.String(),
  domain: Type.String(),
  embedId: Type.String(),
  primaryColor: Type.String(),
  launcherPosition: Type.Enum(['right', 'left']),
  welcomeMessage: Type.String(),
  businessHoursOverride: nullable(WeeklyHours),
  allowedOrigins: Type.Array(Type.String()),
  createdAt: Time,
});

export const Visitor = Type.Object({
  id: Id,
  siteId: Id,
  email: behind('visitors:read', nullable(Type.String())),
  name: behind('visitors:read', nullable(Type.String())),
  phoneE164: behind('visitors:read', nullable(Type.String())),
  ip: behind('visitors:read', nullable(Type.String())),
  country: behind('visitors:read', nullable(Type.String({ description: 'ISO 3166-1 alpha-2; null if unknown.' }))),
  userAgent: behind('visitors:read', nullable(Type.String())),
  geo: behind(
    'visitors:read',
    nullable(
      Type.Object(
        { city: nullable(Type.String()), region: nullable(Type.String()) },
        { description: 'In English, where the browser was last seen, if the server has a database of places.' },
      ),
    ),
  ),
  wcEnrichment: behind('visitors:read', nullable(Type.Object({}))),
  contactId: nullable(Id),
  currentPageUrl: behind('visitors:read', nullable(Type.String())),
  blockedAt: nullable(Time),
  firstSeenAt: Time,
  lastSeenAt: Time,
  visitCount: Type.Integer(),
});

export const Contact = Type.Object({
  id: Id,
  name: behind('visitors:read', nullable(Type.String())),
  email: behind('visitors:read', nullable(Type.String())),
  phone: behind('visitors:read', nullable(Type.String())),
  company: behind('visitors:read', nullable(Type.String())),
  tags: Type.Array(Type.String()),
  customFields: behind('visitors:read', Type.Object({})),
  lifetimeValueCents: Type.Integer(),
  note: behind('visitors:read', nullable(Type.String())),
  firstSeenAt: Time,
  lastSeenAt: Time,
  createdAt: Time,
});

/** A visitor as its own browser sees it. */
export const VisitorSelf = Type.Object({
  id: Id,
  siteId: Id,
  name: nullable(Type.String()),
  email: nullable(Type.String()),
  firstSeenAt: Time,
  lastSeenAt: Time,
  visitCount: Type.Integer(),
});
export const CustomerConversation = Type.Object({
  ...CustomerView.properties,
  rating: nullable(Type.Integer()),
});

/** An event as sockets receive it. */
export const StoredEvent = Type.Object({
  seq: Type.Integer(),
  type: Type.String(),
  at: Time,
  conversationId: nullable(Id),
  data: Type.Object({}),
});

export const Read = Type.Object({
  conversationId: Id,
  senderType: Type.Enum(['visitor', 'agent'], { description: 'The author of the messages that were read.' }),
  readUpTo: Type.String({ format: 'date-time', description: 'Messages up to this time are read.' }),
  readAt: Time,
  count: Type.Integer({ description: 'The number of messages that became read.' }),
});

export const KbJob = Type.Object({
  id: Id,
  workspaceId: Id,
  kind: Type.Enum(['url']),
  status: Type.Enum(['queued', 'running', 'done', 'failed']),
  input: Type.Object({ url: Type.String(), maxPages: Type.Integer(), maxDepth: Type.Integer() }),
  startedAt: nullable(Time),
  finishedAt: nullable(Time),
  error: nullable(Type.String({ description: 'Why it failed.' })),
  stats: nullable(
    Type.Object({
      pagesFetched: Type.Integer(),
      pagesSkipped: Type.Integer({
        description:
          'Pages that were missing, not HTML or text, duplicates, disallowed by robots.txt, too large or not public.',
      }),
      documents: Type.Integer(),
      chunks: Type.Integer(),
      bytes: Type.Integer(),
      pagesLeft: Type.Optional(
        Type.Integer({
          description:
            'Addresses of the site that were found but not requested: while the crawl runs, those that wait; ' +
            'afterwards, those that `maxPages` and `maxDepth` excluded. ' +
            'Omitted for crawls from before this was counted.',
        }),
      ),
      skipped: Type.Optional(
        Type.Array(Type.Object({ url: Type.String(), reason: Type.String() }), {
          description: 'The first ten addresses that should have been pages but were not, with the reason.',
        }),
      ),
    }),
  ),
  createdByAgentId: Id,
  createdAt: Time,
});

export const Locale = Type.String({
  minLength: 2,
  maxLength: 16,
  pattern: worded('^[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*$', 'a language, such as en or pt-BR'),
  description: 'A BCP 47 tag, such as en or pt-BR.',
});

/** A condition on the address of a page. */
export const UrlMatch = Type.Object({
  operator: Type.Enum(['contains', 'equals', 'starts-with', 'ends-with', 'regex']),
  value: Type.String({
    minLength: 1,
    maxLength: 500,
    description:
      'Case-sensitive, except for the host; characters are compared in decoded form (`/café`). ' +
      '`equals` and `ends-with` ignore tracking parameters, a fragment and a trailing slash of the path, ' +
      'unless the value contains them. ' +
      'A regex uses RE2 syntax and matches anywhere in the address.',
  }),
});

export const CampaignFrequency = Type.Enum(['once', 'session', 'always'], {
  description: 'How often one visitor sees it. A session ends after 30 minutes without a page view.',
});

const quickReply = { label: line(80), action: Type.Enum(['start-chat', 'dismiss', 'navigate']) };
const quickReplyValue = { value: Type.String({ maxLength: 2048, description: 'The target of `navigate`.' }) };
const quickReplies = <Reply extends TSchema>(reply: Reply) => Type.Array(reply, { maxItems: 3 });
const speaker = { agentName: Name, agentAvatarUrl: Url };
const campaignBody = prose(2000);
export const CampaignContent = Type.Object({
  body: campaignBody,
  ...Type.Partial(
    Type.Object({
      ...speaker,
      quickReplies: quickReplies(
        Type.Object({ ...quickReply, ...Type.Partial(Type.Object(quickReplyValue)).properties }),
      ),
    }),
  ).properties,
});
export const CampaignContentInput = Type.Object({
  body: campaignBody,
  ...clearable({
    ...speaker,
    quickReplies: quickReplies(Type.Object({ ...quickReply, ...clearable(quickReplyValue) })),
  }),
});

export const GoalCompletion = Type.Object({
  id: Id,
  goalId: Id,
  goalName: Type.String(),
  url: Type.String(),
  valueCents: nullable(Type.Integer()),
  completedAt: Time,
  visitorId: Id,
  conversationId: nullable(Id),
  attributedAgentId: nullable(Id),
  attributedAgentName: nullable(Type.String()),
});

/** A conversation in a customer's history. */
export const HistoryItem = Type.Object({
  id: Id,
  type: Channel,
  status: ConversationStatus,
  preview: behind('messages:read', nullable(Type.String())),
  callDirection: nullable(Type.Enum(['inbound'])),
  callPeerE164: nullable(Type.String()),
  agentName: nullable(Type.String({ description: 'The assignee, or the last one.' })),
  startedAt: Time,
  endedAt: nullable(Time),
  durationSec: nullable(
    Type.Integer({
      description: 'For calls, the talk time; otherwise the time until it was solved; null before that.',
    }),
  ),
  rating: nullable(Type.Integer()),
});

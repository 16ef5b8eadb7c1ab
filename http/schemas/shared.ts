// Schemas that more than one route uses. Validation, the handlers' types and the documents are derived from them.

import Type, { type TNull, type TOptional, type TSchema, type TUnion } from 'typebox';
import { linePattern, textPattern, visiblePattern } from '../../engine/lines.ts';
import { CallEventView, CallView } from '../../store/calls/records.ts';
import { mostCounted } from '../../store/conversations/queue-counts.ts';
import {
  Channel,
  ConversationStatus,
  ConversationView,
  CustomerConversation as CustomerView,
  MessageView,
  MessageMail as StoredMail,
} from '../../store/conversations/records.ts';
import { ContactRecord, VisitorRecord } from '../../store/customers/records.ts';
import { Id, nullable, Time, Version } from '../../store/record.ts';
import { worded } from './field-words.ts';
import { behind, behindEach } from './scoped-members.ts';

export { Attachment, Channel, ConversationStatus, Handshake, Threading } from '../../store/conversations/records.ts';
export { VisitorSelf } from '../../store/customers/records.ts';
export { MailAuthentication } from '../../store/mail/records.ts';
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

/** Of a saved view. */
export const ViewSort = Type.Enum(['newest', 'oldest', 'longest_waiting'], {
  default: 'newest',
  description:
    '`newest` and `oldest` go by `createdAt`. `longest_waiting` goes by `waitingSince`, oldest first; ' +
    'conversations that do not wait for an answer follow, oldest first.',
});
/** Of the list of open and pending conversations. */
export const QueueSort = Type.Enum(
  ['newest', 'oldest', 'longest_waiting', 'activity', 'oldest_activity', 'created', 'waiting'],
  {
    default: 'newest',
    description:
      '`newest` and `oldest` go by `createdAt`. `longest_waiting` goes by `waitingSince`, oldest first; ' +
      'conversations that do not wait for an answer follow, oldest first. `activity` goes by `lastMessageAt`, newest first, ' +
      '`oldest_activity` oldest first. ' +
      '`created` is `newest`, and `waiting` is `longest_waiting`.',
  },
);
export const QueueFilter = Type.Object({
  channel: Type.Optional(Channel),
  departmentId: Type.Optional(Id),
  assigneeId: Type.Optional(
    Type.Union([Id, Type.Literal('none')], { description: "An agent's id, or `none` for unassigned conversations." }),
  ),
  siteId: Type.Optional(Id),
  tag: Type.Optional(Type.String({ minLength: 1, maxLength: 50, description: 'Case is ignored.' })),
});

const Count = Type.Integer({ minimum: 0, maximum: mostCounted, description: `Counted as far as ${mostCounted}.` });
/** Of the lists of open and pending conversations. */
export const QueueCounts = Type.Object({
  mine: Type.Integer({ ...Count, description: "The agent's own, and those offered to it." }),
  unassigned: Count,
  all: Count,
  unread: Type.Integer({
    ...Count,
    description: 'Those of `mine` that have an agent and unread messages of the customer.',
  }),
  waiting: Type.Integer({
    ...Count,
    description: 'Open chats and tickets that no agent has and whose customer waits for an answer.',
  }),
  waitingCalls: Type.Integer({ ...Count, description: 'Open calls that no agent has.' }),
  offered: Type.Integer({ ...Count, description: 'Those with a pending offer to the agent.' }),
  channels: Type.Array(Type.Object({ channel: Channel, count: Count }), {
    description: 'The channels that the agent works in.',
  }),
  departments: Type.Array(Type.Object({ departmentId: Id, count: Count }), {
    description: 'The departments that the agent sees all of.',
  }),
  views: Type.Array(
    Type.Object({
      viewId: Id,
      count: nullable(Type.Integer({ ...Count, description: 'Null if it would take too long to count.' })),
    }),
  ),
});

export const Agent = Type.Object({
  id: Id,
  email: Email,
  name: Type.String(),
  publicName: nullable(
    Type.String({ description: 'The name by which customers know the agent; null: its first name.' }),
  ),
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

export const Conversation = Type.Object({
  ...ConversationView.properties,
  ...behindEach('visitors:read', Type.Pick(ConversationView, ['copiedTo']).properties),
  ...behindEach('messages:read', Type.Pick(ConversationView, ['ratingComment', 'preview']).properties),
});

/** In lists of conversations. */
export const ListedConversation = Type.Object({
  ...Conversation.properties,
  customerName: behind(
    'visitors:read',
    nullable(
      Type.String({
        description:
          "The visitor's name, else its contact's, else an email address or a phone number. " +
          'Null if none is known, such as for a withheld number. Events do not carry it.',
      }),
    ),
  ),
});

export const E164 = Type.String({
  minLength: 8,
  maxLength: 16,
  pattern: worded('^\\+[1-9]\\d{6,14}$', 'a phone number, such as +14155550123'),
  description: 'A phone number, such as +14155550123.',
});

export const CallEvent = Type.Object({
  ...CallEventView.properties,
  ...behindEach('visitors:read', Type.Pick(CallEventView, ['fromE164']).properties),
  ...behindEach('messages:read', Type.Pick(CallEventView, ['recordingUrl']).properties),
});

export const Call = Type.Object({
  ...CallView.properties,
  ...behindEach('visitors:read', Type.Pick(CallView, ['fromE164', 'callerName']).properties),
  events: Type.Array(CallEvent, { description: 'The timeline.' }),
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
  visitorId: nullable(Id),
  visitorName: behind('visitors:read', nullable(Type.String())),
  visitorEmail: behind('visitors:read', nullable(Type.String())),
  visitorPhoneE164: behind('visitors:read', nullable(Type.String())),
  tags: Type.Array(Type.String()),
});

export const ConversationAnswer = Type.Object({ conversation: Conversation });

export const AttachmentInput = Type.Object({
  url: Url,
  name: Type.Optional(Type.String({ maxLength: 500 })),
  size: Type.Optional(Type.Integer({ minimum: 0 })),
});

export const MessageMail = Type.Object(
  {
    ...StoredMail.properties,
    ...behindEach('visitors:read', Type.Pick(StoredMail, ['from', 'to', 'copiedTo', 'delayed']).properties),
  },
  {
    description:
      'For messages received or sent as mail; ' +
      'otherwise null. `authentication` is null for sent mail and for mail received through the webhook.',
  },
);
export const Message = Type.Object({ ...MessageView.properties, mail: nullable(MessageMail) });

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
export const chosenId = (what: string) =>
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
  onlineMessage: Type.String(),
  awayMessage: Type.String(),
  closedMessage: Type.String(),
  theme: Type.Enum(['auto', 'light', 'dark']),
  logoUrl: nullable(Type.String()),
  launcherSidePx: Type.Integer(),
  launcherBottomPx: Type.Integer(),
  hiddenOnPhones: Type.Boolean(),
  assistantTurns: Type.Integer({
    description: 'Answers that the assistant gives in a chat by itself before an agent takes over; 0: none.',
  }),
  businessHoursOverride: nullable(WeeklyHours),
  allowedOrigins: Type.Array(Type.String()),
  lastSeenAt: nullable(Time),
  lastSeenHost: nullable(Type.String({ description: 'The host on which a page last showed the widget.' })),
  refusedHosts: Type.Array(Type.Object({ host: Type.String(), at: Time }), {
    description: 'The last 20 hosts whose pages asked for the widget and are not allowed, newest first.',
  }),
  createdAt: Time,
});

export const SiteForAgents = Type.Object({
  ...Site.properties,
  identitySecret: behind(
    '*',
    Type.String({
      description:
        'For admins: the key with which your server signs the email of a customer whom it has signed in ' +
        "(`Switchboard.identify({email, signature})`), so that no one else can pass that customer's address off as theirs.",
    }),
  ),
});

export const Visitor = Type.Object({
  ...VisitorRecord.properties,
  ...behindEach(
    'visitors:read',
    Type.Pick(VisitorRecord, [
      'email',
      'name',
      'phoneE164',
      'ip',
      'country',
      'userAgent',
      'locale',
      'geo',
      'wcEnrichment',
      'currentPageUrl',
    ]).properties,
  ),
});

export const Contact = Type.Object({
  ...ContactRecord.properties,
  ...behindEach(
    'visitors:read',
    Type.Pick(ContactRecord, ['name', 'email', 'emails', 'phone', 'company', 'customFields', 'note']).properties,
  ),
});

export const AvailabilityState = Type.Enum(['online', 'away', 'closed'], {
  description: '`closed`: outside of office hours; `away`: within them, with no agent available.',
});
export const NextOpenAt = nullable(
  Type.String({ description: 'When office hours begin again; null while they are open, or if unknown.' }),
);
/** In whole seconds. */
export const ReplyTimeSeconds = nullable(
  Type.Integer({
    description:
      "The median time to the first answer in the site's chats of the last seven days, at most a minute old; null below ten.",
  }),
);
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

export const Move = Type.Object({
  fromConversationId: Id,
  toConversationId: Id,
  count: Type.Integer({ description: 'The number of messages that moved.' }),
});

export const KbJob = Type.Object({
  id: Id,
  workspaceId: Id,
  kind: Type.Enum(['url', 'file']),
  status: Type.Enum(['queued', 'running', 'done', 'failed']),
  input: Type.Object({
    url: Type.String(),
    maxPages: Type.Integer(),
    maxDepth: Type.Integer(),
    fileName: nullable(Type.String({ description: 'Of an uploaded file.' })),
  }),
  startedAt: nullable(Time),
  finishedAt: nullable(Time),
  error: nullable(Type.String({ description: 'Why it failed.' })),
  stats: nullable(
    Type.Object({
      pagesFetched: Type.Integer(),
      pagesSkipped: Type.Integer({
        description:
          'Pages that were missing, not HTML or text, duplicates, disallowed by robots.txt, marked as not to be indexed, too large or not public.',
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
          description: 'The first fifty addresses that should have been pages but were not, with the reason.',
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

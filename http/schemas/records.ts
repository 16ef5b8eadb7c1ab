// Records that only one area uses, as its routes return them. They are here, not next to their routes, so that the
// pages can use their types without knowing the engine. Values from a list of the engine are plain text here; the route
// narrows them.

import Type from 'typebox';
import { worded } from './field-words.ts';
import {
  CampaignContent,
  CampaignFrequency,
  clearable,
  Id,
  Locale,
  nullable,
  OpeningHours,
  QueueFilter,
  Time,
  UrlMatch,
  Version,
  ViewSort,
  WeeklyHours,
} from './shared.ts';

export { ImportJobView as ImportJob } from '../../store/imports/jobs.ts';

export const Workspace = Type.Object({
  id: Id,
  name: Type.String(),
  timezone: Type.String(),
  locale: Type.String(),
  emailDomainId: nullable(Id),
  emailDomainStatus: nullable(Type.String()),
  awayAfterMinutes: Type.Number({
    minimum: 0,
    maximum: 240,
    description:
      "Minutes after an available agent's last socket closes until it is set to away; fractions are allowed, 0 means never.",
  }),
  unseenMailMinutes: Type.Number({
    minimum: 0,
    maximum: 1440,
    description:
      "Minutes after which agents' messages in a chat are mailed to a customer who has not seen them and has no page open; " +
      'fractions are allowed, 0 means never.',
  }),
  assignOnReply: Type.Boolean({
    description: 'Whether an agent who answers an unassigned chat or ticket is assigned to it.',
  }),
  requireSecondFactor: Type.Boolean({
    description:
      'Whether every agent needs a second factor: an agent without one has to set it up at its next sign-in, ' +
      'before anything else, and within a week in any case.',
  }),
});
export const WorkspaceSettings = Type.Object({
  routing: Type.Object({
    mode: Type.Enum(['auto', 'manual']),
    maxOpenChatsPerAgent: Type.Integer({ minimum: 1, maximum: 1000 }),
  }),
  autoCloseDays: Type.Number({
    minimum: 0,
    maximum: 3650,
    description: 'Days after which solved conversations close; fractions are allowed.',
  }),
  csatEnabled: Type.Boolean(),
  defaultDepartmentId: nullable(Id),
});
export const Department = Type.Object({
  id: Id,
  name: Type.String(),
  memberIds: Type.Array(Id),
  isDefault: Type.Boolean(),
  createdAt: Time,
});
export const BusinessHours = Type.Object({
  id: Id,
  name: Type.String(),
  days: Type.Array(OpeningHours),
  holidays: Type.Array(Type.String({ format: 'date' })),
  siteId: nullable(Id),
  departmentId: nullable(Id),
  createdAt: Time,
});
export const OfficeHours = Type.Object({
  officeHoursOpen: Type.Boolean(),
  nextChange: nullable(
    Type.String({
      description: "ISO 8601 with the UTC offset of the workspace's time zone; null if nothing changes within a year.",
    }),
  ),
});
export const OfficeHoursNow = Type.Object({
  workspace: OfficeHours,
  sites: Type.Array(Type.Object({ siteId: Id, ...OfficeHours.properties })),
  departments: Type.Array(Type.Object({ departmentId: Id, ...OfficeHours.properties })),
});
export const AuditEntry = Type.Object({
  id: Id,
  actorAgentId: nullable(Id),
  action: Type.String(),
  targetKind: Type.String(),
  targetId: nullable(Type.String()),
  before: nullable(Type.Object({})),
  after: nullable(Type.Object({})),
  context: nullable(Type.Object({})),
  createdAt: Time,
});
export const Integrations = Type.Object({
  inboundEmail: Type.Object({
    address: Type.String({ description: "The workspace's own mail address." }),
    secret: Type.String({ description: 'The key for X-Signature of POST /email/inbound.' }),
  }),
  carrier: Type.Object({
    secret: Type.String({ description: 'The key for X-Signature of POST /carrier/events.' }),
  }),
});
export const Commerce = Type.Object({
  url: nullable(Type.String()),
  secret: nullable(Type.String()),
  source: nullable(Type.String()),
});

export const Port = Type.Integer({ minimum: 1, maximum: 65_535 });
export const MailSecurity = Type.Enum(['starttls', 'tls', 'none'], {
  description:
    '`starttls` (mostly port 587) and `tls` (465) send nothing unencrypted; `none` takes no username, for a server on your own network.',
});
export const MailServer = Type.Object({
  source: Type.Enum(['environment', 'workspace', 'none'], {
    description:
      '`environment`: the operator chose for every workspace. `none`: mail is kept in files on the server, and not sent.',
  }),
  host: nullable(Type.String()),
  port: nullable(Port),
  security: nullable(MailSecurity),
  username: nullable(Type.String()),
  hasPassword: Type.Boolean(),
  fromAddress: nullable(Type.String()),
});

const AiTokens = Type.Integer({ minimum: 0 });
export const AiModel = Type.Object({
  source: Type.Enum(['environment', 'workspace', 'none'], {
    description: '`environment`: the operator decides for every workspace. `none`: an admin can name a model.',
  }),
  isReady: Type.Boolean({ description: 'Whether there is a model to ask.' }),
  url: nullable(Type.String()),
  model: nullable(Type.String()),
  hasKey: Type.Boolean(),
  tokensPerDay: nullable(AiTokens),
  usage: Type.Array(
    Type.Object({
      day: Type.String({ format: 'date', description: 'In UTC.' }),
      requests: Type.Integer({ minimum: 0 }),
      tokensIn: AiTokens,
      tokensOut: AiTokens,
    }),
    { description: 'The days of the last thirty on which it was used, newest first.' },
  ),
});
export const AiSource = Type.Object({
  title: Type.String(),
  url: nullable(Type.String()),
  documentId: Id,
});
export const ListedAiRequest = Type.Object({
  id: Id,
  kind: Type.Enum(['draft', 'summary', 'rewrite', 'test', 'answer'], {
    description: '`answer`: given to a customer by the assistant itself.',
  }),
  conversationId: nullable(Id),
  agentId: nullable(Type.String({ format: 'uuid', description: 'Null if the assistant asked by itself.' })),
  model: Type.String(),
  sources: Type.Array(AiSource),
  problem: nullable(Type.String({ description: 'Why there was no usable answer.' })),
  tokensIn: AiTokens,
  tokensOut: AiTokens,
  createdAt: Time,
});
export const AiRequest = Type.Object({
  ...ListedAiRequest.properties,
  prompt: Type.Object({ system: Type.String(), user: Type.String() }),
  answer: nullable(Type.String()),
});

export const CampaignStatus = Type.Enum(['draft', 'live', 'paused', 'archived']);
const triggers = {
  urlMatch: UrlMatch,
  showAfterMs: Type.Integer({ minimum: 0, maximum: 600_000, default: 0 }),
  exitIntent: Type.Boolean({ default: false }),
  scrollDepthPct: Type.Integer({ minimum: 0, maximum: 100, default: 0 }),
  frequency: CampaignFrequency,
  officeHoursOnly: Type.Boolean({ default: false }),
};
export const TriggerRules = Type.Partial(Type.Object(triggers));
export const TriggerRulesInput = Type.Object(clearable(triggers));
export const Campaign = Type.Object({
  id: Id,
  name: Type.String(),
  status: CampaignStatus,
  triggerRules: TriggerRules,
  content: CampaignContent,
  stats: Type.Object(
    { impressions: Type.Integer(), clicks: Type.Integer(), startedChats: Type.Integer() },
    { description: 'Covers the last 30 days, in UTC days.' },
  ),
  createdAt: Time,
  updatedAt: Time,
});
export const GoalStatus = Type.Enum(['active', 'paused', 'archived']);
export const Goal = Type.Object({
  id: Id,
  name: Type.String(),
  condition: UrlMatch,
  valueCents: nullable(Type.Integer()),
  status: GoalStatus,
  createdAt: Time,
});
export const ReplyChannel = Type.Enum(['chat', 'ticket']);
export const ReplyScope = Type.Enum(['workspace', 'personal']);
export const SavedReply = Type.Object({
  id: Id,
  version: Version,
  shortcut: Type.String(),
  title: Type.String(),
  body: Type.String(),
  channels: Type.Array(ReplyChannel),
  scope: ReplyScope,
  createdByAgentId: Id,
  createdAt: Time,
});

export const ViewScope = Type.Enum(['own', 'team'], {
  default: 'own',
  description: '`own`: only its author sees it. `team`: every agent does.',
});
/** Of open conversations, for whoever looks at the view. */
export const ViewFilter = Type.Object(
  {
    ...QueueFilter.properties,
    assigneeId: Type.Optional(
      Type.Union([Id, Type.Literal('none'), Type.Literal('me')], {
        description:
          "An agent's id, `none` for unassigned conversations, or `me` for those of whoever looks at the view.",
      }),
    ),
  },
  {
    description:
      'Filters of `GET /conversations/queue`; a conversation matches all of them. ' +
      'An id that no longer exists matches nothing.',
  },
);
export const View = Type.Object({
  id: Id,
  name: Type.String(),
  scope: ViewScope,
  filter: ViewFilter,
  sort: ViewSort,
  createdByAgentId: Id,
  createdAt: Time,
  updatedAt: Time,
});

const Language = Type.String({ description: 'ISO 639-1.' });
export const KbDocument = Type.Object({
  id: Id,
  sourceType: Type.Enum(['url', 'article', 'file'], {
    description: '`article`: the text of a published article. `file`: an uploaded file.',
  }),
  sourceUrl: nullable(Type.String()),
  fileName: nullable(Type.String({ description: 'Of an uploaded file.' })),
  title: Type.String(),
  byteSize: Type.Integer(),
  chunkCount: Type.Integer({ description: '0 until it is embedded by the model in use.' }),
  embeddingModel: nullable(Type.String({ description: 'Opaque. Null until it is embedded by the model in use.' })),
  articleId: nullable(Id),
  language: nullable(Language),
  ingestedAt: Time,
});
const chunkPlace = {
  headings: Type.Array(Type.String(), { description: 'The headings above it, from the outermost to its own.' }),
  anchor: nullable(Type.String({ description: 'Of its section on the page.' })),
};
export const KbChunk = Type.Object({
  chunkId: Id,
  documentId: Id,
  chunkIndex: Type.Integer(),
  sourceUrl: nullable(Type.String()),
  url: nullable(
    Type.String({
      description:
        'Leads to its section, or to the article in the help centre. Null for files, and for articles without a help centre.',
    }),
  ),
  articleId: nullable(Id),
  title: Type.String(),
  language: nullable(Language),
  ...chunkPlace,
  text: Type.String({ description: "Markdown, beginning with the section's heading." }),
  score: Type.Number({
    minimum: 0,
    maximum: 1,
    description:
      'How likely it answers the query, from its words and its meaning. ' +
      'Below the `threshold` of the reply, it probably answers something else.',
  }),
  similarity: Type.Number({ description: 'Cosine similarity of the embeddings, -1 to 1.' }),
  neighbours: Type.Array(Type.Object({ chunkId: Id, chunkIndex: Type.Integer(), ...chunkPlace, text: Type.String() }), {
    description: 'Chunks before and after it in the same document, in order, as many as the request asks for.',
  }),
});
export const KbSettings = Type.Object({
  threshold: Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'The score from which a chunk counts as an answer.',
  }),
  helpCentre: Type.Boolean({
    description: 'Whether published articles are shown to everyone at `helpCentreUrl`.',
  }),
  helpCentreUrl: Type.String({ description: 'At `helpHost`, if there is one.' }),
  helpHost: nullable(
    Type.String({
      maxLength: 253,
      description:
        'A host of your own that shows the help centre, such as help.shop.example. ' +
        'It leads to this server, and has the TXT record that `helpHostProof` names.',
    }),
  ),
  helpHostProof: Type.String({
    description:
      'The text of the TXT record `_switchboard.{host}`, by which its owner says whose help centre it shows.',
  }),
  helpLogoUrl: nullable(Type.String({ description: 'Null for the logo of the oldest site.' })),
  helpColour: nullable(Type.String({ description: 'Null for the colour of the oldest site.' })),
});
export const FruitlessSearch = Type.Object({
  words: Type.String({ description: 'Without case and accents.' }),
  count: Type.Integer(),
  lastAt: Time,
});
export const KbModels = Type.Object({
  searched: nullable(
    Type.String({ description: 'The name of the model that searches now; null before the first document.' }),
  ),
  chosen: Type.String({ description: 'The name of the model that was chosen, or else of the service.' }),
  problem: nullable(Type.String({ description: 'Why the last choice was taken back.' })),
  documents: Type.Integer(),
  embedded: Type.Integer({ description: 'Documents that the chosen model has embedded; it searches once it has all.' }),
  models: Type.Array(
    Type.Object({
      name: Type.String({ description: '`builtin` needs no download.' }),
      languages: Type.Enum(['multilingual', 'english', 'unknown']),
      byteSize: nullable(Type.Integer({ description: 'About, of the download.' })),
      state: Type.Enum(['available', 'downloadable', 'downloading', 'failed']),
      progress: nullable(Type.Number({ description: 'Of the download, 0 to 1.' })),
      error: nullable(Type.String({ description: 'Why the download failed.' })),
    }),
  ),
});
export const ArticleStatus = Type.Enum(['draft', 'published']);
export const ArticleSlug = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: worded(
    '^[\\p{L}\\p{N}][\\p{L}\\p{M}\\p{N}]*(?:-[\\p{L}\\p{M}\\p{N}]+)*$',
    'letters and digits joined by hyphens, such as opening-hours',
  ),
  description: 'Its address in the help centre. Translations of an article share one.',
});
export const Article = Type.Object({
  id: Id,
  version: Version,
  title: Type.String(),
  body: Type.String({ description: 'Markdown.' }),
  status: ArticleStatus,
  slug: ArticleSlug,
  language: nullable(Locale),
  collection: nullable(Type.String({ description: 'The articles that it stands among in the help centre.' })),
  sourceDocumentId: nullable(Id),
  helpfulCount: Type.Integer({ description: 'Readers of the help centre who said that it helped.' }),
  unhelpfulCount: Type.Integer(),
  createdAt: Time,
  updatedAt: Time,
});

export const RoutingStrategy = Type.Enum(['all_agents', 'department', 'specific_agent']);
export const NumberStatus = Type.Enum(['active', 'released']);
export const PhoneNumber = Type.Object({
  id: Id,
  e164: Type.String(),
  displayName: Type.String(),
  provider: Type.String(),
  providerDidId: Type.String(),
  routingStrategy: RoutingStrategy,
  routingTargetId: nullable(Id),
  lostTarget: nullable(
    Type.Object(
      { strategy: Type.Enum(['department', 'specific_agent']), name: nullable(Type.String()), at: Time },
      {
        description:
          'The previous target, if that department was deleted, or that agent left or stopped taking calls: ' +
          'the number rings all agents since. ' +
          'Null once its routing is set.',
      },
    ),
  ),
  voicemailEnabled: Type.Boolean(),
  recordingEnabled: Type.Boolean(),
  smartHoldEnabled: Type.Boolean(),
  voiceProfileId: nullable(Id),
  businessHours: nullable(WeeklyHours),
  welcomeAudioUrl: nullable(Type.String()),
  status: NumberStatus,
  createdAt: Time,
  releasedAt: nullable(Time),
});
export const AvailableNumber = Type.Object({
  e164: Type.String(),
  monthlyCost: Type.String({ description: 'US dollars.' }),
  locality: Type.String(),
});
export const VoiceProfile = Type.Object({
  id: Id,
  name: Type.String(),
  greetingText: Type.String(),
  voice: Type.String(),
  createdAt: Time,
});

export const DnsRecord = Type.Object({
  type: Type.Enum(['MX', 'TXT', 'CNAME']),
  name: Type.String(),
  value: Type.String(),
  priority: Type.Optional(Type.Integer({ description: 'For MX only.' })),
  status: Type.Enum(['pending', 'verified'], {
    description: 'Whether the record is found. A CNAME may also be answered with the addresses it resolves to.',
  }),
  required: Type.Boolean({
    description:
      'Whether verification requires this record. MX is not required: mail for the domain may be forwarded here instead.',
  }),
});
export const EmailDomain = Type.Object({
  id: Id,
  name: Type.String(),
  status: Type.Enum(['pending', 'verified'], { description: '`verified` once every required record is found.' }),
  records: Type.Array(DnsRecord, {
    description:
      "Add these to the domain's DNS. An existing SPF record only needs our `a:` term, " +
      'or nothing if the bounce name gets its SPF record through its CNAME.',
  }),
  lastCheckedAt: nullable(Time),
  pollUntil: Type.String({
    format: 'date-time',
    description: 'The records are looked up until then; registering again restarts the seven days.',
  }),
});
export const InboundAddress = Type.Object({
  address: Type.String(),
  kind: Type.Enum(['auto', 'subdomain', 'custom'], {
    description:
      "`auto`: the workspace's own; `subdomain`: at its subdomain; `custom`: " +
      'at its verified domain (which accepts mail for every address).',
  }),
  localPart: Type.String(),
  departmentId: nullable(Id),
});
export const Suppression = Type.Object({
  email: Type.String(),
  reason: Type.Enum(['bounce', 'rejected']),
  createdAt: Time,
});

export const PlanId = Type.Enum(['chat', 'support', 'business', 'enterprise']);
export const Addon = Type.Enum(['ai']);
export const BillingInterval = Type.Enum(['monthly', 'annual']);
const BillingSource = Type.Enum(['local', 'stripe', 'marketplace']);
export const Subscription = Type.Object({
  id: Id,
  plan: PlanId,
  addons: Type.Array(Addon),
  status: Type.Enum([
    'trialing',
    'active',
    'past_due',
    'unpaid',
    'paused',
    'incomplete',
    'incomplete_expired',
    'canceled',
  ]),
  billingInterval: BillingInterval,
  billingSource: BillingSource,
  currentPeriodStart: Time,
  currentPeriodEnd: Time,
  cancelAtPeriodEnd: Type.Boolean(),
  createdAt: Time,
});
export const Standing = Type.Object({
  subscription: nullable(Subscription),
  planId: PlanId,
  locked: Type.Boolean({
    description:
      'The trial is over, or the subscription has ended or is unpaid: every feature returns `feature_locked`. ' +
      'No data is lost; choosing a plan restores access.',
  }),
  daysLeftInTrial: nullable(Type.Integer({ minimum: 0 })),
  addons: Type.Array(Addon),
  billingSource: nullable(BillingSource),
  entitlements: Type.Object({
    features: Type.Array(Type.String()),
    seats: Type.Object({ limit: nullable(Type.Integer()), taken: Type.Integer() }),
  }),
});
export const Invoice = Type.Object({
  id: Type.String(),
  number: nullable(Type.String()),
  status: Type.String(),
  amountCents: Type.Integer({ description: "In the currency's smallest unit." }),
  currency: Type.String(),
  periodStart: Time,
  periodEnd: Time,
  hostedUrl: nullable(Type.String()),
  createdAt: Time,
});

export const ApiKey = Type.Object({
  id: Id,
  name: Type.String(),
  prefix: Type.String({ description: 'The first characters of the key.' }),
  scopes: Type.Array(Type.String()),
  createdAt: Time,
  lastUsedAt: nullable(Time),
});
export const OAuthApp = Type.Object({
  id: Id,
  clientId: Type.String(),
  name: Type.String(),
  redirectUris: Type.Array(Type.String()),
  scopes: Type.Array(Type.String()),
  public: Type.Boolean({ description: 'A public app has no secret and must use PKCE.' }),
  status: Type.Enum(['development', 'live'], {
    description: '`development`: usable only in its own workspace, until the operator lists it in OAUTH_LIVE_APPS.',
  }),
  createdAt: Time,
});
export const OAuthGrant = Type.Object({
  id: Id,
  agentId: Type.String({ format: 'uuid', description: 'The agent who gave consent.' }),
  clientId: Type.String(),
  appName: Type.String(),
  scopes: Type.Array(Type.String()),
  createdAt: Time,
  lastUsedAt: nullable(Type.String({ format: 'date-time', description: 'Accurate to the minute.' })),
});
export const Webhook = Type.Object({
  id: Id,
  url: Type.String(),
  events: Type.Array(Type.String()),
  description: nullable(Type.String()),
  status: Type.Enum(['active', 'disabled'], {
    description:
      '`disabled`: the receiver accepted nothing for five days, answered 410, or it was disabled by request.',
  }),
  pausedReason: nullable(
    Type.Enum(['admin_left', 'key_revoked', 'app_not_allowed'], {
      description:
        'Why an active webhook sends nothing: `agentId` is no longer an admin, the key that created it was revoked, ' +
        'or `agentId` no longer allows the app to subscribe. ' +
        'Whoever saves it again becomes responsible for it.',
    }),
  ),
  agentId: nullable(Type.String({ format: 'uuid', description: 'The admin whose rights the webhook uses.' })),
  clientId: nullable(Type.String({ description: "The app that subscribed; null for the workspace's own webhooks." })),
  createdAt: Time,
});
export const Delivery = Type.Object({
  id: Id,
  event: Type.String(),
  status: Type.Enum(['pending', 'delivered', 'failed']),
  attempts: Type.Integer(),
  lastAnswer: nullable(Type.String({ description: "The receiver's status, or why there was none." })),
  lastAttemptAt: nullable(Time),
  nextAttemptAt: nullable(
    Type.String({
      format: 'date-time',
      description: 'Earliest time of the next attempt; it waits for earlier events of its conversation.',
    }),
  ),
  deliveredAt: nullable(Time),
  createdAt: Time,
});

export const FullDelivery = Type.Object({
  ...Delivery.properties,
  payload: Type.Optional(
    Type.Object(
      {},
      {
        description:
          'The body that is sent, limited to what the reader may see; omitted if that is nothing, or if it is no longer stored.',
      },
    ),
  ),
  responseBody: Type.Optional(
    nullable(
      Type.String({
        description:
          "The first 1 KiB of the receiver's last answer. Omitted for readers who may not see the whole payload.",
      }),
    ),
  ),
});

export const VerifyService = Type.Object({
  id: Type.String({ maxLength: 100, description: 'Begins with vs_.' }),
  name: Type.String(),
  enabledChannels: Type.Array(Type.String()),
  allowedCountries: Type.Array(Type.String()),
  perMinuteCap: Type.Integer(),
  perDayCap: Type.Integer(),
  codeLength: Type.Integer(),
  ttlSeconds: Type.Integer(),
  isDefault: Type.Boolean(),
  createdAt: Time,
});
export const Cents = Type.Integer({ minimum: 0, maximum: 1_000_000_000 });
export const VerifyCredits = Type.Object({
  balanceCents: nullable(Type.Integer({ description: 'Null: unmetered.' })),
  spendCapCents: nullable(Cents),
  spentCents: Type.Integer({ description: 'In the current calendar month, UTC.' }),
});
export const SentVerification = Type.Object({
  id: Id,
  status: Type.Enum(['pending', 'verified', 'expired', 'failed']),
  channel: Type.Enum(['email', 'sms', 'voice']),
  to: Type.String(),
  serviceId: Type.String(),
  expiresAt: Time,
  createdAt: Time,
});
export const VerifyFactor = Type.Object({
  factorId: Id,
  serviceId: Type.String(),
  identity: Type.String(),
  lockedUntil: nullable(
    Type.String({ format: 'date-time', description: 'Locked until then after too many wrong codes.' }),
  ),
  createdAt: Time,
});

export const Verification = Type.Object({
  ...SentVerification.properties,
  verified: Type.Boolean(),
  attempts: Type.Integer({ description: 'Wrong codes so far.' }),
  consumedAt: nullable(Time),
});

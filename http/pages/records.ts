// The API's records, typed by the schemas that the service validates with. Types only: no code of the service is
// loaded.

import type { Static, TSchema } from 'typebox';
import type * as mailReading from '../schemas/mail-reading.ts';
import type * as mailWriting from '../schemas/mail-writing.ts';
import type * as records from '../schemas/records.ts';
import type * as reports from '../schemas/reports.ts';
import type * as schemas from '../schemas/shared.ts';

/** A signed-in agent receives every member, including those that a key or an app may lack. */
type Whole<Schema extends TSchema> = Required<Static<Schema>>;

export type Agent = Static<typeof schemas.Agent>;
export type AgentStatus = Static<typeof schemas.AgentStatus>;
export type Role = Static<typeof schemas.Role>;
export type Channel = Static<typeof schemas.Channel>;
export type ConversationStatus = Static<typeof schemas.ConversationStatus>;
export type Conversation = Whole<typeof schemas.Conversation>;
export type ListedConversation = Whole<typeof schemas.ListedConversation>;
export type QueueCounts = Static<typeof schemas.QueueCounts>;
export type Handshake = Static<typeof schemas.Handshake>;
export type Call = Whole<typeof schemas.Call>;
export type Voicemail = Whole<typeof schemas.Voicemail>;
export type CallEvent = Static<typeof schemas.CallEvent>;
export type SearchRow = Whole<typeof schemas.SearchRow>;
export type MessageMail = Whole<typeof schemas.MessageMail>;
export type Message = Omit<Static<typeof schemas.Message>, 'mail'> & { mail: MessageMail | null };
export type Attachment = Static<typeof schemas.Attachment>;
export type Note = Static<typeof schemas.Note>;
export type Read = Static<typeof schemas.Read>;
export type AiModel = Static<typeof records.AiModel>;
export type Site = Static<typeof schemas.Site>;
export type Visitor = Whole<typeof schemas.Visitor>;
export type Contact = Whole<typeof schemas.Contact>;
export type HistoryItem = Whole<typeof schemas.HistoryItem>;
export type ImportJob = Static<typeof records.ImportJob>;
export type KbJob = Static<typeof schemas.KbJob>;
export type UrlMatch = Static<typeof schemas.UrlMatch>;
export type GoalCompletion = Static<typeof schemas.GoalCompletion>;

export type OpeningHours = Static<typeof schemas.OpeningHours>;
export type WeeklyHours = Static<typeof schemas.WeeklyHours>;
export type CampaignContent = Static<typeof schemas.CampaignContent>;
export type CampaignFrequency = Static<typeof schemas.CampaignFrequency>;

/** The members that every mention of it has. */
export type Workspace = Pick<Static<typeof records.Workspace>, 'id' | 'name' | 'timezone' | 'locale'>;
export type WholeWorkspace = Static<typeof records.Workspace>;
export type WorkspaceSettings = Static<typeof records.WorkspaceSettings>;
export type Department = Static<typeof records.Department>;
export type BusinessHours = Static<typeof records.BusinessHours>;
export type OfficeHours = Static<typeof records.OfficeHours>;
export type OfficeHoursNow = Static<typeof records.OfficeHoursNow>;
export type Integrations = Static<typeof records.Integrations>;
export type MailServer = Static<typeof records.MailServer>;
export type Commerce = Static<typeof records.Commerce>;
export type Campaign = Static<typeof records.Campaign>;
export type CampaignStatus = Static<typeof records.CampaignStatus>;
export type TriggerRules = Static<typeof records.TriggerRules>;
export type Goal = Static<typeof records.Goal>;
export type GoalStatus = Static<typeof records.GoalStatus>;
export type SavedReply = Static<typeof records.SavedReply>;
export type Draft = Omit<Static<typeof mailWriting.Draft>, 'mail'> & {
  mail: Whole<typeof mailWriting.Draft.properties.mail>;
};
export type Invitation = Whole<typeof mailReading.Invitations.properties.invitations.items>;
export type OriginalMail = Whole<typeof mailReading.OriginalMail>;
export type Mailbox = Static<typeof mailWriting.Mailbox>;
export type View = Static<typeof records.View>;
export type ReplyChannel = Static<typeof records.ReplyChannel>;
export type ReplyScope = Static<typeof records.ReplyScope>;
export type KbDocument = Static<typeof records.KbDocument>;
export type KbModels = Static<typeof records.KbModels>;
export type KbSettings = Static<typeof records.KbSettings>;
export type KbChunk = Static<typeof records.KbChunk>;
export type Article = Static<typeof records.Article>;
export type FruitlessSearch = Static<typeof records.FruitlessSearch>;
export type RoutingStrategy = Static<typeof records.RoutingStrategy>;
export type PhoneNumber = Static<typeof records.PhoneNumber>;
export type AvailableNumber = Static<typeof records.AvailableNumber>;
export type VoiceProfile = Static<typeof records.VoiceProfile>;
export type DnsRecord = Static<typeof records.DnsRecord>;
export type EmailDomain = Static<typeof records.EmailDomain>;
export type InboundAddress = Static<typeof records.InboundAddress>;
export type Suppression = Static<typeof records.Suppression>;
export type PlanId = Static<typeof records.PlanId>;
export type BillingInterval = Static<typeof records.BillingInterval>;
export type Subscription = Static<typeof records.Subscription>;
export type Standing = Static<typeof records.Standing>;
export type Invoice = Static<typeof records.Invoice>;
export type ApiKey = Static<typeof records.ApiKey>;
export type OAuthApp = Static<typeof records.OAuthApp>;
export type OAuthGrant = Static<typeof records.OAuthGrant>;
export type Webhook = Static<typeof records.Webhook>;
export type Delivery = Static<typeof records.Delivery>;
export type FullDelivery = Static<typeof records.FullDelivery>;
export type VerifyService = Static<typeof records.VerifyService>;
export type VerifyCredits = Static<typeof records.VerifyCredits>;
export type Verification = Static<typeof records.Verification>;
/** Before and after can have any shape. */
export type AuditEntry = Omit<Static<typeof records.AuditEntry>, 'before' | 'after' | 'context'> &
  Readonly<Record<'before' | 'after' | 'context', Readonly<Record<string, unknown>> | null>>;

export type ReportHead = Static<typeof reports.ReportHead>;
export type VolumeReport = Static<typeof reports.VolumeReport>;
export type StatusReport = Static<typeof reports.StatusReport>;
export type ResponseTimesReport = Static<typeof reports.ResponseTimesReport>;
export type SatisfactionReport = Static<typeof reports.SatisfactionReport>;
export type PerformanceReport = Static<typeof reports.PerformanceReport>;
export type CustomersReport = Static<typeof reports.CustomersReport>;
export type ConversionsReport = Static<typeof reports.ConversionsReport>;
/** A point of a chart. */
export type SeriesPoint = VolumeReport['series'][number];

/** An event on an agent's socket, decisions 6. `data` has the complete record. */
export interface LiveEvent {
  readonly seq?: number;
  readonly type: string;
  readonly at?: string;
  readonly conversationId?: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

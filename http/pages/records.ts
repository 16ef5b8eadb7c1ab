// The records that the API answers with, typed by the very schemas that the service validates them with. Nothing of the service
// itself is loaded: these are types alone.

import type { Static } from 'typebox';
import type * as schemas from '../schemas.ts';

export type Agent = Static<typeof schemas.Agent>;
export type AgentStatus = Static<typeof schemas.AgentStatus>;
export type Role = Static<typeof schemas.Role>;
export type Channel = Static<typeof schemas.Channel>;
export type ConversationStatus = Static<typeof schemas.ConversationStatus>;
export type Conversation = Static<typeof schemas.Conversation>;
export type Handshake = Static<typeof schemas.Handshake>;
export type Call = Static<typeof schemas.Call>;
export type Voicemail = Static<typeof schemas.Voicemail>;
export type CallEvent = Static<typeof schemas.CallEvent>;
export type SearchRow = Static<typeof schemas.SearchRow>;
export type Message = Static<typeof schemas.Message>;
export type Attachment = Static<typeof schemas.Attachment>;
export type Note = Static<typeof schemas.Note>;
export type Read = Static<typeof schemas.Read>;
export type Site = Static<typeof schemas.Site>;
export type Visitor = Static<typeof schemas.Visitor>;
export type Contact = Static<typeof schemas.Contact>;
export type HistoryItem = Static<typeof schemas.HistoryItem>;
export type KbJob = Static<typeof schemas.KbJob>;
export type UrlMatch = Static<typeof schemas.UrlMatch>;
export type GoalCompletion = Static<typeof schemas.GoalCompletion>;

export type OpeningHours = Static<typeof schemas.OpeningHours>;
export type WeeklyHours = Static<typeof schemas.WeeklyHours>;
export type CampaignContent = Static<typeof schemas.CampaignContent>;
export type CampaignFrequency = Static<typeof schemas.CampaignFrequency>;

export interface Workspace {
  readonly id: string;
  readonly name: string;
  readonly timezone: string;
  readonly locale: string;
}

export interface Department {
  readonly id: string;
  readonly name: string;
  readonly memberIds: readonly string[];
  readonly isDefault: boolean;
  readonly createdAt: string;
}

/** What an agent's socket is told, decisions 6. `data` holds the whole record that it is about. */
export interface LiveEvent {
  readonly seq?: number;
  readonly type: string;
  readonly at?: string;
  readonly conversationId?: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

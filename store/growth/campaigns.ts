// Campaigns and their results: individual events and counts per day.

import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';

const urlOperators = ['contains', 'equals', 'starts-with', 'ends-with', 'regex'] as const;

/** A condition on the address of a page. */
export interface UrlMatch {
  readonly operator: (typeof urlOperators)[number];
  readonly value: string;
}

export type CampaignStatus = 'draft' | 'live' | 'paused' | 'archived';
export type Frequency = 'once' | 'session' | 'always';

/** As given; engine/growth/campaigns.ts has the defaults. */
export interface TriggerRules {
  readonly urlMatch?: UrlMatch;
  readonly showAfterMs?: number;
  readonly exitIntent?: boolean;
  readonly scrollDepthPct?: number;
  readonly frequency?: Frequency;
  readonly officeHoursOnly?: boolean;
}

export interface QuickReply {
  readonly label: string;
  readonly action: 'start-chat' | 'dismiss' | 'navigate';
  readonly value?: string;
}

export interface CampaignContent {
  readonly body: string;
  readonly agentName?: string;
  readonly agentAvatarUrl?: string;
  readonly quickReplies?: readonly QuickReply[];
}

export interface CampaignRecord {
  readonly id: string;
  readonly name: string;
  readonly status: CampaignStatus;
  readonly triggerRules: TriggerRules;
  readonly content: CampaignContent;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface CampaignStats {
  readonly impressions: number;
  readonly clicks: number;
  readonly startedChats: number;
}

export type CampaignEventType = 'impression' | 'click' | 'dismiss' | 'start-chat';

export interface CampaignEventRecord {
  readonly campaignId: string;
  readonly visitorId: string;
  readonly type: CampaignEventType;
  readonly conversationId: string | null;
  readonly createdAt: string;
}

type Row = Omit<CampaignRecord, 'triggerRules' | 'content'> & { triggerRules: string; content: string };

const fromRow = (row: Row): CampaignRecord => ({
  ...row,
  triggerRules: fromJson(row.triggerRules),
  content: fromJson(row.content),
});
const toRow = (campaign: CampaignRecord): Row => ({
  ...campaign,
  triggerRules: toJson(campaign.triggerRules),
  content: toJson(campaign.content),
});

export function insertCampaign(db: Database, campaign: CampaignRecord): void {
  db.run(
    `INSERT INTO campaign (id, name, status, triggerRules, content, createdAt, updatedAt)
     VALUES (@id, @name, @status, @triggerRules, @content, @createdAt, @updatedAt)`,
    { ...toRow(campaign) },
  );
}

export function updateCampaign(db: Database, campaign: CampaignRecord): void {
  db.run(
    'UPDATE campaign SET name = @name, status = @status, triggerRules = @triggerRules, content = @content, updatedAt = @updatedAt WHERE id = @id',
    { ...toRow(campaign) },
  );
}

export function findCampaign(db: Database, campaignId: string): CampaignRecord | undefined {
  const row = db.get<Row>('SELECT * FROM campaign WHERE id = ?', [campaignId]);
  return row && fromRow(row);
}

/** Newest first. */
export function allCampaigns(db: Database, filter: { status: CampaignStatus | undefined }): CampaignRecord[] {
  return db
    .all<Row>('SELECT * FROM campaign WHERE @status IS NULL OR status = @status ORDER BY createdAt DESC, id DESC', {
      status: filter.status ?? null,
    })
    .map(fromRow);
}

/** Oldest first. */
export function liveCampaigns(db: Database): CampaignRecord[] {
  return db.all<Row>(`SELECT * FROM campaign WHERE status = 'live' ORDER BY createdAt, id`).map(fromRow);
}

export function countCampaigns(db: Database): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM campaign')?.count ?? 0;
}

const counted: Readonly<Record<CampaignEventType, keyof CampaignStats | undefined>> = {
  impression: 'impressions',
  click: 'clicks',
  dismiss: undefined,
  'start-chat': 'startedChats',
};

/** Inserts an event and counts it. */
export function insertCampaignEvent(db: Database, event: CampaignEventRecord): void {
  db.run(
    'INSERT INTO campaignEvent (campaignId, visitorId, type, conversationId, createdAt) VALUES (@campaignId, @visitorId, @type, @conversationId, @createdAt)',
    { ...event },
  );
  const column = counted[event.type];
  if (column === undefined) return;
  db.run(
    `INSERT INTO campaignDay (campaignId, day, impressions, clicks, startedChats) VALUES (@campaignId, @day, @impressions, @clicks, @startedChats)
     ON CONFLICT DO UPDATE SET impressions = impressions + excluded.impressions, clicks = clicks + excluded.clicks, startedChats = startedChats + excluded.startedChats`,
    {
      campaignId: event.campaignId,
      day: event.createdAt.slice(0, 10),
      impressions: 0,
      clicks: 0,
      startedChats: 0,
      [column]: 1,
    },
  );
}

/** By campaign, from the start of this UTC day. Campaigns without events are missing. */
export function campaignStatsSince(db: Database, day: string): Map<string, CampaignStats> {
  const rows = db.all<CampaignStats & { campaignId: string }>(
    `SELECT campaignId, sum(impressions) AS impressions, sum(clicks) AS clicks, sum(startedChats) AS startedChats FROM campaignDay WHERE day >= ? GROUP BY campaignId`,
    [day],
  );
  return new Map(rows.map(({ campaignId, ...stats }) => [campaignId, stats]));
}

export function campaignStatsOf(db: Database, campaignId: string, sinceDay: string): CampaignStats {
  return (
    db.get<CampaignStats>(
      `SELECT coalesce(sum(impressions), 0) AS impressions, coalesce(sum(clicks), 0) AS clicks, coalesce(sum(startedChats), 0) AS startedChats
       FROM campaignDay WHERE campaignId = ? AND day >= ?`,
      [campaignId, sinceDay],
    ) ?? { impressions: 0, clicks: 0, startedChats: 0 }
  );
}

/** When the visitor last saw each campaign. */
export function lastImpressions(db: Database, visitorId: string): Map<string, string> {
  const rows = db.all<{ campaignId: string; at: string }>(
    `SELECT campaignId, max(createdAt) AS at FROM campaignEvent WHERE visitorId = ? AND type = 'impression' GROUP BY campaignId`,
    [visitorId],
  );
  return new Map(rows.map(({ campaignId, at }) => [campaignId, at]));
}

export function findVisitStart(db: Database, visitorId: string): string | undefined {
  return db.get<{ startedAt: string }>('SELECT startedAt FROM visit WHERE visitorId = ?', [visitorId])?.startedAt;
}

export function putVisitStart(db: Database, visitorId: string, startedAt: string): void {
  db.run(
    'INSERT INTO visit (visitorId, startedAt) VALUES (?, ?) ON CONFLICT DO UPDATE SET startedAt = excluded.startedAt',
    [visitorId, startedAt],
  );
}

/** Days whose counts differ from their events. */
export function* campaignDifferences(db: Database): Generator<string> {
  const counts = `SELECT campaignId, substr(createdAt, 1, 10) AS day, sum(type = 'impression') AS impressions, sum(type = 'click') AS clicks, sum(type = 'start-chat') AS startedChats
    FROM campaignEvent WHERE type <> 'dismiss' GROUP BY 1, 2`;
  const columns = 'campaignId, day, impressions, clicks, startedChats';
  for (const [what, sql] of [
    ['is missing', `${counts} EXCEPT SELECT ${columns} FROM campaignDay`],
    ['is wrong', `SELECT ${columns} FROM campaignDay EXCEPT ${counts}`],
  ]) {
    for (const row of db.all<CampaignStats & { campaignId: string; day: string }>(sql ?? ''))
      yield `campaign ${row.campaignId} on ${row.day}: ${JSON.stringify(row)} ${what ?? ''}`;
  }
}

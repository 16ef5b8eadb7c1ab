// Sites: where a widget runs.

import { below, type Cursor } from '../cursor.ts';
import type { Database } from '../database.ts';
import { fromJson, fromJsonOrNull, toJson, toJsonOrNull } from '../json.ts';
import type { WeeklyHours } from './business-hours.ts';

export interface SiteRecord {
  readonly id: string;
  readonly version: number;
  readonly name: string;
  readonly domain: string;
  readonly embedId: string;
  readonly primaryColor: string;
  readonly launcherPosition: 'right' | 'left';
  readonly welcomeMessage: string;
  /** Said instead of the widget's own sentence while someone is there, no one is, and out of hours; empty is none. */
  readonly onlineMessage: string;
  readonly awayMessage: string;
  readonly closedMessage: string;
  /** `auto` follows the customer's system. */
  readonly theme: 'auto' | 'light' | 'dark';
  readonly logoUrl: string | null;
  /** From the edges of the page. */
  readonly launcherSidePx: number;
  readonly launcherBottomPx: number;
  /** On phones only the page itself opens the widget. */
  readonly hiddenOnPhones: boolean;
  /** Answers that the assistant gives in a chat by itself before an agent takes over; 0 is none. */
  readonly assistantTurns: number;
  readonly businessHoursOverride: WeeklyHours | null;
  readonly allowedOrigins: readonly string[];
  /** When and on which host a page last showed the widget. */
  readonly lastSeenAt: string | null;
  readonly lastSeenHost: string | null;
  /** Hosts whose pages asked for the widget and are not allowed, newest first. */
  readonly refusedHosts: readonly { readonly host: string; readonly at: string }[];
  readonly createdAt: string;
}

type Row = Omit<SiteRecord, 'hiddenOnPhones' | 'businessHoursOverride' | 'allowedOrigins' | 'refusedHosts'> & {
  hiddenOnPhones: number;
  businessHoursOverride: string | null;
  allowedOrigins: string;
  refusedHosts: string;
};

function fromRow(row: Row): SiteRecord {
  return {
    ...row,
    hiddenOnPhones: row.hiddenOnPhones === 1,
    businessHoursOverride: fromJsonOrNull(row.businessHoursOverride),
    allowedOrigins: fromJson(row.allowedOrigins),
    refusedHosts: fromJson(row.refusedHosts),
  };
}

function toRow(site: SiteRecord): Row {
  return {
    ...site,
    hiddenOnPhones: site.hiddenOnPhones ? 1 : 0,
    businessHoursOverride: toJsonOrNull(site.businessHoursOverride),
    allowedOrigins: toJson(site.allowedOrigins),
    refusedHosts: toJson(site.refusedHosts),
  };
}

export function insertSite(db: Database, site: SiteRecord): void {
  db.run(
    `INSERT INTO site (id, version, name, domain, embedId, primaryColor, launcherPosition, welcomeMessage, onlineMessage, awayMessage, closedMessage, theme, logoUrl, launcherSidePx, launcherBottomPx, hiddenOnPhones, assistantTurns, businessHoursOverride, allowedOrigins, lastSeenAt, lastSeenHost, refusedHosts, createdAt)
     VALUES (@id, @version, @name, @domain, @embedId, @primaryColor, @launcherPosition, @welcomeMessage, @onlineMessage, @awayMessage, @closedMessage, @theme, @logoUrl, @launcherSidePx, @launcherBottomPx, @hiddenOnPhones, @assistantTurns, @businessHoursOverride, @allowedOrigins, @lastSeenAt, @lastSeenHost, @refusedHosts, @createdAt)`,
    { ...toRow(site) },
  );
}

export function updateSite(db: Database, site: SiteRecord): void {
  db.run(
    `UPDATE site SET version = @version, name = @name, domain = @domain, primaryColor = @primaryColor, launcherPosition = @launcherPosition,
       welcomeMessage = @welcomeMessage, onlineMessage = @onlineMessage, awayMessage = @awayMessage, closedMessage = @closedMessage, theme = @theme, logoUrl = @logoUrl, launcherSidePx = @launcherSidePx, launcherBottomPx = @launcherBottomPx, hiddenOnPhones = @hiddenOnPhones, assistantTurns = @assistantTurns, businessHoursOverride = @businessHoursOverride, allowedOrigins = @allowedOrigins, lastSeenAt = @lastSeenAt, lastSeenHost = @lastSeenHost, refusedHosts = @refusedHosts WHERE id = @id`,
    { ...toRow(site) },
  );
}

export function findSite(db: Database, siteId: string): SiteRecord | undefined {
  const row = db.get<Row>('SELECT * FROM site WHERE id = ?', [siteId]);
  return row && fromRow(row);
}

export function findSiteByEmbedId(db: Database, embedId: string): SiteRecord | undefined {
  const row = db.get<Row>('SELECT * FROM site WHERE embedId = ?', [embedId]);
  return row && fromRow(row);
}

export function findSiteByDomain(db: Database, domain: string): SiteRecord | undefined {
  const row = db.get<Row>('SELECT * FROM site WHERE domain = ?', [domain]);
  return row && fromRow(row);
}

export function findOldestSite(db: Database): SiteRecord | undefined {
  const row = db.get<Row>('SELECT * FROM site ORDER BY createdAt, id LIMIT 1');
  return row && fromRow(row);
}

/** Those with these ids or an override, newest first. */
export function sitesWithHours(
  db: Database,
  { siteIds, limit }: { siteIds: readonly string[]; limit: number },
): SiteRecord[] {
  return db
    .all<Row>(
      'SELECT * FROM site WHERE businessHoursOverride IS NOT NULL OR id IN (SELECT value FROM json_each(?)) ORDER BY createdAt DESC, id DESC LIMIT ?',
      [toJson(siteIds), limit],
    )
    .map(fromRow);
}

/** Newest first, from just below `cursor`. */
export function sitePage(db: Database, page: { cursor: Cursor | undefined; limit: number }): SiteRecord[] {
  return db
    .all<Row>('SELECT * FROM site WHERE (createdAt, id) < (@at, @id) ORDER BY createdAt DESC, id DESC LIMIT @limit', {
      ...below(page.cursor),
      limit: page.limit,
    })
    .map(fromRow);
}

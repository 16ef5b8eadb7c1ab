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
  readonly businessHoursOverride: WeeklyHours | null;
  readonly allowedOrigins: readonly string[];
  readonly createdAt: string;
}

type Row = Omit<SiteRecord, 'businessHoursOverride' | 'allowedOrigins'> & {
  businessHoursOverride: string | null;
  allowedOrigins: string;
};

function fromRow(row: Row): SiteRecord {
  return {
    ...row,
    businessHoursOverride: fromJsonOrNull(row.businessHoursOverride),
    allowedOrigins: fromJson(row.allowedOrigins),
  };
}

function toRow(site: SiteRecord): Row {
  return {
    ...site,
    businessHoursOverride: toJsonOrNull(site.businessHoursOverride),
    allowedOrigins: toJson(site.allowedOrigins),
  };
}

export function insertSite(db: Database, site: SiteRecord): void {
  db.run(
    `INSERT INTO site (id, version, name, domain, embedId, primaryColor, launcherPosition, welcomeMessage, businessHoursOverride, allowedOrigins, createdAt)
     VALUES (@id, @version, @name, @domain, @embedId, @primaryColor, @launcherPosition, @welcomeMessage, @businessHoursOverride, @allowedOrigins, @createdAt)`,
    { ...toRow(site) },
  );
}

export function updateSite(db: Database, site: SiteRecord): void {
  db.run(
    `UPDATE site SET version = @version, name = @name, domain = @domain, primaryColor = @primaryColor, launcherPosition = @launcherPosition,
       welcomeMessage = @welcomeMessage, businessHoursOverride = @businessHoursOverride, allowedOrigins = @allowedOrigins WHERE id = @id`,
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

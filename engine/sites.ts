// Sites: where the widget runs, and which origins may speak to it. Specification 4.16.

import type { WeeklyHours } from '../store/business-hours.ts';
import type { Cursor } from '../store/cursor.ts';
import { findSite, findSiteByDomain, insertSite, sitePage, type SiteRecord, updateSite } from '../store/sites.ts';
import { callingAgent } from './access.ts';
import { requireVersion } from './conversation.ts';
import { refuse, refuseField } from './errors.ts';
import { locatorOf } from './locator.ts';
import { command } from './runtime/command.ts';
import type { Context, View } from './runtime/context.ts';
import type { ActorKind } from './runtime/registry.ts';

export const siteKind: ActorKind<SiteRecord> = { name: 'site', load: findSite };

const embedBytes = 8;

export interface SiteFields {
  readonly name: string;
  readonly domain: string;
  readonly primaryColor?: string | undefined;
  readonly launcherPosition?: 'right' | 'left' | undefined;
  readonly welcomeMessage?: string | undefined;
  readonly allowedOrigins?: readonly string[] | undefined;
}

/** Refuses forbidden, conflict when the domain has a site, invalid_body. */
export const createSite = command('site.create', (ctx, fields: SiteFields): SiteRecord => {
  requireSiteAdmin(ctx);
  return addSite(ctx, fields);
});

export function addSite(ctx: Context, fields: SiteFields): SiteRecord {
  const domain = fields.domain.toLowerCase();
  if (findSiteByDomain(ctx.db, domain) !== undefined) refuse('conflict', { message: `There is a site for ${domain} already.` });
  const site: SiteRecord = {
    id: ctx.ids.uuid(),
    version: 1,
    name: fields.name,
    domain,
    embedId: locatorOf(ctx.workspaceId) + ctx.ids.secret(embedBytes),
    primaryColor: fields.primaryColor ?? '#2563eb',
    launcherPosition: fields.launcherPosition ?? 'right',
    welcomeMessage: fields.welcomeMessage ?? 'Hello! How can we help?',
    businessHoursOverride: null,
    allowedOrigins: requireOrigins(fields.allowedOrigins ?? [domain, wwwVariantOf(domain)]),
    createdAt: ctx.at,
  };
  insertSite(ctx.db, site);
  ctx.become(siteKind, site.id, site);
  return site;
}

/** The fields of a site of which only its host is known. */
export function siteForDomain(domain: string, name: string): SiteFields {
  return { name, domain };
}

export type SiteChanges = { readonly [Field in keyof SiteFields]?: SiteFields[Field] | undefined } & {
  readonly businessHoursOverride?: WeeklyHours | null | undefined;
};

/** Refuses forbidden, not_found, stale_version, conflict, invalid_body. */
export const changeSite = command('site.update', (ctx, params: { siteId: string; expectedVersion: number; changes: SiteChanges }): SiteRecord => {
  requireSiteAdmin(ctx);
  const before = requireSite(ctx, params.siteId);
  requireVersion(before, params.expectedVersion);
  const { changes } = params;
  if (Object.values(changes).every((value) => value === undefined)) refuseField('invalid_body', 'body', 'must name a field that can be changed');
  const domain = changes.domain?.toLowerCase() ?? before.domain;
  const holder = findSiteByDomain(ctx.db, domain);
  if (holder !== undefined && holder.id !== before.id) refuse('conflict', { message: `There is a site for ${domain} already.` });
  const after: SiteRecord = {
    ...before,
    version: before.version + 1,
    name: changes.name ?? before.name,
    domain,
    primaryColor: changes.primaryColor ?? before.primaryColor,
    launcherPosition: changes.launcherPosition ?? before.launcherPosition,
    welcomeMessage: changes.welcomeMessage ?? before.welcomeMessage,
    businessHoursOverride: changes.businessHoursOverride === undefined ? before.businessHoursOverride : changes.businessHoursOverride,
    allowedOrigins: changes.allowedOrigins === undefined ? before.allowedOrigins : requireOrigins(changes.allowedOrigins),
  };
  updateSite(ctx.db, after);
  ctx.become(siteKind, after.id, after);
  return after;
});

export function requireSite(view: View, siteId: string): SiteRecord {
  return view.state(siteKind, siteId) ?? refuse('not_found');
}

export function listSites(view: View, page: { cursor: Cursor | undefined; limit: number }): SiteRecord[] {
  return sitePage(view.db, page);
}

/**
 * Whether a browser on this origin may use the site. Entries are hosts or origins; `*.example.com` is any depth of subdomain
 * and not the apex. No origin is not a browser and passes (decisions 4.12).
 */
export function allowsOrigin(site: SiteRecord, origin: string | undefined): boolean {
  if (origin === undefined) return true;
  const url = URL.parse(origin);
  if (url === null) return false;
  return site.allowedOrigins.some((entry) => matchesOrigin(entry, url));
}

function matchesOrigin(entry: string, origin: URL): boolean {
  const separator = entry.indexOf('://');
  const scheme = separator < 0 ? undefined : entry.slice(0, separator);
  if (scheme !== undefined && `${scheme}:` !== origin.protocol) return false;
  const [host = '', port] = splitPort(separator < 0 ? entry : entry.slice(separator + 3));
  // An entry without a scheme is a host: any port. With one it is an origin: the scheme's own port when it names none.
  if (port !== undefined ? port !== origin.port : scheme !== undefined && origin.port !== '') return false;
  return host.startsWith('*.') ? origin.hostname.endsWith(host.slice(1)) && origin.hostname.length > host.length - 1 : origin.hostname === host;
}

function splitPort(hostAndPort: string): [string, string | undefined] {
  const colon = hostAndPort.lastIndexOf(':');
  return colon > 0 && /^\d+$/.test(hostAndPort.slice(colon + 1)) ? [hostAndPort.slice(0, colon), hostAndPort.slice(colon + 1)] : [hostAndPort, undefined];
}

const originEntry = /^(https?:\/\/)?(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(:\d{1,5})?$/;

function requireOrigins(origins: readonly string[]): readonly string[] {
  return origins.map((origin, index) => {
    const entry = origin.toLowerCase().replace(/\/$/, '');
    if (!originEntry.test(entry)) refuseField('invalid_body', `allowedOrigins.${index}`, 'must be a host or an origin, such as example.com, *.example.com or https://example.com');
    return entry;
  });
}

function wwwVariantOf(domain: string): string {
  return domain.startsWith('www.') ? domain.slice(4) : `www.${domain}`;
}

/** This area says forbidden where others say admin_required (specification 7). */
function requireSiteAdmin(ctx: Context): void {
  if (callingAgent(ctx).role !== 'admin') refuse('forbidden', { message: 'Only an admin may change sites.' });
}

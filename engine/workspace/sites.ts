// Sites: where the widget runs, and which origins may use it. Specification 4.16.

import { domainToASCII } from 'node:url';
import type { Cursor } from '../../store/cursor.ts';
import type { WeeklyHours } from '../../store/workspace/business-hours.ts';
import {
  findSite,
  findSiteByDomain,
  insertSite,
  type SiteRecord,
  sitePage,
  updateSite,
} from '../../store/workspace/sites.ts';
import { compactId } from '../directory/compact-ids.ts';
import { refuse, refuseField } from '../errors.ts';
import { emit } from '../events.ts';
import { requireVersion } from '../preconditions.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { ActorKind } from '../runtime/registry.ts';
import { callingAgent } from './access.ts';
import { auditChange } from './audit.ts';
import { requireHours } from './office-hours.ts';

const siteKind: ActorKind<SiteRecord> = { name: 'site', load: findSite };

const embedBytes = 8;
const launcherPx = 20;

export interface SiteFields {
  readonly name: string;
  readonly domain: string;
  readonly primaryColor?: string | undefined;
  readonly launcherPosition?: 'right' | 'left' | undefined;
  readonly welcomeMessage?: string | undefined;
  readonly onlineMessage?: string | undefined;
  readonly awayMessage?: string | undefined;
  readonly closedMessage?: string | undefined;
  readonly theme?: SiteRecord['theme'] | undefined;
  readonly logoUrl?: string | null | undefined;
  readonly launcherSidePx?: number | undefined;
  readonly launcherBottomPx?: number | undefined;
  readonly hiddenOnPhones?: boolean | undefined;
  readonly assistantTurns?: number | undefined;
  readonly allowedOrigins?: readonly string[] | undefined;
}

/** Refuses forbidden, conflict if the domain has a site already, invalid_body. */
export const createSite = command('site.create', (ctx, fields: SiteFields): SiteRecord => {
  requireSiteAdmin(ctx);
  const site = addSite(ctx, fields);
  ctx.audit({ action: 'site.created', targetKind: 'site', targetId: site.id, after: auditOf(site) });
  return site;
});

export function addSite(ctx: Context, fields: SiteFields): SiteRecord {
  const domain = requireDomain(fields.domain);
  if (findSiteByDomain(ctx.db, domain) !== undefined)
    refuse('conflict', { message: `There is already a site for ${domain}.` });
  const site: SiteRecord = {
    id: ctx.ids.uuid(),
    version: 1,
    name: fields.name,
    domain,
    embedId: compactId(ctx.workspaceId) + ctx.ids.secret(embedBytes),
    primaryColor: fields.primaryColor ?? '#2563eb',
    launcherPosition: fields.launcherPosition ?? 'right',
    welcomeMessage: fields.welcomeMessage ?? 'Hello! How can we help?',
    onlineMessage: fields.onlineMessage ?? '',
    awayMessage: fields.awayMessage ?? '',
    closedMessage: fields.closedMessage ?? '',
    theme: fields.theme ?? 'auto',
    logoUrl: fields.logoUrl ?? null,
    launcherSidePx: fields.launcherSidePx ?? launcherPx,
    launcherBottomPx: fields.launcherBottomPx ?? launcherPx,
    hiddenOnPhones: fields.hiddenOnPhones ?? false,
    assistantTurns: fields.assistantTurns ?? 0,
    businessHoursOverride: null,
    allowedOrigins: fields.allowedOrigins === undefined ? originsOf(domain) : requireOrigins(fields.allowedOrigins),
    lastSeenAt: null,
    lastSeenHost: null,
    refusedHosts: [],
    createdAt: ctx.at,
  };
  insertSite(ctx.db, site);
  ctx.setState(siteKind, site.id, site);
  emitSite(ctx, 'site.created', site);
  return site;
}

export type SiteChanges = { readonly [Field in keyof SiteFields]?: SiteFields[Field] | undefined } & {
  readonly businessHoursOverride?: WeeklyHours | null | undefined;
};

/** Refuses forbidden, not_found, stale_version, conflict, invalid_body. */
export const changeSite = command(
  'site.update',
  (ctx, params: { siteId: string; expectedVersion: number; changes: SiteChanges }): SiteRecord => {
    requireSiteAdmin(ctx);
    const before = requireSite(ctx, params.siteId);
    requireVersion(before, params.expectedVersion);
    const { changes } = params;
    if (Object.values(changes).every((value) => value === undefined))
      refuseField('invalid_body', 'body', 'must name a field that can be changed');
    if (changes.businessHoursOverride) requireHours(changes.businessHoursOverride.days, 'businessHoursOverride.days');
    const domain = changes.domain === undefined ? before.domain : requireDomain(changes.domain);
    const holder = findSiteByDomain(ctx.db, domain);
    if (holder !== undefined && holder.id !== before.id)
      refuse('conflict', { message: `There is already a site for ${domain}.` });
    const changed: SiteRecord = {
      ...before,
      version: before.version + 1,
      name: changes.name ?? before.name,
      domain,
      primaryColor: changes.primaryColor ?? before.primaryColor,
      launcherPosition: changes.launcherPosition ?? before.launcherPosition,
      welcomeMessage: changes.welcomeMessage ?? before.welcomeMessage,
      onlineMessage: changes.onlineMessage ?? before.onlineMessage,
      awayMessage: changes.awayMessage ?? before.awayMessage,
      closedMessage: changes.closedMessage ?? before.closedMessage,
      theme: changes.theme ?? before.theme,
      logoUrl: changes.logoUrl === undefined ? before.logoUrl : changes.logoUrl,
      launcherSidePx: changes.launcherSidePx ?? before.launcherSidePx,
      launcherBottomPx: changes.launcherBottomPx ?? before.launcherBottomPx,
      hiddenOnPhones: changes.hiddenOnPhones ?? before.hiddenOnPhones,
      assistantTurns: changes.assistantTurns ?? before.assistantTurns,
      businessHoursOverride:
        changes.businessHoursOverride === undefined ? before.businessHoursOverride : changes.businessHoursOverride,
      allowedOrigins:
        changes.allowedOrigins === undefined
          ? originsAfterMove(before, domain)
          : requireOrigins(changes.allowedOrigins),
    };
    const after: SiteRecord = {
      ...changed,
      refusedHosts: before.refusedHosts.filter(({ host }) => !allowsHost(changed, host)),
    };
    putSite(ctx, after);
    emitSite(ctx, 'site.updated', after);
    auditChange(ctx, {
      action: 'site.updated',
      targetKind: 'site',
      targetId: after.id,
      before: auditOf(before),
      after: auditOf(after),
    });
    return after;
  },
);

declare module '../events.ts' {
  interface EventRecords {
    readonly site: SiteRecord;
  }
}

function emitSite(ctx: Context, type: 'site.created' | 'site.updated', site: SiteRecord): void {
  emit(ctx, { type, audience: { kind: 'workspace' }, data: { site } });
}

/** Without what never changes and what changes with everything. */
export function putSite(ctx: Context, site: SiteRecord): void {
  updateSite(ctx.db, site);
  ctx.setState(siteKind, site.id, site);
}

/** Over http or https. */
function allowsHost(site: Pick<SiteRecord, 'allowedOrigins'>, host: string): boolean {
  return allowsOrigin(site, `https://${host}`) || allowsOrigin(site, `http://${host}`);
}

function auditOf({
  id: _,
  version: _version,
  embedId: _embedId,
  createdAt: _createdAt,
  ...settings
}: SiteRecord): object {
  return settings;
}

export function requireSite(view: View, siteId: string): SiteRecord {
  return view.state(siteKind, siteId) ?? refuse('not_found');
}

export function listSites(view: View, page: { cursor: Cursor | undefined; limit: number }): SiteRecord[] {
  return sitePage(view.db, page);
}

/**
 * Whether a browser on this origin may use the site. Entries are hosts or origins; `*.example.com` matches subdomains
 * of any depth but not the apex. A request without an origin is not from a browser and passes (decisions 4.12).
 */
export function allowsOrigin(site: Pick<SiteRecord, 'allowedOrigins'>, origin: string | undefined): boolean {
  if (origin === undefined) return true;
  const url = URL.parse(origin);
  if (url === null) return false;
  return site.allowedOrigins.some((entry) => matchesOrigin(entry, url));
}

/** The stored form of an entry: `[scheme://][*.]host[:port]`, in lower case, the host as browsers send it. */
const entryForm = /^(?:(https?):\/\/)?(\*\.)?(\[[^\]\s]+\]|[^/:*?#@\s]+)(?::(\d{1,5}))?\/?$/i;
const defaultPort: Readonly<Record<string, string>> = { http: '80', https: '443' };

function matchesOrigin(entry: string, origin: URL): boolean {
  const [, scheme, wildcard, host = '', port] = entryForm.exec(entry) ?? [];
  const originScheme = origin.protocol.slice(0, -1);
  const originDefault = defaultPort[originScheme];
  if (originDefault === undefined || (scheme !== undefined && scheme !== originScheme)) return false;
  // A host without a port matches all ports; an origin without a port matches its scheme's default.
  const wantedPort = port ?? (scheme === undefined ? undefined : defaultPort[scheme]);
  if (wantedPort !== undefined && wantedPort !== (origin.port || originDefault)) return false;
  return wildcard === undefined
    ? origin.hostname === host
    : origin.hostname.endsWith(`.${host}`) && origin.hostname.length > host.length + 1;
}

/** Refuses invalid_body. Different spellings of the same entry are stored once. */
function requireOrigins(origins: readonly string[]): readonly string[] {
  const entries = origins.map((origin, index) => {
    const [, scheme, wildcard = '', name = '', port] = entryForm.exec(origin.trim()) ?? [];
    const host = hostNameOf(name);
    if (host === undefined || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535) {
      refuseField(
        'invalid_body',
        `allowedOrigins.${index}`,
        'must be a host or an origin, such as example.com, *.example.com or https://example.com',
      );
    }
    return `${scheme === undefined ? '' : `${scheme.toLowerCase()}://`}${wildcard}${host}${port === undefined ? '' : `:${Number(port)}`}`;
  });
  return [...new Set(entries)];
}

const hostName = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const maxHostChars = 253;

/**
 * A host name or an address in the form that browsers send: lower case, other scripts as Punycode (RFC 5891), IPv6 in
 * brackets. Undefined if it is not one.
 */
export function hostNameOf(text: string): string | undefined {
  if (/^\[[\da-f:.]+\]$/i.test(text)) return URL.parse(`http://${text}`)?.hostname;
  const host = /[:/?#@\\\s]/.test(text) ? '' : domainToASCII(text);
  return host.length <= maxHostChars && hostName.test(host) ? host : undefined;
}

function requireDomain(domain: string): string {
  return hostNameOf(domain) ?? refuseField('invalid_body', 'domain', 'must be a host name, such as example.com');
}

/** A host that pages on the web can have, or of this machine: a mere word is a mistyped one. */
export function isPlausibleHost(host: string): boolean {
  const name = hostNameOf(host);
  return name !== undefined && (/^\[|^localhost$/.test(name) || /[a-z0-9]\.[a-z0-9-]{2,}$|\.\d+$/.test(name));
}

/** The domain and its www variant; an address has none. */
function originsOf(domain: string): readonly string[] {
  if (/^\[|(?:^|\.)\d+$/.test(domain)) return [domain];
  return [domain, domain.startsWith('www.') ? domain.slice('www.'.length) : `www.${domain}`];
}

/** Default origins follow the domain. */
function originsAfterMove(before: SiteRecord, domain: string): readonly string[] {
  const chosen = before.allowedOrigins.join() !== originsOf(before.domain).join();
  return chosen ? before.allowedOrigins : originsOf(domain);
}

/** This area specifies forbidden where others use admin_required (specification 7). */
function requireSiteAdmin(ctx: Context): void {
  if (callingAgent(ctx).role !== 'admin') refuse('forbidden', { message: 'Only an admin can change sites.' });
}

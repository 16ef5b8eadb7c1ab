// Where a site's widget was last seen, and on which hosts it was refused lately, so that an owner whose widget does not
// show up can tell why. Anyone can name a host in a request, so these are few, short and written at most now and then.

import type { SiteRecord } from '../../store/workspace/sites.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import { hostNameOf, putSite, requireSite } from './sites.ts';

/** The newest are kept. */
const maxRefusedHosts = 20;
/** Between two writes about the same host. */
const sameHostMs = 60_000;
/** Between two writes about different hosts that are refused. */
const anyHostMs = 3000;

/** As in an address: with its port, if it has one. Undefined if the origin has no host. */
export function hostOfOrigin(origin: string | undefined): string | undefined {
  const url = origin === undefined ? null : URL.parse(origin);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  return hostNameOf(url.hostname) === undefined ? undefined : url.host;
}

/** In the command that opens the session. */
export function noteSeen(ctx: Context, site: SiteRecord, host: string): void {
  if (isWithin(ctx.nowMs, site.lastSeenAt, sameHostMs)) return;
  putSite(ctx, {
    ...site,
    lastSeenAt: ctx.at,
    lastSeenHost: host,
    refusedHosts: site.refusedHosts.filter((one) => one.host !== host),
  });
}

/** Whether this refusal is worth a write. */
export function isNews({ refusedHosts }: SiteRecord, host: string, nowMs: number): boolean {
  const same = refusedHosts.find((one) => one.host === host);
  return !isWithin(nowMs, refusedHosts[0]?.at, anyHostMs) && !isWithin(nowMs, same?.at, sameHostMs);
}

export const noteRefused = command('site.noteRefused', (ctx, params: { siteId: string; host: string }): void => {
  const site = requireSite(ctx, params.siteId);
  const { host } = params;
  if (!isNews(site, host, ctx.nowMs)) return;
  const others = site.refusedHosts.filter((one) => one.host !== host);
  putSite(ctx, { ...site, refusedHosts: [{ host, at: ctx.at }, ...others].slice(0, maxRefusedHosts) });
});

function isWithin(nowMs: number, at: string | null | undefined, ms: number): boolean {
  return at != null && nowMs - Date.parse(at) < ms;
}

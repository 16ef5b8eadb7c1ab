// The origins that may use a site's widget: those that the site allows, and the service's own, where the widget is
// tried out.

import { allowsOrigin } from '../../engine/workspace/sites.ts';
import type { SiteRecord } from '../../store/workspace/sites.ts';
import type { Config } from '../process/config.ts';

const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);

export function mayUseSite(
  site: Pick<SiteRecord, 'allowedOrigins'>,
  origin: string | undefined,
  { baseUrl }: Pick<Config, 'baseUrl'>,
): boolean {
  return allowsOrigin(site, origin) || isOwnOrigin(origin, baseUrl);
}

/** `baseUrl` is the public address of the service. The local machine has several names. */
export function isOwnOrigin(origin: string | undefined, baseUrl: string): boolean {
  const given = origin === undefined ? null : URL.parse(origin);
  const own = URL.parse(baseUrl);
  if (given === null || own === null) return false;
  return (
    given.origin === own.origin ||
    (given.protocol === own.protocol &&
      given.port === own.port &&
      loopback.has(given.hostname) &&
      loopback.has(own.hostname))
  );
}

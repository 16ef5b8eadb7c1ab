// Limits the mail that one network may deliver in a day, since it fills the disk of all workspaces. Counted for the
// network and, because an IPv6 network is easy to get, for the /48 around it. A relay of the operator has a private
// address and no limit: it carries mail for everyone.

import { dayMs } from '../../engine/directory/ceilings.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Log } from '../../engine/runtime/log.ts';
import type { SmtpListenerOptions } from '../../workers/providers/smtp-listener.ts';
import { publicNetworkOf, siteNetworkOf } from './network-address.ts';
import { RateLimiter } from './rate-limiter.ts';

const networksOfSite = 4;

export function createSmtpBudget(options: {
  readonly bytesPerDay: number;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Log, 'warn'>;
}): Required<SmtpListenerOptions>['bytes'] {
  const { bytesPerDay, clock, log } = options;
  const limiter = new RateLimiter(clock, dayMs);
  const budgetsOf = (remoteAddress: string): [string, number][] => {
    const [network, site] = [publicNetworkOf(remoteAddress), siteNetworkOf(remoteAddress)];
    if (network === undefined) return [];
    return site === undefined
      ? [[network, bytesPerDay]]
      : [
          [network, bytesPerDay],
          [site, networksOfSite * bytesPerDay],
        ];
  };
  return {
    isSpent: (remoteAddress) => budgetsOf(remoteAddress).some(([key, limit]) => !limiter.look(key, limit).allowed),
    took(remoteAddress, bytes) {
      for (const [network, limit] of budgetsOf(remoteAddress)) {
        const { allowed, remaining } = limiter.take(network, limit, bytes);
        if (allowed && remaining === 0)
          log.warn({ network, bytesPerDay: limit }, 'a network has reached its daily mail limit; its mail is deferred');
      }
    },
  };
}

// Calls the receivers of webhooks: one POST, a bounded wait, no redirect followed, nothing private reached. Which answer counts as
// taken is said here; when to try again is the outbox's to say.

import { createFetcher } from './fetcher.ts';
import { isPublicAddress, placeOf, type ResolveHost } from './host-resolver.ts';

export interface WebhookSender {
  /** Whether it is, or leads to, an address that is not public. A host that has no address yet may get a public one. */
  isForbidden(url: string): Promise<boolean>;
  /** Resolves to what the receiver answered, when it took it. Rejects with WebhookNotTaken or FetchFailed. */
  send(call: { url: string; headers: Readonly<Record<string, string>>; body: string }): Promise<string>;
  close(): Promise<void>;
}

export class WebhookNotTaken extends Error {
  override readonly name = 'WebhookNotTaken';
}

/** The fetcher waits ten seconds for an answer to begin, on four connections to one receiver; twice that, for those that wait for a connection. */
const timeoutMs = 25_000;

export function createWebhookSender(options: { resolveHost: ResolveHost; allowPrivate: boolean; userAgent: string }): WebhookSender {
  const { resolveHost, allowPrivate } = options;
  const fetcher = createFetcher(options);
  return {
    async isForbidden(text) {
      const url = URL.parse(text);
      if (allowPrivate || url === null) return false;
      const place = placeOf(url);
      if (place !== 'name') return place === 'private';
      const addresses = await resolveHost(url.hostname.replace(/\.$/, '')).catch((): readonly string[] => []);
      return !addresses.every(isPublicAddress);
    },
    async send({ url, headers, body }) {
      const { status } = await fetcher.trace({ url, method: 'POST', headers, body, timeoutMs, maxRedirects: 0 });
      if (status < 200 || status > 299) throw new WebhookNotTaken(`answered ${status}`);
      return `answered ${status}`;
    },
    close: () => fetcher.close(),
  };
}

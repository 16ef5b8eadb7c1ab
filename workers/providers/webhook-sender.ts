// Calls the receivers of webhooks: one POST, a bounded wait, no redirect followed, nothing private reached. Tells what
// came back; which answer counts as taken, and when to try again, is said elsewhere.

import { createFetcher } from './fetcher.ts';
import { isPublicAddress, placeOf, type ResolveHost } from './host-resolver.ts';

export interface WebhookAnswer {
  readonly status: number;
  /** As it came, unless there was none. */
  readonly retryAfter: string | undefined;
  /** The beginning of its text. */
  readonly body: string;
}

export interface WebhookSender {
  /** Whether it is, or leads to, an address that is not public. A host that has no address yet may get a public one. */
  isForbidden(url: string): Promise<boolean>;
  /** Any answer. Rejects with FetchFailed when there was none. */
  send(call: { url: string; headers: Readonly<Record<string, string>>; body: string }): Promise<WebhookAnswer>;
  close(): Promise<void>;
}

/**
 * The fetcher waits ten seconds for an answer to begin, on four connections to one receiver; twice that, for those that
 * wait for a connection.
 */
const timeoutMs = 25_000;
/** What is kept of an answer: enough for a message or a line of a trace. */
const keptBytes = 1024;

export function createWebhookSender(options: {
  resolveHost: ResolveHost;
  allowPrivate: boolean;
  userAgent: string;
}): WebhookSender {
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
      const {
        status,
        headers: answered,
        beginning,
      } = await fetcher.trace({
        url,
        method: 'POST',
        headers: { ...headers, 'accept-encoding': 'identity' },
        body,
        timeoutMs,
        maxRedirects: 0,
        beginningBytes: keptBytes,
      });
      return { status, retryAfter: answered['retry-after'], body: new TextDecoder().decode(beginning) };
    },
    close: () => fetcher.close(),
  };
}

// Calls webhook receivers: one POST, a bounded wait, no redirects, no private addresses. Returns the response; the
// caller decides what counts as success and when to retry.

import { createFetcher } from './fetcher.ts';
import { isPublicAddress, placeOf, type ResolveHost } from './host-resolver.ts';

export interface WebhookAnswer {
  readonly status: number;
  /** The raw value, if any. */
  readonly retryAfter: string | undefined;
  /** The start of its text. */
  readonly body: string;
}

export interface WebhookSender {
  /** Whether it is, or leads to, a non-public address. A host without an address may still get a public one. */
  isForbidden(url: string): Promise<boolean>;
  /** Resolves for any response. Rejects with FetchFailed if there is none. */
  send(call: { url: string; headers: Readonly<Record<string, string>>; body: string }): Promise<WebhookAnswer>;
  close(): Promise<void>;
}

/**
 * The fetcher waits ten seconds for a response to begin, on four connections per receiver; twice that, for calls that
 * wait for a connection.
 */
const timeoutMs = 25_000;
/** Kept of a response: enough for a message or a line of a trace. */
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

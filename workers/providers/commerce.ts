// Queries a shop's own service about a customer by email. The workspace chooses the address and the answer is
// untrusted: the fetcher keeps it out of private networks, everything is bounded, and an answer of another shape is
// rejected.

import { createHmac } from 'node:crypto';
import { Unavailable } from '../failures.ts';
import type { Fetcher } from './fetcher.ts';
import { placeOf } from './host-resolver.ts';

export interface Enrichment {
  readonly source: string;
  readonly matched: boolean;
  readonly customer: { readonly email: string; readonly lifetimeValueCents: number } | null;
  readonly orders: readonly { readonly id: string; readonly total: string; readonly status: string }[];
}

export interface Connector {
  readonly url: string;
  readonly secret: string;
  readonly source: string;
}

export interface Commerce {
  /** False if it is not an address, or not a public one by its name. */
  mayAsk(url: string): boolean;
  /** Rejects with CommerceUnavailable: no valid answer in time. A retry may help. */
  lookUp(connector: Connector, email: string): Promise<Enrichment>;
  close(): Promise<void>;
}

export class CommerceUnavailable extends Unavailable {
  override readonly name = 'CommerceUnavailable';
}

/** An agent waits for it. */
const defaultTimeoutMs = 5000;
const maxAnswerBytes = 64 * 1024;
const maxOrders = 100;
const maxTextChars = 200;

export function createCommerce(options: {
  fetcher: Fetcher;
  allowPrivate: boolean;
  timeoutMs?: number | undefined;
}): Commerce {
  const { fetcher, allowPrivate, timeoutMs = defaultTimeoutMs } = options;
  return {
    mayAsk(text) {
      const url = URL.parse(text);
      return url !== null && (allowPrivate || placeOf(url) !== 'private');
    },
    async lookUp({ url, secret, source }, email) {
      const body = JSON.stringify({ email });
      const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
      let status: number;
      let answer: unknown;
      try {
        const headers = { 'content-type': 'application/json', accept: 'application/json', 'x-signature': signature };
        const fetched = await fetcher.fetch({
          url,
          method: 'POST',
          headers,
          body,
          maxBytes: maxAnswerBytes,
          timeoutMs,
          maxRedirects: 0,
        });
        status = fetched.status;
        answer = status === 200 ? JSON.parse(Buffer.from(fetched.body).toString('utf8')) : undefined;
      } catch (cause) {
        throw new CommerceUnavailable('the shop did not answer', { cause });
      }
      if (status === 404) return { source, matched: false, customer: null, orders: [] };
      if (status !== 200) throw new CommerceUnavailable(`the shop answered ${status}`);
      return { source, ...soundAnswer(answer) };
    },
    close: () => fetcher.close(),
  };
}

/**
 * `{matched, customer: {email, lifetimeValueCents}, orders: [{id, total, status}]}`; only `matched` is required if it
 * is false.
 */
function soundAnswer(answer: unknown): Omit<Enrichment, 'source'> {
  const { matched, customer, orders = [] } = recordOf(answer);
  if (matched === false) return { matched: false, customer: null, orders: [] };
  const { email, lifetimeValueCents } = recordOf(customer);
  if (
    matched !== true ||
    typeof email !== 'string' ||
    !Number.isSafeInteger(lifetimeValueCents) ||
    !Array.isArray(orders)
  )
    throw new CommerceUnavailable('the shop answered something else');
  return {
    matched: true,
    // Checked one line above.
    customer: { email: textOf(email), lifetimeValueCents: lifetimeValueCents as number },
    orders: orders.slice(0, maxOrders).map((order: unknown) => {
      const { id, total, status } = recordOf(order);
      return { id: textOf(id), total: textOf(total), status: textOf(status) };
    }),
  };
}

function recordOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new CommerceUnavailable('the shop answered something else');
  return value as Record<string, unknown>;
}

/** Shops number their orders, or name them. */
function textOf(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number')
    throw new CommerceUnavailable('the shop answered something else');
  return String(value).slice(0, maxTextChars);
}

// The thread that reads one service for one import. What the service answers is parsed here, in a heap of its own, so
// that no answer can hold up or end the process. Called by sources.ts.

import { workerData } from 'node:worker_threads';
import { createFetcher } from '../providers/fetcher.ts';
import { dnsResolver, systemResolver } from '../providers/host-resolver.ts';
import { answerCalls, giveWay } from '../thread.ts';
import { chatwootReader } from './chatwoot.ts';
import {
  type ForeignConversation,
  type ForeignPage,
  type LeftOut,
  type Listing,
  type ServiceAccess,
  type ServiceReader,
  SourceFailed,
  type SourceNetwork,
  serviceNames,
  sound,
} from './foreign.ts';
import { helpScoutReader } from './helpscout.ts';
import { intercomHeaders, intercomReader } from './intercom.ts';
import { createServiceApi } from './service-api.ts';
import { zendeskHeaders, zendeskReader } from './zendesk.ts';

/** An error keeps only its name and its message on its way to the caller. */
export interface Failure {
  readonly failed: Pick<SourceFailed, 'problem' | 'message' | 'retryAfterMs'>;
}

const maxCursorChars = 2000;
/** Of a page: the services list a hundred at most. */
const maxItems = 1000;

const { access, network }: { access: ServiceAccess; network: SourceNetwork } = workerData;
const { allowPrivate, dnsServers, userAgent } = network;
const fetcher = createFetcher({
  allowPrivate,
  resolveHost: dnsServers === undefined ? systemResolver : dnsResolver(dnsServers),
  userAgent,
});
const reader = readerOf(access);
let items: Listing['items'] = [];

function readerOf({ kind, url, account, token }: ServiceAccess): ServiceReader & { begin(): void } {
  const name = serviceNames[kind];
  if (kind === 'helpscout') return helpScoutReader({ fetcher, name, url, appId: account, appSecret: token });
  const headers = {
    chatwoot: () => ({ api_access_token: token }),
    zendesk: () => zendeskHeaders(account, token),
    intercom: () => intercomHeaders(token),
  }[kind]();
  const api = createServiceApi({ fetcher, name, url, headers });
  const { list } = {
    chatwoot: () => chatwootReader(api, account),
    zendesk: () => zendeskReader(api),
    intercom: () => intercomReader(api),
  }[kind]();
  return { list, begin: () => api.begin() };
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof SourceFailed)) throw error;
  const { problem, message, retryAfterMs } = error;
  return { failed: { problem, message, retryAfterMs } };
}

export const methods = {
  async page({ cursor }: { cursor: string | null }): Promise<ForeignPage | Failure> {
    try {
      reader.begin();
      const listing = await reader.list(cursor);
      items = listing.items.slice(0, maxItems);
      if ((listing.next?.length ?? 0) > maxCursorChars)
        throw new SourceFailed('final', 'The name of its next page is too long.');
      return { count: items.length, next: listing.next, total: listing.total };
    } catch (error) {
      return failureOf(error);
    }
  },

  async conversation({ index }: { index: number }): Promise<ForeignConversation | LeftOut | Failure> {
    const item = items[index];
    if (item === undefined) throw new Error(`the page has no conversation ${index}`);
    try {
      reader.begin();
      return sound(await item.read());
    } catch (error) {
      const failure = failureOf(error);
      return failure.failed.problem === 'this' ? { label: item.label, why: failure.failed.message } : failure;
    }
  },
};

giveWay();
answerCalls(methods);

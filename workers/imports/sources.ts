// Opens the services that conversations come from: their names, where their APIs are, and how each is signed in to.

import type { Fetcher } from '../providers/fetcher.ts';
import { chatwootSource } from './chatwoot.ts';
import type { ForeignSource } from './foreign.ts';
import { helpScoutSource } from './helpscout.ts';
import { intercomHeaders, intercomSource } from './intercom.ts';
import { createServiceApi } from './service-api.ts';
import { zendeskHeaders, zendeskSource } from './zendesk.ts';

export type ServiceKind = 'chatwoot' | 'zendesk' | 'intercom' | 'helpscout';

export interface ServiceAccess {
  readonly kind: ServiceKind;
  readonly url: string;
  /** Chatwoot: the account's number. Zendesk: the address of the token's user. Help Scout: the app's id. */
  readonly account: string;
  readonly token: string;
}

export interface ForeignSources {
  open(access: ServiceAccess): ForeignSource;
  close(): Promise<void>;
}

export function createForeignSources(fetcher: Fetcher): ForeignSources {
  return {
    open({ kind, url, account, token }) {
      switch (kind) {
        case 'chatwoot':
          return chatwootSource(
            createServiceApi({ fetcher, name: 'Chatwoot', url, headers: { api_access_token: token } }),
            account,
          );
        case 'zendesk':
          return zendeskSource(
            createServiceApi({ fetcher, name: 'Zendesk', url, headers: zendeskHeaders(account, token) }),
          );
        case 'intercom':
          return intercomSource(createServiceApi({ fetcher, name: 'Intercom', url, headers: intercomHeaders(token) }));
        case 'helpscout':
          return helpScoutSource({ fetcher, name: 'Help Scout', url, appId: account, appSecret: token });
      }
    },
    close: () => fetcher.close(),
  };
}

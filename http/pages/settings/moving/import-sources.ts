// Where conversations can be, and what each place needs to be read.

export const sources = [
  { value: 'mbox', label: 'An mbox file' },
  { value: 'chatwoot', label: 'Chatwoot' },
  { value: 'zendesk', label: 'Zendesk' },
  { value: 'intercom', label: 'Intercom' },
  { value: 'helpscout', label: 'Help Scout' },
] as const;
export type Kind = (typeof sources)[number]['value'];

/** What each service needs to be read. `another`: the name of another token, after it refused one. */
export const needs: Readonly<
  Record<
    Exclude<Kind, 'mbox'>,
    {
      url?: string;
      account?: readonly [label: string, hint: string];
      token: readonly [label: string, hint: string];
      another: string;
    }
  >
> = {
  chatwoot: {
    url: 'https://app.chatwoot.com',
    account: ['Account number', 'As in the addresses of its pages: /app/accounts/1.'],
    token: ['Access token', 'In its profile settings, of an administrator.'],
    another: 'Another access token',
  },
  zendesk: {
    url: 'https://acme.zendesk.com',
    account: ['Email address of the token\u2019s user', 'An admin\u2019s.'],
    token: ['API token', 'In its Admin Center, under Apps and integrations.'],
    another: 'Another API token',
  },
  intercom: {
    token: ['Access token', 'Of an app of yours in its Developer Hub.'],
    another: 'Another access token',
  },
  helpscout: {
    account: ['App id', 'Of an app of yours, under Your profile, My apps.'],
    token: ['App secret', 'Beside the id.'],
    another: 'Another app secret',
  },
};

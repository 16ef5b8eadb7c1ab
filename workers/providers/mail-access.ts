// Access to mailboxes at Google and Microsoft that their owners grant: an authorization code becomes a refresh token, and
// that an access token for IMAP and SMTP (XOAUTH2). RFC 6749. The operator registers an app with each provider.

import type { MailServer } from './mail-server.ts';

export type MailProvider = 'google' | 'microsoft';

export interface MailApp {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Where a provider grants access, and where its mail is. */
export interface ProviderPlaces {
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  readonly scope: string;
  readonly imap: Pick<MailServer, 'host' | 'port' | 'security'>;
  readonly smtp: Pick<MailServer, 'host' | 'port' | 'security'>;
}

export const mailProviders: Readonly<Record<MailProvider, ProviderPlaces>> = {
  google: {
    authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUrl: 'https://oauth2.googleapis.com/token',
    scope: 'https://mail.google.com/',
    imap: { host: 'imap.gmail.com', port: 993, security: 'tls' },
    smtp: { host: 'smtp.gmail.com', port: 465, security: 'tls' },
  },
  microsoft: {
    authorizeUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    tokenUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    scope: 'offline_access https://outlook.office.com/IMAP.AccessAsUser.All https://outlook.office.com/SMTP.Send',
    imap: { host: 'outlook.office365.com', port: 993, security: 'tls' },
    smtp: { host: 'smtp.office365.com', port: 587, security: 'starttls' },
  },
};

export interface Tokens {
  readonly accessToken: string;
  readonly expiresInMs: number;
  /** A new one replaces the one before. */
  readonly refreshToken: string | undefined;
}

export interface MailAccess {
  /** Undefined if the operator registered no app with the provider. */
  placesOf(provider: MailProvider): ProviderPlaces | undefined;
  /** Where the owner grants access. The provider returns to `redirectUri` with a code and the state. */
  authorizeUrl(provider: MailProvider, asked: { address: string; state: string; redirectUri: string }): string;
  /** Rejects with AccessRefused if the code or the refresh token is not good. */
  exchange(provider: MailProvider, granted: { code: string; redirectUri: string }): Promise<Tokens>;
  refresh(provider: MailProvider, refreshToken: string): Promise<Tokens>;
}

/** The provider withdrew the access, or never granted it. The owner can grant it again. */
export class AccessRefused extends Error {
  override readonly name = 'AccessRefused';
}

const timeoutMs = 10_000;
const defaultLifeMs = 3600_000;

export function createMailAccess(
  apps: Readonly<Partial<Record<MailProvider, MailApp>>>,
  places: Readonly<Record<MailProvider, ProviderPlaces>> = mailProviders,
): MailAccess {
  const appOf = (provider: MailProvider): MailApp => {
    const app = apps[provider];
    if (app === undefined) throw new AccessRefused(`no app is registered with ${provider}`);
    return app;
  };

  async function ask(provider: MailProvider, fields: Record<string, string>): Promise<Tokens> {
    const { clientId, clientSecret } = appOf(provider);
    const reply = await fetch(places[provider].tokenUrl, {
      method: 'POST',
      headers: { Accept: 'application/json' },
      body: new URLSearchParams({ ...fields, client_id: clientId, client_secret: clientSecret }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const said = tokensIn(await reply.json().catch(() => undefined));
    if (said.accessToken !== undefined)
      return {
        accessToken: said.accessToken,
        expiresInMs: said.expiresInSeconds === undefined ? defaultLifeMs : said.expiresInSeconds * 1000,
        refreshToken: said.refreshToken,
      };
    const words = `${provider} grants no access to the mailbox: ${said.error ?? `status ${reply.status}`}`;
    throw reply.status >= 400 && reply.status < 500 && reply.status !== 429
      ? new AccessRefused(words)
      : new Error(words);
  }

  return {
    placesOf: (provider) => (apps[provider] === undefined ? undefined : places[provider]),
    authorizeUrl(provider, { address, state, redirectUri }) {
      const { authorizeUrl, scope } = places[provider];
      const query = {
        client_id: appOf(provider).clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope,
        state,
        login_hint: address,
        // Google issues a refresh token only when both are asked for.
        access_type: 'offline',
        prompt: 'consent',
      };
      return `${authorizeUrl}?${new URLSearchParams(query)}`;
    },
    exchange: (provider, { code, redirectUri }) =>
      ask(provider, { grant_type: 'authorization_code', code, redirect_uri: redirectUri }),
    refresh: (provider, refreshToken) =>
      ask(provider, { grant_type: 'refresh_token', refresh_token: refreshToken, scope: places[provider].scope }),
  };
}

function tokensIn(reply: unknown): {
  accessToken?: string;
  refreshToken?: string;
  expiresInSeconds?: number;
  error?: string;
} {
  const said = (typeof reply === 'object' && reply !== null ? reply : {}) as Record<string, unknown>;
  const text = (name: string): string | undefined => (typeof said[name] === 'string' ? said[name] : undefined);
  const expires = said['expires_in'];
  return {
    ...optional('accessToken', text('access_token')),
    ...optional('refreshToken', text('refresh_token')),
    ...optional('expiresInSeconds', typeof expires === 'number' && expires > 0 ? expires : undefined),
    ...optional('error', text('error_description') ?? text('error')),
  };
}

function optional<Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: Value };
}

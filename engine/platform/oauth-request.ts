// Checks an app's request to GET /oauth/authorize against its registration. An error in the client or the redirect
// address is shown to the person, never redirected; any other error is redirected to the app. RFC 6749 §4.1, RFC 7636,
// RFC 9700.

import type { OAuthAppRecord } from '../../store/platform/oauth-apps.ts';
import { isHeaderSafe } from './oauth-apps.ts';

export interface AuthorizationParameters {
  readonly response_type?: string | undefined;
  readonly client_id?: string | undefined;
  readonly redirect_uri?: string | undefined;
  readonly scope?: string | undefined;
  readonly state?: string | undefined;
  readonly code_challenge?: string | undefined;
  readonly code_challenge_method?: string | undefined;
}

export interface SoundRequest {
  readonly kind: 'sound';
  readonly app: OAuthAppRecord;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly state: string | undefined;
  readonly codeChallenge: string | null;
}

export type AuthorizationError =
  | 'invalid_request'
  | 'unauthorized_client'
  | 'access_denied'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'server_error';

export type JudgedRequest =
  | SoundRequest
  /** Shown on a page. */
  | { readonly kind: 'unusable'; readonly message: string }
  /** Redirected to the app, at a registered address. */
  | {
      readonly kind: 'faulty';
      readonly redirectUri: string;
      readonly state: string | undefined;
      readonly error: AuthorizationError;
      readonly description: string;
    };

/** Base64url of a SHA-256. */
const s256Challenge = /^[A-Za-z0-9_-]{43}$/;

interface Rule {
  readonly error: AuthorizationError;
  readonly description: string;
  breaks(asked: AuthorizationParameters, app: OAuthAppRecord): boolean;
}

/** Rules for a request with a known client and address, in order. */
const rules: readonly Rule[] = [
  // Specification 4.2 requires no response_type, and code is the only one; an empty parameter counts as omitted (RFC
  // 6749 §3.1).
  {
    error: 'unsupported_response_type',
    description: 'response_type must be code.',
    breaks: (asked) => !['', 'code'].includes(asked.response_type ?? ''),
  },
  {
    error: 'invalid_request',
    description: 'A public client must send a code_challenge.',
    breaks: (asked, app) => app.sealedSecret === null && asked.code_challenge === undefined,
  },
  {
    error: 'invalid_request',
    description: 'code_challenge_method must be S256.',
    breaks: (asked) =>
      (asked.code_challenge !== undefined || asked.code_challenge_method !== undefined) &&
      asked.code_challenge_method !== 'S256',
  },
  {
    error: 'invalid_request',
    description: 'code_challenge must be the base64url of a SHA-256.',
    breaks: (asked) => asked.code_challenge_method !== undefined && !s256Challenge.test(asked.code_challenge ?? ''),
  },
  { error: 'invalid_scope', description: 'scope is required.', breaks: (asked) => scopesIn(asked.scope).length === 0 },
  {
    error: 'invalid_scope',
    description: 'scope contains a scope that the app did not register.',
    breaks: (asked, app) => scopesIn(asked.scope).some((scope) => !app.scopes.includes(scope)),
  },
];

/**
 * Of the state as it is returned in an address: as much as 2,000 characters of ASCII may take. Clients refuse heads of
 * more than 16 KiB.
 */
const maxStateLength = 6000;

export function judgeRequest(asked: AuthorizationParameters, app: OAuthAppRecord | undefined): JudgedRequest {
  if (app === undefined)
    return { kind: 'unusable', message: 'This app is unknown. Its client_id is wrong, or it was deleted.' };
  const { redirect_uri: redirectUri, state } = asked;
  if (redirectUri === undefined)
    return { kind: 'unusable', message: 'The app did not say where to return to: redirect_uri is missing.' };
  if (!isHeaderSafe(redirectUri) || !app.redirectUris.some((registered) => isSameAddress(registered, redirectUri)))
    return {
      kind: 'unusable',
      message: 'The app wants to return to an address that it has not registered, so nothing is sent there.',
    };
  if (state !== undefined && new URLSearchParams([['', state]]).toString().length - 1 > maxStateLength)
    return {
      kind: 'unusable',
      message: `The app sent a state that is too long: encoded for an address, it may have ${maxStateLength} characters.`,
    };
  const broken = rules.find((rule) => rule.breaks(asked, app));
  if (broken !== undefined)
    return { kind: 'faulty', redirectUri, state, error: broken.error, description: broken.description };
  return {
    kind: 'sound',
    app,
    redirectUri,
    scopes: scopesIn(asked.scope),
    state,
    codeChallenge: asked.code_challenge ?? null,
  };
}

/** An app on the agent's own machine uses any free port (RFC 8252 §7.3, RFC 9700 §2.1). */
const loopbackAddress = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::([1-9]\d{0,4}))?(?=[/?]|$)(.*)$/;
const maxPort = 65_535;

/** An exact match, except for the port of a loopback address. */
function isSameAddress(registered: string, asked: string): boolean {
  if (registered === asked) return true;
  const [, host, , rest] = loopbackAddress.exec(registered) ?? [];
  const [, askedHost, port = '80', askedRest] = loopbackAddress.exec(asked) ?? [];
  return host !== undefined && host === askedHost && rest === askedRest && Number(port) <= maxPort;
}

/** Without duplicates. */
export function scopesIn(text: string | undefined): string[] {
  return [...new Set((text ?? '').split(' ').filter((scope) => scope !== ''))];
}

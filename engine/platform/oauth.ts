// Authorization codes and tokens of apps: issued for an agent's consent, exchanged once, rotated at each use, revoked
// as one family. Using a code or a refresh token twice revokes the family, so that is an outcome and not a refusal,
// which would be rolled back. RFC 6749 §4.1, §6; RFC 7009; RFC 7636; RFC 9700 §4.14. Specification 5.14, decisions 4.2.

import { createHash, timingSafeEqual } from 'node:crypto';
import {
  deleteOAuthCode,
  deleteOAuthToken,
  findOAuthCode,
  findOAuthGrant,
  findOAuthToken,
  insertOAuthCode,
  insertOAuthGrant,
  insertOAuthToken,
  noteOAuthGrantUse,
  type OAuthCodeRecord,
  type OAuthGrantRecord,
  type OAuthTokenRecord,
  revokeOAuthOfAgent,
  useOAuthCode,
  useOAuthToken,
} from '../../store/platform/oauth-grants.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { accessTokenMs, oauthCodeMs, refreshTokenMs } from '../constants.ts';
import { compactId, hashOf, workspaceIdIn } from '../directory/compact-ids.ts';
import { refuse } from '../errors.ts';
import { oneLine } from '../lines.ts';
import { mailAccountNotice, type Origin } from '../mail/account-notices.ts';
import { allowable, type Scope, scopes } from '../rights/scopes.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { isActive, theRoster } from '../workspace/roster.ts';
import { endGrant } from './oauth-grants.ts';
import { scopesIn } from './oauth-request.ts';

/** Errors of /oauth/token (RFC 6749 §5.2) and their statuses. */
export const tokenErrors = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unsupported_grant_type: 400,
  invalid_scope: 400,
} as const satisfies Record<string, number>;

export type TokenError = keyof typeof tokenErrors;

export interface TokenRefusal {
  readonly error: TokenError;
  readonly description: string;
  /**
   * A refresh token was reused, or its family has ended: 401, and the agent must consent again (specification 5.14).
   */
  readonly mustConsentAgain?: true;
}

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly scopes: readonly string[];
}

export type TokenOutcome = TokenPair | TokenRefusal;

const kinds = { code: 'oac_', access: 'oat_', refresh: 'ort_' } as const;
const secretBytes = 32;
/** Precision of lastUsedAt. */
const usedEveryMs = 60_000;
/** RFC 7636 §4.1. */
const verifierForm = /^[A-Za-z0-9\-._~]{43,128}$/;

/** The workspace named by one of our codes or tokens of any kind. */
export function workspaceOfToken(text: string): string | undefined {
  return Object.values(kinds).some((prefix) => text.startsWith(prefix))
    ? workspaceIdIn(text.slice(kinds.code.length))
    : undefined;
}

export function isAppToken(text: string): boolean {
  return text.startsWith(kinds.access);
}

export interface Consent {
  readonly clientId: string;
  readonly agentId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly codeChallenge: string | null;
}

/**
 * The agent's consent, limited to what it can allow. The code can be exchanged once, within a minute. `passwordHash`:
 * the one that the agent confirmed with; a reset withdraws earlier grants, so a later one needs the new password.
 * Refuses invalid_credentials.
 */
export const giveConsent = command(
  'oauth.consent',
  (ctx, consent: Consent & { passwordHash: string | null; appName: string; origin?: Origin }): string => {
    const { appName, origin, passwordHash, ...rest } = consent;
    const agent = theRoster(ctx).agents.get(consent.agentId);
    if (agent === undefined || !isActive(agent) || agent.passwordHash !== passwordHash) refuse('invalid_credentials');
    const granted = allowable(consent.scopes, agent.role);
    const code = secretOf(ctx, 'code');
    insertOAuthCode(ctx.db, {
      ...rest,
      scopes: granted,
      hash: hashOf(code),
      expiresAt: isoTime(ctx.nowMs + oauthCodeMs),
      grantId: null,
    });
    ctx.audit({
      actorAgentId: consent.agentId,
      action: 'oauth_app.authorized',
      targetKind: 'oauth_app',
      targetId: null,
      context: { clientId: consent.clientId, name: appName, scopes: granted },
    });
    mailConsent(ctx, agent, { appName, granted, origin });
    return code;
  },
);

function mailConsent(
  ctx: Context,
  agent: AgentRecord,
  { appName, granted, origin }: { appName: string; granted: readonly string[]; origin: Origin | undefined },
): void {
  const name = oneLine(appName);
  // The requested scopes are names of the table (judgeRequest).
  const may = granted.map((scope) => `- ${scopes[scope as Scope].summary}`);
  mailAccountNotice(ctx, agent, {
    subject: 'You allowed an app to act for you',
    text: [
      `You allowed ${name} to act in your name. It may:`,
      may.join('\n'),
      'It can do so until you withdraw your consent, under Settings, Allowed apps.',
    ].join('\n\n'),
    origin,
    advice:
      'If this was not you, withdraw it there, choose a new password with "Forgot it?" on the sign-in page, and tell an admin.',
  });
}

export const exchangeCode = command(
  'oauth.exchangeCode',
  (
    ctx,
    params: {
      code: string;
      clientId: string;
      appScopes: readonly string[];
      redirectUri: string;
      codeVerifier: string | undefined;
    },
  ): TokenOutcome => {
    const code = findOAuthCode(ctx.db, hashOf(params.code));
    if (code === undefined || code.clientId !== params.clientId) return refusedGrant('The code is unknown.');
    if (code.grantId !== null) {
      const given = findOAuthGrant(ctx.db, code.grantId);
      if (given !== undefined) endGrant(ctx, given, 'code_used_twice');
      return refusedGrant('The code was used before; the tokens it was exchanged for are revoked.');
    }
    if (ctx.at >= code.expiresAt) return refusedGrant('The code has expired.');
    if (code.redirectUri !== params.redirectUri)
      return refusedGrant('redirect_uri is not the one that the code was sent to.');
    if (!provesPossession(code.codeChallenge, params.codeVerifier))
      return spendCode(ctx, code, 'code_verifier does not match the code_challenge; the code is no longer valid.');
    if (!mayAct(ctx, code.agentId)) return refusedGrant('The agent no longer exists.');
    const grant: OAuthGrantRecord = {
      id: ctx.ids.uuid(),
      clientId: code.clientId,
      agentId: code.agentId,
      scopes: code.scopes,
      createdAt: ctx.at,
      lastUsedAt: null,
      revokedAt: null,
    };
    insertOAuthGrant(ctx.db, grant);
    useOAuthCode(ctx.db, code.hash, grant.id);
    return issuePair(ctx, grant, inForce(ctx, grant, params.appScopes));
  },
);

/** A client with the code but not its verifier is a thief or a mistake: there is only one try. */
function spendCode(ctx: Context, code: OAuthCodeRecord, description: string): TokenOutcome {
  deleteOAuthCode(ctx.db, code.hash);
  return refusedGrant(description);
}

export const refreshTokens = command(
  'oauth.refresh',
  (
    ctx,
    params: { refreshToken: string; clientId: string; appScopes: readonly string[]; scope: string | undefined },
  ): TokenOutcome => {
    const found = findOfClient(ctx, params.refreshToken, params.clientId);
    if (found?.token.kind !== 'refresh') return refusedGrant('The refresh token is unknown.');
    const { token, grant } = found;
    if (token.usedAt !== null) {
      endGrant(ctx, grant, 'refresh_token_used_twice');
      return {
        ...refusedGrant('The refresh token was used before; its whole family is revoked.'),
        mustConsentAgain: true,
      };
    }
    if (grant.revokedAt !== null || !mayAct(ctx, grant.agentId))
      return { ...refusedGrant('The refresh token was revoked.'), mustConsentAgain: true };
    if (ctx.at >= token.expiresAt) return refusedGrant('The refresh token has expired.');
    const wanted = scopesIn(params.scope);
    const present = inForce(ctx, grant, params.appScopes);
    if (wanted.some((scope) => !present.includes(scope)))
      return { error: 'invalid_scope', description: 'scope exceeds what was granted.' };
    useOAuthToken(ctx.db, token.hash, ctx.at);
    return issuePair(ctx, grant, wanted.length === 0 ? present : wanted);
  },
);

/**
 * RFC 7009: a refresh token revokes its family, an access token itself. Another client's token or an invalid one is
 * left alone.
 */
export const revokeToken = command('oauth.revoke', (ctx, params: { token: string; clientId: string }): void => {
  const found = findOfClient(ctx, params.token, params.clientId);
  if (found === undefined) return;
  if (found.token.kind === 'refresh') endGrant(ctx, found.grant, 'given_back');
  else deleteOAuthToken(ctx.db, found.token.hash);
});

/** An agent left: its grants end for good, even if the agent returns. */
export function revokeGrantsOf(ctx: Context, agentId: string): void {
  revokeOAuthOfAgent(ctx.db, agentId, ctx.at);
}

export interface KnownAppToken {
  readonly grantId: string;
  readonly clientId: string;
  readonly agentId: string;
  readonly scopes: readonly string[];
  /** False once it was revoked or its agent left. */
  readonly counts: boolean;
  /** Its last use has not been recorded recently. */
  readonly isUseNews: boolean;
}

/** Undefined if it is not an access token or has expired. Does not check whether the app still exists. */
export function findAccess(view: Pick<View, 'db' | 'state' | 'at' | 'nowMs'>, text: string): KnownAppToken | undefined {
  const token = findOAuthToken(view.db, hashOf(text));
  const grant = token === undefined ? undefined : findOAuthGrant(view.db, token.grantId);
  if (token?.kind !== 'access' || grant === undefined || view.at >= token.expiresAt) return undefined;
  const isUseNews = grant.lastUsedAt === null || view.nowMs - Date.parse(grant.lastUsedAt) >= usedEveryMs;
  return {
    grantId: grant.id,
    isUseNews,
    clientId: grant.clientId,
    agentId: grant.agentId,
    scopes: token.scopes,
    counts: grant.revokedAt === null && mayAct(view, grant.agentId),
  };
}

export const noteGrantUse = command('oauth.use', (ctx, params: { grantId: string }): void =>
  noteOAuthGrantUse(ctx.db, params.grantId, ctx.at),
);

/**
 * RFC 7636 §4.6. A verifier without a challenge is refused too: otherwise an attacker could make a stolen code look as
 * if it never had one (RFC 9700 §4.8).
 */
export function provesPossession(challenge: string | null, verifier: string | undefined): boolean {
  if (challenge === null || verifier === undefined) return challenge === null && verifier === undefined;
  const made = createHash('sha256').update(verifier).digest('base64url');
  return (
    verifierForm.test(verifier) &&
    made.length === challenge.length &&
    timingSafeEqual(Buffer.from(made), Buffer.from(challenge))
  );
}

function issuePair(ctx: Context, grant: OAuthGrantRecord, scopes: readonly string[]): TokenPair {
  const give = (kind: OAuthTokenRecord['kind'], lifetimeMs: number, ofScopes: readonly string[]): string => {
    const text = secretOf(ctx, kind);
    insertOAuthToken(ctx.db, {
      hash: hashOf(text),
      kind,
      grantId: grant.id,
      scopes: ofScopes,
      expiresAt: isoTime(ctx.nowMs + lifetimeMs),
      usedAt: null,
    });
    return text;
  };
  return {
    accessToken: give('access', accessTokenMs, scopes),
    refreshToken: give('refresh', refreshTokenMs, grant.scopes),
    scopes,
  };
}

/**
 * The scopes of a grant that are in force: still registered by the app, and still the agent's to allow. A token never
 * claims more.
 */
function inForce(
  view: Pick<View, 'state'>,
  { scopes, agentId }: OAuthGrantRecord,
  appScopes: readonly string[],
): string[] {
  const role = theRoster(view).agents.get(agentId)?.role ?? 'agent';
  return allowable(scopes, role).filter((scope) => appScopes.includes(scope));
}

function secretOf(ctx: Context, kind: keyof typeof kinds): string {
  return kinds[kind] + compactId(ctx.workspaceId) + ctx.ids.secret(secretBytes);
}

function findOfClient(
  view: Pick<View, 'db'>,
  text: string,
  clientId: string,
): { token: OAuthTokenRecord; grant: OAuthGrantRecord } | undefined {
  const token = findOAuthToken(view.db, hashOf(text));
  const grant = token === undefined ? undefined : findOAuthGrant(view.db, token.grantId);
  return token === undefined || grant?.clientId !== clientId ? undefined : { token, grant };
}

function mayAct(view: Pick<View, 'state'>, agentId: string): boolean {
  const agent = theRoster(view).agents.get(agentId);
  return agent !== undefined && isActive(agent);
}

function refusedGrant(description: string): TokenRefusal {
  return { error: 'invalid_grant', description };
}

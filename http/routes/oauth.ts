// The OAuth 2 endpoints: consent, token, revocation and metadata. RFC 6749, 7009, 7636, 8414, 9207. Specification 4.2,
// 5.14; decisions 4.2.

import { createHash } from 'node:crypto';
import Type from 'typebox';
import { accessTokenMs } from '../../engine/constants.ts';
import { Refusal } from '../../engine/errors.ts';
import {
  exchangeCode,
  giveConsent,
  refreshTokens,
  revokeToken,
  type TokenError,
  type TokenOutcome,
  type TokenRefusal,
  tokenErrors,
  workspaceOfToken,
} from '../../engine/platform/oauth.ts';
import { appScopes } from '../../engine/platform/oauth-apps.ts';
import { type AuthorizationError, judgeRequest, type SoundRequest } from '../../engine/platform/oauth-request.ts';
import { allowable, type Scope, scopes } from '../../engine/rights/scopes.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { hasSecondFactor, isWithoutRequiredFactor } from '../../engine/team/second-factors.ts';
import type { Member } from '../../engine/team/signing-in.ts';
import { isActive, theRoster } from '../../engine/workspace/roster.ts';
import { consentPage, consentRefusedPage, secondFactorPage } from '../browser/consent-page.ts';
import { signInsPerMinute, signInsPerNetwork } from '../limits/sign-in-guard.ts';
import type { RawReply } from '../request.ts';
import { type OtherReply, route } from '../route.ts';
import { authenticateClient, clientOf, isLive, mayServe } from '../secrets/oauth-clients.ts';
import {
  askSecondFactor,
  type Proof,
  passSecondFactor,
  type Question,
  questionOf,
  signatureIn,
} from '../secrets/second-factors.ts';
import { findByPassword } from '../secrets/sign-in.ts';
import { signingOf } from '../secrets/signed-in.ts';
import type { Services } from '../services.ts';
import type { Asked } from '../signed/sign-in-steps.ts';

const tag = 'OAuth';
/** Longer ones would be truncated by some browsers. */
const Parameter = Type.Optional(Type.String({ maxLength: 2000 }));

const AuthorizationParameters = {
  response_type: Type.Optional(Type.String({ maxLength: 100, description: '`code`, which is the default.' })),
  client_id: Parameter,
  redirect_uri: Type.Optional(
    Type.String({
      maxLength: 2000,
      description: 'One that the app registered, compared exactly; for loopback addresses any port matches.',
    }),
  ),
  scope: Type.Optional(Type.String({ maxLength: 2000, description: 'Separated by spaces.' })),
  state: Type.Optional(
    Type.String({
      maxLength: 2000,
      description: 'Returned unchanged. Encoded for an address, it may have 6,000 characters.',
    }),
  ),
  code_challenge: Type.Optional(
    Type.String({ maxLength: 200, description: 'Base64url of the SHA-256 of the verifier. Required for public apps.' }),
  ),
  code_challenge_method: Type.Optional(Type.String({ maxLength: 100, description: 'S256' })),
};
type Parameters = { readonly [Name in keyof typeof AuthorizationParameters]?: string | undefined };

/** A server that acts for many people refreshes once an hour for each of them. */
const tokensPerMinute = 600;
const wrongPair = 'The email or the password is wrong.';

export const oauthRoutes = [
  route({
    operation: 'oauth.authorize',
    method: 'GET',
    path: '//oauth/authorize',
    tag,
    summary: 'Ask an agent for consent',
    description:
      'Returns a page. ' +
      'An unknown `client_id` or `redirect_uri` is reported on that page; ' +
      'every other error is returned to `redirect_uri` as RFC 6749 §4.1.2.1 specifies. ' +
      'Responses carry `iss` (RFC 9207).',
    access: { kind: 'public' },
    anyHeaders: true,
    query: Type.Object(AuthorizationParameters),
    reply: { status: 200, schema: null, contentType: 'text/html' },
    otherReplies: { 303: { description: 'Redirects to `redirect_uri` with the error.' } },
    refusals: [],
    send({ query }, services) {
      const request = judge(services, query);
      return 'status' in request
        ? request
        : consent(services, request, { parameters: query, email: '', problem: undefined });
    },
  }),

  route({
    operation: 'oauth.decide',
    method: 'POST',
    path: '//oauth/authorize',
    tag,
    summary: 'Submit the consent page',
    description:
      'Redirects to `redirect_uri` with a code, valid once and for 60 seconds, ' +
      'or with access_denied. webhooks:write is left out if the agent is not an admin: ' +
      "the tokens' scope says what was granted. " +
      'An agent with a second factor gets a second page, ' +
      'which submits `challenge` and either `code` (from the authenticator app, or a recovery code) or `passkey`.',
    access: { kind: 'public' },
    limit: { by: 'account', perMinute: signInsPerMinute, networkPerMinute: signInsPerNetwork, budget: 'auth.login' },
    anyHeaders: true,
    form: true,
    body: Type.Object({
      ...AuthorizationParameters,
      email: Type.Optional(Type.String({ maxLength: 254 })),
      password: Type.Optional(Type.String({ maxLength: 1024 })),
      challenge: Type.Optional(Type.String({ maxLength: 100 })),
      code: Type.Optional(Type.String({ maxLength: 100 })),
      passkey: Type.Optional(Type.String({ maxLength: 20_000 })),
      decision: Type.Optional(Type.Enum(['allow', 'deny'])),
    }),
    reply: { status: 303, schema: null },
    otherReplies: {
      200: { description: 'The second page, which asks for a second factor.', contentType: 'text/html' },
      401: {
        description: 'The page again: the email, the password or the second factor is wrong.',
        contentType: 'text/html',
      },
      403: {
        description:
          'The page again: the app may not be used in this workspace, ' +
          'it requests something that only an admin can allow, or the agent has to set up a second factor first.',
        contentType: 'text/html',
      },
    },
    refusals: [],
    async send(call, services) {
      const { email = '', password = '', challenge, code, passkey, decision, ...parameters } = call.body;
      const origin = signingOf(call, services, undefined);
      const request = judge(services, parameters);
      if ('status' in request) return request;
      if (decision !== 'allow')
        return goBack(services, request, { error: 'access_denied', error_description: 'The agent denied access.' });
      const again = (problem: string, status: number): RawReply => ({
        ...consent(services, request, { parameters, email, problem }),
        status,
      });
      if (challenge !== undefined)
        return answerSecondFactor(services, { request, parameters, again, challenge, proof: proofOf(code, passkey) });
      const found = await findByPassword(services, { email, password, origin, operation: 'oauth.decide' });
      if (found === undefined) return again(wrongPair, 401);
      const problem = problemOf(services, request, found);
      if (problem !== undefined) return again(problem, 403);
      const view = services.engine.workspace(found.workspace.id)?.view(systemCaller);
      if (view === undefined || !hasSecondFactor(view, found.agent.id))
        return allow(services, request, { member: found, origin, again });
      const question = await askSecondFactor(services, view, {
        kind: 'consent',
        member: found,
        origin,
        clientId: request.app.clientId,
      });
      return secondFactor(request, { parameters, question, problem: undefined });
    },
  }),

  route({
    operation: 'oauth.token',
    method: 'POST',
    path: '//oauth/token',
    tag,
    summary: 'Get tokens',
    description:
      '`grant_type` is authorization_code or refresh_token; the client authenticates with Basic or in the form. ' +
      'Returns {access_token, refresh_token, token_type, expires_in, scope, workspaceId}. ' +
      'Access tokens are valid for an hour, refresh tokens for 90 days after their last use. ' +
      'Each refresh returns a new refresh token; using one twice revokes the whole family: 401 invalid_grant. ' +
      '`scope` is what the token allows now, which can be less than was requested: ' +
      'scopes that the app no longer registers are left out. ' +
      'Errors follow RFC 6749 §5.2: invalid_request, invalid_client, invalid_grant, unsupported_grant_type, invalid_scope.',
    access: { kind: 'public' },
    limit: { by: 'ip', perMinute: tokensPerMinute },
    anyHeaders: true,
    form: true,
    body: Type.Object({
      grant_type: Parameter,
      code: Parameter,
      redirect_uri: Parameter,
      code_verifier: Parameter,
      refresh_token: Parameter,
      scope: Parameter,
      client_id: Parameter,
      client_secret: Parameter,
    }),
    reply: { status: 200, schema: null, contentType: 'application/json' },
    otherReplies: tokenReplies([
      'invalid_client',
      'invalid_request',
      'invalid_grant',
      'unsupported_grant_type',
      'invalid_scope',
    ]),
    refusals: [],
    async send({ body, headers: { authorization } }, services) {
      const client = authenticateClient(services, authorization, body);
      if ('error' in client) return refused(client, authorization);
      const { clientId, scopes: appScopes } = client.app;
      const {
        grant_type: grantType,
        code,
        redirect_uri: redirectUri,
        code_verifier: codeVerifier,
        refresh_token: refreshToken,
        scope,
      } = body;
      const execute = async (text: string, run: (workspaceId: string) => Promise<TokenOutcome>): Promise<RawReply> => {
        const workspaceId = workspaceOfToken(text);
        if (workspaceId !== undefined) await services.engine.whenOpen(workspaceId);
        if (
          workspaceId === undefined ||
          services.engine.workspace(workspaceId) === undefined ||
          !mayServe(services, client, workspaceId)
        )
          return refused({ error: 'invalid_grant', description: 'The code or token is not valid.' }, authorization);
        const outcome = await run(workspaceId);
        return 'error' in outcome ? refused(outcome, authorization) : issued(outcome, workspaceId);
      };
      switch (grantType) {
        case 'authorization_code':
          if (code === undefined || redirectUri === undefined)
            return refused(
              { error: 'invalid_request', description: 'code and redirect_uri are required.' },
              authorization,
            );
          return execute(code, (workspaceId) =>
            services.engine.execute(exchangeCode, {
              workspaceId,
              caller: systemCaller,
              params: { code, clientId, appScopes, redirectUri, codeVerifier },
            }),
          );
        case 'refresh_token':
          if (refreshToken === undefined)
            return refused({ error: 'invalid_request', description: 'refresh_token is required.' }, authorization);
          return execute(refreshToken, (workspaceId) =>
            services.engine.execute(refreshTokens, {
              workspaceId,
              caller: systemCaller,
              params: { refreshToken, clientId, appScopes, scope },
            }),
          );
        case undefined:
          return refused({ error: 'invalid_request', description: 'grant_type is required.' }, authorization);
        default:
          return refused(
            { error: 'unsupported_grant_type', description: 'grant_type must be authorization_code or refresh_token.' },
            authorization,
          );
      }
    },
  }),

  route({
    operation: 'oauth.revoke',
    method: 'POST',
    path: '//oauth/revoke',
    tag,
    summary: 'Revoke a token',
    description:
      'RFC 7009. Revoking a refresh token revokes its whole family; revoking an access token revokes only that one. ' +
      'Returns 200 for unknown tokens and those of other clients too.',
    access: { kind: 'public' },
    limit: { by: 'ip', perMinute: tokensPerMinute },
    anyHeaders: true,
    form: true,
    body: Type.Object({ token: Parameter, token_type_hint: Parameter, client_id: Parameter, client_secret: Parameter }),
    reply: { status: 200, schema: null },
    otherReplies: tokenReplies(['invalid_client', 'invalid_request']),
    refusals: [],
    async send({ body, headers: { authorization } }, services) {
      const client = authenticateClient(services, authorization, body);
      if ('error' in client) return refused(client, authorization);
      const { token } = body;
      if (token === undefined)
        return refused({ error: 'invalid_request', description: 'token is required.' }, authorization);
      const workspaceId = workspaceOfToken(token);
      if (workspaceId !== undefined && services.engine.workspace(workspaceId) !== undefined)
        await services.engine.execute(revokeToken, {
          workspaceId,
          caller: systemCaller,
          params: { token, clientId: client.app.clientId },
        });
      return { status: 200, headers: {}, body: '' };
    },
  }),

  route({
    operation: 'oauth.metadata',
    method: 'GET',
    path: '//.well-known/oauth-authorization-server',
    tag,
    summary: "Get the authorization server's metadata",
    description: 'RFC 8414.',
    access: { kind: 'public' },
    anyHeaders: true,
    reply: { status: 200, schema: null, contentType: 'application/json' },
    refusals: [],
    send: (_, { config }) => json(200, metadataOf(config.baseUrl)),
  }),
];

/** invalid_grant is 401 too, for grants that need a new consent. */
function tokenReplies(errors: readonly TokenError[]): Readonly<Record<number, OtherReply>> {
  const unknown = errors.filter((error) => tokenErrors[error] === 401 || error === 'invalid_grant');
  return {
    400: { description: 'As RFC 6749 §5.2 specifies.', errors: errors.filter((error) => tokenErrors[error] === 400) },
    401: { description: 'The client is unknown, or the agent has to consent again.', errors: unknown },
  };
}

function metadataOf(issuer: string): object {
  const ways = ['client_secret_basic', 'client_secret_post', 'none'];
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    scopes_supported: appScopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ways,
    revocation_endpoint_auth_methods_supported: ways,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${issuer}/docs`,
  };
}

/** A valid request, or the reply to an invalid one. */
function judge(services: Services, asked: Parameters): SoundRequest | RawReply {
  const request = judgeRequest(asked, clientOf(services, asked.client_id)?.app);
  switch (request.kind) {
    case 'sound':
      return request;
    case 'unusable':
      return page(400, consentRefusedPage(request.message), undefined);
    case 'faulty':
      return goBack(services, request, { error: request.error, error_description: request.description });
  }
}

/** Why this agent cannot give consent, although it has signed in. */
function problemOf(services: Services, request: SoundRequest, { agent, workspace }: Member): string | undefined {
  const client = clientOf(services, request.app.clientId);
  if (client === undefined || !mayServe(services, client, workspace.id))
    return 'This app is in development and can only be used in its own workspace.';
  if (allowable(request.scopes, agent.role).length === 0) return 'Only an admin can allow what this app requests.';
  const view = services.engine.workspace(workspace.id)?.view(systemCaller);
  return view !== undefined && isWithoutRequiredFactor(view, agent.id)
    ? 'Your workspace requires a second factor. Sign in to Switchboard and set one up first.'
    : undefined;
}

async function allow(
  services: Services,
  request: SoundRequest,
  { member: { agent, workspace }, origin, again }: Asked & Pick<SecondAnswer, 'again'>,
): Promise<RawReply> {
  const { redirectUri, codeChallenge, app } = request;
  const params = {
    clientId: app.clientId,
    appName: app.name,
    agentId: agent.id,
    passwordHash: agent.passwordHash,
    redirectUri,
    scopes: request.scopes,
    codeChallenge,
    origin,
  };
  try {
    return goBack(services, request, {
      code: await services.engine.execute(giveConsent, { workspaceId: workspace.id, caller: systemCaller, params }),
    });
  } catch (error) {
    if (error instanceof Refusal && error.slug === 'invalid_credentials') return again(wrongPair, 401);
    throw error;
  }
}

interface SecondAnswer {
  readonly request: SoundRequest;
  readonly parameters: Parameters;
  readonly again: (problem: string, status: number) => RawReply;
  readonly challenge: string;
  readonly proof: Proof;
}

async function answerSecondFactor(services: Services, answer: SecondAnswer): Promise<RawReply> {
  const { request, again, challenge } = answer;
  const step = services.signInSteps.find(challenge);
  const late = (): RawReply => again('That took too long, or there were too many attempts. Sign in again.', 401);
  if (step?.kind !== 'consent' || step.clientId !== request.app.clientId) return late();
  // The factor and the challenge count once.
  return services.engine.actOutside(step.member.workspace.id, () => passConsent(services, { ...answer, step, late }));
}

async function passConsent(
  services: Services,
  { request, parameters, again, challenge, proof, step, late }: SecondAnswer & { step: Asked; late: () => RawReply },
): Promise<RawReply> {
  const view = services.engine.workspace(step.member.workspace.id)?.view(systemCaller);
  const agent = view && theRoster(view).agents.get(step.member.agent.id);
  // The agent may have left, or changed its password, in the meantime.
  if (
    view === undefined ||
    agent === undefined ||
    !isActive(agent) ||
    agent.passwordHash !== step.member.agent.passwordHash
  )
    return late();
  const member = { ...step.member, agent };
  try {
    await passSecondFactor(services, step, { ...proof, challenge, operation: 'oauth.decide' });
  } catch (error) {
    if (!(error instanceof Refusal) || (error.slug !== 'invalid_code' && error.slug !== 'gone')) throw error;
    if (services.signInSteps.find(challenge) === undefined) return late();
    return {
      ...secondFactor(request, {
        parameters,
        question: await questionOf(services, view, { step, challenge }),
        problem: error.message,
      }),
      status: 401,
    };
  }
  const problem = problemOf(services, request, member);
  return problem === undefined ? allow(services, request, { member, origin: step.origin, again }) : again(problem, 403);
}

/**
 * Six digits are an authenticator code; anything else is a recovery code. A malformed passkey signature proves nothing.
 */
function proofOf(typed: string | undefined, passkey: string | undefined): Proof {
  if (passkey !== undefined && passkey !== '') {
    const signature = signatureIn(passkey);
    return signature === undefined ? {} : { passkey: signature };
  }
  const code = (typed ?? '').trim();
  const digits = code.replace(/\s/g, '');
  return /^\d{6}$/.test(digits) ? { code: digits } : { recoveryCode: code };
}

function secondFactor(
  { app, redirectUri }: SoundRequest,
  shown: { parameters: Parameters; question: Question; problem: string | undefined },
): RawReply {
  const { question, problem } = shown;
  const { html, script } = secondFactorPage({
    appName: app.name,
    parameters: given(shown.parameters),
    question,
    problem,
  });
  return page(200, html, redirectUri, script);
}

function given(parameters: Parameters): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function consent(
  services: Services,
  { app, scopes: asked, redirectUri }: SoundRequest,
  shown: { parameters: Parameters; email: string; problem: string | undefined },
): RawReply {
  const { protocol, host } = new URL(redirectUri);
  const html = consentPage({
    appName: app.name,
    // judgeRequest() only accepts scopes that the app registered, which are names from this table.
    permissions: asked.map((scope) => scopes[scope as Scope].summary),
    destination: host === '' ? `the app (${protocol}//)` : host,
    isInDevelopment: !isLive(services, app.clientId),
    parameters: given(shown.parameters),
    email: shown.email,
    problem: shown.problem,
  });
  return page(200, html, redirectUri);
}

/** The address is one that the app registered, compared exactly; only its query is extended. */
function goBack(
  { config }: Services,
  to: { redirectUri: string; state: string | undefined },
  answer: { code: string } | { error: AuthorizationError; error_description: string },
): RawReply {
  const query = new URLSearchParams({
    ...answer,
    ...(to.state === undefined ? {} : { state: to.state }),
    iss: config.baseUrl,
  });
  return {
    status: 303,
    headers: {
      Location: `${to.redirectUri}${to.redirectUri.includes('?') ? '&' : '?'}${query}`,
      'Referrer-Policy': 'no-referrer',
    },
    body: '',
  };
}

/** Browsers apply form-action to the redirect after a form too, so the app's address is allowed there. */
function page(status: number, html: string, redirectUri: string | undefined, script?: string): RawReply {
  const scripts =
    script === undefined ? '' : ` script-src 'sha256-${createHash('sha256').update(script).digest('base64')}';`;
  const policy = `default-src 'none';${scripts} style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'${redirectUri === undefined ? '' : ` ${sourceOf(redirectUri)}`}; frame-ancestors 'none'`;
  return {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy,
      'Referrer-Policy': 'no-referrer',
    },
    body: html,
  };
}

/**
 * In the form that a policy accepts: an origin, or only a scheme if there is no origin or if policies cannot express
 * the host.
 */
function sourceOf(redirectUri: string): string {
  const { protocol, hostname, origin } = new URL(redirectUri);
  return /^https?:$/.test(protocol) && !hostname.startsWith('[') ? origin : protocol;
}

function issued(
  pair: { accessToken: string; refreshToken: string; scopes: readonly string[] },
  workspaceId: string,
): RawReply {
  return json(200, {
    access_token: pair.accessToken,
    refresh_token: pair.refreshToken,
    token_type: 'Bearer',
    expires_in: accessTokenMs / 1000,
    scope: pair.scopes.join(' '),
    workspaceId,
  });
}

function refused({ error, description, mustConsentAgain }: TokenRefusal, authorization: string | undefined): RawReply {
  const status = mustConsentAgain === true ? 401 : tokenErrors[error];
  const reply = json(status, { error, error_description: description });
  return error === 'invalid_client' && authorization !== undefined
    ? { ...reply, headers: { ...reply.headers, 'WWW-Authenticate': 'Basic realm="oauth"' } }
    : reply;
}

function json(status: number, body: object): RawReply {
  return {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', Pragma: 'no-cache' },
    body: JSON.stringify(body),
  };
}

// Authenticates requests: a workspace token or an API key for agents, a visitor token for the widget, a signature for
// other systems. Does not authorise; passes on the scopes of a key.

import { refuse } from '../../engine/errors.ts';
import { findByText, isApiKey, noteApiKeyUse, workspaceOfApiKey } from '../../engine/platform/api-keys.ts';
import { findAccess, isAppToken, noteGrantUse, workspaceOfToken } from '../../engine/platform/oauth.ts';
import type { Grant } from '../../engine/rights/scopes.ts';
import { type Caller, systemCaller } from '../../engine/runtime/caller.ts';
import { findSession, isUseNews, noteSessionUse } from '../../engine/team/agent-sessions.ts';
import { mustEnrol } from '../../engine/team/second-factors.ts';
import { isActive, theRoster } from '../../engine/workspace/roster.ts';
import type { AccessClaims } from '../../workers/secrets/access-tokens.ts';
import type { Place, RawRequest, RequestHead } from '../request.ts';
import type { Access, SignedRequest, Signer } from '../route.ts';
import { clientOf, withinApp } from '../secrets/oauth-clients.ts';
import type { Services } from '../services.ts';
import { verifySignature } from '../signed/signatures.ts';
import type { VisitorNamed } from '../signed/visitor-tokens.ts';
import { authoriseVisitor } from './authorise.ts';
import { bearerOf } from './headers.ts';
import { jsonIn } from './parts.ts';

export interface Credential {
  readonly caller: Caller;
  /** Empty for a public route. */
  readonly workspaceId: string;
  /** The limits of a key or of an app's token; undefined for a signed-in agent. */
  readonly grant?: Grant;
  /** The sign-in of an agent; undefined for keys and apps, and for tokens from before sign-ins were recorded. */
  readonly sessionId?: string | undefined;
}

const anonymous: Credential = { caller: { kind: 'system' }, workspaceId: '' };

/**
 * Waits only for a token that was not seen before, and for a file that must be opened. Refuses unauthorized,
 * token_revoked.
 */
export function authenticate(
  access: Access,
  token: string | undefined,
  services: Services,
): Credential | Promise<Credential> {
  // The body of a signed request identifies it: authenticateSigned().
  if (access.kind === 'public' || access.kind === 'signed') return anonymous;
  if (token === undefined) refuse('unauthorized');
  if (access.kind === 'visitor') {
    const credential = authenticateVisitor(token, services);
    return inTurn(credential.workspaceId, services, () => credential);
  }
  if (isApiKey(token)) return inTurn(workspaceOfApiKey(token), services, () => keyCredential(token, services));
  if (isAppToken(token)) return inTurn(workspaceOfToken(token), services, () => appCredential(token, services));
  const ofClaims = (claims: AccessClaims): Credential | Promise<Credential> =>
    inTurn(claims.workspaceId, services, () => agentCredential(claims, services));
  const known = services.accessTokens.known(token);
  if (known !== undefined) return ofClaims(known);
  return services.accessTokens
    .verify(token)
    .then((claims) => (claims === undefined ? refuse('unauthorized') : ofClaims(claims)));
}

/** The caller, if the head is enough to say so without waiting. */
export function knownCredential(access: Access, { headers }: RequestHead, services: Services): Credential | undefined {
  if (access.kind === 'public' || access.kind === 'signed') return undefined;
  try {
    const credential = authenticate(access, bearerOf(headers['authorization']), services);
    if (!(credential instanceof Promise)) return credential;
    // The request is authenticated, and refused, when its body has arrived.
    credential.catch(() => undefined);
    return undefined;
  } catch {
    return undefined;
  }
}

/** Continues synchronously if the workspace's file is open. */
function inTurn(
  workspaceId: string | undefined,
  { engine }: Pick<Services, 'engine'>,
  go: () => Credential,
): Credential | Promise<Credential> {
  const opening = workspaceId === undefined ? undefined : engine.whenOpen(workspaceId);
  return opening === undefined ? go() : opening.then(go);
}

/** A secret that matches nothing, so that an unknown recipient takes the same time as a known one. */
const signersOfNobody: readonly Signer[] = [{ workspaceId: '', secret: 'a secret that signs nothing' }];

/**
 * The workspace of a signed request, and its body. Checks in the order of the decisions ("Inbound email"): the header,
 * the JSON, then the signature over the received bytes. Refuses invalid_signature, invalid_body.
 */
export function authenticateSigned(
  raw: RawRequest,
  signersOf: (request: SignedRequest) => readonly Signer[],
): { credential: Credential; body: unknown } {
  const signature = raw.headers['x-signature'] ?? refuse('invalid_signature');
  const body = jsonIn(raw.body);
  const named = signersOf({ raw, body });
  const signer = (named.length === 0 ? signersOfNobody : named).find(({ secret }) =>
    verifySignature(raw.body, signature, secret),
  );
  if (signer === undefined || signer.workspaceId === '') refuse('invalid_signature');
  return { credential: { caller: systemCaller, workspaceId: signer.workspaceId }, body };
}

/** The agent of a verified token, if the token is still valid. Refuses unauthorized, token_revoked. */
function agentCredential(claims: AccessClaims, services: Pick<Services, 'engine' | 'clock'>): Credential {
  const endMs = endOf(claims, services);
  if (endMs === 'revoked') refuse('token_revoked');
  if (endMs <= services.clock.now()) refuse('unauthorized');
  return {
    caller: { kind: 'agent', agentId: claims.agentId },
    workspaceId: claims.workspaceId,
    sessionId: claims.sessionId,
  };
}

/**
 * The time until which a token is valid: the end of its sign-in, which may have been extended. `revoked`: its sign-in,
 * or all of its agent's, were ended. 0 for an unknown sign-in.
 */
export function endOf(claims: AccessClaims, { engine }: Pick<Services, 'engine'>): number | 'revoked' {
  const workspace = engine.workspace(claims.workspaceId);
  const agent = workspace && theRoster(workspace).agents.get(claims.agentId);
  if (workspace === undefined || agent === undefined) return 0;
  if (!isActive(agent)) return 'revoked';
  if (claims.sessionId === undefined) return agent.tokenVersion === claims.tokenVersion ? claims.expiresMs : 'revoked';
  const session = findSession(workspace, agent.id, claims.sessionId);
  return session === undefined ? 'revoked' : Math.min(claims.expiresMs, Date.parse(session.expiresAt));
}

/**
 * Records from time to time that a sign-in is in use, and from where. Not awaited: the next use records what this one
 * could not.
 */
export function noteUse(
  { caller, workspaceId, sessionId }: Credential,
  from: { readonly ip: string; readonly userAgent: string | null },
  { engine, clock, log }: Pick<Services, 'engine' | 'clock' | 'log'>,
): void {
  const workspace = sessionId === undefined || caller.kind !== 'agent' ? undefined : engine.workspace(workspaceId);
  if (workspace === undefined || sessionId === undefined || caller.kind !== 'agent') return;
  const session = findSession(workspace, caller.agentId, sessionId);
  if (session === undefined || !isUseNews(session, clock.now())) return;
  const params = { agentId: caller.agentId, sessionId, address: from.ip, userAgent: from.userAgent };
  engine
    .execute(noteSessionUse, { workspaceId, caller: systemCaller, params })
    .catch((error: unknown) => log.warn({ workspaceId, err: error }, "a sign-in's last use could not be recorded"));
}

/** The admin that made the key, limited to the key's scopes. Refuses unauthorized. */
function keyCredential(key: string, { engine, log }: Pick<Services, 'engine' | 'log'>): Credential {
  const workspaceId = workspaceOfApiKey(key) ?? refuse('unauthorized');
  const workspace = engine.workspace(workspaceId) ?? refuse('unauthorized');
  const { agentId, name, grant, hash, isUseNews } =
    findByText(workspace.view(systemCaller), key) ?? refuse('unauthorized');
  // Not awaited: the next use records what this one could not.
  if (isUseNews)
    engine
      .execute(noteApiKeyUse, { workspaceId, caller: systemCaller, params: { hash } })
      .catch((error: unknown) => log.warn({ workspaceId, err: error }, "a key's last use could not be recorded"));
  return { caller: { kind: 'agent', agentId, through: { by: 'key', id: grant.id, name } }, workspaceId, grant };
}

/** The workspace of an agent's or a key's bearer token, as far as it is known without waiting; empty otherwise. */
export function workspaceOf(token: string, services: Pick<Services, 'accessTokens'>): string {
  return (
    (isApiKey(token)
      ? workspaceOfApiKey(token)
      : isAppToken(token)
        ? workspaceOfToken(token)
        : services.accessTokens.known(token)?.workspaceId) ?? ''
  );
}

/**
 * The agent that allowed the app, limited to what it allowed and to what the app still registers. Refuses unauthorized,
 * token_revoked.
 */
function appCredential(token: string, services: Pick<Services, 'engine' | 'config' | 'log'>): Credential {
  const workspaceId = workspaceOfToken(token) ?? refuse('unauthorized');
  const workspace = services.engine.workspace(workspaceId) ?? refuse('unauthorized');
  const { grantId, clientId, agentId, scopes, counts, isUseNews } =
    findAccess(workspace.view(systemCaller), token) ?? refuse('unauthorized');
  const client = counts ? clientOf(services, clientId) : undefined;
  const granted = client && withinApp(services, client, { workspaceId, scopes });
  if (client === undefined || granted === undefined)
    refuse('token_revoked', { message: 'The app is no longer allowed to do this. Ask for consent again.' });
  // Not awaited, as for a key.
  if (isUseNews)
    services.engine
      .execute(noteGrantUse, { workspaceId, caller: systemCaller, params: { grantId } })
      .catch((error: unknown) =>
        services.log.warn({ workspaceId, err: error }, "a grant's last use could not be recorded"),
      );
  return {
    caller: { kind: 'agent', agentId, through: { by: 'app', id: clientId, name: client.app.name } },
    workspaceId,
    grant: { by: 'app', id: clientId, scopes: granted, mode: 'live' },
  };
}

/** Refuses unauthorized. */
function authenticateVisitor(token: string, services: Pick<Services, 'visitorTokens'>): Credential {
  const named = services.visitorTokens.verify(token) ?? refuse('unauthorized');
  return { caller: callerOf(named), workspaceId: named.workspaceId };
}

function callerOf({ visitorId, emailHash }: VisitorNamed): Caller {
  return { kind: 'visitor', visitorId, provedEmailHash: emailHash };
}

/** The person of a socket. */
export interface Known {
  readonly credential: Credential;
  readonly place: Place;
  /** For agents: the claims of their token. */
  readonly claims: AccessClaims | undefined;
  /** The token is certainly valid until then; after that, check again. */
  endMs: number;
}

export interface HelloOfSocket {
  readonly token: string;
  readonly origin: string | undefined;
}

/**
 * The owner of a token sent over a socket. Refuses unauthorized, token_revoked; forbidden for a blocked visitor or a
 * foreign origin.
 */
export async function identify(
  hello: HelloOfSocket & { readonly namespace: Place['namespace'] },
  services: Services,
): Promise<Known> {
  if (hello.namespace === 'visitor') {
    await services.engine.whenOpen(services.visitorTokens.verify(hello.token)?.workspaceId ?? '');
    return identifyVisitor(hello.token, hello.origin, services);
  }
  const claims =
    services.accessTokens.known(hello.token) ??
    (await services.accessTokens.verify(hello.token)) ??
    refuse('unauthorized');
  await services.engine.whenOpen(claims.workspaceId);
  return identifyAgent(claims, services);
}

/** The same as of now, for one who waited since. Throws as identify() rejects. */
export function identifyAgain({ claims }: Known, { token, origin }: HelloOfSocket, services: Services): Known {
  return claims === undefined ? identifyVisitor(token, origin, services) : identifyAgent(claims, services);
}

function identifyAgent(claims: AccessClaims, services: Services): Known {
  const { workspaceId, agentId } = claims;
  const credential = agentCredential(claims, services);
  const view = services.engine.workspace(workspaceId)?.view(credential.caller) ?? refuse('unauthorized');
  if (mustEnrol(view, agentId, claims.sessionId)) refuse('second_factor_missing');
  const endMs = endOf(claims, services);
  return {
    credential,
    place: { workspaceId, namespace: 'agent', personId: agentId },
    claims,
    endMs: endMs === 'revoked' ? 0 : endMs,
  };
}

function identifyVisitor(token: string, origin: string | undefined, services: Services): Known {
  const named = services.visitorTokens.verify(token) ?? refuse('unauthorized');
  const { workspaceId, visitorId } = named;
  const workspace = services.engine.workspace(workspaceId) ?? refuse('unauthorized');
  const credential: Credential = { caller: callerOf(named), workspaceId };
  authoriseVisitor(workspace.view(credential.caller), { visitorId, origin }, services.config);
  return {
    credential,
    place: { workspaceId, namespace: 'visitor', personId: visitorId },
    claims: undefined,
    endMs: Number.POSITIVE_INFINITY,
  };
}

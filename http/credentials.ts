// Whose request it is: a workspace token for agents, a visitor token for the widget. What the caller may do is not asked here.

import { refuse } from '../engine/errors.ts';
import { isActive, theRoster } from '../engine/roster.ts';
import type { Caller } from '../engine/runtime/command.ts';
import type { AccessClaims } from '../workers/access-tokens.ts';
import type { Access } from './route.ts';
import type { Services } from './services.ts';

export interface Credential {
  readonly caller: Caller;
  /** Empty when nobody is needed. */
  readonly workspaceId: string;
}

const nobody: Credential = { caller: { kind: 'system' }, workspaceId: '' };

/** Waits only for a token that was not seen before. Refuses unauthorized, token_revoked. */
export function authenticate(access: Access, token: string | undefined, services: Services): Credential | Promise<Credential> {
  if (access.kind === 'public') return nobody;
  if (token === undefined) refuse('unauthorized');
  if (access.kind === 'visitor') return authenticateVisitor(token, services);
  const known = services.accessTokens.known(token);
  if (known !== undefined) return agentCredential(known, services);
  return services.accessTokens.verify(token).then((claims) => (claims === undefined ? refuse('unauthorized') : agentCredential(claims, services)));
}

/** The agent that a verified token names, if the token still counts. Refuses unauthorized, token_revoked. */
export function agentCredential(claims: AccessClaims, services: Pick<Services, 'engine'>): Credential {
  const workspace = services.engine.workspace(claims.workspaceId) ?? refuse('unauthorized');
  const agent = theRoster({ state: (kind, id) => workspace.registry.get(kind, id) }).agents.get(claims.agentId) ?? refuse('unauthorized');
  if (!isActive(agent) || agent.tokenVersion !== claims.tokenVersion) refuse('token_revoked');
  return { caller: { kind: 'agent', agentId: agent.id }, workspaceId: claims.workspaceId };
}

/** Refuses unauthorized. */
export function authenticateVisitor(token: string, services: Pick<Services, 'visitorTokens'>): Credential {
  const named = services.visitorTokens.verify(token) ?? refuse('unauthorized');
  return { caller: { kind: 'visitor', visitorId: named.visitorId }, workspaceId: named.workspaceId };
}

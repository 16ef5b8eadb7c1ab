// The reply to a sign-in of any kind: a token that names the new session. Also the data that a session is recorded
// with.

import Type from 'typebox';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { longestLifetimeMs, type SigningIn } from '../../engine/team/agent-sessions.ts';
import { comeBack, isSignedOut } from '../../engine/team/presence.ts';
import type { SignedIn } from '../../engine/team/signing-in.ts';
import { networkOf } from '../limits/network-address.ts';
import type { Call } from '../route.ts';
import { worded } from '../schemas/field-words.ts';
import { Email, Id, Role } from '../schemas/shared.ts';
import type { Services } from '../services.ts';

const dayMs = 24 * 3600_000;

export const SignedInAnswer = Type.Object({
  token: Type.String({ description: 'A workspace token; send it as Authorization: Bearer.' }),
  expiresAt: Type.String({
    format: 'date-time',
    description: 'ISO 8601 UTC with milliseconds. POST /auth/refresh extends it.',
  }),
  agent: Type.Object({ id: Id, email: Email, role: Role, workspaceId: Id }),
  workspace: Type.Object({ id: Id, name: Type.String(), subdomain: Type.String() }),
});

/** At least 128 bits. */
export const Browser = Type.Optional(
  Type.String({
    minLength: 22,
    maxLength: 100,
    pattern: worded('^[A-Za-z0-9_-]+$', 'letters, digits, hyphens and underscores'),
    description:
      'A random secret that this browser keeps and sends with every sign-in. The account uses it to recognize the browser, to spare it when strangers try the account, and to notify the agent of sign-ins from other browsers.',
  }),
);

/** Call before any await: the address is read from the open connection. */
export function signingOf(
  { ip, userAgent }: Pick<Call, 'ip' | 'userAgent'>,
  { config }: Pick<Services, 'config'>,
  browser: string | undefined,
): SigningIn {
  return { address: ip, network: networkOf(ip), userAgent, browser, lifetimeMs: config.tokenTtlDays * dayMs };
}

/**
 * An agent that had signed out is available again. The token itself lasts as long as a session can be extended; it is
 * valid as long as its session.
 */
export async function answerSignedIn(
  services: Pick<Services, 'accessTokens' | 'config' | 'dropEnded' | 'engine'>,
  { agent, workspace, session }: SignedIn,
) {
  if (isSignedOut(agent))
    await services.engine.execute(comeBack, {
      workspaceId: workspace.id,
      caller: systemCaller,
      params: { agentId: agent.id },
    });
  // One session too many ends the oldest.
  services.dropEnded(workspace.id, agent.id);
  const expiresMs = Date.parse(session.createdAt) + longestLifetimeMs(services.config.tokenTtlDays * dayMs);
  const token = await services.accessTokens.issue({
    agentId: agent.id,
    workspaceId: workspace.id,
    tokenVersion: agent.tokenVersion,
    sessionId: session.id,
    expiresMs,
  });
  return {
    token,
    expiresAt: session.expiresAt,
    agent: { id: agent.id, email: agent.email, role: agent.role, workspaceId: workspace.id },
    workspace: { id: workspace.id, name: workspace.name, subdomain: workspace.subdomain },
  };
}

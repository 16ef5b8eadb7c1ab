// Signing in, by password or passkey, and out. Specification 4.1, 5.

import type { AgentSessionRecord } from '../../store/workspace/agent-sessions.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { refuse } from '../errors.ts';
import { command } from '../runtime/command.ts';
import { callingAgent } from '../workspace/access.ts';
import { isActive, putAgent, theRoster } from '../workspace/roster.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { endSessionsOf, openSession, type SigningIn } from './agent-sessions.ts';
import { leaveRouting, signedOut } from './presence.ts';

/** Where the sign-in came from. Programs that create agents omit it. */
export interface Signing {
  readonly signing?: SigningIn;
}

/** An agent and its workspace. */
export interface Member {
  readonly agent: AgentRecord;
  readonly workspace: { readonly id: string; readonly name: string; readonly subdomain: string };
}

/** Data from which the edge issues a token. */
export interface SignedIn extends Member {
  readonly session: AgentSessionRecord;
}

/** Revokes every token of the agent. Its sockets close, and it is offline until it signs in again. */
export const logout = command('auth.logout', (ctx, _: object): void => {
  const agent = callingAgent(ctx);
  const gone: AgentRecord = { ...signedOut(ctx, agent), tokenVersion: agent.tokenVersion + 1 };
  putAgent(ctx, gone);
  leaveRouting(ctx, gone);
  endSessionsOf(ctx, agent.id, { forgetOrigins: false });
});

/**
 * Signs in after a password check, against the hash that was checked. Refuses invalid_credentials if it changed
 * meanwhile.
 */
export const signIn = command(
  'auth.signIn',
  (ctx, params: { agentId: string; passwordHash: string | null; signing: SigningIn }): SignedIn => {
    const agent = theRoster(ctx).agents.get(params.agentId);
    if (agent === undefined || !isActive(agent) || agent.passwordHash !== params.passwordHash)
      refuse('invalid_credentials');
    return {
      agent,
      workspace: theWorkspace(ctx),
      session: openSession(ctx, agent, { signing: params.signing, isSignIn: true }),
    };
  },
);

/**
 * A passkey replaces both the password and the second factor. Refuses invalid_credentials if the agent left meanwhile.
 */
export const signInByPasskey = command(
  'auth.signInByPasskey',
  (ctx, params: { agentId: string; signing: SigningIn }): SignedIn => {
    const agent = theRoster(ctx).agents.get(params.agentId);
    if (agent === undefined || !isActive(agent)) refuse('invalid_credentials');
    return {
      agent,
      workspace: theWorkspace(ctx),
      session: openSession(ctx, agent, { signing: params.signing, isSignIn: true }),
    };
  },
);

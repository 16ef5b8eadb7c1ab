// Resetting a password through a mailed link, and changing it. Passwords arrive hashed; this file never sees one.
// Specification 4.1, 5.

import { apiKeysOf } from '../../store/platform/api-keys.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { endOneTimeTokens, findOneTimeToken } from '../../store/workspace/one-time-tokens.ts';
import { resetTokenMs } from '../constants.ts';
import { hashOf } from '../directory/compact-ids.ts';
import { refuse } from '../errors.ts';
import { plainName } from '../lines.ts';
import { mailAccountNotice } from '../mail/account-notices.ts';
import { mailPasswordReset } from '../mail/password-reset.ts';
import { revokeGrantsOf } from '../platform/oauth.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { callingAgent } from '../workspace/access.ts';
import { isActive, putAgent, theRoster } from '../workspace/roster.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { confirmedAtOf, endSessionsOf, openSession, type SigningIn } from './agent-sessions.ts';
import { issueToken, requireTokenHolder } from './one-time-tokens.ts';
import { hasSecondFactor } from './second-factors.ts';
import type { SignedIn, Signing } from './signing-in.ts';

/**
 * Mails a reset link that ends every earlier one. No effect for an agent who has not joined. The edge limits how often
 * one address is mailed.
 */
export const requestReset = command('auth.requestReset', (ctx, params: { agentId: string }): void => {
  const agent = theRoster(ctx).agents.get(params.agentId);
  if (agent === undefined || !isActive(agent)) return;
  const token = issueToken(ctx, { agent, kind: 'reset', lifetimeMs: resetTokenMs });
  mailPasswordReset(ctx, agent, token);
});

/** The agent for a reset token. Refuses reset_token_expired. */
export function requireResetting(view: View, token: string): AgentRecord {
  const known = findOneTimeToken(view.db, hashOf(token), 'reset') ?? refuse('reset_token_expired');
  return requireTokenHolder(view, known, 'reset_token_expired');
}

/**
 * Sets the password and revokes the agent's sessions and app grants, because whoever took the account over had both.
 * API keys belong to the workspace and stay; the mail names them. Refuses reset_token_expired.
 */
export const resetPassword = command(
  'auth.resetPassword',
  (ctx, params: Signing & { token: string; passwordHash: string }): SignedIn => {
    const agent = requireResetting(ctx, params.token);
    const reset: AgentRecord = { ...agent, passwordHash: params.passwordHash, tokenVersion: agent.tokenVersion + 1 };
    endOneTimeTokens(ctx.db, agent.id, 'reset', ctx.at);
    putAgent(ctx, reset);
    endSessionsOf(ctx, agent.id, { forgetOrigins: true });
    revokeGrantsOf(ctx, agent.id);
    // No session, but the token came from the agent's own mailbox.
    ctx.audit({ actorAgentId: agent.id, action: 'agent.reset_password', targetKind: 'agent', targetId: agent.id });
    mailAccountNotice(ctx, reset, {
      subject: 'Your password was reset',
      text: [
        'A new password was set through a link that was mailed to you. Every earlier sign-in has ended, and apps that acted for you need your consent again.',
        ...keysLine(ctx, agent.id),
      ].join('\n\n'),
      origin: params.signing,
    });
    return {
      agent: reset,
      workspace: theWorkspace(ctx),
      session: openSession(ctx, reset, { signing: params.signing }),
    };
  },
);

/**
 * Ends every session, the caller's too, and opens a new one. It counts as confirmed only as far as the caller's did, if
 * the agent has a second factor. Refuses invalid_credentials if the password changed meanwhile.
 */
export const changePassword = command(
  'auth.changePassword',
  (
    ctx,
    params: { sessionId: string | undefined; formerHash: string | null; passwordHash: string; signing: SigningIn },
  ): SignedIn => {
    const agent = callingAgent(ctx);
    const confirmedAt = hasSecondFactor(ctx, agent.id) ? confirmedAtOf(ctx, agent.id, params.sessionId) : ctx.at;
    if (agent.passwordHash !== params.formerHash) refuse('invalid_credentials');
    const changed: AgentRecord = { ...agent, passwordHash: params.passwordHash, tokenVersion: agent.tokenVersion + 1 };
    endOneTimeTokens(ctx.db, agent.id, 'reset', ctx.at);
    putAgent(ctx, changed);
    endSessionsOf(ctx, agent.id, { forgetOrigins: true });
    ctx.audit({ action: 'agent.password_changed', targetKind: 'agent', targetId: agent.id });
    mailAccountNotice(ctx, changed, {
      subject: 'Your password was changed',
      text: [
        'Your password was changed by someone who was signed in as you and knew the previous one. Every other sign-in has ended. Apps that act for you still can.',
        ...keysLine(ctx, agent.id),
      ].join('\n\n'),
      origin: params.signing,
    });
    return {
      agent: changed,
      workspace: theWorkspace(ctx),
      session: openSession(ctx, changed, { signing: params.signing, confirmedAt }),
    };
  },
);

/** Keys act as the agent who created them, so they are suspect when the account is. */
function keysLine(ctx: Context, agentId: string): string[] {
  const names = apiKeysOf(ctx.db, agentId).map(({ name, prefix }) => `${plainName(name)} (${prefix}…)`);
  return names.length === 0
    ? []
    : [`The API keys that you created stay valid: ${names.join(', ')}. Delete any that you do not recognize.`];
}

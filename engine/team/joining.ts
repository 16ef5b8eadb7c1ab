// How agents get in: the first admin by registering, others by a join code, anyone again by a reset token. Passwords
// arrive hashed; this file never sees one. Specification 3 (agent lifecycle), 4.1, 5.

import { apiKeysOf } from '../../store/platform/api-keys.ts';
import type { AgentSessionRecord } from '../../store/workspace/agent-sessions.ts';
import type { AgentRecord, NewAgent } from '../../store/workspace/agents.ts';
import {
  endOneTimeTokens,
  findOneTimeToken,
  insertOneTimeToken,
  type OneTimeToken,
} from '../../store/workspace/one-time-tokens.ts';
import { joinCodeMs, resetTokenMs } from '../constants.ts';
import { drainQueue } from '../conversations/routing.ts';
import { compactId, hashOf } from '../directory/compact-ids.ts';
import { refuse } from '../errors.ts';
import { plainName } from '../lines.ts';
import { mailAccountNotice } from '../mail/account-notices.ts';
import { enqueueMail } from '../mail/outgoing.ts';
import { revokeGrantsOf } from '../platform/oauth.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { allAgentChannels, callingAgent } from '../workspace/access.ts';
import { startSubscription } from '../workspace/billing.ts';
import { maintenanceDeadline, maintenanceMs } from '../workspace/maintenance.ts';
import { addAgent, isActive, putAgent, theRoster } from '../workspace/roster.ts';
import { addSite } from '../workspace/sites.ts';
import { addWorkspace, theWorkspace } from '../workspace/workspace.ts';
import { confirmedAtOf, endSessionsOf, openSession, type SigningIn } from './agent-sessions.ts';
import { leaveRouting, signedOut } from './presence.ts';
import { hasSecondFactor } from './second-factors.ts';

/** 128 bits. With the workspace's compact id that is 44 characters, so that a link fits one line of a mail. */
const codeBytes = 16;

/** Where the sign-in came from. Programs that create agents omit it. */
interface Signing {
  readonly signing?: SigningIn;
}

export interface RegisterParams extends Signing {
  readonly agentId: string;
  readonly email: string;
  readonly passwordHash: string;
  readonly workspaceName: string;
  readonly subdomain: string;
  /** The host of the address given as siteUrl. */
  readonly siteDomain?: string | undefined;
  readonly autoCloseDays?: number;
  /** The length of the trial if a provider bills. Otherwise there is nothing to pay. */
  readonly trialDays?: number | undefined;
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

/** The first command of a new file: creates the workspace, its owner and, if an address was given, a site. */
export const register = command('auth.register', (ctx, params: RegisterParams): SignedIn => {
  const workspace = addWorkspace(ctx, {
    name: params.workspaceName,
    subdomain: params.subdomain,
    ...(params.autoCloseDays === undefined ? {} : { autoCloseDays: params.autoCloseDays }),
  });
  startSubscription(ctx, params.trialDays);
  const owner: NewAgent = {
    id: params.agentId,
    email: params.email,
    name: params.email.split('@')[0] ?? params.email,
    role: 'admin',
    status: 'available',
    channels: allAgentChannels,
    groupIds: [],
    avatarUrl: null,
    canTransfer: true,
    passwordHash: params.passwordHash,
    tokenVersion: 0,
    lastAssignedAt: null,
    joinedAt: ctx.at,
    deactivatedAt: null,
    createdAt: ctx.at,
  };
  const agent = addAgent(ctx, owner);
  if (params.siteDomain !== undefined) addSite(ctx, { name: params.workspaceName, domain: params.siteDomain });
  ctx.setDeadline(maintenanceDeadline, ctx.workspaceId, ctx.nowMs + maintenanceMs);
  return { agent, workspace, session: openSession(ctx, agent, { signing: params.signing }) };
});

/** Ends every earlier code of the agent and mails a new one. Refuses rate_limited after too many. */
export function issueJoinCode(ctx: Context, agent: AgentRecord): void {
  const code = issueToken(ctx, { agent, kind: 'join', lifetimeMs: joinCodeMs });
  const workspace = theWorkspace(ctx);
  const name = plainName(workspace.name);
  enqueueMail(
    ctx,
    {
      to: agent.email,
      subject: `Join ${name}`,
      text: `Hello ${plainName(agent.name)},

you are invited to answer customers at “${name}”.
Choose your password here, within 7 days:

${ctx.settings.baseUrl}/join/${code}`,
      isSecret: true,
      invitation: { agentId: agent.id, invitedBy: ctx.caller.kind === 'agent' ? ctx.caller.agentId : null },
    },
    { purpose: 'invitation' },
  );
}

/**
 * The agent for a join code. Refuses not_found for an unknown code, gone for one that was used, replaced or has
 * expired.
 */
export function requireInvited(view: View, code: string): AgentRecord {
  const token = findOneTimeToken(view.db, hashOf(code), 'join') ?? refuse('not_found');
  return requireTokenHolder(view, token, 'gone');
}

/** Refuses not_found, gone. */
export const join = command(
  'auth.join',
  (ctx, params: Signing & { code: string; passwordHash: string; name?: string | undefined }): SignedIn => {
    const agent = requireInvited(ctx, params.code);
    const joined: AgentRecord = {
      ...agent,
      name: params.name ?? agent.name,
      passwordHash: params.passwordHash,
      joinedAt: ctx.at,
      joinedSeq: ctx.lastSeq,
      status: 'available',
      statusSource: 'automatic',
      goneAt: null,
      deactivatedAt: null,
    };
    endOneTimeTokens(ctx.db, agent.id, 'join', ctx.at);
    putAgent(ctx, joined);
    // No session, but the code came from the agent's own mailbox.
    ctx.audit({ actorAgentId: agent.id, action: 'agent.joined', targetKind: 'agent', targetId: agent.id });
    drainQueue(ctx);
    return {
      agent: joined,
      workspace: theWorkspace(ctx),
      session: openSession(ctx, joined, { signing: params.signing }),
    };
  },
);

/**
 * Mails a reset link that ends every earlier one. No effect for an agent who has not joined. The edge limits how often
 * one address is mailed.
 */
export const requestReset = command('auth.requestReset', (ctx, params: { agentId: string }): void => {
  const agent = theRoster(ctx).agents.get(params.agentId);
  if (agent === undefined || !isActive(agent)) return;
  const token = issueToken(ctx, { agent, kind: 'reset', lifetimeMs: resetTokenMs });
  enqueueMail(
    ctx,
    {
      to: agent.email,
      subject: 'Choose a new password',
      text: `Hello ${plainName(agent.name)},

choose a new password here, within 30 minutes:

${ctx.settings.baseUrl}/reset-password?token=${token}

If you did not request this, nothing has changed.`,
      isSecret: true,
    },
    { purpose: 'account' },
  );
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

/** Keys act as the agent who created them, so they are suspect when the account is. */
function keysLine(ctx: Context, agentId: string): string[] {
  const names = apiKeysOf(ctx.db, agentId).map(({ name, prefix }) => `${plainName(name)} (${prefix}…)`);
  return names.length === 0
    ? []
    : [`The API keys that you created stay valid: ${names.join(', ')}. Delete any that you do not recognize.`];
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

function issueToken(
  ctx: Context,
  options: { agent: AgentRecord; kind: OneTimeToken['kind']; lifetimeMs: number },
): string {
  const token = compactId(ctx.workspaceId) + ctx.ids.secret(codeBytes);
  endOneTimeTokens(ctx.db, options.agent.id, options.kind, ctx.at);
  insertOneTimeToken(ctx.db, {
    hash: hashOf(token),
    kind: options.kind,
    agentId: options.agent.id,
    expiresAt: isoTime(ctx.nowMs + options.lifetimeMs),
    endedAt: null,
  });
  return token;
}

function requireTokenHolder(view: View, token: OneTimeToken, slug: 'gone' | 'reset_token_expired'): AgentRecord {
  const agent = theRoster(view).agents.get(token.agentId);
  // A deactivated agent's tokens ended with it.
  if (agent === undefined || token.endedAt !== null || token.expiresAt <= view.at) refuse(slug);
  return agent;
}

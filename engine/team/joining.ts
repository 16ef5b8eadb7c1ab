// How agents get in: the first admin by registering, others by a join code. Passwords arrive hashed; this file never
// sees one. Specification 3 (agent lifecycle), 4.1, 5.

import type { AgentRecord, NewAgent } from '../../store/workspace/agents.ts';
import { endOneTimeTokens, findOneTimeToken } from '../../store/workspace/one-time-tokens.ts';
import { joinCodeMs } from '../constants.ts';
import { drainQueue } from '../conversations/routing.ts';
import { hashOf } from '../directory/compact-ids.ts';
import { refuse } from '../errors.ts';
import { mailInvitation } from '../mail/invitation.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { allAgentChannels } from '../workspace/access.ts';
import { startSubscription } from '../workspace/billing.ts';
import { maintenanceDeadline, maintenanceMs } from '../workspace/maintenance.ts';
import { addAgent, putAgent } from '../workspace/roster.ts';
import { addSite } from '../workspace/sites.ts';
import { addWorkspace, theWorkspace } from '../workspace/workspace.ts';
import { openSession } from './agent-sessions.ts';
import { issueToken, requireTokenHolder } from './one-time-tokens.ts';
import type { SignedIn, Signing } from './signing-in.ts';

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

/**
 * Ends every earlier code of the agent and mails a new one. Returns its link, to hand over in another way; null for
 * someone who was an agent before, because whoever has the link acts under that name. Refuses rate_limited after too
 * many.
 */
export function issueJoinCode(ctx: Context, agent: AgentRecord): string | null {
  const code = issueToken(ctx, { agent, kind: 'join', lifetimeMs: joinCodeMs });
  const url = `${ctx.settings.baseUrl}/join/${code}`;
  mailInvitation(ctx, agent, url);
  // Every deactivation raises it.
  return agent.tokenVersion === 0 ? url : null;
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
    // No session, but only the invited agent and its admins were given the code.
    ctx.audit({ actorAgentId: agent.id, action: 'agent.joined', targetKind: 'agent', targetId: agent.id });
    drainQueue(ctx);
    return {
      agent: joined,
      workspace: theWorkspace(ctx),
      session: openSession(ctx, joined, { signing: params.signing }),
    };
  },
);

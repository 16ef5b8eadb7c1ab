// Inviting, changing and deactivating agents. Their status and presence are in presence.ts. Specification 3, 4.7.

import { deleteOwnViews } from '../../store/conversations/saved-views.ts';
import type { Cursor } from '../../store/cursor.ts';
import { deleteDraftsOf } from '../../store/mail/drafts.ts';
import type { AgentChannel, AgentFilter, AgentRecord, NewAgent, Role } from '../../store/workspace/agents.ts';
import { agentPage } from '../../store/workspace/agents.ts';
import { endOneTimeTokens } from '../../store/workspace/one-time-tokens.ts';
import { loseTarget } from '../calls/phone-numbers.ts';
import { countAgainst, dayMs } from '../directory/ceilings.ts';
import { refuse, refuseField } from '../errors.ts';
import { mailAccountNotice, type Origin } from '../mail/account-notices.ts';
import { revokeKeysOf } from '../platform/api-keys.ts';
import { revokeGrantsOf } from '../platform/oauth.ts';
import { notifyingOfPaused } from '../platform/webhook-notices.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { allAgentChannels, callingAgent, requireAdmin, worksIn } from '../workspace/access.ts';
import { requireSeat } from '../workspace/entitlements.ts';
import {
  type AgentView,
  addAgent,
  agentView,
  inviteStatusOf,
  isActive,
  ownerOf,
  putAgent,
  requireAgent,
  theRoster,
} from '../workspace/roster.ts';
import { endSessionsOf } from './agent-sessions.ts';
import { auditingMembers } from './departments.ts';
import { issueJoinCode } from './joining.ts';
import { signedOut } from './presence.ts';
import { returnHeld } from './returning.ts';
import { dropSecondFactorsOf } from './second-factors.ts';

export interface InviteParams {
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly channels?: readonly AgentChannel[] | undefined;
  readonly groupIds?: readonly string[] | undefined;
}

/** More people than join a workspace in a day. */
const addressesAskedPerDay = 200;

/**
 * Counts an admin's lookup of whether an address signs in anywhere. A separate command, so that it counts whatever the
 * outcome. Refuses admin_required, rate_limited.
 */
export const countAskedAddress = command('agent.countAskedAddress', (ctx, _: object): void => {
  const { id } = requireAdmin(ctx);
  countAgainst(ctx, {
    ceiling: 'addresses_asked',
    of: id,
    limit: addressesAskedPerDay,
    perMs: dayMs,
    message: 'You have invited too many people or changed too many addresses in a day. Try again later.',
  });
});

/**
 * Does not reserve the address: it becomes the agent's when it joins. Refuses admin_required, email_already_exists in
 * this workspace, seat_limit_reached, invalid_body for no channel or an unknown department.
 */
/** `joinUrl`: the link of the invitation, for whoever invited to pass on. */
export interface InvitedAgent extends AgentView {
  readonly joinUrl: string | null;
}

export const inviteAgent = command('agent.invite', (ctx, params: InviteParams): InvitedAgent => {
  requireAdmin(ctx);
  if (params.role !== 'admin' && params.channels?.length === 0)
    refuseField('invalid_body', 'channels', 'must name at least one');
  requireFreeAddress(ctx, params.email);
  requireSeat(ctx);
  const groupIds = requireDepartments(ctx, params.groupIds ?? [], 'groupIds');
  const invitation: NewAgent = {
    id: ctx.ids.uuid(),
    email: params.email,
    name: params.name,
    role: params.role,
    status: 'offline',
    channels: channelsFor(params.role, params.channels),
    groupIds,
    avatarUrl: null,
    canTransfer: false,
    passwordHash: null,
    tokenVersion: 0,
    lastAssignedAt: null,
    joinedAt: null,
    deactivatedAt: null,
    createdAt: ctx.at,
  };
  const agent = auditingMembers(ctx, groupIds, () => addAgent(ctx, invitation));
  const joinUrl = issueJoinCode(ctx, agent);
  const view = agentView(agent, theRoster(ctx));
  ctx.audit({ action: 'agent.invited', targetKind: 'agent', targetId: agent.id, after: view });
  return { ...view, joinUrl };
});

/** Refuses admin_required, not_found, already_joined; for a deactivated agent also seat_limit_reached. */
export const resendInvite = command('agent.resendInvite', (ctx, params: { agentId: string }): InvitedAgent => {
  requireAdmin(ctx);
  const agent = requireAgent(ctx, params.agentId);
  if (inviteStatusOf(agent) === 'joined') refuse('already_joined');
  if (agent.deactivatedAt !== null) requireSeat(ctx);
  const invited: AgentRecord = { ...agent, deactivatedAt: null };
  putAgent(ctx, invited);
  const joinUrl = issueJoinCode(ctx, invited);
  ctx.audit({ action: 'agent.invited', targetKind: 'agent', targetId: agent.id, context: { resent: true } });
  return { ...agentView(invited, theRoster(ctx)), joinUrl };
});

export interface AgentChanges {
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  readonly publicName?: string | null | undefined;
  readonly avatarUrl?: string | null | undefined;
  readonly role?: Role | undefined;
  readonly channels?: readonly AgentChannel[] | undefined;
  readonly groupIds?: readonly string[] | undefined;
  readonly canTransfer?: boolean | undefined;
}

/** The field in which the caller named the departments, for error details. */
type GroupsField = 'groupIds' | 'departments';

/**
 * Specification 4.7. A changed email must be reserved first. Refuses admin_required, not_found, conflict for a
 * deactivated one's, email_already_exists in this workspace, last_admin, cannot_demote_owner, invalid_body.
 */
export const changeAgent = command(
  'agent.update',
  (ctx, params: { agentId: string; changes: AgentChanges; groupsField: GroupsField; origin?: Origin }): AgentView => {
    const caller = callingAgent(ctx);
    const agent = requireAgent(ctx, params.agentId);
    const { changes } = params;
    requireRightToChange(caller, agent, changes);
    if (agent.deactivatedAt !== null) requireChangeWhenGone(changes);
    if (Object.values(changes).every((value) => value === undefined))
      refuseField('invalid_body', 'body', 'must name a field that can be changed');
    if (changes.email !== undefined) requireFreeAddress(ctx, changes.email, agent);
    const role = changes.role ?? agent.role;
    if (agent.role === 'admin' && role !== 'admin') requireDemotable(ctx, agent, 'cannot_demote_owner');
    const next: AgentRecord = {
      ...agent,
      email: changes.email ?? agent.email,
      name: changes.name ?? agent.name,
      publicName: changes.publicName === undefined ? agent.publicName : changes.publicName,
      avatarUrl: changes.avatarUrl === undefined ? agent.avatarUrl : changes.avatarUrl,
      role,
      channels: role === 'admin' ? allAgentChannels : [...new Set(changes.channels ?? agent.channels)],
      groupIds:
        changes.groupIds === undefined ? agent.groupIds : requireDepartments(ctx, changes.groupIds, params.groupsField),
      canTransfer: changes.canTransfer ?? agent.canTransfer,
    };
    notifyingOfPaused(ctx, () =>
      auditingMembers(ctx, [...new Set([...agent.groupIds, ...next.groupIds])], () => putAgent(ctx, next)),
    );
    auditChange(ctx, agent, next);
    if (next.email !== agent.email) moveMailbox(ctx, agent, next, params);
    if (!worksIn(next, 'call')) loseTarget(ctx, next);
    returnHeld(ctx, next.id);
    return agentView(next, theRoster(ctx));
  },
);

/**
 * Counts invited and deactivated agents too (specification 2). The directory checks that it signs in no one elsewhere.
 */
function requireFreeAddress(view: Pick<View, 'state'>, email: string, owner?: AgentRecord): void {
  for (const agent of theRoster(view).agents.values())
    if (agent.email.toLowerCase() === email && agent.id !== owner?.id) refuse('email_already_exists');
}

/**
 * Links mailed to the former address stop working; an invitation goes to the new one. Both addresses are notified,
 * because a password is reset through them.
 */
function moveMailbox(ctx: Context, former: AgentRecord, agent: AgentRecord, { origin }: { origin?: Origin }): void {
  endOneTimeTokens(ctx.db, agent.id, 'reset', ctx.at);
  endOneTimeTokens(ctx.db, agent.id, 'join', ctx.at);
  if (isActive(agent)) {
    const subject = 'The address of your account was changed';
    mailAccountNotice(ctx, former, {
      subject,
      text: `From now on you sign in with ${agent.email}, and mail about your account goes there. ${former.email} can no longer be used to sign in.`,
      origin,
      advice: 'If you do not want this, tell an admin of the workspace at once.',
    });
    mailAccountNotice(ctx, agent, {
      subject,
      text: `From now on you sign in with ${agent.email} instead of ${former.email}. Your password stays the same.`,
      origin,
      advice: 'If you did not expect this, tell an admin of the workspace.',
    });
  } else if (agent.deactivatedAt === null) issueJoinCode(ctx, agent);
}

/** Specification 3. Refuses admin_required, not_found, cannot_deactivate_self, last_admin, cannot_deactivate_owner. */
export const deactivateAgent = command('agent.deactivate', (ctx, params: { agentId: string }): void => {
  const caller = requireAdmin(ctx);
  const agent = requireAgent(ctx, params.agentId);
  if (agent.id === caller.id) refuse('cannot_deactivate_self');
  if (agent.role === 'admin') requireDemotable(ctx, agent, 'cannot_deactivate_owner');
  if (agent.deactivatedAt !== null) return;
  const gone: AgentRecord = {
    ...signedOut(ctx, agent),
    role: 'agent',
    groupIds: [],
    canTransfer: false,
    passwordHash: null,
    tokenVersion: agent.tokenVersion + 1,
    joinedAt: null,
    deactivatedAt: ctx.at,
  };
  notifyingOfPaused(ctx, () => {
    putAgent(ctx, gone);
    endOneTimeTokens(ctx.db, agent.id, 'join', ctx.at);
    endOneTimeTokens(ctx.db, agent.id, 'reset', ctx.at);
    endSessionsOf(ctx, agent.id, { forgetOrigins: true });
    dropSecondFactorsOf(ctx, agent.id);
    revokeKeysOf(ctx, agent.id);
    revokeGrantsOf(ctx, agent.id);
    deleteOwnViews(ctx.db, agent.id);
    deleteDraftsOf(ctx.db, agent.id);
  });
  ctx.audit({
    action: 'agent.deleted',
    targetKind: 'agent',
    targetId: agent.id,
    before: agentView(agent, theRoster(ctx)),
    after: agentView(gone, theRoster(ctx)),
  });
  loseTarget(ctx, gone);
  returnHeld(ctx, gone.id);
});

export function listAgents(
  view: View,
  page: { filter: AgentFilter; cursor: Cursor | undefined; limit: number },
): AgentView[] {
  const roster = theRoster(view);
  return agentPage(view.db, page).map((agent) => agentView(agent, roster));
}

/**
 * Fields each role may change: admins anything of anyone; supervisors of members of their departments, except admins;
 * agents of themselves.
 */
function requireRightToChange(caller: AgentRecord, agent: AgentRecord, changes: AgentChanges): void {
  if (caller.role === 'admin') return;
  const named = Object.entries(changes).flatMap(([field, value]) => (value === undefined ? [] : [field]));
  const isMember = agent.groupIds.some((id) => caller.groupIds.includes(id));
  const own = caller.id === agent.id ? ['name', 'publicName', 'avatarUrl'] : [];
  const ofMembers =
    caller.role === 'supervisor' && agent.role !== 'admin' && isMember
      ? ['name', 'publicName', 'avatarUrl', 'channels', 'groupIds']
      : [];
  const allowed = [...own, ...ofMembers];
  if (allowed.length === 0 || named.some((field) => !allowed.includes(field))) refuse('admin_required');
  // Agents cannot give themselves a channel, or move people in and out of departments that are not their own.
  if (caller.id === agent.id && changes.channels?.some((channel) => !agent.channels.includes(channel)) === true)
    refuse('admin_required');
  const groupIds = changes.groupIds ?? agent.groupIds;
  const moved = [
    ...groupIds.filter((id) => !agent.groupIds.includes(id)),
    ...agent.groupIds.filter((id) => !groupIds.includes(id)),
  ];
  if (moved.some((id) => !caller.groupIds.includes(id))) refuse('admin_required');
}

/** A deactivated agent's contact details can still change; its rights are set when it is invited again. */
function requireChangeWhenGone(changes: AgentChanges): void {
  const { email: _, name: __, ...others } = changes;
  if (Object.values(others).some((value) => value !== undefined))
    refuse('conflict', {
      message: 'This agent is deactivated. Only its name and email can be changed; invite it again first.',
    });
}

/** The only admin must stay one, and so must the owner while there are other admins. */
function requireDemotable(
  ctx: Context,
  agent: AgentRecord,
  ownerSlug: 'cannot_demote_owner' | 'cannot_deactivate_owner',
): void {
  const roster = theRoster(ctx);
  const admins = [...roster.agents.values()].filter((one) => one.role === 'admin' && one.deactivatedAt === null);
  if (admins.every((one) => one.id === agent.id)) refuse('last_admin');
  if (ownerOf(roster)?.id === agent.id) refuse(ownerSlug);
}

function requireDepartments(ctx: Context, groupIds: readonly string[], field: GroupsField): readonly string[] {
  const { departments } = theRoster(ctx);
  groupIds.forEach((id, index) => {
    if (!departments.has(id))
      refuseField('invalid_body', `${field}.${index}`, 'must be a department of this workspace');
  });
  return [...new Set(groupIds)];
}

/** Default: always all three for admins; chats for others. */
function channelsFor(role: Role, channels: readonly AgentChannel[] | undefined): readonly AgentChannel[] {
  return role === 'admin' ? allAgentChannels : [...new Set(channels ?? (['chats'] as const))];
}

/** Role and departments have audit actions of their own; any other change lists its fields. */
function auditChange(ctx: Context, before: AgentRecord, after: AgentRecord): void {
  const target = { targetKind: 'agent', targetId: after.id };
  if (before.role !== after.role)
    ctx.audit({ action: 'agent.role_changed', ...target, before: { role: before.role }, after: { role: after.role } });
  const changed = (['email', 'name', 'publicName', 'avatarUrl', 'channels', 'canTransfer'] as const).filter(
    (field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]),
  );
  if (changed.length === 0) return;
  const named = (agent: AgentRecord): object => Object.fromEntries(changed.map((field) => [field, agent[field]]));
  ctx.audit({ action: 'agent.updated', ...target, before: named(before), after: named(after) });
}

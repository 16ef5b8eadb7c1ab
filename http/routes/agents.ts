// Agents and the signed-in agent. Specification 4.7, decisions 4.7.

import Type, { type Static } from 'typebox';
import { maxDepartments } from '../../engine/constants.ts';
import { refuseTaken } from '../../engine/directory/taken-emails.ts';
import { refuse } from '../../engine/errors.ts';
import { theMailServer } from '../../engine/mail/mail-server.ts';
import type { Caller } from '../../engine/runtime/caller.ts';
import type { View } from '../../engine/runtime/context.ts';
import type { Engine } from '../../engine/runtime/engine.ts';
import {
  type AgentChanges,
  changeAgent,
  countAskedAddress,
  deactivateAgent,
  inviteAgent,
  listAgents,
  resendInvite,
} from '../../engine/team/agents.ts';
import { setOwnStatus } from '../../engine/team/presence.ts';
import { callingAgent, requireAdmin } from '../../engine/workspace/access.ts';
import { workspaceHours } from '../../engine/workspace/office-hours.ts';
import { permissionsOf } from '../../engine/workspace/permissions.ts';
import { agentView, requireAgent, theRoster } from '../../engine/workspace/roster.ts';
import { theWorkspace, workspaceView } from '../../engine/workspace/workspace.ts';
import { findCommerce } from '../../store/customers/commerce.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { hasAssistant } from '../assistance-ports.ts';
import { byCreated, pageOf } from '../pipeline/cursor.ts';
import { route } from '../route.ts';
import {
  Agent,
  AgentChannel,
  AgentStatus,
  CursorQuery,
  Email,
  Id,
  InviteStatus,
  Name,
  NextCursor,
  nullable,
  Role,
  Url,
} from '../schemas/shared.ts';
import type { Services } from '../services.ts';

const GroupIds = Type.Array(Id, { maxItems: maxDepartments });
const InvitedAgent = Type.Object({
  ...Agent.properties,
  joinUrl: nullable(
    Type.String({
      description: 'The link of the invitation, to pass on in another way. Null for a former agent.',
    }),
  ),
});
const Channels = Type.Array(AgentChannel, { maxItems: 3 });

const MeWorkspace = Type.Object({
  id: Id,
  name: Type.String(),
  timezone: Type.String(),
  locale: Type.String(),
  subdomainSlug: Type.String(),
  emailDomainStatus: nullable(Type.String()),
});

const Providers = Type.Object(
  {
    mail: Type.Enum(['outbox', 'smtp'], {
      description: '`outbox`: mail is kept in files on the server, and not sent.',
    }),
    carrier: Type.Enum(['simulated', 'twilio', 'none'], {
      description: '`simulated`: numbers and calls only exist on this server.',
    }),
    billing: Type.Enum(['local', 'stripe'], { description: '`local`: nothing is charged.' }),
    shop: nullable(Type.String({ description: 'The connected shop, as `source` of `PUT /workspace/commerce`.' })),
    assistant: Type.Boolean({ description: 'Whether there is a language model that drafts for agents.' }),
  },
  { description: 'What does the work outside of the server.' },
);

function providersOf(view: View, config: Services['config']): Static<typeof Providers> {
  return {
    assistant: hasAssistant(view, config),
    mail: !config.mail.isChosen && theMailServer(view) !== undefined ? 'smtp' : config.mail.provider,
    carrier: config.carrier.provider,
    billing: config.billing.provider,
    shop: findCommerce(view.db)?.source ?? null,
  };
}

export const agentRoutes = [
  route({
    operation: 'me.read',
    method: 'GET',
    path: '/me',
    tag: 'Agents',
    summary: 'Get the signed-in agent',
    access: { kind: 'agent', scope: 'agents:read' },
    limit: { by: 'caller', factor: 2 },
    query: Type.Object({
      providers: Type.Optional(Type.Boolean({ description: '`true`: with `providers`, as of `GET /me/providers`.' })),
    }),
    reply: {
      status: 200,
      schema: Type.Object({
        agent: Agent,
        workspace: MeWorkspace,
        permissions: Type.Array(Type.String()),
        providers: Type.Optional(Providers),
      }),
    },
    refusals: [],
    read(view, { query }, { config }) {
      const agent = callingAgent(view);
      return {
        agent: agentView(agent, theRoster(view)),
        workspace: meWorkspace(view),
        permissions: permissionsOf(view, agent),
        ...(query.providers === true ? { providers: providersOf(view, config) } : {}),
      };
    },
  }),

  route({
    operation: 'me.providers',
    method: 'GET',
    path: '/me/providers',
    tag: 'Workspaces',
    summary: 'Get what sends mail, carries calls, bills, and knows orders',
    access: { kind: 'agent', scope: 'agents:read' },
    limit: { by: 'caller', factor: 2 },
    reply: { status: 200, schema: Type.Object({ providers: Providers }) },
    refusals: [],
    read: (view, _, { config }) => ({ providers: providersOf(view, config) }),
  }),

  route({
    operation: 'me.workspace',
    method: 'GET',
    path: '/me/workspace',
    tag: 'Workspaces',
    summary: "Get the agent's workspace and whether it is open",
    access: { kind: 'agent', scope: 'agents:read' },
    limit: { by: 'caller', factor: 2 },
    reply: {
      status: 200,
      schema: Type.Object({
        workspace: MeWorkspace,
        workspaceState: Type.Object({
          officeHoursOpen: Type.Boolean(),
          nextChange: nullable(
            Type.String({ description: "ISO 8601 with the UTC offset of the workspace's time zone." }),
          ),
          notifications: Type.Null(),
        }),
      }),
    },
    refusals: [],
    read: (view) => ({
      workspace: meWorkspace(view),
      workspaceState: { ...workspaceHours(view), notifications: null },
    }),
  }),

  route({
    operation: 'agent.setStatus',
    method: 'POST',
    path: '/me/status',
    tag: 'Agents',
    summary: 'Set your availability',
    description:
      'Only available agents are given new chats and rung for calls. ' +
      'When an agent chooses `away` or `offline`, chats that routing gave it and no agent has answered go to others. ' +
      'An available agent becomes `away` automatically `awayAfterMinutes` after its last socket closed, ' +
      'and available again with its next socket, unless it chose a status in between. ' +
      'An agent that had no socket since it chose a status keeps that status. ' +
      'Signing out sets `offline`; the next sign-in sets `available`.',
    access: { kind: 'agent', scope: null },
    body: Type.Object({ status: AgentStatus }),
    reply: { status: 200, schema: Agent },
    refusals: [],
    run: ({ workspaceId, caller, body }, { engine }) =>
      engine.execute(setOwnStatus, { workspaceId, caller, params: body }),
  }),

  route({
    operation: 'agent.list',
    method: 'GET',
    path: '/agents',
    tag: 'Agents',
    summary: 'List agents',
    description:
      'Includes agents who left and agents who have not joined yet, unless `inviteStatus` selects one of the three.',
    access: { kind: 'agent', scope: 'agents:read' },
    query: Type.Object({
      role: Type.Optional(Role),
      status: Type.Optional(AgentStatus),
      departmentId: Type.Optional(Id),
      inviteStatus: Type.Optional(InviteStatus),
      ...CursorQuery,
    }),
    reply: { status: 200, schema: Type.Object({ agents: Type.Array(Agent), nextCursor: NextCursor }) },
    refusals: [],
    read(view, { query }) {
      const { rows, nextCursor } = pageOf(query, (page) => listAgents(view, { filter: query, ...page }), byCreated);
      return { agents: rows, nextCursor };
    },
  }),

  route({
    operation: 'agent.read',
    method: 'GET',
    path: '/agents/{agentId}',
    tag: 'Agents',
    summary: 'Get an agent',
    access: { kind: 'agent', scope: 'agents:read' },
    params: Type.Object({ agentId: Id }),
    reply: { status: 200, schema: Agent },
    refusals: [],
    read: (view, { params }) => agentView(requireAgent(view, params.agentId), theRoster(view)),
  }),

  route({
    operation: 'agent.invite',
    method: 'POST',
    path: '/agents/invite',
    tag: 'Agents',
    summary: 'Invite an agent',
    description:
      'Mails a link to /join/{code} that works once, for 7 days, and returns it as `joinUrl`. ' +
      'Returns 409 `email_already_exists` if an agent of any workspace has joined with this address, ' +
      'or this workspace has already invited it. ' +
      'Until the agent joins, other workspaces can invite the same address. ' +
      'Admins always get all three channels; others get chat by default and need at least one. ' +
      'A pending invitation takes a seat.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    body: Type.Object({
      email: Email,
      name: Name,
      role: Role,
      channels: Type.Optional(Channels),
      groupIds: Type.Optional(GroupIds),
    }),
    reply: { status: 201, schema: InvitedAgent },
    refusals: ['email_already_exists', 'seat_limit_reached'],
    async run({ workspaceId, caller, body }, { engine, directory }) {
      const email = body.email.toLowerCase();
      await engine.execute(countAskedAddress, { workspaceId, caller, params: {} });
      const present = directory.findEmail(email);
      if (present !== undefined) refuseTaken('email_already_exists', present);
      return engine.execute(inviteAgent, { workspaceId, caller, params: { ...body, email } });
    },
  }),

  route({
    operation: 'agent.update',
    method: 'PATCH',
    path: '/agents/{agentId}',
    tag: 'Agents',
    summary: 'Update an agent',
    description:
      'Admins can change every field of every agent. ' +
      'Supervisors can change the name, public name, avatar, ' +
      'channels and groups of members of their own departments who are not admins, ' +
      'but cannot give themselves a channel. ' +
      'Agents can change their own name, public name and avatar. ' +
      'Only the name and email of a deactivated agent can be changed; anything else returns 409 `conflict`. ' +
      '`departments` is an alias of `groupIds`, `avatar` of `avatarUrl`. ' +
      'A changed email is announced by mail to both addresses.',
    access: { kind: 'agent', scope: null },
    params: Type.Object({ agentId: Id }),
    body: Type.Object({
      email: Type.Optional(Email),
      name: Type.Optional(Name),
      publicName: Type.Optional(nullable(Name)),
      avatarUrl: Type.Optional(nullable(Url)),
      avatar: Type.Optional(nullable(Url)),
      role: Type.Optional(Role),
      channels: Type.Optional(Channels),
      groupIds: Type.Optional(GroupIds),
      departments: Type.Optional(GroupIds),
      canTransfer: Type.Optional(Type.Boolean()),
    }),
    reply: { status: 200, schema: Agent },
    refusals: ['admin_required', 'conflict', 'last_admin', 'cannot_demote_owner', 'email_already_exists'],
    async run({ workspaceId, caller, params, body, ip, userAgent }, { engine, directory }) {
      const { agentId } = params;
      const { avatar, departments, ...rest } = body;
      const changes: AgentChanges = {
        ...rest,
        email: body.email?.toLowerCase(),
        avatarUrl: body.avatarUrl === undefined ? avatar : body.avatarUrl,
        groupIds: body.groupIds ?? departments,
      };
      const change = () =>
        engine.execute(changeAgent, {
          workspaceId,
          caller,
          params: {
            agentId,
            changes,
            groupsField: body.groupIds === undefined && departments !== undefined ? 'departments' : 'groupIds',
            origin: { address: ip, userAgent },
          },
        });
      if (changes.email === undefined) return change();
      // Checked before the directory reserves the address: only an admin may change one, and only for an existing
      // agent.
      const { email } = requireAdminOver(engine, { workspaceId, caller, agentId });
      if (email !== changes.email) await engine.execute(countAskedAddress, { workspaceId, caller, params: {} });
      return directory.changeSignIn({ email: changes.email, workspaceId, agentId }, change);
    },
  }),

  route({
    operation: 'agent.deactivate',
    method: 'DELETE',
    path: '/agents/{agentId}',
    tag: 'Agents',
    summary: 'Deactivate an agent',
    description:
      "Revokes the agent's tokens, returns its conversations to their queues, removes it from its departments, " +
      'and frees its seat and its address, so that the address can join elsewhere. ' +
      'Invite the agent again to bring it back.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    params: Type.Object({ agentId: Id }),
    reply: { status: 204, schema: null },
    refusals: ['cannot_deactivate_self', 'last_admin', 'cannot_deactivate_owner'],
    async run({ workspaceId, caller, params: { agentId } }, { engine, directory }) {
      requireAdminOver(engine, { workspaceId, caller, agentId });
      return directory.changeSignIn({ workspaceId, agentId }, () =>
        engine.execute(deactivateAgent, { workspaceId, caller, params: { agentId } }),
      );
    },
  }),

  route({
    operation: 'agent.resendInvite',
    method: 'POST',
    path: '/agents/{agentId}/resend-invite',
    tag: 'Agents',
    summary: 'Resend an invitation',
    description:
      'Invalidates the earlier link. Also brings back a deactivated agent, whose new link is only in its mail.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    params: Type.Object({ agentId: Id }),
    reply: { status: 200, schema: InvitedAgent },
    refusals: ['already_joined', 'email_already_exists', 'seat_limit_reached'],
    async run({ workspaceId, caller, params: { agentId } }, { engine, directory }) {
      const { email } = requireAdminOver(engine, { workspaceId, caller, agentId });
      const holder = directory.findEmail(email);
      if (holder !== undefined && holder.agentId !== agentId) refuseTaken('email_already_exists', holder);
      return engine.execute(resendInvite, { workspaceId, caller, params: { agentId } });
    },
  }),
];

/**
 * The command checks this again. It is checked here too, so that the directory is only consulted by admins, about
 * existing agents.
 */
function requireAdminOver(
  engine: Engine,
  { workspaceId, caller, agentId }: { workspaceId: string; caller: Caller; agentId: string },
): AgentRecord {
  const view = (engine.workspace(workspaceId) ?? refuse('unauthorized')).view(caller);
  requireAdmin(view);
  return requireAgent(view, agentId);
}

function meWorkspace(view: Parameters<typeof theWorkspace>[0]) {
  const { id, name, timezone, locale, emailDomainStatus } = workspaceView(view);
  return { id, name, timezone, locale, subdomainSlug: theWorkspace(view).subdomain, emailDomainStatus };
}

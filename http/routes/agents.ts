// Agents and oneself. Specification 4.7, decisions 4.7.

import Type from 'typebox';
import { maxDepartments } from '../../engine/constants.ts';
import { refuse } from '../../engine/errors.ts';
import type { Caller } from '../../engine/runtime/caller.ts';
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
import type { AgentRecord } from '../../store/workspace/agents.ts';
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

const GroupIds = Type.Array(Id, { maxItems: maxDepartments });
const Channels = Type.Array(AgentChannel, { maxItems: 3 });

const MeWorkspace = Type.Object({
  id: Id,
  name: Type.String(),
  timezone: Type.String(),
  locale: Type.String(),
  subdomainSlug: Type.String(),
  emailDomainStatus: nullable(Type.String()),
});

export const agentRoutes = [
  route({
    operation: 'me.read',
    method: 'GET',
    path: '/me',
    tag: 'Agents',
    summary: 'Who am I',
    access: { kind: 'agent', scope: 'agents:read' },
    limit: { by: 'caller', factor: 2 },
    reply: {
      status: 200,
      schema: Type.Object({ agent: Agent, workspace: MeWorkspace, permissions: Type.Array(Type.String()) }),
    },
    refusals: [],
    read(view) {
      const agent = callingAgent(view);
      return {
        agent: agentView(agent, theRoster(view)),
        workspace: meWorkspace(view),
        permissions: permissionsOf(view, agent),
      };
    },
  }),

  route({
    operation: 'me.workspace',
    method: 'GET',
    path: '/me/workspace',
    tag: 'Workspaces',
    summary: 'My workspace, and whether it is open',
    access: { kind: 'agent', scope: 'agents:read' },
    limit: { by: 'caller', factor: 2 },
    reply: {
      status: 200,
      schema: Type.Object({
        workspace: MeWorkspace,
        workspaceState: Type.Object({
          officeHoursOpen: Type.Boolean(),
          nextChange: nullable(Type.String({ description: "ISO 8601 with the offset of the workspace's time zone." })),
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
    summary: 'Say whether I take new chats',
    description:
      "Only available agents are given new chats and rung. What routing gave and no agent has answered goes on to others when it is chosen to be away or offline. An available agent whose last socket ended the workspace's " +
      'awayAfterMinutes ago is away, automatically, until its next socket, unless it chose a status meanwhile; who had no socket since it chose keeps what it chose. Signing out makes offline, the next sign-in available.',
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
    description: 'Those who left and those who have not joined yet too, unless inviteStatus names one of the three.',
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
    summary: 'Read an agent',
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
      'Mails a link to /join/{code} that works once, for 7 days. email_already_exists: an agent has joined with the address, anywhere, or this workspace has invited it. Until it joins, its owner may be invited elsewhere too. Channels: all three for admins, whatever is asked; chats alone for others by default, and one at least. A pending invite takes a seat.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    body: Type.Object({
      email: Email,
      name: Name,
      role: Role,
      channels: Type.Optional(Channels),
      groupIds: Type.Optional(GroupIds),
    }),
    reply: { status: 201, schema: Agent },
    refusals: ['email_already_exists', 'seat_limit_reached'],
    async run({ workspaceId, caller, body }, { engine, directory, config }) {
      const email = body.email.toLowerCase();
      await engine.execute(countAskedAddress, { workspaceId, caller, params: {} });
      if (directory.findEmail(email) !== undefined) refuse('email_already_exists');
      return engine.execute(inviteAgent, { workspaceId, caller, params: { ...body, email, baseUrl: config.baseUrl } });
    },
  }),

  route({
    operation: 'agent.update',
    method: 'PATCH',
    path: '/agents/{agentId}',
    tag: 'Agents',
    summary: 'Change an agent',
    description:
      'Admins change anything of anyone; supervisors the name, avatar, channels and groups of members of their own departments who are no admins, and give themselves no channel; agents their own name and avatar. Of a deactivated one only name and email can be changed: 409 conflict. departments is another name for groupIds, avatar for avatarUrl. Of a changed email both addresses are told by mail.',
    access: { kind: 'agent', scope: null },
    params: Type.Object({ agentId: Id }),
    body: Type.Object({
      email: Type.Optional(Email),
      name: Type.Optional(Name),
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
    async run({ workspaceId, caller, params, body, ip, userAgent }, { engine, directory, config }) {
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
            baseUrl: config.baseUrl,
            origin: { address: ip, userAgent },
          },
        });
      if (changes.email === undefined) return change();
      // Before an address is taken in the directory: only an admin may change one, and of an agent that is there.
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
      'Its tokens end, its conversations go back to their queues, it leaves its departments, its seat is free, and so is its address, for its owner to join elsewhere. An invitation brings it back.',
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
    summary: 'Invite an agent again',
    description: 'Ends the earlier link. Also how a deactivated agent comes back.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    params: Type.Object({ agentId: Id }),
    reply: { status: 200, schema: Agent },
    refusals: ['already_joined', 'email_already_exists', 'seat_limit_reached'],
    async run({ workspaceId, caller, params: { agentId } }, { engine, directory, config }) {
      const { email } = requireAdminOver(engine, { workspaceId, caller, agentId });
      const holder = directory.findEmail(email);
      if (holder !== undefined && holder.agentId !== agentId) refuse('email_already_exists');
      return engine.execute(resendInvite, { workspaceId, caller, params: { agentId, baseUrl: config.baseUrl } });
    },
  }),
];

/**
 * What the command asks again, before anything is asked of the directory: only of an agent that is there, and for an
 * admin alone.
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

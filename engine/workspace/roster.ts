// All agents and departments of the workspace, in memory while it is used. Access rules, routing and views read it.
// Every change of an agent goes through putAgent, so that memory, rows and sockets agree.

import {
  type AgentRecord,
  allAgents,
  insertAgent,
  type NewAgent,
  setLastAssignedAt,
  setPresence,
  updateAgent,
} from '../../store/workspace/agents.ts';
import { allDepartments, type DepartmentRecord } from '../../store/workspace/departments.ts';
import { refuse } from '../errors.ts';
import { emit } from '../events.ts';
import type { Context, View } from '../runtime/context.ts';
import type { ActorKind } from '../runtime/registry.ts';

export interface Roster {
  /** Oldest first. */
  readonly agents: ReadonlyMap<string, AgentRecord>;
  readonly departments: ReadonlyMap<string, DepartmentRecord>;
}

const rosterKind: ActorKind<Roster> = {
  name: 'roster',
  load: (db) => ({
    agents: new Map(allAgents(db).map((agent) => [agent.id, agent])),
    departments: new Map(allDepartments(db).map((department) => [department.id, department])),
  }),
};

export function theRoster(view: Pick<View, 'state'>): Roster {
  return view.state(rosterKind, '') ?? { agents: new Map(), departments: new Map() };
}

export function setRoster(ctx: Context, roster: Roster): void {
  ctx.setState(rosterKind, '', roster);
}

export function isActive(agent: AgentRecord): boolean {
  return agent.joinedAt !== null && agent.deactivatedAt === null;
}

/** Signed out, or without an open inbox; not merely set to away by itself. */
export function isGone(agent: AgentRecord): boolean {
  return agent.status === 'offline' || (agent.status === 'away' && agent.statusSource === 'automatic');
}

/** Available only by default: not present since it joined or signed in. */
export function isUnseen(agent: AgentRecord): boolean {
  return agent.status === 'available' && agent.statusSource === 'automatic' && !agent.isOnline && agent.goneAt === null;
}

export type InviteStatus = 'pending' | 'joined' | 'deactivated';

export function inviteStatusOf(agent: AgentRecord): InviteStatus {
  if (agent.deactivatedAt !== null) return 'deactivated';
  return agent.joinedAt === null ? 'pending' : 'joined';
}

/** The oldest admin (specification 2). */
export function ownerOf(roster: Roster): AgentRecord | undefined {
  for (const agent of roster.agents.values()) if (agent.role === 'admin' && agent.deactivatedAt === null) return agent;
  return undefined;
}

export function requireAgent(view: Pick<View, 'state'>, agentId: string): AgentRecord {
  return theRoster(view).agents.get(agentId) ?? refuse('not_found');
}

/** The name by which customers know the agent. */
export function publicNameOf({ publicName, name }: Pick<AgentRecord, 'publicName' | 'name'>): string {
  return publicName ?? name.trim().split(/\s+/u)[0] ?? name;
}

export interface AgentView {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly publicName: string | null;
  readonly role: AgentRecord['role'];
  readonly status: AgentRecord['status'];
  readonly statusSource: AgentRecord['statusSource'];
  readonly isOnline: boolean;
  readonly channels: AgentRecord['channels'];
  readonly groups: readonly { readonly id: string; readonly name: string }[];
  readonly groupIds: readonly string[];
  readonly avatarUrl: string | null;
  readonly hasPassword: boolean;
  readonly inviteStatus: InviteStatus;
  readonly canTransfer: boolean;
  readonly createdAt: string;
}

declare module '../events.ts' {
  interface EventRecords {
    readonly agent: AgentView;
  }
}

/** The agent as everyone in the workspace may see it. */
export function agentView(agent: AgentRecord, roster: Roster): AgentView {
  return {
    id: agent.id,
    email: agent.email,
    name: agent.name,
    publicName: agent.publicName,
    role: agent.role,
    status: agent.status,
    statusSource: agent.statusSource,
    isOnline: agent.isOnline,
    channels: agent.channels,
    groups: agent.groupIds.map((id) => ({ id, name: roster.departments.get(id)?.name ?? '' })),
    groupIds: agent.groupIds,
    avatarUrl: agent.avatarUrl,
    hasPassword: agent.passwordHash !== null,
    inviteStatus: inviteStatusOf(agent),
    canTransfer: agent.canTransfer,
    createdAt: agent.createdAt,
  };
}

export function addAgent(ctx: Context, added: NewAgent): AgentRecord {
  insertAgent(ctx.db, added);
  const agent: AgentRecord = {
    ...added,
    publicName: null,
    statusSource: 'chosen',
    isOnline: false,
    goneAt: null,
    joinedSeq: 0,
  };
  rememberAgent(ctx, agent);
  return agent;
}

/** Writes the agent and emits it to the workspace's sockets, which also end sessions that the change revoked. */
export function putAgent(ctx: Context, agent: AgentRecord): void {
  updateAgent(ctx.db, agent);
  rememberAgent(ctx, agent);
}

/** Writes that an agent came or left; sockets learn of it separately from events (http/sockets/presence.ts). */
export function putPresence(ctx: Context, agent: AgentRecord): void {
  const roster = theRoster(ctx);
  setPresence(ctx.db, agent);
  setRoster(ctx, { ...roster, agents: new Map(roster.agents).set(agent.id, agent) });
}

/** Records the time of an assignment, which emits no event. */
export function noteAssignment(ctx: Context, agent: AgentRecord): void {
  const roster = theRoster(ctx);
  setLastAssignedAt(ctx.db, agent.id, ctx.at);
  setRoster(ctx, { ...roster, agents: new Map(roster.agents).set(agent.id, { ...agent, lastAssignedAt: ctx.at }) });
}

function rememberAgent(ctx: Context, agent: AgentRecord): void {
  const roster = theRoster(ctx);
  setRoster(ctx, { ...roster, agents: new Map(roster.agents).set(agent.id, agent) });
  emitAgent(ctx, agent);
}

/** Emits the agent's record after it changed, or after its departments' names did. */
export function emitAgent(ctx: Context, agent: AgentRecord): void {
  emit(ctx, {
    type: 'agent.updated',
    audience: { kind: 'workspace' },
    data: { agent: agentView(agent, theRoster(ctx)) },
  });
}

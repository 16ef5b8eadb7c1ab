// Presence of agents. An agent is present while it has a socket. One that is gone for the workspace's number of minutes
// is away until it comes back, unless it sets its status meanwhile. Signing out makes it offline, the next sign-in
// available. Conversations that it cannot serve return to the queue. Decisions "Presence of agents".

import type { AgentRecord, AgentStatus } from '../../store/workspace/agents.ts';
import { ringFreeAgents } from '../conversations/ringing.ts';
import { drainQueue } from '../conversations/routing.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import { deadline } from '../runtime/kinds.ts';
import { callingAgent } from '../workspace/access.ts';
import {
  type AgentView,
  agentView,
  isActive,
  isUnseen,
  putAgent,
  putPresence,
  theRoster,
} from '../workspace/roster.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { returnHeld } from './returning.ts';

export const awayDeadline = deadline('agent.away');
const minuteMs = 60_000;

/** Drives routing: only available agents get new chats. */
export const setOwnStatus = command('agent.setStatus', (ctx, params: { status: AgentStatus }): AgentView => {
  const agent = callingAgent(ctx);
  const next: AgentRecord = { ...agent, status: params.status, statusSource: 'chosen', goneAt: null };
  ctx.clearDeadline(awayDeadline, agent.id);
  if (next.status !== agent.status || next.statusSource !== agent.statusSource) putAgent(ctx, next);
  else if (agent.goneAt !== null) putPresence(ctx, next);
  if (next.status === 'available') drainQueue(ctx);
  else leaveRouting(ctx, next);
  return agentView(next, theRoster(ctx));
});

/**
 * Call when an agent's first socket opened or its last one closed. Returns false if that was known. Only the edge calls
 * this.
 */
export const noteSockets = command(
  'agent.noteSockets',
  (ctx, params: { agentId: string; isOnline: boolean }): boolean => {
    const agent = theRoster(ctx).agents.get(params.agentId);
    if (agent === undefined || agent.isOnline === params.isOnline) return false;
    if (params.isOnline) come(ctx, agent);
    else go(ctx, agent);
    return true;
  },
);

/** The process that had their sockets has ended; `thereIds` have new ones. Returns the agents who are gone. */
export const endLostSockets = command(
  'agent.endLostSockets',
  (ctx, params: { thereIds: readonly string[] }): string[] => {
    const gone = [...theRoster(ctx).agents.values()].filter(
      (agent) => agent.isOnline && !params.thereIds.includes(agent.id),
    );
    for (const agent of gone) go(ctx, agent);
    return gone.map(({ id }) => id);
  },
);

/** Runs after the minutes. */
export const goAway = command('agent.goAway', (ctx, params: DeadlineParams): void => {
  const agent = theRoster(ctx).agents.get(params.subjectId);
  if (
    agent === undefined ||
    !isActive(agent) ||
    agent.status !== 'available' ||
    agent.goneAt === null ||
    theWorkspace(ctx).settings.awayAfterMinutes === 0
  )
    return;
  const away: AgentRecord = { ...agent, status: 'away', statusSource: 'automatic' };
  putAgent(ctx, away);
  leaveRouting(ctx, away);
});

/** The workspace's number of minutes changed: it applies to agents who are gone already, too. */
export function rescheduleAway(ctx: Context): void {
  for (const agent of theRoster(ctx).agents.values()) if (agent.goneAt !== null) expectAway(ctx, agent);
}

/** An agent who signs out is offline until it signs in again, whatever status it had set. Does not write the record. */
export function signedOut(ctx: Context, agent: AgentRecord): AgentRecord {
  ctx.clearDeadline(awayDeadline, agent.id);
  return { ...agent, status: 'offline', statusSource: 'automatic', goneAt: null };
}

/** Chats that routing assigned return to the queue, and calls stop ringing the agent. */
export function leaveRouting(ctx: Context, agent: AgentRecord): void {
  returnHeld(ctx, agent.id);
  ringFreeAgents(ctx);
}

/** Offline by signing out, not by choice. */
export function isSignedOut(agent: AgentRecord): boolean {
  return isActive(agent) && agent.status === 'offline' && agent.statusSource === 'automatic';
}

/** Call after a sign-in. */
export const comeBack = command('agent.comeBack', (ctx, params: { agentId: string }): void => {
  const agent = theRoster(ctx).agents.get(params.agentId);
  if (agent === undefined || !isSignedOut(agent)) return;
  // Like one who has just joined, it is not gone before its first socket.
  putAgent(ctx, { ...agent, status: 'available', goneAt: null });
  drainQueue(ctx);
});

function come(ctx: Context, agent: AgentRecord): void {
  ctx.clearDeadline(awayDeadline, agent.id);
  const come: AgentRecord = { ...agent, isOnline: true, goneAt: null };
  const wasAway = isActive(agent) && agent.status === 'away' && agent.statusSource === 'automatic';
  if (wasAway) putAgent(ctx, { ...come, status: 'available' });
  else putPresence(ctx, come);
  if (wasAway || isUnseen(agent)) drainQueue(ctx);
}

function go(ctx: Context, agent: AgentRecord): void {
  const gone: AgentRecord = { ...agent, isOnline: false, goneAt: ctx.at };
  putPresence(ctx, gone);
  expectAway(ctx, gone);
}

function expectAway(ctx: Context, agent: AgentRecord): void {
  const { awayAfterMinutes } = theWorkspace(ctx).settings;
  if (agent.status !== 'available' || agent.goneAt === null || awayAfterMinutes === 0)
    ctx.clearDeadline(awayDeadline, agent.id);
  else ctx.setDeadline(awayDeadline, agent.id, Date.parse(agent.goneAt) + awayAfterMinutes * minuteMs);
}

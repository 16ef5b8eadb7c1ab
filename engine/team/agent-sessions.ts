// Sign-ins of agents: a token names its agent and its session. A session lasts for its lifetime from its start or last
// renewal, is listed for its agent and can be ended separately. Tokens from before sessions existed name none; they end
// with their agent's tokenVersion. Specification 5.3; decisions 4.1.

import {
  type AgentSessionRecord,
  agentSessionsOf,
  deleteAgentSession,
  insertAgentSession,
  updateAgentSession,
} from '../../store/workspace/agent-sessions.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { confirmedMs, longestSessionMs } from '../constants.ts';
import { deviceOf } from '../devices.ts';
import { hashOf } from '../directory/compact-ids.ts';
import { refuse } from '../errors.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { ActorKind } from '../runtime/registry.ts';
import { callingAgent } from '../workspace/access.ts';
import { putAgent } from '../workspace/roster.ts';
import { forgetOriginsOf, noteSignInFrom, rememberOrigin, type SignInOrigin } from './known-origins.ts';
import { leaveRouting, signedOut } from './presence.ts';

export interface SigningIn extends SignInOrigin {
  /** How long the session lasts unless it is renewed. */
  readonly lifetimeMs: number;
}

export interface AgentSessionView {
  readonly id: string;
  /** Whether it is the caller's. */
  readonly isCurrent: boolean;
  /** Such as "Firefox on Linux". */
  readonly device: string;
  readonly address: string;
  readonly createdAt: string;
  readonly lastUsedAt: string;
  readonly expiresAt: string;
}

type Sessions = ReadonlyMap<string, AgentSessionRecord>;

/** Programs that sign in on every run are included. Beyond it, the session that was unused the longest ends. */
const maxSessionsPerAgent = 200;
/** Precision of lastUsedAt: one row is written per five minutes of use, not per request. */
const usedEveryMs = 5 * 60_000;

const sessionsKind: ActorKind<Sessions> = {
  name: 'agentSessions',
  load: (db, agentId) => new Map(agentSessionsOf(db, agentId).map((session) => [session.id, session])),
};

function sessionsOf(view: Pick<View, 'state'>, agentId: string): Sessions {
  return view.state(sessionsKind, agentId) ?? new Map();
}

/** Does not check whether it has expired. Undefined if it was ended. */
export function findSession(
  view: Pick<View, 'state'>,
  agentId: string,
  sessionId: string,
): AgentSessionRecord | undefined {
  return sessionsOf(view, agentId).get(sessionId);
}

export function isUseNews(session: AgentSessionRecord, nowMs: number): boolean {
  return nowMs - Date.parse(session.lastUsedAt) >= usedEveryMs;
}

/** In whole seconds, as in tokens. Only a renewal extends it, not use. */
function expiryOf(nowMs: number, lifetimeMs: number): string {
  return isoTime(Math.floor((nowMs + lifetimeMs) / 1000) * 1000);
}

const fromNowhere: SigningIn = {
  address: '',
  network: '',
  userAgent: null,
  browser: undefined,
  lifetimeMs: 7 * 24 * 3600_000,
};

interface Opening {
  readonly signing?: SigningIn | undefined;
  /** By signing in, as opposed to a reset or another way in. */
  readonly isSignIn?: boolean;
  /** When the agent passed every factor; by default now. */
  readonly confirmedAt?: string;
}

/** Opens a session for an agent who has authenticated. */
export function openSession(
  ctx: Context,
  agent: AgentRecord,
  { signing = fromNowhere, isSignIn = false, confirmedAt = ctx.at }: Opening = {},
): AgentSessionRecord {
  const { address, userAgent, browser, lifetimeMs } = signing;
  const session: AgentSessionRecord = {
    id: ctx.ids.uuid(),
    agentId: agent.id,
    address,
    userAgent,
    browserHash: browser === undefined ? null : hashOf(browser),
    createdAt: ctx.at,
    lastUsedAt: ctx.at,
    confirmedAt,
    expiresAt: expiryOf(ctx.nowMs, lifetimeMs),
  };
  makeRoom(ctx, agent.id);
  insertAgentSession(ctx.db, session);
  setState(ctx, session);
  noteSignInFrom(ctx, agent, signing, { isSignIn });
  return session;
}

export const noteSessionUse = command(
  'agentSession.use',
  (ctx, params: { agentId: string; sessionId: string; address: string; userAgent: string | null }): void => {
    const session = findSession(ctx, params.agentId, params.sessionId);
    if (session === undefined || !isUseNews(session, ctx.nowMs)) return;
    put(ctx, { ...session, lastUsedAt: ctx.at, address: params.address, userAgent: params.userAgent });
  },
);

/**
 * Renews the caller's session for its original lifetime, up to a maximum age. A token without a session, from before
 * they existed, gets one. Records where the session is used from.
 */
export const refreshSession = command(
  'agentSession.refresh',
  (ctx, params: { sessionId: string | undefined; signing: SigningIn }): AgentSessionRecord => {
    const agent = callingAgent(ctx);
    const { address, network, userAgent, lifetimeMs } = params.signing;
    if (params.sessionId === undefined) {
      // Only a token was presented, so nothing is confirmed.
      return openSession(ctx, agent, { signing: params.signing, confirmedAt: confirmedAtOf(ctx, agent.id, undefined) });
    }
    const session = findSession(ctx, agent.id, params.sessionId) ?? refuse('token_revoked');
    const endMs = Date.parse(session.createdAt) + longestLifetimeMs(lifetimeMs);
    const longer = expiryOf(Math.min(ctx.nowMs + lifetimeMs, endMs), 0);
    const refreshed: AgentSessionRecord = {
      ...session,
      address,
      userAgent,
      lastUsedAt: ctx.at,
      expiresAt: longer > session.expiresAt ? longer : session.expiresAt,
    };
    put(ctx, refreshed);
    rememberOrigin(ctx, agent.id, [
      { kind: 'network', value: network },
      ...(session.browserHash === null ? [] : [{ kind: 'browser', value: session.browserHash } as const]),
    ]);
    return refreshed;
  },
);

/** The agent has authenticated again in this session. Returns until when that counts. */
export const confirmSession = command(
  'agentSession.confirm',
  (ctx, params: { sessionId: string | undefined }): string => {
    const agent = callingAgent(ctx);
    const session =
      params.sessionId === undefined
        ? refuse('confirmation_required')
        : (findSession(ctx, agent.id, params.sessionId) ?? refuse('token_revoked'));
    put(ctx, { ...session, confirmedAt: ctx.at });
    return isoTime(ctx.nowMs + confirmedMs);
  },
);

/** When the agent last authenticated in this session; long ago for a token without one. */
export function confirmedAtOf(view: Pick<View, 'state'>, agentId: string, sessionId: string | undefined): string {
  return (sessionId === undefined ? undefined : findSession(view, agentId, sessionId)?.confirmedAt) ?? isoTime(0);
}

/** Until when the session counts as confirmed; null if it does not. */
export function confirmedUntil(view: View, sessionId: string | undefined): string | null {
  const untilMs = Date.parse(confirmedAtOf(view, callingAgent(view).id, sessionId)) + confirmedMs;
  return untilMs > view.nowMs ? isoTime(untilMs) : null;
}

/**
 * The calling agent, if it authenticated recently, so that an unattended browser cannot be used to take an account
 * over. Refuses confirmation_required.
 */
export function requireConfirmed(ctx: View, sessionId: string | undefined): AgentRecord {
  if (confirmedUntil(ctx, sessionId) === null) refuse('confirmation_required');
  return callingAgent(ctx);
}

/** However often it is renewed. */
export function longestLifetimeMs(lifetimeMs: number): number {
  return Math.max(lifetimeMs, longestSessionMs);
}

/** Last used first. */
export function listSessions(view: View, currentId: string | undefined): AgentSessionView[] {
  const live = [...sessionsOf(view, callingAgent(view).id).values()].filter(({ expiresAt }) => expiresAt > view.at);
  return live
    .sort((a, b) => b.lastUsedAt.localeCompare(a.lastUsedAt) || b.id.localeCompare(a.id))
    .map((session) => viewOf(session, currentId));
}

/** Ending the last session signs the agent out: it is offline until it signs in again. Refuses not_found. */
export const endOwnSession = command('agentSession.end', (ctx, params: { sessionId: string }): void => {
  const agent = callingAgent(ctx);
  const session = findSession(ctx, agent.id, params.sessionId) ?? refuse('not_found');
  if (session.expiresAt <= ctx.at) refuse('not_found');
  end(ctx, [session]);
  ctx.audit({
    action: 'agent.session_ended',
    targetKind: 'agent',
    targetId: agent.id,
    context: { device: deviceOf(session.userAgent), address: session.address },
  });
  if ([...sessionsOf(ctx, agent.id).values()].some(({ expiresAt }) => expiresAt > ctx.at)) return;
  const gone = signedOut(ctx, agent);
  putAgent(ctx, gone);
  leaveRouting(ctx, gone);
});

/** Ends all sessions but the caller's. Tokens without a session cannot be told apart and end too, even the caller's. */
export const endOtherSessions = command(
  'agentSession.endOthers',
  (ctx, params: { sessionId: string | undefined }): void => {
    const agent = callingAgent(ctx);
    const others = [...sessionsOf(ctx, agent.id).values()].filter(({ id }) => id !== params.sessionId);
    end(ctx, others);
    const isSignedOut = params.sessionId === undefined;
    const next = { ...(isSignedOut ? signedOut(ctx, agent) : agent), tokenVersion: agent.tokenVersion + 1 };
    putAgent(ctx, next);
    if (isSignedOut) leaveRouting(ctx, next);
    const live = others.filter(({ expiresAt }) => expiresAt > ctx.at);
    if (live.length > 0)
      ctx.audit({
        action: 'agent.session_ended',
        targetKind: 'agent',
        targetId: agent.id,
        context: { sessions: live.length },
      });
  },
);

/**
 * Ends all sessions and, with `forgetOrigins`, deletes their known origins. The caller raises the tokenVersion, which
 * ends tokens without a session.
 */
export function endSessionsOf(ctx: Context, agentId: string, options: { forgetOrigins: boolean }): void {
  end(ctx, [...sessionsOf(ctx, agentId).values()]);
  if (options.forgetOrigins) forgetOriginsOf(ctx, agentId);
}

function makeRoom(ctx: Context, agentId: string): void {
  const sessions = [...sessionsOf(ctx, agentId).values()];
  if (sessions.length < maxSessionsPerAgent) return;
  end(ctx, [sessions.reduce((oldest, one) => (one.lastUsedAt < oldest.lastUsedAt ? one : oldest))]);
}

function put(ctx: Context, session: AgentSessionRecord): void {
  updateAgentSession(ctx.db, session);
  setState(ctx, session);
}

function setState(ctx: Context, session: AgentSessionRecord): void {
  ctx.setState(sessionsKind, session.agentId, new Map(sessionsOf(ctx, session.agentId)).set(session.id, session));
}

function end(ctx: Context, ended: readonly AgentSessionRecord[]): void {
  const [first] = ended;
  if (first === undefined) return;
  const rest = new Map(sessionsOf(ctx, first.agentId));
  for (const { id } of ended) {
    deleteAgentSession(ctx.db, id);
    rest.delete(id);
  }
  ctx.setState(sessionsKind, first.agentId, rest);
}

function viewOf(session: AgentSessionRecord, currentId: string | undefined): AgentSessionView {
  const { id, userAgent, address, createdAt, lastUsedAt, expiresAt } = session;
  return { id, isCurrent: id === currentId, device: deviceOf(userAgent), address, createdAt, lastUsedAt, expiresAt };
}

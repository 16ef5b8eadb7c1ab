// Sockets of agents and visitors: who is connected, what each may be told, what each missed. An event reaches a connection at
// most once and only after it is durable: live ones come from the engine after the commit, missed ones from the event table
// up to the same mark. Knows nothing of uWebSockets.js. Decisions 6.

import { eventsBetween, oldestSeq } from '../store/events.ts';
import { passesDepartment, worksIn } from '../engine/access.ts';
import type { AgentRecord } from '../store/agents.ts';
import { customerConversation, requireOwnConversation } from '../engine/chats.ts';
import { audienceOf, requireReachable } from '../engine/conversation.ts';
import { Refusal, type Slug } from '../engine/errors.ts';
import { agentView, isActive, type Roster, theRoster } from '../engine/roster.ts';
import type { Audience } from '../engine/events.ts';
import type { PublishedEvent, View } from '../engine/runtime/context.ts';
import type { Workspace } from '../engine/runtime/workspace.ts';
import { visitorKind, visitorSelf } from '../engine/visitors.ts';
import { agentCredential, authenticateVisitor, type Credential } from './credentials.ts';
import type { Pipeline } from './pipeline.ts';
import { errorBody } from './replies.ts';
import type { Services } from './services.ts';

/** One open connection, whatever carries it. */
export interface Connection {
  send(message: string | Uint8Array): void;
  /** Sends what `write` sends in one go. */
  together(write: () => void): void;
  bufferedBytes(): number;
  end(code: number, reason: string): void;
  terminate(): void;
}

/** What came with the upgrade. */
export interface Hello {
  readonly namespace: 'agent' | 'visitor';
  readonly token: string | undefined;
  readonly since: string | undefined;
  readonly ip: string;
  readonly userAgent: string | null;
  readonly origin: string | undefined;
}

export const subprotocol = 'messaging.v1';
/** A consumer that is further behind is closed and comes back with `since`. */
export const maxBufferedBytes = 1024 * 1024;
const maxFrameBytes = 64 * 1024;
/** Missed events are read and sent so many at a time, and no more while so much waits to be taken. */
const catchUpPage = 200;
const catchUpBufferedBytes = 256 * 1024;
const authTimeoutMs = 5000;
const maxSocketsPerAgent = 100;
const maxCallsUnderWay = 64;

const closeCodes = { tooBig: 1009, restart: 1012, unavailable: 1013, unauthorized: 4401, forbidden: 4403, tooSlow: 4408, tooMany: 4429 } as const;

interface Known {
  readonly credential: Credential;
  readonly id: string;
  /** Agents: the version their token was issued for, and when it ends. */
  readonly tokenVersion: number;
  readonly expiresMs: number;
}

export interface Session {
  readonly connection: Connection;
  readonly hello: Hello;
  state:
    | { readonly name: 'unknown'; readonly timer: { cancel(): void } }
    | { readonly name: 'verifying' }
    | { readonly name: 'catchingUp'; readonly known: Known; cursor: number }
    | { readonly name: 'live'; readonly known: Known }
    | { readonly name: 'closed' };
  callsUnderWay: number;
}

export class Sockets {
  readonly #services: Services;
  readonly #pipeline: Pipeline;
  readonly #sessions = new Map<string, Set<Session>>();
  readonly #unknown = new Set<Session>();
  readonly #counts = { agents: 0, visitors: 0 };
  #callsUnderWay = 0;
  #stopping = false;
  #whenQuiet: () => void = () => {};

  constructor(services: Services, pipeline: Pipeline) {
    this.#services = services;
    this.#pipeline = pipeline;
  }

  get counts(): { readonly agents: number; readonly visitors: number } {
    return this.#counts;
  }

  open(connection: Connection, hello: Hello): Session {
    const timer = this.#services.clock.after(authTimeoutMs, () => this.#end(session, closeCodes.unauthorized, 'no token within 5 seconds'));
    const session: Session = { connection, hello, state: { name: 'unknown', timer }, callsUnderWay: 0 };
    this.#unknown.add(session);
    if (hello.token !== undefined) this.#authenticate(session, hello.token, hello.since);
    return session;
  }

  /** A text frame; undefined for a binary one. */
  receive(session: Session, text: string | undefined, byteLength: number): void {
    if (session.state.name === 'closed') return;
    if (byteLength > maxFrameBytes) {
      this.#end(session, closeCodes.tooBig, 'a frame may have 64 KiB');
      return;
    }
    const frame = frameOf(text);
    if (frame === undefined) {
      this.#complain(session, 'invalid_body', 'A frame must be a JSON object with a type.');
      return;
    }
    if (session.state.name === 'unknown') {
      if (frame['type'] === 'auth' && typeof frame['token'] === 'string') this.#authenticate(session, frame['token'], frame['since']);
      else this.#end(session, closeCodes.unauthorized, 'the first frame must be auth');
      return;
    }
    if (session.state.name === 'verifying') {
      this.#complain(session, 'unauthorized', 'Wait for ready.');
      return;
    }
    const { known } = session.state;
    this.#guard(session, () => this.#handle(session, known, frame));
  }

  drained(session: Session): void {
    if (session.state.name === 'catchingUp') this.#guard(session, () => this.#catchUp(session));
  }

  closed(session: Session): void {
    const { state } = session;
    if (state.name === 'closed') return;
    if (state.name === 'unknown') state.timer.cancel();
    if (state.name === 'live' || state.name === 'catchingUp') this.#forget(session, state.known);
    this.#unknown.delete(session);
    session.state = { name: 'closed' };
  }

  /** Durable events of one workspace, in order: to every live session that may see them. */
  publish(workspaceId: string, events: readonly PublishedEvent[]): void {
    const sessions = this.#sessions.get(workspaceId);
    if (sessions === undefined) return;
    const workspace = this.#services.engine.workspace(workspaceId);
    if (workspace === undefined) return;
    const view = workspace.view({ kind: 'system' });
    const frames = events.map((event) => new Frame(event));
    if (frames.some((frame) => frame.event.type === 'agent.updated')) this.#endRevoked(sessions, theRoster(view));
    for (const session of sessions) if (session.state.name === 'live') this.#deliver(session, session.state.known, frames, view);
  }

  /** It was blocked: told nothing more, from now on. */
  dropVisitor(workspaceId: string, visitorId: string): void {
    for (const session of this.#sessions.get(workspaceId) ?? []) {
      if (isKnown(session) && session.hello.namespace === 'visitor' && session.state.known.id === visitorId) this.#end(session, closeCodes.forbidden, 'blocked');
    }
  }

  /** Takes no more calls, and resolves when those under way are answered. What is sent meanwhile is neither done nor answered. */
  async quiesced(): Promise<void> {
    this.#stopping = true;
    if (this.#callsUnderWay > 0) await new Promise<void>((resolve) => (this.#whenQuiet = resolve));
  }

  /** The service goes down and comes back. */
  endAll(): void {
    for (const session of this.#unknown) this.#end(session, closeCodes.restart, 'restarting');
    for (const sessions of this.#sessions.values()) for (const session of sessions) this.#end(session, closeCodes.restart, 'restarting');
  }

  #authenticate(session: Session, token: string, since: unknown): void {
    if (session.state.name === 'unknown') session.state.timer.cancel();
    session.state = { name: 'verifying' };
    const identify = session.hello.namespace === 'agent' ? this.#identifyAgent(token) : Promise.resolve().then(() => this.#identifyVisitor(token));
    identify.then(
      // What the welcome tells of, and whom it counts on, leaves once it is durable.
      (known) => this.#services.engine.whenDurable(known.credential.workspaceId, () => this.#guard(session, () => this.#welcome(session, known, since))),
      (error: unknown) => this.#reject(session, error),
    );
  }

  /** A failure of one session, or of its workspace's file, is no other's. */
  #guard(session: Session, act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#reject(session, error);
    }
  }

  #reject(session: Session, error: unknown): void {
    if (error instanceof Refusal) {
      this.#end(session, closeCodes.unauthorized, error.slug);
      return;
    }
    this.#services.log.error({ err: error }, 'a socket could not be served');
    this.#end(session, closeCodes.unavailable, 'try again later');
  }

  async #identifyAgent(token: string): Promise<Known> {
    const claims = this.#services.accessTokens.known(token) ?? (await this.#services.accessTokens.verify(token));
    if (claims === undefined) throw new Refusal('unauthorized', '', undefined);
    return { credential: agentCredential(claims, this.#services), id: claims.agentId, tokenVersion: claims.tokenVersion, expiresMs: claims.expiresMs };
  }

  #identifyVisitor(token: string): Known {
    const credential = authenticateVisitor(token, this.#services);
    const visitorId = credential.caller.kind === 'visitor' ? credential.caller.visitorId : '';
    const visitor = this.#services.engine.workspace(credential.workspaceId)?.registry.get(visitorKind, visitorId);
    if (visitor === undefined || visitor.blockedAt !== null) throw new Refusal('unauthorized', '', undefined);
    return { credential, id: visitorId, tokenVersion: 0, expiresMs: Number.POSITIVE_INFINITY };
  }

  #welcome(session: Session, known: Known, since: unknown): void {
    if (session.state.name !== 'verifying') return;
    this.#unknown.delete(session);
    const workspace = this.#services.engine.workspace(known.credential.workspaceId);
    if (workspace === undefined || this.#stopping) {
      this.#end(session, closeCodes.restart, 'restarting');
      return;
    }
    if (session.hello.namespace === 'agent' && this.#countOf(known) >= maxSocketsPerAgent) {
      this.#end(session, closeCodes.tooMany, `an agent may have ${maxSocketsPerAgent} sockets`);
      return;
    }
    const start = startOf(workspace, since);
    session.state = { name: 'catchingUp', known, cursor: start.cursor };
    this.#remember(session, known);
    const view = workspace.view(known.credential.caller);
    const self = session.hello.namespace === 'agent' ? { agent: selfOfAgent(view, known.id) } : { visitor: selfOfVisitor(view, known.id) };
    session.connection.send(JSON.stringify({ type: 'ready', ...self, seq: start.cursor }));
    if (start.resync) session.connection.send(JSON.stringify({ type: 'resync', seq: start.cursor }));
    this.#catchUp(session);
  }

  /** Sends what was missed, a page at a time, until the session is where live events go on. */
  #catchUp(session: Session): void {
    const { state } = session;
    if (state.name !== 'catchingUp') return;
    const workspace = this.#services.engine.workspace(state.known.credential.workspaceId);
    if (workspace === undefined) return;
    if (session.connection.bufferedBytes() > catchUpBufferedBytes) return;
    const upToSeq = workspace.publishedSeq;
    const rows = state.cursor >= upToSeq ? [] : eventsBetween(workspace.db, { afterSeq: state.cursor, upToSeq, limit: catchUpPage });
    const last = rows.at(-1);
    if (last === undefined) {
      session.state = { name: 'live', known: state.known };
      return;
    }
    state.cursor = last.seq;
    this.#deliver(session, state.known, rows.map((row) => new Frame(row)), workspace.view({ kind: 'system' }));
    setImmediate(() => this.#guard(session, () => this.#catchUp(session)));
  }

  #deliver(session: Session, known: Known, frames: readonly Frame[], view: View): void {
    if (known.expiresMs <= view.nowMs) {
      this.#end(session, closeCodes.unauthorized, 'token expired');
      return;
    }
    const isAgent = session.hello.namespace === 'agent';
    const agent = isAgent ? theRoster(view).agents.get(known.id) : undefined;
    const visible = frames.filter((frame) => (isAgent ? agent !== undefined && agentMaySee(agent, frame.audience) : visitorMaySee(known.id, frame.audience)));
    if (visible.length === 0) return;
    session.connection.together(() => {
      for (const frame of visible) session.connection.send(isAgent ? frame.forAgents : frame.forVisitor);
    });
    if (session.connection.bufferedBytes() > maxBufferedBytes) this.#end(session, closeCodes.tooSlow, 'too slow; come back with since');
  }

  #handle(session: Session, known: Known, frame: Record<string, unknown>): void {
    if (known.expiresMs <= this.#services.clock.now()) {
      this.#end(session, closeCodes.unauthorized, 'token expired');
      return;
    }
    switch (frame['type']) {
      case 'ping':
        session.connection.send('{"type":"pong"}');
        return;
      case 'typing':
        this.#typing(known, frame['conversationId']);
        return;
      case 'call':
        this.#call(session, known, frame);
        return;
      default:
        this.#complain(session, 'invalid_body', 'The type of a frame must be one of call, typing, ping.');
    }
  }

  #call(session: Session, known: Known, frame: Record<string, unknown>): void {
    const { id, method, params = {} } = frame;
    if ((typeof id !== 'string' && typeof id !== 'number') || typeof method !== 'string' || typeof params !== 'object' || params === null || Array.isArray(params)) {
      this.#complain(session, 'invalid_body', 'A call needs an id, a method and params.');
      return;
    }
    if (this.#stopping) return;
    const reply = (status: number, body: unknown): void => {
      session.callsUnderWay -= 1;
      this.#callsUnderWay -= 1;
      if (this.#callsUnderWay === 0) this.#whenQuiet();
      if (session.state.name !== 'closed') session.connection.send(JSON.stringify({ type: 'reply', id, status, body }));
    };
    session.callsUnderWay += 1;
    this.#callsUnderWay += 1;
    if (session.callsUnderWay > maxCallsUnderWay) {
      reply(429, errorBody(new Refusal('rate_limited', `Wait for replies: a socket may have ${maxCallsUnderWay} calls under way.`, undefined)));
      return;
    }
    const { ip, userAgent, origin } = session.hello;
    // An object that is no array, by the check above.
    this.#pipeline.call({ operation: method, params: params as Record<string, unknown> }, { ...known.credential, ip, userAgent, origin }, reply);
  }

  /** Not stored, not numbered, told to those who may see the conversation and do not type themselves. */
  #typing(known: Known, conversationId: unknown): void {
    const workspace = this.#services.engine.workspace(known.credential.workspaceId);
    if (workspace === undefined || typeof conversationId !== 'string' || !this.#pipeline.countCall(known.credential)) return;
    const view = workspace.view(known.credential.caller);
    const isAgent = known.credential.caller.kind === 'agent';
    try {
      const { conversation } = isAgent ? requireReachable(view, conversationId) : requireOwnConversation(view, conversationId);
      const audience = audienceOf(conversation, { visitorToo: true });
      const text = JSON.stringify({ type: 'typing', at: view.at, conversationId, data: { conversationId, senderType: isAgent ? 'agent' : 'visitor', senderId: known.id } });
      for (const session of this.#sessions.get(workspace.workspaceId) ?? []) {
        if (session.state.name !== 'live' || session.state.known.id === known.id) continue;
        const agent = session.hello.namespace === 'agent' ? theRoster(view).agents.get(session.state.known.id) : undefined;
        if (agent === undefined ? session.hello.namespace === 'visitor' && visitorMaySee(session.state.known.id, audience) : agentMaySee(agent, audience)) session.connection.send(text);
      }
    } catch (error) {
      // Typing where one may not is told to nobody, not even to who types.
      if (!(error instanceof Refusal)) throw error;
    }
  }

  #endRevoked(sessions: ReadonlySet<Session>, roster: Roster): void {
    for (const session of sessions) {
      if (!isKnown(session) || session.hello.namespace !== 'agent') continue;
      const agent = roster.agents.get(session.state.known.id);
      if (agent === undefined || !isActive(agent) || agent.tokenVersion !== session.state.known.tokenVersion) this.#end(session, closeCodes.unauthorized, 'token_revoked');
    }
  }

  #complain(session: Session, error: Slug, message: string): void {
    session.connection.send(JSON.stringify({ type: 'error', error, message }));
  }

  #end(session: Session, code: number, reason: string): void {
    if (session.state.name === 'closed') return;
    this.closed(session);
    session.connection.end(code, reason);
  }

  #countOf(known: Known): number {
    let count = 0;
    for (const session of this.#sessions.get(known.credential.workspaceId) ?? []) if (isKnown(session) && session.state.known.id === known.id) count += 1;
    return count;
  }

  #remember(session: Session, known: Known): void {
    const { workspaceId } = known.credential;
    const sessions = this.#sessions.get(workspaceId);
    if (sessions === undefined) this.#sessions.set(workspaceId, new Set([session]));
    else sessions.add(session);
    this.#counts[session.hello.namespace === 'agent' ? 'agents' : 'visitors'] += 1;
  }

  #forget(session: Session, known: Known): void {
    const { workspaceId } = known.credential;
    const sessions = this.#sessions.get(workspaceId);
    sessions?.delete(session);
    if (sessions?.size === 0) this.#sessions.delete(workspaceId);
    this.#counts[session.hello.namespace === 'agent' ? 'agents' : 'visitors'] -= 1;
  }
}

/** An event on its way out: its text made at most once for all who get it. */
class Frame {
  readonly event: PublishedEvent;
  readonly audience: Audience;
  #forAgents: Uint8Array | undefined;
  #forVisitor: Uint8Array | undefined;

  constructor(event: PublishedEvent) {
    this.event = event;
    // Written by the engine as an Audience.
    this.audience = JSON.parse(event.audience) as Audience;
  }

  get forAgents(): Uint8Array {
    this.#forAgents ??= Buffer.from(textOf(this.event, this.event.data));
    return this.#forAgents;
  }

  /** The same without what is only the agents' to know. */
  get forVisitor(): Uint8Array {
    this.#forVisitor ??= Buffer.from(textOf(this.event, visitorData(this.event)));
    return this.#forVisitor;
  }
}

function textOf(event: PublishedEvent, data: string): string {
  const conversation = event.conversationId === null ? '' : `,"conversationId":"${event.conversationId}"`;
  return `{"seq":${event.seq},"type":"${event.type}","at":"${event.at}"${conversation},"data":${data}}`;
}

function visitorData(event: PublishedEvent): string {
  if (!event.type.startsWith('conversation.')) return event.data;
  // The engine wrote it as {conversation}, whose customer's view is a subset.
  const { conversation } = JSON.parse(event.data) as { conversation: Parameters<typeof customerConversation>[0] };
  return JSON.stringify({ conversation: customerConversation(conversation) });
}

function agentMaySee(agent: AgentRecord, audience: Audience): boolean {
  if (audience.kind === 'workspace') return true;
  if (!worksIn(agent, audience.channel)) return false;
  if (audience.kind === 'channel') return true;
  return audience.agentIds.includes(agent.id) || audience.departmentIds.some((departmentId) => passesDepartment(agent, { departmentId, assignedAgentId: null, handshake: null }));
}

function visitorMaySee(visitorId: string, audience: Audience): boolean {
  return audience.kind === 'conversation' && audience.visitorId === visitorId;
}

/** Where a session's events start, and whether what came before can no longer be told. */
function startOf(workspace: Workspace, since: unknown): { cursor: number; resync: boolean } {
  const newest = workspace.publishedSeq;
  if (since === undefined || since === null) return { cursor: newest, resync: false };
  const wanted = Number(since);
  const oldest = oldestSeq(workspace.db) ?? newest + 1;
  const isKept = Number.isSafeInteger(wanted) && wanted <= newest && wanted >= oldest - 1;
  return isKept ? { cursor: wanted, resync: false } : { cursor: newest, resync: true };
}

function selfOfAgent(view: View, agentId: string) {
  const roster = theRoster(view);
  const agent = roster.agents.get(agentId);
  return agent === undefined ? null : agentView(agent, roster);
}

function selfOfVisitor(view: View, visitorId: string) {
  const visitor = view.state(visitorKind, visitorId);
  return visitor === undefined ? null : visitorSelf(visitor);
}

function isKnown(session: Session): session is Session & { state: { known: Known } } {
  return session.state.name === 'live' || session.state.name === 'catchingUp';
}

function frameOf(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

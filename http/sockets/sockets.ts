// Sockets of agents and visitors: who is connected, what each may receive, what each missed. An event reaches a
// connection at most once and only after it is durable: live events come from the engine after the commit, missed ones
// from the event table up to the same position. Independent of uWebSockets.js. Decisions 6.

import { audienceOf, requireReachable } from '../../engine/conversations/conversation.ts';
import { visitorKind, visitorSelf } from '../../engine/customers/visitors.ts';
import { DirectoryUnavailable } from '../../engine/directory/directory-file.ts';
import { Refusal, type Slug } from '../../engine/errors.ts';
import { isoTime } from '../../engine/runtime/clock.ts';
import type { View } from '../../engine/runtime/context.ts';
import { isElsewhere, NeededFromElsewhere, ServedElsewhere } from '../../engine/runtime/placement.ts';
import type { PublishedEvent } from '../../engine/runtime/published-event.ts';
import { availabilityOf } from '../../engine/widget/availability.ts';
import { requireOwnConversation } from '../../engine/widget/chats.ts';
import { agentView, theRoster } from '../../engine/workspace/roster.ts';
import { requireSite } from '../../engine/workspace/sites.ts';
import type { WhoWasOnline } from '../../store/glance.ts';
import { FrameBudget } from '../limits/frame-budget.ts';
import { endOf, identify, identifyAgain, type Known, noteUse } from '../pipeline/credentials.ts';
import { JsonTooIntricate } from '../pipeline/json.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import { errorBody, rateRefusal } from '../pipeline/replies.ts';
import type { Namespace, Place } from '../request.ts';
import type { Services } from '../services.ts';
import { AvailabilityNews } from './availability.ts';
import { closeOf, type Elsewhere, isAnswer, maxTurnsHere, pauseAboveBytes } from './elsewhere.ts';
import { agentMaySee, clientFrame, EventFrame, idOfCall, isCallInFront } from './frames.ts';
import { Presence } from './presence.ts';
import { missedBy, startOf } from './resume.ts';
import { Rooms } from './rooms.ts';
import {
  type Connection,
  closeCodes,
  type Hello,
  isKnown,
  type Session,
  type SocketElsewhere,
  type State,
} from './session.ts';
import { VisitorPresence } from './visitor-presence.ts';

/** A consumer that falls further behind is closed and returns with `since`. */
const maxBufferedBytes = 1024 * 1024;
const maxFrameBytes = 64 * 1024;
/** Longer frames are refused unread once the sender has used up its calls. */
const readAnywayBytes = 1024;
/**
 * Missed events: how many are read at a time, how many bytes are sent at a time, and how many may be unaccepted before
 * more are sent.
 */
const catchUpPage = 200;
const catchUpBytes = 256 * 1024;
const authTimeoutMs = 5000;
/** Sockets of one person, such as tabs. Each costs memory and a copy of every event. */
const maxSocketsPerPerson = 100;
const maxCallsUnderWay = 64;
/** Seconds until a socket with too many calls in progress may call again. */
const callsRetrySeconds = 1;
/** Events stop at once when a token expires; an idle session is closed within this time. */
const sweepEveryMs = 15_000;
/** Events after which a site may be available or no longer. */
const movesAvailability: ReadonlySet<string> = new Set([
  'agent.updated',
  'department.updated',
  'department.deleted',
  'settings.updated',
  'workspace.updated',
  'site.updated',
]);

export class Sockets {
  readonly #services: Services;
  readonly #pipeline: Pipeline;
  readonly #rooms = new Rooms<Session>();
  readonly #presence: Presence;
  readonly #visits: VisitorPresence;
  readonly #availability = new AvailabilityNews<Session>();
  readonly #elsewhere: Elsewhere | undefined;
  /** Not authenticated yet, or by another node. */
  readonly #unknown = new Set<Session>();
  /** The workspace whose sessions are being ended, since it leaves this node. */
  #leaving: string | undefined;
  readonly #budget: FrameBudget;
  #callsUnderWay = 0;
  #stopping = false;
  #whenQuiet: () => void = () => {};

  /** `elsewhere`: the other nodes; undefined if there are none. */
  constructor(
    services: Services,
    pipeline: Pipeline,
    { elsewhere }: { readonly elsewhere?: Elsewhere | undefined } = {},
  ) {
    this.#services = services;
    this.#pipeline = pipeline;
    this.#elsewhere = elsewhere;
    const { rateLimits, rateLimitPerMinute, maxConnectionsPerNetwork } = services.config;
    this.#budget = new FrameBudget(services.clock, {
      isOn: rateLimits,
      callsPerMinute: rateLimitPerMinute,
      maxSockets: maxConnectionsPerNetwork,
    });
    this.#presence = new Presence({
      engine: services.engine,
      clock: services.clock,
      isThere: (place) => this.#rooms.of(place).size > 0,
      there: (workspaceId) => [...this.#rooms.people(workspaceId, 'agent').keys()],
      send: (place, isOnline) => this.#sendPresence(place, isOnline),
    });
    this.#visits = new VisitorPresence({
      engine: services.engine,
      clock: services.clock,
      isThere: (place) => this.#rooms.of(place).size > 0,
      there: (workspaceId) => this.#rooms.people(workspaceId, 'visitor').keys(),
    });
    this.#sweepLater();
  }

  get counts(): Readonly<Record<Namespace, number>> {
    return this.#rooms.counts;
  }

  open(connection: Connection, hello: Hello): Session {
    const timer = this.#services.clock.after(authTimeoutMs, () =>
      this.#end(session, closeCodes.unauthorized, 'no token within 5 seconds'),
    );
    const spent = this.#budget.open(hello.network, hello);
    const session: Session = { connection, hello, state: { name: 'unknown', timer }, callsUnderWay: 0, spent };
    this.#unknown.add(session);
    if (spent === undefined) {
      this.#end(session, closeCodes.tooMany, 'too many sockets from one network');
      return session;
    }
    if (hello.token !== undefined) this.#authenticate(session, hello.token, hello.since);
    return session;
  }

  /** The bytes of a text frame, which are read before this returns. */
  receive(session: Session, bytes: Uint8Array, isBinary: boolean): void {
    const { state } = session;
    if (state.name === 'closed') return;
    if (bytes.length > maxFrameBytes) {
      this.#end(session, closeCodes.tooBig, 'a frame may have at most 64 KiB');
      return;
    }
    if (session.spent !== undefined && !this.#budget.take(session.spent, bytes.length)) {
      this.#end(session, closeCodes.tooMany, 'too many frames; reconnect later');
      return;
    }
    if (state.name === 'elsewhere') {
      this.#sendOn(session, state.socket, { bytes, isBinary });
      return;
    }
    const refusal =
      !isBinary && bytes.length > readAnywayBytes && isKnown(state)
        ? this.#pipeline.budgets.exceeded(state.known.credential)
        : undefined;
    if (refusal !== undefined) {
      this.#refuseUnread(session, bytes, refusal);
      return;
    }
    const frame = isBinary ? undefined : clientFrame(bytes);
    if (frame === undefined) this.#complainOfForm(session, 'A frame must be a JSON object with a type.');
    else if (frame instanceof JsonTooIntricate) this.#refuseIntricate(session, bytes, frame.message);
    else if (state.name === 'verifying') this.#complain(session, 'unauthorized', 'Wait for ready.');
    else if (state.name !== 'unknown') this.#guard(session, () => this.#handle(session, state.known, frame));
    else if (frame['type'] === 'auth' && typeof frame['token'] === 'string')
      this.#authenticate(session, frame['token'], frame['since'] ?? session.hello.since);
    else this.#end(session, closeCodes.unauthorized, 'the first frame must be auth, with a token');
  }

  /** More frames arrived than the queue holds. */
  overrun(session: Session): void {
    this.#end(session, closeCodes.tooMany, 'too many frames at once; reconnect later');
  }

  drained(session: Session): void {
    const { state, connection } = session;
    if (state.name === 'elsewhere' && connection.bufferedBytes() <= pauseAboveBytes) state.socket.resume();
    this.#catchUpInTurn(session);
  }

  closed(session: Session): void {
    const { state } = session;
    if (state.name === 'closed') return;
    if (state.name === 'unknown') state.timer.cancel();
    if (session.spent !== undefined) this.#budget.close(session.spent);
    this.#unknown.delete(session);
    session.state = { name: 'closed' };
    if (state.name === 'elsewhere') {
      state.socket.close();
      this.#answered(session, session.callsUnderWay);
    }
    if (!isKnown(state)) return;
    const { place } = state.known;
    this.#rooms.delete(place, session);
    this.#availability.leave(session);
    if (this.#rooms.of(place).size === 0 && place.workspaceId !== this.#leaving) this.#presenceOf(place).changed(place);
  }

  /** Sends durable events of one workspace, in order, to every live session that may see them. */
  publish(workspaceId: string, events: readonly PublishedEvent[]): void {
    if (!this.#rooms.has(workspaceId)) return;
    const workspace = this.#services.engine.workspaceHere(workspaceId);
    if (workspace === undefined) return;
    const frames = events.map((event) => new EventFrame(event));
    const { agents } = theRoster(workspace.view({ kind: 'system' }));
    if (events.some((event) => event.type === 'agent.updated'))
      for (const agentId of this.#rooms.people(workspaceId, 'agent').keys()) this.dropEnded(workspaceId, agentId);
    for (const [agentId, sessions] of this.#rooms.people(workspaceId, 'agent')) {
      const agent = agents.get(agentId);
      const visible = agent === undefined ? [] : frames.filter((frame) => agentMaySee(agent, frame.audience));
      if (visible.length > 0) for (const session of sessions) this.#deliver(session, visible);
    }
    const visitors = this.#rooms.people(workspaceId, 'visitor');
    if (visitors.size === 0) return;
    if (events.some(({ type }) => movesAvailability.has(type))) this.#sendAvailability(workspaceId);
    for (const [visitorId, visible] of Map.groupBy(frames, (frame) => frame.visitorId)) {
      if (visitorId !== undefined)
        for (const session of visitors.get(visitorId) ?? [])
          this.#deliver(
            session,
            visible.filter((frame) => isKnown(session.state) && frame.isFor(session.state.known.credential.caller)),
          );
    }
  }

  /** Agents and visitors whose sockets ended with the previous process, or at the node that served the workspace before. */
  reviewPresence(
    workspaceId: string,
    { hasAgentsOnline, hasVisitorsOnline }: WhoWasOnline,
    { isMoved = false } = {},
  ): void {
    this.#presence.review(workspaceId, { wasAnyThere: hasAgentsOnline, isMoved });
    this.#visits.review(workspaceId, hasVisitorsOnline);
  }

  /** Checks the sockets of an agent after one or all of its sign-ins may have been ended. */
  dropEnded(workspaceId: string, agentId: string): void {
    for (const session of this.#rooms.of({ workspaceId, namespace: 'agent', personId: agentId })) {
      const claims = isKnown(session.state) ? session.state.known.claims : undefined;
      const endMs = claims === undefined ? 0 : endOf(claims, this.#services);
      if (endMs === 'revoked' || endMs === 0) this.#end(session, closeCodes.unauthorized, 'token_revoked');
    }
  }

  /** The visitor was blocked: closes its sockets at once. */
  dropVisitor(workspaceId: string, visitorId: string): void {
    for (const session of this.#rooms.of({ workspaceId, namespace: 'visitor', personId: visitorId }))
      this.#end(session, closeCodes.forbidden, 'blocked');
  }

  /**
   * The workspace is no longer served by this node: closes its sockets, so that clients return to the node that serves
   * it. Records nothing in its file. What other nodes sent on ends as well.
   */
  endWorkspace(workspaceId: string): void {
    this.#leaving = workspaceId;
    for (const namespace of ['agent', 'visitor'] as const)
      for (const sessions of [...this.#rooms.people(workspaceId, namespace).values()])
        for (const session of [...sessions]) this.#end(session, closeCodes.restart, 'restarting');
    this.#leaving = undefined;
    this.#presence.forget(workspaceId);
    this.#visits.forget(workspaceId);
  }

  /**
   * Accepts no more calls, and resolves when those in progress are answered. Frames that arrive meanwhile are ignored.
   */
  async quiesced(): Promise<void> {
    this.#stopping = true;
    this.#presence.stop();
    this.#visits.stop();
    if (this.#callsUnderWay > 0) await new Promise<void>((resolve) => (this.#whenQuiet = resolve));
  }

  /** Closes every socket for a restart of the service. */
  endAll(): void {
    for (const session of [...this.#unknown, ...this.#rooms.all('agent'), ...this.#rooms.all('visitor')])
      this.#end(session, closeCodes.restart, 'restarting');
  }

  /** `turn`: how often it turned out that this node serves the workspace after all. */
  #authenticate(session: Session, token: string, since: unknown, turn = 0): void {
    const reject = (error: unknown): void => {
      if (error instanceof ServedElsewhere && session.state.name === 'verifying')
        this.#openElsewhere(session, error.workspaceId, { token, since, turn });
      else if (error instanceof NeededFromElsewhere && turn < maxTurnsHere)
        error.fetch().then(
          () => this.#authenticateAgain(session, { token, since, turn: turn + 1 }),
          (failure: unknown) => this.#reject(session, failure),
        );
      else this.#reject(session, error);
    };
    if (session.state.name === 'unknown') session.state.timer.cancel();
    session.state = { name: 'verifying' };
    const { namespace, origin } = session.hello;
    const hello = { namespace, token, origin };
    identify(hello, this.#services)
      .then((known) =>
        session.connection.inTurn(() =>
          guarded(reject, () =>
            this.#whenDurable(session, known, () =>
              guarded(reject, () =>
                // Its rights may have ended while it waited, and nothing ends what is in no room.
                this.#welcome(session, identifyAgain(known, hello, this.#services), since),
              ),
            ),
          ),
        ),
      )
      .catch(reject);
  }

  #authenticateAgain(
    session: Session,
    { token, since, turn }: { readonly token: string; readonly since: unknown; readonly turn: number },
  ): void {
    if (session.state.name === 'verifying') this.#authenticate(session, token, since, turn);
  }

  /** The state that the welcome reports may be one sync from durable. */
  #whenDurable(session: Session, known: Known, welcome: () => void): void {
    const workspace = this.#services.engine.workspaceHere(known.place.workspaceId);
    const restart = (): void => this.#end(session, closeCodes.restart, 'restarting');
    if (workspace === undefined) restart();
    else this.#services.engine.whenDurable(workspace.workspaceId, welcome, restart);
  }

  /** The session becomes a way to the node that serves its workspace. What a node sent on is not sent on again. */
  #openElsewhere(
    session: Session,
    workspaceId: string,
    { token, since, turn }: { readonly token: string; readonly since: unknown; readonly turn: number },
  ): void {
    const { namespace, ip, userAgent, origin, isForwarded } = session.hello;
    const restart = (): void => this.#end(session, closeCodes.restart, 'restarting');
    if (this.#elsewhere === undefined || isForwarded === true || turn === maxTurnsHere || this.#stopping) {
      restart();
      return;
    }
    const hello = { namespace, ip, userAgent, origin, token, since };
    this.#elsewhere
      .socketTo(workspaceId, hello, {
        message: (bytes) => this.#passBack(session, bytes),
        closed: (code, reason) => {
          const close = closeOf(code, reason);
          this.#end(session, close.code, close.reason);
        },
      })
      .then((socket) => {
        if (socket === 'here') {
          this.#authenticateAgain(session, { token, since, turn: turn + 1 });
        } else if (session.state.name === 'verifying') session.state = { name: 'elsewhere', socket };
        else socket.close();
      }, restart);
  }

  /** A frame of the client, to the other node. One that does not take them is treated like a queue that is full. */
  #sendOn(
    session: Session,
    socket: SocketElsewhere,
    { bytes, isBinary }: { readonly bytes: Uint8Array; readonly isBinary: boolean },
  ): void {
    const isCall = !isBinary && isCallInFront(bytes);
    if (isCall && this.#stopping) return;
    if (socket.bufferedBytes() + bytes.length > maxBufferedBytes) {
      this.overrun(session);
      return;
    }
    if (isCall) {
      session.callsUnderWay += 1;
      this.#callsUnderWay += 1;
    }
    socket.send(bytes, isBinary);
  }

  /** A frame of the other node, to the client. */
  #passBack(session: Session, bytes: Uint8Array): void {
    if (session.state.name === 'closed') return;
    this.#send(session, [bytes]);
    if (isAnswer(bytes) && session.callsUnderWay > 0) this.#answered(session, 1);
    const { state, connection } = session;
    if (state.name === 'elsewhere' && connection.bufferedBytes() > pauseAboveBytes) state.socket.pause();
  }

  /** So many of the session's calls are over. */
  #answered(session: Session, calls: number): void {
    session.callsUnderWay -= calls;
    this.#callsUnderWay -= calls;
    if (this.#callsUnderWay === 0) this.#whenQuiet();
  }

  /** Contains a failure of one session, or of its workspace's file, so that others continue. */
  #guard(session: Session, act: () => void): void {
    guarded((error) => this.#reject(session, error), act);
  }

  #reject(session: Session, error: unknown): void {
    // Its workspace has left this node, which may only be starting.
    if (isElsewhere(error) || error instanceof DirectoryUnavailable) {
      this.#end(session, closeCodes.restart, 'restarting');
      return;
    }
    if (error instanceof Refusal) {
      this.#end(
        session,
        error.slug === 'forbidden' || error.slug === 'second_factor_missing'
          ? closeCodes.forbidden
          : closeCodes.unauthorized,
        error.slug,
      );
      return;
    }
    this.#services.log.error({ err: error }, 'a socket failed');
    this.#end(session, closeCodes.unavailable, 'try again later');
  }

  #welcome(session: Session, known: Known, since: unknown): void {
    if (session.state.name !== 'verifying') return;
    const workspace = this.#services.engine.workspaceHere(known.place.workspaceId);
    if (workspace === undefined || this.#stopping) {
      this.#end(session, closeCodes.restart, 'restarting');
      return;
    }
    if (this.#rooms.of(known.place).size >= maxSocketsPerPerson) {
      this.#end(session, closeCodes.tooMany, `at most ${maxSocketsPerPerson} sockets per person`);
      return;
    }
    const start = startOf(workspace, since);
    this.#unknown.delete(session);
    session.state = { name: 'catchingUp', known, cursor: start.cursor, hasAskedForTurn: false };
    this.#rooms.add(known.place, session);
    if (this.#rooms.of(known.place).size === 1) this.#presenceOf(known.place).changed(known.place);
    session.connection.send(
      JSON.stringify({
        type: 'ready',
        at: isoTime(this.#services.clock.now()),
        ...this.#selfOf(session, workspace.view(known.credential.caller), known.place),
        seq: start.cursor,
      }),
    );
    if (start.resync) session.connection.send(JSON.stringify({ type: 'resync', seq: start.cursor }));
    // Those that waited for one sync are welcomed in one turn of the loop; what they missed would make it long.
    this.#catchUpInTurn(session);
  }

  /** Sends missed events, a page at a time, until the session has caught up with live events. */
  #catchUp(session: Session): void {
    const { state } = session;
    if (state.name === 'catchingUp' && session.connection.bufferedBytes() <= catchUpBytes)
      this.#guard(session, () => this.#sendPage(session, state));
  }

  #catchUpInTurn(session: Session): void {
    const { state, connection } = session;
    if (state.name !== 'catchingUp' || state.hasAskedForTurn) return;
    state.hasAskedForTurn = true;
    connection.inTurn(() => {
      state.hasAskedForTurn = false;
      this.#catchUp(session);
    });
  }

  #sendPage(session: Session, state: Extract<State, { name: 'catchingUp' }>): void {
    const workspace = this.#services.engine.workspaceHere(state.known.place.workspaceId);
    if (workspace === undefined) return;
    const page = { afterSeq: state.cursor, upToSeq: workspace.publishedSeq, limit: catchUpPage };
    const visible: EventFrame[] = [];
    const before = state.cursor;
    let bytes = 0;
    for (const { seq, frame } of missedBy(workspace, state.known, page)) {
      state.cursor = seq;
      if (frame === undefined) continue;
      visible.push(frame);
      bytes += textFor(state.known, frame).byteLength;
      // Pauses here: a page of long messages must not make a healthy consumer look slow.
      if (bytes > catchUpBytes) break;
    }
    if (state.cursor === before) session.state = { name: 'live', known: state.known };
    if (visible.length > 0)
      this.#send(
        session,
        visible.map((frame) => textFor(state.known, frame)),
      );
    this.#catchUpInTurn(session);
  }

  #deliver(session: Session, frames: readonly EventFrame[]): void {
    const { state } = session;
    if (state.name !== 'live') return;
    if (this.#isOver(state.known)) this.#end(session, closeCodes.unauthorized, 'token expired');
    else
      this.#send(
        session,
        frames.map((frame) => textFor(state.known, frame)),
      );
  }

  /** In order and without a gap: a session that is too far behind is closed and reads the rest when it returns. */
  #send(session: Session, texts: readonly (string | Uint8Array)[]): void {
    const { connection } = session;
    let isTooSlow = false;
    connection.together(() => {
      for (const text of texts) {
        isTooSlow = connection.bufferedBytes() > maxBufferedBytes;
        if (isTooSlow) return;
        connection.send(text);
      }
    });
    if (isTooSlow) this.#end(session, closeCodes.tooSlow, 'too slow; reconnect with since');
  }

  #handle(session: Session, known: Known, frame: Readonly<Record<string, unknown>>): void {
    if (this.#isOver(known)) {
      this.#end(session, closeCodes.unauthorized, 'token expired');
      return;
    }
    switch (frame['type']) {
      case 'ping':
        this.#send(session, ['{"type":"pong"}']);
        return;
      case 'typing':
        this.#typing(known, frame['conversationId']);
        return;
      case 'call':
        this.#call(session, known, frame);
        return;
      default:
        this.#complainOfForm(session, 'The type of a frame must be one of call, typing, ping.');
    }
  }

  #call(session: Session, known: Known, frame: Readonly<Record<string, unknown>>): void {
    const { id, method, params = {} } = frame;
    // A number that JSON cannot return unchanged is no id.
    if (
      (typeof id !== 'string' && !Number.isInteger(id)) ||
      typeof method !== 'string' ||
      typeof params !== 'object' ||
      params === null ||
      Array.isArray(params)
    ) {
      this.#complainOfForm(session, 'A call needs an id, a method and params.');
      return;
    }
    if (this.#stopping) return;
    const answer = (status: number, body: unknown): void => {
      if (session.state.name !== 'closed') this.#send(session, [JSON.stringify({ type: 'reply', id, status, body })]);
    };
    if (session.callsUnderWay >= maxCallsUnderWay) {
      answer(
        429,
        errorBody(
          rateRefusal(callsRetrySeconds, `Wait for replies: a socket may have ${maxCallsUnderWay} calls in progress.`),
        ),
      );
      return;
    }
    session.callsUnderWay += 1;
    this.#callsUnderWay += 1;
    const { ip, userAgent, origin } = session.hello;
    // An object that is no array, by the check above.
    this.#pipeline.call(
      { operation: method, params: params as Record<string, unknown> },
      { ...known.credential, ip, userAgent, origin },
      (status, body) => {
        answer(status, body);
        this.#guard(session, () => noteUse(known.credential, session.hello, this.#services));
        this.#answered(session, 1);
      },
    );
  }

  /** Not stored or numbered. Sent to those who may see the conversation, except the sender. */
  #typing(known: Known, named: unknown): void {
    const { workspaceId, namespace, personId } = known.place;
    const workspace = this.#services.engine.workspaceHere(workspaceId);
    const conversationId = typeof named === 'string' ? named.toLowerCase() : undefined;
    if (workspace === undefined || conversationId === undefined || !this.#pipeline.budgets.spendFrame(known.credential))
      return;
    const view = workspace.view(known.credential.caller);
    try {
      const { conversation } =
        namespace === 'agent' ? requireReachable(view, conversationId) : requireOwnConversation(view, conversationId);
      const audience = audienceOf(conversation, { visitorToo: true });
      const text = JSON.stringify({
        type: 'typing',
        at: view.at,
        conversationId,
        data: { conversationId, senderType: namespace, senderId: personId },
      });
      const { agents } = theRoster(view);
      for (const [agentId, sessions] of this.#rooms.people(workspaceId, 'agent')) {
        const agent = agents.get(agentId);
        if (agent !== undefined && agentId !== personId && agentMaySee(agent, audience)) this.#sendLive(sessions, text);
      }
      const visitorId = audience.visitorId;
      if (visitorId !== null && visitorId !== personId)
        this.#sendLive(this.#rooms.of({ workspaceId, namespace: 'visitor', personId: visitorId }), text);
    } catch (error) {
      // Without permission, typing is dropped and the sender is not notified either.
      if (!(error instanceof Refusal)) throw error;
    }
  }

  /**
   * Not stored or numbered. Sent to the other agents of the workspace, also to those that are catching up, since it is
   * about now.
   */
  #sendPresence({ workspaceId, personId: agentId }: Place, isOnline: boolean): void {
    const text = JSON.stringify({
      type: 'agent.presence',
      at: isoTime(this.#services.clock.now()),
      data: { agentId, isOnline },
    });
    for (const [otherId, sessions] of this.#rooms.people(workspaceId, 'agent')) {
      if (otherId !== agentId) for (const session of sessions) if (isKnown(session.state)) this.#send(session, [text]);
    }
  }

  /** Not stored or numbered: `ready` says what holds, and this what has changed since. */
  #sendAvailability(workspaceId: string): void {
    const view = this.#services.engine.workspaceHere(workspaceId)?.view({ kind: 'system' });
    if (view === undefined) return;
    for (const { now, sessions } of this.#availability.changed(view)) {
      const text = JSON.stringify({ type: 'availability', at: view.at, data: now });
      for (const session of sessions) if (isKnown(session.state)) this.#send(session, [text]);
    }
  }

  #selfOf(session: Session, view: View, { namespace, workspaceId, personId }: Place): object {
    if (namespace === 'visitor') {
      const visitor = view.state(visitorKind, personId);
      if (visitor === undefined) return { visitor: null };
      const now = availabilityOf(view, requireSite(view, visitor.siteId));
      this.#availability.join(session, { workspaceId, siteId: visitor.siteId }, now);
      return { visitor: visitorSelf(visitor), ...now };
    }
    const roster = theRoster(view);
    const agent = roster.agents.get(personId);
    // The socket that is told of it is one.
    return { agent: agent === undefined ? null : { ...agentView(agent, roster), isOnline: true } };
  }

  #presenceOf({ namespace }: Place): Presence | VisitorPresence {
    return namespace === 'agent' ? this.#presence : this.#visits;
  }

  #sendLive(sessions: ReadonlySet<Session>, text: string): void {
    for (const session of sessions) if (session.state.name === 'live') this.#send(session, [text]);
  }

  /**
   * Checks the token only after the time it was known to be valid until, so that an idle workspace is not opened for
   * it.
   */
  #isOver(known: Known): boolean {
    const now = this.#services.clock.now();
    if (known.endMs > now || known.claims === undefined) return false;
    const endMs = endOf(known.claims, this.#services);
    known.endMs = endMs === 'revoked' ? 0 : endMs;
    return known.endMs <= now;
  }

  #sweepLater(): void {
    this.#services.clock.after(sweepEveryMs, () => {
      if (this.#stopping) return;
      for (const session of this.#rooms.all('agent'))
        this.#guard(
          session,
          () =>
            isKnown(session.state) &&
            this.#isOver(session.state.known) &&
            this.#end(session, closeCodes.unauthorized, 'token expired'),
        );
      this.#presence.sweep();
      this.#visits.sweep();
      // Office hours begin and end without an event.
      for (const workspaceId of [...this.#availability.workspaceIds])
        guarded(
          (error) => this.#services.log.warn({ workspaceId, err: error }, 'availability could not be looked up'),
          () => this.#sendAvailability(workspaceId),
        );
      this.#sweepLater();
    });
  }

  #refuseIntricate(session: Session, bytes: Uint8Array, problem: string): void {
    if (isKnown(session.state))
      this.#refuseUnread(
        session,
        bytes,
        new Refusal('invalid_body', `A frame ${problem}.`, { fieldErrors: { params: [problem] } }),
      );
    else this.#complain(session, 'invalid_body', `A frame ${problem}.`);
    this.#countMalformed(session, { isIntricate: true });
  }

  /** A refused call is answered with its id if that is at the front. */
  #refuseUnread(session: Session, bytes: Uint8Array, refusal: Refusal): void {
    const id = idOfCall(bytes);
    if (id === undefined) this.#complain(session, refusal.slug, refusal.message);
    else this.#send(session, [JSON.stringify({ type: 'reply', id, status: refusal.status, body: errorBody(refusal) })]);
  }

  #complainOfForm(session: Session, message: string): void {
    this.#complain(session, 'invalid_body', message);
    this.#countMalformed(session);
  }

  /** Closes a connection that keeps sending invalid frames. */
  #countMalformed(session: Session, what: { readonly isIntricate?: boolean } = {}): void {
    if (session.spent !== undefined && !this.#budget.takeMalformed(session.spent, what))
      this.#end(session, closeCodes.tooMany, 'too many malformed frames');
  }

  #complain(session: Session, error: Slug, message: string): void {
    this.#send(session, [JSON.stringify({ type: 'error', error, message })]);
  }

  #end(session: Session, code: number, reason: string): void {
    if (session.state.name === 'closed') return;
    this.closed(session);
    session.connection.end(code, reason);
  }
}

function guarded(reject: (error: unknown) => void, act: () => void): void {
  try {
    act();
  } catch (error) {
    reject(error);
  }
}

function textFor({ place, credential }: Known, frame: EventFrame): Uint8Array {
  return place.namespace === 'agent' ? frame.forAgents : frame.forVisitor(credential.caller);
}

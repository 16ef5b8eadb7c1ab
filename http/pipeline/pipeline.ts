// The way of every request, from HTTP and from a socket frame:
//
//   match → headers → bytes of the body → authenticate → rate limit → body → validate → authorise → handle → reply
//
// begin() does the first two before a body is read, finish() does the rest, and call() enters at the rate limit with a
// frame of an authenticated socket. The body is parsed only after the call is counted, so that a refused one costs its
// sender as much as any other; refusedUnread() tells when a body need not be read at all. Before the handler, only
// two things wait: a token that was not seen before, and a file that must be opened.

import { Refusal, refuse } from '../../engine/errors.ts';
import type { View } from '../../engine/runtime/context.ts';
import { Voided } from '../../engine/runtime/lane.ts';
import {
  type Elsewhere,
  isElsewhere,
  NeededFromElsewhere,
  NotServed,
  ServedElsewhere,
} from '../../engine/runtime/placement.ts';
import { fromJson, Json } from '../../store/json.ts';
import type { CallerBudget } from '../limits/rate-limiter.ts';
import { LogThrottle } from '../process/log-throttle.ts';
import type { Metrics } from '../process/metrics.ts';
import type { RawReply, Reply, RequestHead } from '../request.ts';
import type { Call, Method, Route } from '../route.ts';
import type { Services } from '../services.ts';
import { authorise } from './authorise.ts';
import { type BodyStream, noRoomRetrySeconds } from './body-streams.ts';
import { Budgets } from './budgets.ts';
import { type CompiledRoute, compileRoute } from './compiled-route.ts';
import { authenticate, authenticateSigned, type Credential, noteUse, workspaceOf } from './credentials.ts';
import { shapeOfNothing } from './error-shapes.ts';
import {
  allowOf,
  bearerOf,
  framingProblem,
  preflightHeaders,
  type ReplyFacts,
  requestIdOf,
  requireAccept,
  requireUnpacked,
} from './headers.ts';
import { type Begun, HttpCall, rawOf } from './http-call.ts';
import { forNode } from './node-answers.ts';
import { frameReply, httpReply, type NothingDone, type Outcome, refusedReply, written } from './outcomes.ts';
import { type Parts, partsOfFrame, requireSound } from './parts.ts';
import { errorBody, rateRefusal, refusalOf } from './replies.ts';
import type { BodyFailure } from './request-body.ts';
import { type Match, Router } from './router.ts';
import { versionFor } from './versions.ts';

export type Respond = (reply: Reply) => void;

type Settle = (outcome: Outcome | NothingDone, budget: CallerBudget | undefined) => void;

/** Where requests for workspaces of other nodes are answered. */
export interface Routing {
  /**
   * Answers it here after all, or passes on the other node's reply. `here` rejects with Elsewhere. Rejects with NotServed,
   * or with an error if what the other node did is unknown.
   */
  answer(
    elsewhere: Elsewhere,
    request: { begun: Begun; body: Uint8Array | BodyStream; isRead: boolean; here: () => Promise<Reply> },
  ): Promise<Reply>;
}

export const maxBodyBytes = 1024 * 1024;
/** One log line a minute for each kind of event that a flood repeats. */
const logEveryMs = 60_000;
/** Longer than a workspace takes to leave a node. */
const leavingMs = 5000;

export interface PipelineOptions {
  readonly services: Services;
  readonly routes: readonly Route[];
  /** Only for other nodes of a cluster: for everybody else there is nothing at their paths. */
  readonly nodeRoutes?: readonly Route[] | undefined;
  readonly metrics: Metrics;
  /** Check every reply against its route's declaration, and fail if it differs. On in tests. */
  readonly checkReplies: boolean;
  /** Undefined: this node serves all. */
  readonly routing?: Routing | undefined;
}

export class Pipeline {
  readonly #services: Services;
  readonly #metrics: Metrics;
  readonly #router = new Router<CompiledRoute>();
  readonly #nodeRouter = new Router<CompiledRoute>();
  readonly #byOperation = new Map<string, CompiledRoute>();
  readonly #throttle: LogThrottle;
  readonly #routing: Routing | undefined;
  /** The rate limits. */
  readonly budgets: Budgets;

  constructor({ services, routes, nodeRoutes = [], metrics, checkReplies, routing }: PipelineOptions) {
    this.#services = services;
    this.#metrics = metrics;
    this.#routing = routing;
    this.#throttle = new LogThrottle(services.clock, logEveryMs);
    this.budgets = new Budgets(services);
    for (const route of routes) {
      const compiled = compileRoute(route, { checkReplies });
      this.#router.add(route, compiled);
      this.#byOperation.set(route.operation, compiled);
    }
    for (const route of nodeRoutes) this.#nodeRouter.add(route, compileRoute(route, { checkReplies }));
  }

  /** Finds the route and checks the headers. A reply ends the request here, without its body being read. */
  begin(head: RequestHead): Begun | Reply {
    const requestId = requestIdOf(head, this.#services.ids);
    const framing = framingProblem(head.headers);
    if (framing !== undefined) return { ...misframed(framing, { head, requestId }), endsConnection: true };
    if (head.forwarded === 'forged') return forged({ head, requestId });
    const match = this.#find(head);
    if (head.method === 'OPTIONS')
      return this.#preflight({ head, requestId }, match.kind === 'otherMethods' ? match.methods : []);
    if (match.kind === 'otherMethods') return otherMethods(match.methods, { head, requestId });
    if (match.kind === 'none') return nothingHere({ head, requestId });
    const compiled = match.entry;
    const { route } = compiled;
    let version: string | undefined;
    try {
      version = versionFor(head.headers['service-version']);
      if (route.anyHeaders === undefined) requireAccept(head);
      requireUnpacked(head);
      return { compiled, head, pathParams: match.params, requestId, version };
    } catch (error) {
      return refusedReply(this.#refusal(error, { requestId, operation: route.operation }), {
        head,
        requestId,
        version,
        route,
      });
    }
  }

  #find(head: RequestHead): Match<CompiledRoute> {
    const method = head.method === 'HEAD' ? 'GET' : head.method;
    const path = this.#pathOf(head);
    const ofNodes = head.forwarded === 'byNode' ? this.#nodeRouter.find(method, path) : undefined;
    return ofNodes?.kind === 'found' ? ofNodes : this.#router.find(method, path);
  }

  /** At the own host of a help centre there is only that, from the root on. */
  #pathOf({ path, headers }: RequestHead): string {
    const helpPath = this.#services.directory.helpPathAt(headers['host']);
    return helpPath === undefined ? path : `${helpPath}${path === '/' ? '' : path}`;
  }

  /**
   * Writing a reply without a body does not show whether the client reads it, so a network that requests many gets
   * them with a body.
   */
  #preflight(facts: ReplyFacts, methods: readonly Method[]): Reply {
    const headers = preflightHeaders(facts, methods);
    if (this.budgets.allowsBodilessPreflight(facts.head.ip)) return { status: 204, headers, body: undefined };
    return { status: 200, headers: { ...headers, 'Content-Type': 'text/plain' }, body: 'OK' };
  }

  /** `body` is a stream for a route that receives one. */
  finish(begun: Begun, body: Uint8Array | BodyStream, respond: Respond): void {
    const routing = this.#routing;
    if (routing === undefined) {
      this.#run(begun, body, respond, () => respond(this.#unserved(begun)));
      return;
    }
    // Kept, because the edge reuses its memory after this turn.
    const kept = body instanceof Uint8Array ? body.slice() : body;
    this.#run(begun, kept, respond, (elsewhere) => {
      const here = (): Promise<Reply> => new Promise((resolve, reject) => this.#run(begun, kept, resolve, reject));
      const { route } = begun.compiled;
      const isRead = route.read !== undefined || route.ask !== undefined;
      routing.answer(elsewhere, { begun, body: kept, isRead, here }).then(respond, (error: unknown) => {
        const { requestId, head, version } = begun;
        const refusal = this.#refusal(error, { requestId, operation: route.operation });
        const reply = refusedReply(refusal, { head, requestId, version, route });
        respond(head.forwarded === 'byNode' && error instanceof NotServed ? forNode(reply, 'not-served') : reply);
      });
    });
  }

  #unserved({ compiled: { route }, head, requestId, version }: Begun): Reply {
    const refusal = this.#refusal(new NotServed(), { requestId, operation: route.operation });
    return refusedReply(refusal, { head, requestId, version, route });
  }

  #run(begun: Begun, body: Uint8Array | BodyStream, respond: Respond, leave: (elsewhere: Elsewhere) => void): void {
    const { compiled, head, requestId } = begun;
    const { route } = compiled;
    const settle: Settle = (outcome, budget) => {
      if ('elsewhere' in outcome) {
        leave(outcome.elsewhere);
        return;
      }
      const facts: ReplyFacts = { head, requestId, version: begun.version, route, budget };
      const reply = httpReply(outcome, facts, { log: this.#services.log, operation: route.operation });
      this.#observe(route.operation, reply.status, head.startedMs, requestId);
      respond(reply);
    };
    const refuseCaller = (error: unknown): void => {
      if (isElsewhere(error)) {
        settle({ elsewhere: error }, undefined);
        return;
      }
      // A token that was revoked a moment ago is refused once that is durable.
      const token = bearerOf(head.headers['authorization']);
      const workspaceId = token === undefined ? '' : workspaceOf(token, this.#services);
      const outcome = this.#failure(compiled, error, { requestId });
      const settled = (): void => settle(outcome, undefined);
      this.#services.engine.whenDurable(workspaceId, settled, () =>
        settle(this.#voided(compiled, requestId), undefined),
      );
    };
    try {
      const call = new HttpCall(begun, body);
      const perform = (credential: Credential, readBody = () => call.readBody()): void => {
        call.setCredential(credential);
        noteUse(credential, call, this.#services);
        this.#perform(compiled, call, settle, readBody);
      };
      const { access } = route;
      if (access.kind === 'signed' && body instanceof Uint8Array) {
        const signed = authenticateSigned(rawOf(head, body), (request) => access.signers(request, this.#services));
        perform(signed.credential, () => (call.body = signed.body));
        return;
      }
      const credential = authenticate(access, call.token, this.#services);
      if (credential instanceof Promise) {
        call.keepBytes();
        credential.then((known) => perform(known)).catch(refuseCaller);
      } else perform(credential);
    } catch (error) {
      refuseCaller(error);
    }
  }

  /**
   * The refusal of a request whose caller or network has used up its budget, as far as the head says. Counts nothing,
   * like every call that is over a limit.
   */
  refusedUnread({ compiled, head, requestId, version }: Begun): Reply | undefined {
    const { route } = compiled;
    const { budget, exceeded } = this.budgets.look(route, head);
    if (exceeded === undefined) return undefined;
    this.#observe(route.operation, exceeded.status, head.startedMs, requestId);
    return refusedReply(exceeded, { head, requestId, version, route, budget });
  }

  /**
   * The reply to a body that was not read: it arrived too slowly, was too large, or its network already holds too much
   * memory.
   */
  failed({ compiled, head, requestId, version }: Begun, slug: BodyFailure): Reply {
    const { route } = compiled;
    const refusal = bodyRefusal(slug);
    this.#observe(route.operation, refusal.status, head.startedMs, requestId);
    return refusedReply(refusal, { head, requestId, version, route });
  }

  /** A socket's call: an operation by name, with its path, query and body fields in one object. */
  call(
    frame: { operation: string; params: Record<string, unknown> },
    credential: Credential & Pick<Call, 'ip' | 'userAgent' | 'origin'>,
    done: (status: number, body: unknown) => void,
  ): void {
    const startedMs = performance.now();
    const requestId = this.#services.ids.uuid();
    const compiled = this.#byOperation.get(frame.operation);
    if (compiled === undefined || !isForSockets(compiled.route, credential)) {
      const refusal = new Refusal('not_found', `There is no method ${frame.operation}.`, undefined);
      done(refusal.status, errorBody(refusal));
      return;
    }
    const answer = (outcome: Outcome): void => {
      const { status, body } = frameReply(outcome);
      this.#observe(frame.operation, status, startedMs, requestId);
      done(status, body);
    };
    const settle: Settle = (given) => {
      if (!('elsewhere' in given)) answer(given);
      else if (given.elsewhere instanceof NeededFromElsewhere)
        given.elsewhere
          .fetch()
          .then(perform, (error: unknown) => settle(this.#failure(compiled, error, { requestId }), undefined));
      // The workspace leaves, and its sockets end in a moment: the client asks again where it comes back.
      else this.#services.clock.after(leavingMs, () => answer(this.#voided(compiled, requestId)));
    };
    const perform = (): void => {
      const noRequest = { headers: {}, token: undefined, raw: undefined };
      try {
        const parts = partsOfFrame(compiled.reader, frame.params);
        this.#perform(compiled, { ...credential, requestId, ...noRequest, ...parts }, settle);
      } catch (error) {
        settle(this.#failure(compiled, error, { requestId }), undefined);
      }
    };
    const opening = this.#services.engine.whenOpen(credential.workspaceId);
    if (opening === undefined) perform();
    else void opening.then(perform);
  }

  #perform(compiled: CompiledRoute, call: Call & Parts, settle: Settle, readBody: () => void = () => {}): void {
    const { budget, exceeded } = this.budgets.spend(compiled.route, call);
    if (exceeded !== undefined) {
      settle({ refusal: exceeded }, budget);
      return;
    }
    const answer = (outcome: Outcome | NothingDone): void => settle(outcome, budget);
    try {
      this.#requireTurn(compiled.route, call);
      readBody();
    } catch (error) {
      if (isElsewhere(error)) {
        answer({ elsewhere: error });
        return;
      }
      const fail = (): void => answer(this.#failure(compiled, error, call));
      this.#services.engine.whenDurable(call.workspaceId, fail, () => answer(this.#voided(compiled, call.requestId)));
      return;
    }
    this.#process(compiled, call, answer);
  }

  /** Whoever may not make the call learns that, and nothing about others' calls. */
  #requireTurn({ requireTurn, access }: Route, call: Call & Parts): void {
    if (requireTurn === undefined) return;
    authorise(access, this.#viewOf(call), { call, config: this.#services.config });
    requireTurn(call.workspaceId, this.#services);
  }

  #viewOf({ workspaceId, caller }: Call): View {
    return (this.#services.engine.workspace(workspaceId) ?? refuse('unauthorized')).view(caller);
  }

  /** Validates, authorises, handles. Throws nothing. */
  #process(compiled: CompiledRoute, call: Call & Parts, answer: (outcome: Outcome | NothingDone) => void): void {
    const { engine } = this.#services;
    const isServed = engine.watchServed(call.workspaceId);
    const { route } = compiled;
    const isRead = route.read !== undefined || route.ask !== undefined;
    // Nothing was done: a read can be answered by the node that serves the workspace now.
    const answerVoid = (): void =>
      answer(
        isRead && !isServed()
          ? { elsewhere: new ServedElsewhere(call.workspaceId) }
          : this.#voided(compiled, call.requestId),
      );
    // A read or a refusal may show a state that is not on the disk yet; the reply waits until it is.
    const whenDurable = (reply: () => void): void =>
      engine.whenDurable(call.workspaceId, () => (isServed() ? reply() : answerVoid()), answerVoid);
    const fail = (error: unknown): void => {
      if (isElsewhere(error)) answer({ elsewhere: error });
      else whenDurable(() => answer(this.#failure(compiled, error, call)));
    };
    try {
      const view = this.#admit(compiled, call);
      this.#handle(compiled, { call, view, isServed, whenDurable, answer, answerVoid, fail });
    } catch (error) {
      fail(error);
    }
  }

  /** What was read or refused counts no more: another node may have gone on without it. */
  #voided({ route: { operation } }: CompiledRoute, requestId: string): Outcome {
    return { refusal: this.#refusal(new Voided('what was read counts no more'), { requestId, operation }) };
  }

  /** The view of the caller's workspace, if it has one. */
  #admit({ route, reader }: CompiledRoute, call: Call & Parts): View | undefined {
    const { config } = this.#services;
    if (route.takesRoom !== undefined) requireRoom(route.takesRoom, this.#services);
    requireSound(reader, call, {
      query: route.invalidQuerySlug ?? 'invalid_query',
      body: route.invalidSlug ?? 'invalid_body',
    });
    if (call.workspaceId === '') return undefined;
    const view = this.#viewOf(call);
    authorise(route.access, view, { call, config });
    return view;
  }

  #handle(compiled: CompiledRoute, { call, view, isServed, whenDurable, answer, answerVoid, fail }: Handling): void {
    const { route } = compiled;
    const services = this.#services;
    const send = route.send ?? route.receive;
    const read = route.read ?? route.ask;
    const act = <Result>(handle: () => Promise<Result>): Promise<Result> =>
      route.actsOutside === true ? services.engine.actOutside(call.workspaceId, handle) : handle();
    if (read !== undefined && view !== undefined) {
      const value = read(view, call, services);
      if (value instanceof Promise) {
        // The other thread answers from durable state; the view may have shown newer state before.
        const viewed = new Promise<void>(whenDurable);
        Promise.all([value, viewed])
          .then(([later]) => (isServed() ? answer(this.#success(compiled, call, later)) : answerVoid()))
          .catch(fail);
        return;
      }
      const outcome = this.#success(compiled, call, value);
      // Written in its network's turn: the replies that wait for one sync would else be written all at once.
      const reply = call instanceof HttpCall ? written(outcome) : outcome;
      whenDurable(() => answer(reply));
    } else if (route.run !== undefined) {
      const { run } = route;
      act(() => run(call, services))
        .then((value) => answer(this.#success(compiled, call, value)))
        .catch(fail);
    } else if (send !== undefined) {
      const raw = route.actsOutside ? act(async () => send(call, services)) : send(call, services);
      const answerServed = (reply: RawReply): void => (isServed() ? answer({ raw: reply }) : answerVoid());
      if (raw instanceof Promise) raw.then(answerServed).catch(fail);
      else answerServed(raw);
    } else throw new Error(`${route.operation} has no handler for its reply`);
  }

  #success({ route, leaveOut, validateReply }: CompiledRoute, { grant }: Call, made: unknown): Outcome {
    const { reply, operation } = route;
    const leave = grant === undefined || leaveOut === undefined ? undefined : (all: unknown) => leaveOut(all, grant);
    if (made instanceof Json && leave === undefined && validateReply === undefined)
      return { status: reply.status, json: made.text };
    const whole = made instanceof Json ? fromJson(made.text) : made;
    const value = leave === undefined ? whole : leave(whole);
    const errors = validateReply?.(value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
    if (errors !== undefined)
      throw new Error(`the reply of ${operation} does not match its schema: ${JSON.stringify(errors)}`);
    return { status: reply.status, value: reply.schema === null ? undefined : value };
  }

  #failure(
    { route, slugs, validateReply }: CompiledRoute,
    error: unknown,
    { requestId, workspaceId = '' }: { requestId: string; workspaceId?: string },
  ): Outcome | NothingDone {
    if (isElsewhere(error)) return { elsewhere: error };
    const { operation } = route;
    const refusal = this.#refusal(error, { requestId, operation });
    this.#noteCeiling(refusal, { requestId, workspaceId, operation });
    if (validateReply === undefined || slugs.has(refusal.slug)) return { refusal };
    this.#services.log.error({ requestId }, `${operation} refused with ${refusal.slug}, which it does not declare`);
    return { refusal: new Refusal('server_error', `undeclared: ${refusal.slug}`, undefined) };
  }

  #refusal(error: unknown, about: { requestId: string; operation: string }): Refusal {
    return refusalOf(error, { log: this.#services.log, throttle: this.#throttle, ...about });
  }

  /** Records that a limit was reached; logs who reached it, at a limited rate. */
  #noteCeiling({ detail }: Refusal, about: { requestId: string; workspaceId: string; operation: string }): void {
    const { ceiling, limit }: { ceiling?: string; limit?: number } = detail ?? {};
    if (ceiling === undefined) return;
    this.#metrics.observeCeiling(ceiling);
    const times = this.#throttle.count(`ceiling ${ceiling}`);
    if (times !== undefined) this.#services.log.warn({ ...about, ceiling, limit, times }, 'a limit was reached');
  }

  #observe(operation: string, status: number, startedMs: number, requestId: string): void {
    const durationMs = performance.now() - startedMs;
    this.#metrics.observeRequest(operation, status, durationMs);
    this.#services.log.debug({ requestId, operation, status, durationMs }, 'request');
  }
}

/** A call that is validated and authorised, and what its handler's result goes to. */
interface Handling {
  readonly call: Call & Parts;
  readonly view: View | undefined;
  /** Whether this node has served the workspace since. */
  isServed(): boolean;
  whenDurable(reply: () => void): void;
  answerVoid(): void;
  answer(outcome: Outcome | NothingDone): void;
  fail(error: unknown): void;
}

function misframed({ header, problem }: { header: string; problem: string }, facts: ReplyFacts): Reply {
  const detail = { fieldErrors: { [header]: [problem] } };
  return refusedReply(new Refusal('invalid_body', `${header} ${problem}.`, detail), facts);
}

/** The node that sent it on, if it was one, tells its client something else. */
function forged(facts: ReplyFacts): Reply {
  const message = 'It is marked as sent on by another node, but the mark is not valid.';
  return forNode(refusedReply(new Refusal('unauthorized', message, undefined), facts), 'refused');
}

function otherMethods(methods: readonly Method[], facts: ReplyFacts): Reply {
  const { path, method } = facts.head;
  const reply = refusedReply(
    new Refusal('method_not_allowed', `${path} does not support ${method}.`, undefined),
    facts,
  );
  reply.headers['Allow'] = allowOf(methods);
  return reply;
}

function nothingHere(facts: ReplyFacts): Reply {
  const { path, headers } = facts.head;
  const shape = shapeOfNothing({ path, accept: headers['accept'] });
  return refusedReply(new Refusal('not_found', `There is nothing at ${path}.`, undefined), facts, shape);
}

/** Sockets call what answers in JSON, for their own kind of caller. */
function isForSockets({ httpOnly, send, receive, access }: Route, { caller }: Credential): boolean {
  return httpOnly !== true && send === undefined && receive === undefined && access.kind === caller.kind;
}

/** Files are on the disk only with that storage provider. */
function requireRoom(where: 'onDisk' | 'files', { config, disk }: Services): void {
  if (where === 'onDisk' || config.storage.provider === 'disk') disk.requireRoom();
}

function bodyRefusal(slug: BodyFailure): Refusal {
  switch (slug) {
    case 'payload_too_large':
      return new Refusal(slug, `The body may have at most ${maxBodyBytes} bytes.`, undefined);
    case 'request_timeout':
      return new Refusal(slug, 'The body took too long to arrive.', undefined);
    case 'rate_limited':
      return rateRefusal(noRoomRetrySeconds, 'Too many large requests from your network at once. Try again later.');
  }
}

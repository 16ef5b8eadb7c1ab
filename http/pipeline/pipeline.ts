// The way of every request, from a socket's frame as from HTTP:
//
//   match → headers → bytes of the body → authenticate → rate limit → body → validate → authorise → handle → reply
//
// begin() does the first two, before a body is read; finish() the rest. What a body holds is looked at once it is
// counted, so that one that is refused costs its sender as much as any other; refusedUnread() says where one need not
// be waited for at all. call() enters at the rate limit, with a frame of a socket that is authenticated already.
// Nothing waits before handle but a token that was never seen, and before it is validated what is asked of another
// thread, when more of it comes at once.

import { visitorKind } from '../../engine/customers/visitors.ts';
import { Refusal, refuse, type Slug } from '../../engine/errors.ts';
import { allows, type Grant } from '../../engine/rights/scopes.ts';
import { type Caller, systemCaller } from '../../engine/runtime/caller.ts';
import type { View } from '../../engine/runtime/context.ts';
import { mustEnrol } from '../../engine/team/second-factors.ts';
import { callingAgent, isSenior } from '../../engine/workspace/access.ts';
import { requireFeature } from '../../engine/workspace/entitlements.ts';
import { requireSite } from '../../engine/workspace/sites.ts';
import { networkOf, siteNetworkOf } from '../limits/network-address.ts';
import { type Budget, RateLimiter, type ToldBudget } from '../limits/rate-limiter.ts';
import type { Config } from '../process/config.ts';
import type { Metrics } from '../process/metrics.ts';
import { Seldom } from '../process/seldom.ts';
import type { RawReply, RawRequest, Reply, RequestHead } from '../request.ts';
import type { Access, Call, Input, Method, RateRule, Route } from '../route.ts';
import { type LeaveOut, leaverOf } from '../schemas/scoped-members.ts';
import type { Services } from '../services.ts';
import { BodyStream, noRoomRetrySeconds } from './body-streams.ts';
import { authenticate, authenticateSigned, type Credential, noteUse, workspaceOf } from './credentials.ts';
import { shapeAt, shapeOfNothing } from './error-shapes.ts';
import {
  allowOf,
  bearerOf,
  framingProblem,
  preflightHeaders,
  type ReplyFacts,
  replyHeaders,
  requestIdOf,
  requireAccept,
  requireUnpacked,
} from './headers.ts';
import { mayUseSite } from './own-origin.ts';
import { bodyOf, type Parts, type PartsReader, partsOfFrame, partsReader, queryOf, requireSound } from './parts.ts';
import { errorBody, rateRefusal, refusalOf, retryAfterOf } from './replies.ts';
import type { BodyFailure } from './request-body.ts';
import { Router } from './router.ts';
import { closedValidator, type Validate } from './validation.ts';
import { versionFor } from './versions.ts';

export type Respond = (reply: Reply) => void;

/** A request whose route is known and whose headers are in order. */
export interface Begun {
  readonly compiled: CompiledRoute;
  readonly head: RequestHead;
  readonly pathParams: Record<string, string>;
  readonly requestId: string;
  readonly version: string;
}

export interface CompiledRoute {
  readonly route: Route;
  readonly reader: PartsReader;
  /** Undefined where replies are not checked; for a reply without a body it admits nothing. */
  readonly validateReply: Validate | undefined;
  /** Takes out of a reply what a key or an app may not be told; undefined where it may be told everything. */
  readonly leaveOut: LeaveOut | undefined;
  readonly slugs: ReadonlySet<Slug>;
}

/** An HTTP request as its handler sees it, once it is known who asks. */
class HttpCall implements Call, Parts {
  caller: Caller = systemCaller;
  workspaceId = '';
  grant: Grant | undefined;
  sessionId: string | undefined;
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
  readonly userAgent: string | null;
  readonly origin: string | undefined;
  readonly requestId: string;
  readonly token: string | undefined;
  readonly raw: RawRequest | undefined;
  readonly #head: RequestHead;
  readonly #route: Route;
  #bytes: Uint8Array | undefined;

  constructor({ compiled, head, pathParams, requestId }: Begun, body: Uint8Array | BodyStream) {
    this.#head = head;
    this.params = pathParams;
    this.query = queryOf(compiled.reader, head.query);
    this.#route = compiled.route;
    if (body instanceof BodyStream) this.body = body;
    else this.#bytes = body;
    this.userAgent = head.headers['user-agent'] ?? null;
    this.origin = head.headers['origin'];
    this.requestId = requestId;
    this.token = bearerOf(head.headers['authorization']);
    this.raw = compiled.route.rawBody === undefined || body instanceof BodyStream ? undefined : rawOf(head, body);
  }

  /** To be called before anything is waited for: the edge takes the bytes back after this turn. */
  keepBytes(): void {
    this.#bytes = this.#bytes?.slice();
  }

  /** Reads what the bytes say. Refuses invalid_body. */
  readBody(): void {
    if (this.#bytes !== undefined) this.body = bodyOf(this.#route, this.#head, this.#bytes);
    this.#bytes = undefined;
  }

  get ip(): string {
    return this.#head.ip;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#head.headers;
  }
}

/** A copy: the edge takes its bytes back after this turn. */
function rawOf({ path, query, headers }: RequestHead, body: Uint8Array): RawRequest {
  return { path, query, headers, body: body.slice() };
}

type Outcome =
  | { readonly status: number; readonly value: unknown }
  | { readonly raw: RawReply }
  | { readonly refusal: Refusal };
type Settle = (outcome: Outcome, budget: ToldBudget | undefined) => void;

export const maxBodyBytes = 1024 * 1024;
/** A line a minute of each kind of thing that a flood repeats. */
const toldEveryMs = 60_000;
/** A /48 may ask as much as so many of its /64 that ask all they may. */
const networksPerSite = 10;
/** Preflights of a network in a minute that are answered without a body. */
const bodilessPreflights = 30;
/** What the pipeline may answer on any route. */
const always: readonly Slug[] = [
  'invalid_body',
  'invalid_query',
  'not_found',
  'rate_limited',
  'server_error',
  'service_unavailable',
  'payload_too_large',
  'request_timeout',
];

export interface PipelineOptions {
  readonly services: Services;
  readonly routes: readonly Route[];
  readonly metrics: Metrics;
  /** Hold every reply against its route's declaration, and fail loudly. On in tests. */
  readonly checkReplies: boolean;
}

export class Pipeline {
  readonly #services: Services;
  readonly #metrics: Metrics;
  readonly #router = new Router<CompiledRoute>();
  readonly #byOperation = new Map<string, CompiledRoute>();
  readonly #limiter: RateLimiter;
  readonly #seldom: Seldom;

  constructor(options: PipelineOptions) {
    this.#services = options.services;
    this.#metrics = options.metrics;
    this.#limiter = new RateLimiter(options.services.clock);
    this.#seldom = new Seldom(options.services.clock, toldEveryMs);
    for (const route of options.routes) {
      const compiled = compile(route, options.checkReplies);
      this.#router.add(route, compiled);
      this.#byOperation.set(route.operation, compiled);
    }
  }

  /** Finds the route and looks at the headers. A reply ends the request here, without its body being read. */
  begin(head: RequestHead): Begun | Reply {
    const requestId = requestIdOf(head, this.#services.ids);
    const framing = framingProblem(head.headers);
    if (framing !== undefined)
      return {
        ...this.#refused(
          new Refusal('invalid_body', `${framing.header} ${framing.problem}.`, {
            fieldErrors: { [framing.header]: [framing.problem] },
          }),
          { head, requestId },
        ),
        endsConnection: true,
      };
    const match = this.#router.find(head.method === 'HEAD' ? 'GET' : head.method, head.path);
    if (head.method === 'OPTIONS')
      return this.#preflight({ head, requestId }, match.kind === 'otherMethods' ? match.methods : []);
    if (match.kind === 'otherMethods') {
      const reply = this.#refused(
        new Refusal('method_not_allowed', `${head.path} does not support ${head.method}.`, undefined),
        { head, requestId },
      );
      reply.headers['Allow'] = allowOf(match.methods);
      return reply;
    }
    if (match.kind === 'none')
      return this.#refused(
        new Refusal('not_found', `There is nothing at ${head.path}.`, undefined),
        { head, requestId },
        shapeOfNothing({ path: head.path, accept: head.headers['accept'] }),
      );
    const { route } = match.entry;
    let version: string | undefined;
    try {
      version = versionFor(head.headers['service-version']);
      if (route.anyHeaders === undefined) requireAccept(head);
      requireUnpacked(head);
      return { compiled: match.entry, head, pathParams: match.params, requestId, version };
    } catch (error) {
      return this.#refused(
        refusalOf(error, { log: this.#services.log, seldom: this.#seldom, requestId, operation: route.operation }),
        { head, requestId, version, route },
      );
    }
  }

  /**
   * A reply without a body cannot be written in a way that tells whether anybody reads it: who asks for many gets them
   * with one.
   */
  #preflight(facts: ReplyFacts, methods: readonly Method[]): Reply {
    const headers = preflightHeaders(facts, methods);
    if (this.#limiter.take(`preflights:${networkOf(facts.head.ip)}`, bodilessPreflights).allowed)
      return { status: 204, headers, body: undefined };
    return { status: 200, headers: { ...headers, 'Content-Type': 'text/plain' }, body: 'OK' };
  }

  /** `body` is a stream where the route receives one. */
  finish(begun: Begun, body: Uint8Array | BodyStream, respond: Respond): void {
    const { compiled, head, requestId } = begun;
    const settle: Settle = (outcome, budget) => {
      const reply = this.#replyTo(begun, outcome, budget);
      this.#observe(compiled.route.operation, reply.status, head.startedMs, requestId);
      respond(reply);
    };
    const token = bearerOf(head.headers['authorization']);
    const refuseCaller = (error: unknown): void => {
      // A token that was revoked a moment ago is refused once that is durable.
      const workspaceId = token === undefined ? '' : workspaceOf(token, this.#services);
      const outcome = this.#failure(compiled, error, requestId);
      this.#services.engine.whenDurable(workspaceId, () => settle(outcome, undefined));
    };
    try {
      const asked = new HttpCall(begun, body);
      const perform = (credential: Credential, readBody = () => asked.readBody()): void => {
        asked.caller = credential.caller;
        asked.workspaceId = credential.workspaceId;
        asked.grant = credential.grant;
        asked.sessionId = credential.sessionId;
        noteUse(credential, asked, this.#services);
        this.#perform(compiled, asked, settle, readBody);
      };
      const { access } = compiled.route;
      if (access.kind === 'signed' && body instanceof Uint8Array) {
        const signed = authenticateSigned(rawOf(head, body), (request) => access.signers(request, this.#services));
        perform(signed.credential, () => (asked.body = signed.body));
        return;
      }
      const credential = authenticate(access, asked.token, this.#services);
      if (credential instanceof Promise) {
        asked.keepBytes();
        credential.then((known) => perform(known)).catch(refuseCaller);
      } else perform(credential);
    } catch (error) {
      refuseCaller(error);
    }
  }

  /**
   * The refusal of a request whose caller, or whose network, has nothing left for it, as far as that can be said of its
   * head at once. Counts
   * nothing: what is over a limit is not counted.
   */
  refusedUnread(begun: Begun): Reply | undefined {
    const { head, requestId, version } = begun;
    const { route } = begun.compiled;
    if (!this.#services.config.rateLimits) return undefined;
    const { budget, exceeded } = this.#spent(route, head);
    if (exceeded === undefined) return undefined;
    this.#observe(route.operation, exceeded.status, head.startedMs, requestId);
    return this.#refused(exceeded, { head, requestId, version, route, budget });
  }

  /**
   * A body that was not read: it did not arrive in time, was too large, or there was no room for it beside the others
   * of its network.
   */
  failed(begun: Begun, slug: BodyFailure): Reply {
    const refusal = bodyRefusal(slug);
    this.#observe(begun.compiled.route.operation, refusal.status, begun.head.startedMs, begun.requestId);
    const { head, requestId, version } = begun;
    return this.#refused(refusal, { head, requestId, version, route: begun.compiled.route });
  }

  /** A socket's call: one operation by name, its path, query and body fields together. */
  call(
    frame: { operation: string; params: Record<string, unknown> },
    credential: Credential & Pick<Call, 'ip' | 'userAgent' | 'origin'>,
    done: (status: number, body: unknown) => void,
  ): void {
    const startedMs = performance.now();
    const requestId = this.#services.ids.uuid();
    const compiled = this.#byOperation.get(frame.operation);
    const kind = credential.caller.kind;
    if (
      compiled === undefined ||
      compiled.route.httpOnly === true ||
      compiled.route.send !== undefined ||
      compiled.route.receive !== undefined ||
      compiled.route.access.kind !== kind
    ) {
      const refusal = new Refusal('not_found', `There is no method ${frame.operation}.`, undefined);
      done(refusal.status, errorBody(refusal));
      return;
    }
    const settle: Settle = (outcome) => {
      const status =
        'refusal' in outcome ? outcome.refusal.status : 'raw' in outcome ? outcome.raw.status : outcome.status;
      this.#observe(frame.operation, status, startedMs, requestId);
      done(
        status,
        'refusal' in outcome ? errorBody(outcome.refusal) : 'raw' in outcome ? null : (outcome.value ?? null),
      );
    };
    const perform = (): void => {
      try {
        this.#perform(
          compiled,
          {
            ...credential,
            requestId,
            headers: {},
            token: undefined,
            raw: undefined,
            ...partsOfFrame(compiled.reader, frame.params),
          },
          settle,
        );
      } catch (error) {
        settle(this.#failure(compiled, error, requestId), undefined);
      }
    };
    const opening = this.#services.engine.whenOpen(credential.workspaceId);
    if (opening === undefined) perform();
    else void opening.then(perform);
  }

  /** Counts something that is no route against the caller's budget. False when there is nothing left of it. */
  countCall(credential: Credential): boolean {
    const key = keyOf(credential.caller, credential.workspaceId);
    return (
      !this.#services.config.rateLimits || this.#limiter.take(key, this.#services.config.rateLimitPerMinute).allowed
    );
  }

  /**
   * The refusal of whatever the caller calls now, as far as its own budget says; undefined when there is something left
   * of it. Counts nothing.
   */
  exceeded(credential: Credential): Refusal | undefined {
    const { rateLimits, rateLimitPerMinute } = this.#services.config;
    if (!rateLimits) return undefined;
    const { allowed, resetSeconds } = this.#limiter.look(
      keyOf(credential.caller, credential.workspaceId),
      rateLimitPerMinute,
    );
    return allowed ? undefined : rateRefusal(resetSeconds);
  }

  #perform(compiled: CompiledRoute, call: Call & Parts, settle: Settle, readBody: () => void = () => {}): void {
    const { route } = compiled;
    const { budget, exceeded } = this.#spend(route, call);
    if (exceeded !== undefined) {
      settle({ refusal: exceeded }, budget);
      return;
    }
    const answer = (outcome: Outcome): void => settle(outcome, budget);
    try {
      readBody();
    } catch (error) {
      answer(this.#failure(compiled, error, call.requestId, call.workspaceId));
      return;
    }
    this.#handle(compiled, call, answer);
  }

  /** Validates, authorises, handles. Throws nothing. */
  #handle(compiled: CompiledRoute, call: Call & Parts, answer: (outcome: Outcome) => void): void {
    const { route } = compiled;
    const fail = (error: unknown): void => answer(this.#failure(compiled, error, call.requestId, call.workspaceId));
    // What a read or a refusal has seen may be one sync from durable; it leaves when the disk has it.
    const whenDurable = (leave: () => void): void => this.#services.engine.whenDurable(call.workspaceId, leave);
    const failWhenDurable = (error: unknown): void => whenDurable(() => fail(error));
    try {
      if (route.takesRoom !== undefined) requireRoom(route.takesRoom, this.#services);
      requireSound(compiled.reader, call, {
        query: route.invalidQuerySlug ?? 'invalid_query',
        body: route.invalidSlug ?? 'invalid_body',
      });
      const view =
        call.workspaceId === ''
          ? undefined
          : (this.#services.engine.workspace(call.workspaceId) ?? refuse('unauthorized')).view(call.caller);
      if (view !== undefined) authorise(route, view, call, this.#services.config);
      // Each part was held against the route's own schema.
      const input = call as unknown as Input<never, never, never>;
      const send = route.send ?? route.receive;
      if (route.read !== undefined && view !== undefined) {
        const outcome = this.#success(compiled, call, route.read(view, input, this.#services));
        whenDurable(() => answer(outcome));
      } else if (route.ask !== undefined && view !== undefined) {
        const asked = route.ask(view, input, this.#services);
        // What the view has shown so far. What the reader tells is durable when it is told.
        const shown = new Promise<void>(whenDurable);
        Promise.all([asked, shown])
          .then(([value]) => answer(this.#success(compiled, call, value)))
          .catch(failWhenDurable);
      } else if (route.run !== undefined) {
        route
          .run(input, this.#services)
          .then((value) => answer(this.#success(compiled, call, value)))
          .catch(failWhenDurable);
      } else if (send !== undefined) {
        const raw = send(input, this.#services);
        if (raw instanceof Promise) raw.then((reply) => answer({ raw: reply })).catch(failWhenDurable);
        else answer({ raw });
      } else throw new Error(`${route.operation} has no handler for its reply`);
    } catch (error) {
      failWhenDurable(error);
    }
  }

  /**
   * Takes one call from its budget. `budget` is what the headers tell of: the caller's own, not that of an address or
   * an email.
   */
  #spend(route: Route, call: Call & Parts): { budget?: ToldBudget; exceeded?: Refusal } {
    const { config } = this.#services;
    const { limit } = route;
    if (limit !== undefined && limit.by !== 'caller') {
      if (!config.rateLimits) return {};
      const { allowed, resetSeconds } = this.#takeOfNetwork(networkBudgetOf(route, limit), call.ip);
      return allowed ? {} : { exceeded: rateRefusal(resetSeconds) };
    }
    // Other systems deliver in bursts what was said by many.
    if (call.workspaceId === '' || route.access.kind === 'signed') return {};
    const { keyOfRoute, perMinute } = this.#callerBudgetOf(route);
    const shared = this.#limiter.take(keyOfRoute(budgetKeyOf(call)), perMinute);
    const budget: ToldBudget =
      call.grant?.by !== 'app'
        ? shared
        : { ...shared, ofApp: this.#limiter.take(keyOfRoute(`app:${call.grant.id}:${call.workspaceId}`), perMinute) };
    return budget.allowed || !config.rateLimits ? { budget } : { budget, exceeded: rateRefusal(budget.resetSeconds) };
  }

  /** A route with a larger budget has one of its own, or its calls would use up everybody's. */
  #callerBudgetOf({ limit, operation }: Route): { keyOfRoute: (key: string) => string; perMinute: number } {
    const factor = limit?.by === 'caller' ? limit.factor : 1;
    return {
      keyOfRoute: (key) => (factor === 1 ? key : `${key}:${operation}`),
      perMinute: this.#services.config.rateLimitPerMinute * factor,
    };
  }

  /** What #spend() would refuse, as far as that can be said of a head. Counts nothing. */
  #spent(route: Route, head: RequestHead): { budget?: ToldBudget; exceeded?: Refusal } {
    const { limit, access } = route;
    if (limit !== undefined && limit.by !== 'caller') {
      const { budget, perMinute } = networkBudgetOf(route, limit);
      const own = this.#limiter.look(`${budget}:${networkOf(head.ip)}`, perMinute);
      const site = siteNetworkOf(head.ip);
      const { allowed, resetSeconds } =
        own.allowed && site !== undefined ? this.#limiter.look(`${budget}:${site}`, networksPerSite * perMinute) : own;
      return allowed ? {} : { exceeded: rateRefusal(resetSeconds) };
    }
    const credential = knownCredential(access, head, this.#services);
    if (credential === undefined) return {};
    const { keyOfRoute, perMinute } = this.#callerBudgetOf(route);
    const shared = this.#limiter.look(keyOfRoute(budgetKeyOf(credential)), perMinute);
    if (shared.allowed) return {};
    const { grant, workspaceId } = credential;
    const budget: ToldBudget =
      grant?.by !== 'app'
        ? shared
        : { ...shared, ofApp: this.#limiter.look(keyOfRoute(`app:${grant.id}:${workspaceId}`), perMinute) };
    return { budget, exceeded: rateRefusal(shared.resetSeconds) };
  }

  /** One network cannot use up what is its neighbours': what is too much for it is not counted against its site. */
  #takeOfNetwork({ budget, perMinute }: NetworkBudget, address: string): Budget {
    const own = this.#limiter.take(`${budget}:${networkOf(address)}`, perMinute);
    const site = siteNetworkOf(address);
    return own.allowed && site !== undefined
      ? this.#limiter.take(`${budget}:${site}`, networksPerSite * perMinute)
      : own;
  }

  #success(compiled: CompiledRoute, { grant }: Call, whole: unknown): Outcome {
    const { reply, operation } = compiled.route;
    const value = grant === undefined || compiled.leaveOut === undefined ? whole : compiled.leaveOut(whole, grant);
    if (compiled.validateReply !== undefined) {
      const errors = compiled.validateReply(value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
      if (errors !== undefined)
        throw new Error(`the reply of ${operation} does not match its schema: ${JSON.stringify(errors)}`);
    }
    return { status: reply.status, value: reply.schema === null ? undefined : value };
  }

  #failure(compiled: CompiledRoute, error: unknown, requestId: string, workspaceId = ''): Outcome {
    const refusal = refusalOf(error, {
      log: this.#services.log,
      seldom: this.#seldom,
      requestId,
      operation: compiled.route.operation,
    });
    this.#noteCeiling(refusal, { requestId, workspaceId, operation: compiled.route.operation });
    if (compiled.validateReply !== undefined && !compiled.slugs.has(refusal.slug)) {
      this.#services.log.error(
        { requestId },
        `${compiled.route.operation} refused with ${refusal.slug}, which it does not declare`,
      );
      return { refusal: new Refusal('server_error', `undeclared: ${refusal.slug}`, undefined) };
    }
    return { refusal };
  }

  /**
   * Whoever runs the service learns that somebody had too much of something; who it was is told as often as a line is
   * worth it.
   */
  #noteCeiling({ detail }: Refusal, about: { requestId: string; workspaceId: string; operation: string }): void {
    const { ceiling, limit }: { ceiling?: string; limit?: number } = detail ?? {};
    if (ceiling === undefined) return;
    this.#metrics.observeCeiling(ceiling);
    const times = this.#seldom.take(`ceiling ${ceiling}`);
    if (times !== undefined) this.#services.log.warn({ ...about, ceiling, limit, times }, 'a limit was reached');
  }

  #replyTo(begun: Begun, outcome: Outcome, budget: ToldBudget | undefined): Reply {
    const facts: ReplyFacts = {
      head: begun.head,
      requestId: begun.requestId,
      version: begun.version,
      route: begun.compiled.route,
      budget,
    };
    if ('refusal' in outcome) return this.#refused(outcome.refusal, facts);
    const headers = replyHeaders(facts);
    if ('raw' in outcome) {
      const { status, headers: own, body } = outcome.raw;
      const about = { requestId: begun.requestId, operation: begun.compiled.route.operation };
      const reply = { status, headers: { ...headers, ...own } };
      if (typeof body !== 'object' || body instanceof Uint8Array) return { ...reply, body };
      return {
        ...reply,
        body: 'parts' in body ? { ...body, parts: this.#logged(body.parts, about) } : this.#logged(body, about),
      };
    }
    if (outcome.value === undefined) return { status: outcome.status, headers, body: undefined };
    headers['Content-Type'] = 'application/json; charset=utf-8';
    return { status: outcome.status, headers, body: JSON.stringify(outcome.value) };
  }

  /** What fails after its first part can no longer be answered with an error. */
  async *#logged<Part>(
    parts: AsyncIterable<Part>,
    about: { requestId: string; operation: string },
  ): AsyncGenerator<Part> {
    try {
      yield* parts;
    } catch (error) {
      this.#services.log.error({ ...about, err: error }, 'a streamed reply failed before its end');
      throw error;
    }
  }

  #refused(refusal: Refusal, facts: ReplyFacts, shape = shapeAt(facts.head.path)): Reply {
    const headers = replyHeaders(facts);
    headers['Content-Type'] = `${shape.contentType}; charset=utf-8`;
    Object.assign(headers, shape.headers);
    const retryAfter = retryAfterOf(refusal);
    if (retryAfter !== undefined) headers['Retry-After'] = String(retryAfter);
    if (refusal.status === 401) headers['WWW-Authenticate'] = 'Bearer';
    return { status: refusal.status, headers, body: shape.write(refusal) };
  }

  #observe(operation: string, status: number, startedMs: number, requestId: string): void {
    const durationMs = performance.now() - startedMs;
    this.#metrics.observeRequest(operation, status, durationMs);
    this.#services.log.debug({ requestId, operation, status, durationMs }, 'request');
  }
}

/** Every slug that the route may answer with: its own, and what the pipeline adds for what it declares. */
export function slugsOf(route: Route): ReadonlySet<Slug> {
  const { access } = route;
  const slugs = new Set<Slug>([...always, ...route.refusals]);
  if (access.kind === 'agent' || access.kind === 'visitor') slugs.add('unauthorized');
  if (access.kind === 'signed') slugs.add('invalid_signature');
  if (access.kind === 'visitor') slugs.add('forbidden');
  if (access.kind === 'agent') {
    slugs.add('token_revoked');
    slugs.add('insufficient_scope');
    if (access.beforeEnrolment === undefined) slugs.add('second_factor_missing');
    if (access.role !== undefined) slugs.add(access.roleSlug ?? 'admin_required');
    if (access.feature !== undefined) slugs.add(access.featureSlug ?? 'feature_locked');
  }
  if (route.invalidSlug !== undefined) slugs.add(route.invalidSlug);
  if (route.invalidQuerySlug !== undefined) slugs.add(route.invalidQuerySlug);
  return slugs;
}

function compile(route: Route, checkReplies: boolean): CompiledRoute {
  return {
    route,
    reader: partsReader(route),
    validateReply: checkReplies
      ? route.reply.schema === null
        ? noBody
        : closedValidator(route.reply.schema)
      : undefined,
    leaveOut: route.access.kind === 'agent' && route.reply.schema !== null ? leaverOf(route.reply.schema) : undefined,
    slugs: slugsOf(route),
  };
}

const noBody: Validate = (value) => (value === undefined ? undefined : { body: ['is not allowed'] });

function authorise(route: Route, view: View, call: Call, config: Config): void {
  const { access } = route;
  if (access.kind === 'agent') {
    const agent = callingAgent(view);
    if (call.grant === undefined && access.beforeEnrolment === undefined && mustEnrol(view, agent.id, call.sessionId))
      refuse('second_factor_missing');
    const needsKey = access.credential === 'key' || (access.credential === 'keyOrAdmin' && agent.role !== 'admin');
    if (needsKey && call.grant === undefined) refuse('unauthorized', { message: 'A valid API key is required.' });
    if (access.credential === 'person' && call.grant !== undefined)
      refuse('insufficient_scope', { message: 'Only a signed-in agent can do this, not a key or an app.' });
    if (call.grant !== undefined) requireScopes(call.grant, access);
    if (access.role === 'admin' && agent.role !== 'admin') refuse(access.roleSlug ?? 'admin_required');
    if (access.role === 'senior' && !isSenior(agent)) refuse(access.roleSlug ?? 'admin_required');
    if (access.feature !== undefined) requireFeature(view, access.feature, access.featureSlug);
  } else if (access.kind === 'visitor' && call.caller.kind === 'visitor') {
    const visitor = view.state(visitorKind, call.caller.visitorId) ?? refuse('unauthorized');
    if (visitor.blockedAt !== null) refuse('forbidden');
    if (!mayUseSite(requireSite(view, visitor.siteId), call.origin, config))
      refuse('forbidden', { message: 'This origin is not allowed for the site.' });
  }
}

/** Files may lie in a bucket. */
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

/** A test key opens the verification API alone, whatever its scopes are. */
function requireScopes(
  grant: Grant,
  { scope, or, also = [] }: Pick<Extract<Access, { kind: 'agent' }>, 'scope' | 'or' | 'also'>,
): void {
  if (grant.mode === 'test' && scope !== 'verify')
    refuse('insufficient_scope', {
      message: 'A test key only gives access to the verification API.',
      detail: { scope: scope ?? '*' },
    });
  const isOpenedByOther = or !== undefined && allows(grant, or);
  const missing = [...(isOpenedByOther ? [] : [scope]), ...also].find((one) => !allows(grant, one));
  if (missing !== undefined) refuse('insufficient_scope', { detail: { scope: missing ?? '*' } });
}

interface NetworkBudget {
  readonly budget: string;
  readonly perMinute: number;
}

function networkBudgetOf({ operation }: Route, limit: Exclude<RateRule, { by: 'caller' }>): NetworkBudget {
  return limit.by === 'account'
    ? { budget: limit.budget ?? operation, perMinute: limit.networkPerMinute }
    : { budget: operation, perMinute: limit.perMinute };
}

/**
 * Whom a call is counted for. A test run takes nothing from who works. All apps of a workspace share one budget
 * (specification 5.14), so that none of them takes that of the people.
 */
function budgetKeyOf({
  caller,
  workspaceId,
  grant,
}: Pick<Credential, 'caller' | 'workspaceId'> & { readonly grant?: Grant | undefined }): string {
  if (grant?.by === 'app') return `apps:${workspaceId}`;
  return `${keyOf(caller, workspaceId)}${grant?.mode === 'test' ? ':test' : ''}`;
}

/** Who asks, where that can be said at once. */
function knownCredential(access: Access, { headers }: RequestHead, services: Services): Credential | undefined {
  if (access.kind === 'public' || access.kind === 'signed') return undefined;
  try {
    const credential = authenticate(access, bearerOf(headers['authorization']), services);
    if (!(credential instanceof Promise)) return credential;
    // It is asked again, and refused, when the body is here.
    credential.catch(() => undefined);
    return undefined;
  } catch {
    return undefined;
  }
}

function keyOf(caller: Caller, workspaceId: string): string {
  if (caller.kind === 'agent') return `agent:${caller.agentId}`;
  return caller.kind === 'visitor' ? `visitor:${caller.visitorId}` : `workspace:${workspaceId}`;
}

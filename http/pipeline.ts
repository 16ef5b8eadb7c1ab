// The way of every request, from a socket's frame as from HTTP:
//
//   match → headers → body → authenticate → rate limit → validate → authorise → handle → reply
//
// begin() does the first two, before a body is read; finish() the rest. call() enters at the rate limit, with a frame of a
// socket that is authenticated already. Nothing waits before handle but a token that was never seen.

import { callingAgent, isSenior } from '../engine/access.ts';
import { requireFeature } from '../engine/entitlements.ts';
import { type FieldErrors, Refusal, refuse, refuseField, type Slug } from '../engine/errors.ts';
import type { Caller } from '../engine/runtime/command.ts';
import type { View } from '../engine/runtime/context.ts';
import { allowsOrigin, requireSite } from '../engine/sites.ts';
import { visitorKind } from '../engine/visitors.ts';
import { authenticate, type Credential } from './credentials.ts';
import type { Metrics } from './metrics.ts';
import { type Budget, RateLimiter } from './rate-limiter.ts';
import { errorBody, RateRefusal, refusalOf, retryAfterOf } from './replies.ts';
import type { Call, Input, RawReply, Route } from './route.ts';
import { Router } from './router.ts';
import type { Services } from './services.ts';
import { coercingValidator, strictValidator, type Validate } from './validation.ts';
import { versionFor } from './versions.ts';

/** What the edge copied out of a request before its body. Header names in lower case. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly ip: string;
  readonly startedMs: number;
}

export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Text, bytes, or text in parts; undefined for none. */
  readonly body: string | Uint8Array | AsyncIterable<string> | undefined;
}

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
  readonly validateParams: Validate | undefined;
  readonly validateQuery: Validate | undefined;
  readonly validateBody: Validate | undefined;
  readonly validateReply: Validate | undefined;
  readonly slugs: ReadonlySet<Slug>;
  readonly paramNames: readonly string[];
  readonly queryNames: readonly string[];
}

interface Parts {
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
}

type Outcome = { readonly status: number; readonly value: unknown } | { readonly raw: RawReply } | { readonly refusal: Refusal };
type Settle = (outcome: Outcome, budget: Budget | undefined) => void;

export const maxBodyBytes = 1024 * 1024;
const saneRequestId = /^[A-Za-z0-9._-]{1,128}$/;
/** What the pipeline may answer on any route. */
const always: readonly Slug[] = ['invalid_body', 'not_found', 'rate_limited', 'server_error', 'service_unavailable', 'payload_too_large', 'request_timeout'];

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

  constructor(options: PipelineOptions) {
    this.#services = options.services;
    this.#metrics = options.metrics;
    this.#limiter = new RateLimiter(options.services.clock);
    for (const route of options.routes) {
      const compiled = compile(route, options.checkReplies);
      this.#router.add(route, compiled);
      this.#byOperation.set(route.operation, compiled);
    }
  }

  /** Finds the route and looks at the headers. A reply ends the request here, without its body being read. */
  begin(head: RequestHead): Begun | Reply {
    const given = head.headers['x-request-id'];
    const requestId = given !== undefined && saneRequestId.test(given) ? given : this.#services.ids.uuid();
    if (head.method === 'OPTIONS') return preflight(head, requestId);
    const isHead = head.method === 'HEAD';
    const match = this.#router.find(isHead ? 'GET' : head.method, head.path);
    if (match.kind === 'otherMethods') {
      const reply = this.#refused(new Refusal('method_not_allowed', `${head.path} does not take ${head.method}.`, undefined), { head, requestId });
      reply.headers['Allow'] = match.methods.join(', ');
      return reply;
    }
    if (match.kind === 'none') return this.#refused(new Refusal('not_found', `There is nothing at ${head.path}.`, undefined), { head, requestId });
    try {
      const version = versionFor(head.headers['service-version']);
      if (match.entry.route.anyHeaders === undefined) requireAccept(head);
      return { compiled: match.entry, head, pathParams: match.params, requestId, version };
    } catch (error) {
      return this.#refused(refusalOf(error, { log: this.#services.log, requestId, operation: match.entry.route.operation }), { head, requestId });
    }
  }

  finish(begun: Begun, body: Uint8Array, respond: Respond): void {
    const { compiled, head, requestId } = begun;
    const settle: Settle = (outcome, budget) => {
      const reply = this.#replyTo(begun, outcome, budget);
      this.#observe(compiled.route.operation, reply.status, head.startedMs, requestId);
      respond(reply);
    };
    try {
      const parts: Parts = { params: begun.pathParams, query: queryOf(head.query), body: bodyOf(begun, body) };
      const token = bearerOf(head.headers['authorization']);
      const context = { ip: head.ip, userAgent: head.headers['user-agent'] ?? null, origin: head.headers['origin'], requestId, token };
      const credential = authenticate(compiled.route.access, token, this.#services);
      if (credential instanceof Promise) {
        credential.then((known) => this.#perform(compiled, { ...context, ...known }, parts, settle)).catch((error: unknown) => settle(this.#failure(compiled, error, requestId), undefined));
      } else this.#perform(compiled, { ...context, ...credential }, parts, settle);
    } catch (error) {
      settle(this.#failure(compiled, error, requestId), undefined);
    }
  }

  /** A body that did not arrive in time, or was too large. */
  failed(begun: Begun, slug: 'payload_too_large' | 'request_timeout'): Reply {
    this.#observe(begun.compiled.route.operation, slug === 'payload_too_large' ? 413 : 408, begun.head.startedMs, begun.requestId);
    const { head, requestId } = begun;
    return this.#refused(new Refusal(slug, slug === 'payload_too_large' ? `The body may have ${maxBodyBytes} bytes.` : 'The body took too long to arrive.', undefined), { head, requestId });
  }

  /** A socket's call: one operation by name, its path, query and body fields together. */
  call(frame: { operation: string; params: Record<string, unknown> }, credential: Credential & Pick<Call, 'ip' | 'userAgent' | 'origin'>, done: (status: number, body: unknown) => void): void {
    const startedMs = performance.now();
    const requestId = this.#services.ids.uuid();
    const compiled = this.#byOperation.get(frame.operation);
    const kind = credential.caller.kind;
    if (compiled === undefined || compiled.route.httpOnly === true || compiled.route.send !== undefined || compiled.route.access.kind !== kind) {
      const refusal = new Refusal('not_found', `There is no method ${frame.operation} here.`, undefined);
      done(refusal.status, errorBody(refusal));
      return;
    }
    const settle: Settle = (outcome) => {
      const status = 'refusal' in outcome ? outcome.refusal.status : 'raw' in outcome ? outcome.raw.status : outcome.status;
      this.#observe(frame.operation, status, startedMs, requestId);
      done(status, 'refusal' in outcome ? errorBody(outcome.refusal) : 'raw' in outcome ? null : (outcome.value ?? null));
    };
    try {
      this.#perform(compiled, { ...credential, requestId, token: undefined }, partsOf(compiled, frame.params), settle);
    } catch (error) {
      settle(this.#failure(compiled, error, requestId), undefined);
    }
  }

  /** Counts something that is no route against the caller's budget. False when there is nothing left of it. */
  countCall(credential: Credential): boolean {
    const key = keyOf(credential.caller, credential.workspaceId);
    return !this.#services.config.rateLimits || this.#limiter.take(key, this.#services.config.rateLimitPerMinute).allowed;
  }

  #perform(compiled: CompiledRoute, call: Call, parts: Parts, settle: Settle): void {
    const { route } = compiled;
    let budget: Budget | undefined;
    const fail = (error: unknown): void => settle(this.#failure(compiled, error, call.requestId), budget);
    try {
      budget = this.#spend(route, call, parts.body);
      validate(compiled, parts);
      const input = { ...call, ...parts } as unknown as Input<never, never, never>;
      if (route.read !== undefined) {
        const workspace = this.#requireWorkspace(call.workspaceId);
        const view = workspace.view(call.caller);
        authorise(route, view, call);
        const value = route.read(view, input, this.#services);
        const outcome = this.#success(compiled, value);
        workspace.lane.whenDurable(() => settle(outcome, budget));
        return;
      }
      if (route.ask !== undefined) {
        const workspace = this.#requireWorkspace(call.workspaceId);
        const view = workspace.view(call.caller);
        authorise(route, view, call);
        route
          .ask(view, input, this.#services)
          .then((value) => {
            const outcome = this.#success(compiled, value);
            workspace.lane.whenDurable(() => settle(outcome, budget));
          })
          .catch(fail);
        return;
      }
      if (call.workspaceId !== '') authorise(route, this.#requireWorkspace(call.workspaceId).view(call.caller), call);
      if (route.run !== undefined) {
        route.run(input, this.#services).then((value) => settle(this.#success(compiled, value), budget)).catch(fail);
        return;
      }
      const raw = route.send?.(input, this.#services);
      if (raw instanceof Promise) raw.then((reply) => settle({ raw: reply }, budget)).catch(fail);
      else if (raw !== undefined) settle({ raw }, budget);
    } catch (error) {
      fail(error);
    }
  }

  #requireWorkspace(workspaceId: string) {
    return this.#services.engine.workspace(workspaceId) ?? refuse('unauthorized');
  }

  /** Takes one call from its budget. Refuses rate_limited. Undefined where no headers tell of it. */
  #spend(route: Route, call: Call, body: unknown): Budget | undefined {
    const { config } = this.#services;
    const { limit } = route;
    if (limit !== undefined && limit.by !== 'caller') {
      const subject = limit.by === 'ip' ? call.ip : emailIn(body);
      if (subject !== undefined && config.rateLimits) {
        const budget = this.#limiter.take(`${route.operation}:${subject}`, limit.perMinute);
        if (!budget.allowed) throw new RateRefusal(budget.resetSeconds);
      }
      return undefined;
    }
    if (call.workspaceId === '') return undefined;
    const factor = limit?.factor ?? 1;
    const key = keyOf(call.caller, call.workspaceId);
    // A route with a larger budget has one of its own, or its calls would use up everybody's.
    const budget = this.#limiter.take(factor === 1 ? key : `${key}:${route.operation}`, config.rateLimitPerMinute * factor);
    if (!budget.allowed && config.rateLimits) throw new RateRefusal(budget.resetSeconds);
    return budget;
  }

  #success(compiled: CompiledRoute, value: unknown): Outcome {
    const { reply, operation } = compiled.route;
    if (compiled.validateReply !== undefined) {
      const errors = compiled.validateReply(JSON.parse(JSON.stringify(value)));
      if (errors !== undefined) throw new Error(`${operation} answered with what it does not declare: ${JSON.stringify(errors)}`);
    }
    return { status: reply.status, value: reply.schema === null ? undefined : value };
  }

  #failure(compiled: CompiledRoute, error: unknown, requestId: string): Outcome {
    const refusal = refusalOf(error, { log: this.#services.log, requestId, operation: compiled.route.operation });
    if (compiled.validateReply !== undefined && !compiled.slugs.has(refusal.slug)) {
      this.#services.log.error({ requestId }, `${compiled.route.operation} refused with ${refusal.slug}, which it does not declare`);
      return { refusal: new Refusal('server_error', `undeclared: ${refusal.slug}`, undefined) };
    }
    return { refusal };
  }

  #replyTo(begun: Begun, outcome: Outcome, budget: Budget | undefined): Reply {
    const { head, requestId, compiled } = begun;
    if ('refusal' in outcome) return this.#refused(outcome.refusal, { head, requestId, version: begun.version, budget });
    const headers = commonHeaders({ head, requestId, version: begun.version, budget });
    if (compiled.route.sunset !== undefined) headers['Sunset'] = new Date(compiled.route.sunset).toUTCString();
    if ('raw' in outcome) {
      const { status, headers: own, body } = outcome.raw;
      const isStreamed = typeof body === 'object' && Symbol.asyncIterator in body;
      return { status, headers: { ...headers, ...own }, body: isStreamed ? this.#logged(body, { requestId, operation: compiled.route.operation }) : body };
    }
    if (outcome.value === undefined) return { status: outcome.status, headers, body: undefined };
    headers['Content-Type'] = 'application/json; charset=utf-8';
    return { status: outcome.status, headers, body: JSON.stringify(outcome.value) };
  }

  /** What fails after its first part can no longer be answered with an error. */
  async *#logged(parts: AsyncIterable<string>, about: { requestId: string; operation: string }): AsyncGenerator<string> {
    try {
      yield* parts;
    } catch (error) {
      this.#services.log.error({ ...about, err: error }, 'a reply broke off');
      throw error;
    }
  }

  #refused(refusal: Refusal, about: { head: RequestHead; requestId: string; version?: string; budget?: Budget | undefined }): Reply {
    const headers = commonHeaders(about);
    headers['Content-Type'] = 'application/json; charset=utf-8';
    const retryAfter = retryAfterOf(refusal);
    if (retryAfter !== undefined) headers['Retry-After'] = String(retryAfter);
    if (refusal.status === 401) headers['WWW-Authenticate'] = 'Bearer';
    return { status: refusal.status, headers, body: JSON.stringify(errorBody(refusal)) };
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
  if (route.query !== undefined || route.anyHeaders === undefined) slugs.add('invalid_query');
  if (access.kind !== 'public') slugs.add('unauthorized');
  if (access.kind === 'visitor') slugs.add('forbidden');
  if (access.kind === 'agent') {
    slugs.add('token_revoked');
    if (access.role !== undefined) slugs.add(access.roleSlug ?? 'admin_required');
    if (access.feature !== undefined) slugs.add('feature_locked');
  }
  if (route.invalidSlug !== undefined) slugs.add(route.invalidSlug);
  return slugs;
}

function compile(route: Route, checkReplies: boolean): CompiledRoute {
  return {
    route,
    validateParams: route.params && coercingValidator(route.params),
    validateQuery: route.query && coercingValidator(route.query),
    validateBody: route.body && strictValidator(route.body),
    validateReply: checkReplies ? (route.reply.schema === null ? () => undefined : strictValidator(route.reply.schema)) : undefined,
    slugs: slugsOf(route),
    paramNames: namesOf(route.params),
    queryNames: namesOf(route.query),
  };
}

function namesOf(schema: unknown): readonly string[] {
  // Parameters and queries are declared as objects, whose `properties` TypeBox keeps as JSON Schema does.
  const properties = (schema as { properties?: object } | undefined)?.properties;
  return properties === undefined ? [] : Object.keys(properties);
}

function validate(compiled: CompiledRoute, parts: Parts): void {
  // An id that is not even one names nothing (decisions, errors).
  if (compiled.validateParams?.(parts.params) !== undefined) refuse('not_found');
  refuseWith('invalid_query', compiled.validateQuery?.(parts.query));
  if (compiled.validateBody !== undefined) refuseWith(compiled.route.invalidSlug ?? 'invalid_body', compiled.validateBody(parts.body ?? {}));
  if (compiled.validateBody !== undefined && parts.body === undefined) parts.body = {};
}

function refuseWith(slug: Slug, fieldErrors: FieldErrors | undefined): void {
  if (fieldErrors === undefined) return;
  const [first = '', problems = []] = Object.entries(fieldErrors)[0] ?? [];
  refuse(slug, { message: `${first} ${problems[0] ?? 'is not valid'}.`, detail: { fieldErrors } });
}

function authorise(route: Route, view: View, call: Call): void {
  const { access } = route;
  if (access.kind === 'agent') {
    const agent = callingAgent(view);
    if (access.role === 'admin' && agent.role !== 'admin') refuse(access.roleSlug ?? 'admin_required');
    if (access.role === 'senior' && !isSenior(agent)) refuse(access.roleSlug ?? 'admin_required');
    if (access.feature !== undefined) requireFeature(view, access.feature);
  } else if (access.kind === 'visitor' && call.caller.kind === 'visitor') {
    const visitor = view.state(visitorKind, call.caller.visitorId) ?? refuse('unauthorized');
    if (visitor.blockedAt !== null) refuse('forbidden');
    if (!allowsOrigin(requireSite(view, visitor.siteId), call.origin)) refuse('forbidden', { message: 'This origin may not use the site.' });
  }
}

function keyOf(caller: Caller, workspaceId: string): string {
  if (caller.kind === 'agent') return `agent:${caller.agentId}`;
  return caller.kind === 'visitor' ? `visitor:${caller.visitorId}` : `workspace:${workspaceId}`;
}

function emailIn(body: unknown): string | undefined {
  const email = (body as { email?: unknown } | null | undefined)?.email;
  return typeof email === 'string' ? email.toLowerCase() : undefined;
}

function bearerOf(header: string | undefined): string | undefined {
  const match = header === undefined ? null : /^Bearer +(\S+)$/i.exec(header);
  return match?.[1];
}

function requireAccept(head: RequestHead): void {
  const accept = head.headers['accept'];
  if (accept === undefined) refuseField('invalid_body', 'Accept', 'is required');
  if (accept !== 'application/json' && accept !== '*/*' && !/(^|[\s,])(application\/(json|\*)|\*\/\*)($|[\s,;])/.test(accept)) refuseField('invalid_body', 'Accept', 'must admit application/json');
}

function bodyOf(begun: Begun, bytes: Uint8Array): unknown {
  const { route } = begun.compiled;
  if (route.anyHeaders === true && route.body === undefined) return bytes;
  if (bytes.length === 0) return undefined;
  const contentType = begun.head.headers['content-type'] ?? '';
  if (route.anyHeaders === undefined && !/^application\/json\s*($|;)/i.test(contentType)) refuseField('invalid_body', 'Content-Type', 'must be application/json');
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  } catch {
    refuseField('invalid_body', 'body', 'must be JSON');
  }
}

function queryOf(text: string): Record<string, unknown> {
  if (text === '') return {};
  const query: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const present = query[name];
    if (present === undefined) query[name] = value;
    else if (Array.isArray(present)) present.push(value);
    else query[name] = [present, value];
  }
  return query;
}

/** A socket names path, query and body fields in one object; each goes where the route declares it, the rest to the body. */
function partsOf(compiled: CompiledRoute, given: Record<string, unknown>): Parts {
  const parts: Parts = { params: {}, query: {}, body: undefined };
  const body: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (compiled.paramNames.includes(name)) parts.params[name] = value;
    else if (compiled.queryNames.includes(name)) parts.query[name] = value;
    else body[name] = value;
  }
  if (compiled.route.body !== undefined) parts.body = body;
  return parts;
}

const exposed = 'X-Request-Id, Service-Version, Sunset, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After';

function commonHeaders(about: { head: RequestHead; requestId: string; version?: string; budget?: Budget | undefined }): Record<string, string> {
  const headers: Record<string, string> = { 'X-Request-Id': about.requestId, 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
  if (about.version !== undefined) headers['Service-Version'] = about.version;
  if (about.head.headers['origin'] !== undefined) {
    headers['Access-Control-Allow-Origin'] = '*';
    headers['Access-Control-Expose-Headers'] = exposed;
  }
  if (about.budget !== undefined) {
    headers['RateLimit-Limit'] = String(about.budget.limit);
    headers['RateLimit-Remaining'] = String(about.budget.remaining);
    headers['RateLimit-Reset'] = String(about.budget.resetSeconds);
  }
  return headers;
}

function preflight(head: RequestHead, requestId: string): Reply {
  return {
    status: 204,
    headers: {
      ...commonHeaders({ head, requestId }),
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH, DELETE',
      'Access-Control-Allow-Headers': 'Authorization, Content-Type, Accept, Service-Version, X-Request-Id',
      'Access-Control-Max-Age': '86400',
    },
    body: undefined,
  };
}

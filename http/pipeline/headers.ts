// Checks the headers of every request and writes those of every reply. Knows neither routes nor bodies; called by the
// pipeline. Decisions, "Headers" and "Every response".

import { refuse, refuseField } from '../../engine/errors.ts';
import type { Ids } from '../../engine/runtime/ids.ts';
import type { Budget, CallerBudget } from '../limits/rate-limiter.ts';
import type { RequestHead } from '../request.ts';
import type { Method, Route } from '../route.ts';

const saneRequestId = /^[A-Za-z0-9._-]{1,128}$/;
const exposed =
  'Allow, X-Request-Id, Service-Version, Sunset, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, App-RateLimit-Limit, App-RateLimit-Remaining, App-RateLimit-Reset, Retry-After';

/** The caller's id for this request if it is safe to log and to return; otherwise a new one. */
export function requestIdOf(head: RequestHead, ids: Pick<Ids, 'uuid'>): string {
  const given = head.headers['x-request-id'];
  return given !== undefined && saneRequestId.test(given) ? given : ids.uuid();
}

/** The token behind `Bearer`; undefined for no header and for one of another form. */
export function bearerOf(header: string | undefined): string | undefined {
  return header !== undefined && /^Bearer +\S+$/i.test(header) ? header.slice(header.lastIndexOf(' ') + 1) : undefined;
}

/**
 * Headers that make it ambiguous where a request ends or whom it is for, if the library lets them through: it takes the
 * first of two lengths, and any transfer coding for `chunked` (RFC 9112 §3.2, §6.1, §6.3). A proxy in front may have
 * decided otherwise.
 */
export function framingProblem(
  headers: Readonly<Record<string, string>>,
): { readonly header: string; readonly problem: string } | undefined {
  const { 'content-length': length, 'transfer-encoding': coding, host } = headers;
  if (length !== undefined && !/^\d{1,15}$/.test(length))
    return { header: 'Content-Length', problem: 'must be a single number' };
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return { header: 'Transfer-Encoding', problem: 'must be chunked, and given once' };
  if (length !== undefined && coding !== undefined)
    return { header: 'Content-Length', problem: 'cannot be combined with Transfer-Encoding' };
  if (host === undefined || !/^[\w.~!$&'()*+;=:%[\]-]*$/.test(host))
    return { header: 'Host', problem: 'must name exactly one host' };
  return undefined;
}

/** Compressed bodies are not supported. Refuses invalid_body. */
export function requireUnpacked(head: RequestHead): void {
  const coding = head.headers['content-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'identity')
    refuseField('invalid_body', 'Content-Encoding', 'is not supported: send the body unencoded');
}

/** Refuses invalid_body. */
export function requireAccept(head: RequestHead): void {
  const accept = head.headers['accept'];
  if (accept === undefined)
    refuse('invalid_body', {
      message: 'Accept is required: send Accept: application/json with every call.',
      detail: { fieldErrors: { Accept: ['is required'] } },
    });
  if (!admitsJson(accept))
    refuse('invalid_body', {
      message: 'Accept must allow application/json: send Accept: application/json with every call.',
      detail: { fieldErrors: { Accept: ['must allow application/json'] } },
    });
}

/** Refuses invalid_body. */
export function requireJsonType(head: RequestHead): void {
  if (/^application\/json\s*($|;)/i.test(head.headers['content-type'] ?? '')) return;
  refuse('invalid_body', {
    message: 'Content-Type must be application/json: send Content-Type: application/json with every body.',
    detail: { fieldErrors: { 'Content-Type': ['must be application/json'] } },
  });
}

/** Refuses invalid_body. */
export function requireFormType(head: RequestHead): void {
  if (!/^application\/x-www-form-urlencoded\s*($|;)/i.test(head.headers['content-type'] ?? ''))
    refuseField('invalid_body', 'Content-Type', 'must be application/x-www-form-urlencoded');
}

/** RFC 9110 §12.5.1, for one type: a range that includes JSON and whose weight is not 0. */
function admitsJson(accept: string): boolean {
  if (accept === 'application/json' || accept === '*/*') return true;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return (
      ['application/json', 'application/*', '*/*'].includes(type) &&
      !parameters.some((parameter) => /^q\s*=\s*0(\.0*)?$/.test(parameter))
    );
  });
}

export interface ReplyFacts {
  readonly head: RequestHead;
  readonly requestId: string;
  readonly version?: string | undefined;
  readonly route?: Pick<Route, 'sunset'> | undefined;
  readonly budget?: CallerBudget | undefined;
}

export function replyHeaders(facts: ReplyFacts): Record<string, string> {
  const headers: Record<string, string> = {
    'X-Request-Id': facts.requestId,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  };
  if (facts.version !== undefined) headers['Service-Version'] = facts.version;
  if (facts.route?.sunset !== undefined) headers['Sunset'] = new Date(facts.route.sunset).toUTCString();
  if (facts.head.headers['origin'] !== undefined) {
    headers['Access-Control-Allow-Origin'] = '*';
    headers['Access-Control-Expose-Headers'] = exposed;
  }
  if (facts.budget !== undefined) {
    writeBudget(headers, '', facts.budget);
    if (facts.budget.ofApp !== undefined) writeBudget(headers, 'App-', facts.budget.ofApp);
  }
  return headers;
}

function writeBudget(headers: Record<string, string>, prefix: string, budget: Budget): void {
  headers[`${prefix}RateLimit-Limit`] = String(budget.limit);
  headers[`${prefix}RateLimit-Remaining`] = String(budget.remaining);
  headers[`${prefix}RateLimit-Reset`] = String(budget.resetSeconds);
}

/** The reply to a CORS preflight: everything is allowed, since the bearer token decides (specification 5). */
export function preflightHeaders(facts: ReplyFacts, methods: readonly Method[]): Record<string, string> {
  return {
    ...replyHeaders(facts),
    ...(methods.length === 0 ? {} : { Allow: allowOf(methods) }),
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH, DELETE',
    'Access-Control-Allow-Headers': 'Authorization, Content-Type, Accept, Service-Version, X-Request-Id',
    'Access-Control-Max-Age': '86400',
  };
}

/** HEAD is allowed wherever GET is, and OPTIONS everywhere. */
export function allowOf(methods: readonly Method[]): string {
  return [...methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'].join(', ');
}

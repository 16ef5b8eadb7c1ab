// The outcome of a call, written as an HTTP reply or as a socket frame.

import type { Refusal } from '../../engine/errors.ts';
import type { Log } from '../../engine/runtime/log.ts';
import type { Elsewhere } from '../../engine/runtime/placement.ts';
import type { RawReply, Reply } from '../request.ts';
import { shapeAt } from './error-shapes.ts';
import { type ReplyFacts, replyHeaders } from './headers.ts';
import { errorBody, retryAfterOf } from './replies.ts';

export type Outcome =
  | { readonly status: number; readonly value: unknown }
  /** A reply that is written and waits. */
  | { readonly status: number; readonly json: string }
  /** A reply that the handler wrote itself. */
  | { readonly raw: RawReply }
  | { readonly refusal: Refusal };

/** Nothing was done here. */
export interface NothingDone {
  readonly elsewhere: Elsewhere;
}

export function httpReply(outcome: Outcome, facts: ReplyFacts, about: { log: Log; operation: string }): Reply {
  if ('refusal' in outcome) return refusedReply(outcome.refusal, facts);
  const headers = replyHeaders(facts);
  if ('raw' in outcome) return rawReply(outcome.raw, headers, { ...about, requestId: facts.requestId });
  const { status } = outcome;
  const json = 'json' in outcome ? outcome.json : JSON.stringify(outcome.value);
  if (json === undefined) return { status, headers, body: undefined };
  headers['Content-Type'] = 'application/json; charset=utf-8';
  return { status, headers, body: json };
}

/** Writes the reply to a request over HTTP now; httpReply then only adds the headers. */
export function written(outcome: Outcome): Outcome {
  if (!('value' in outcome) || outcome.value === undefined) return outcome;
  return { status: outcome.status, json: JSON.stringify(outcome.value) };
}

/** A refusal in the error format of its area. */
export function refusedReply(refusal: Refusal, facts: ReplyFacts, shape = shapeAt(facts.head.path)): Reply {
  const headers = replyHeaders(facts);
  headers['Content-Type'] = `${shape.contentType}; charset=utf-8`;
  Object.assign(headers, shape.headers);
  const retryAfter = retryAfterOf(refusal);
  if (retryAfter !== undefined) headers['Retry-After'] = String(retryAfter);
  if (refusal.status === 401) headers['WWW-Authenticate'] = 'Bearer';
  return { status: refusal.status, headers, body: shape.write(refusal) };
}

export function frameReply(outcome: Outcome): { readonly status: number; readonly body: unknown } {
  if ('refusal' in outcome) return { status: outcome.refusal.status, body: errorBody(outcome.refusal) };
  if ('raw' in outcome) return { status: outcome.raw.status, body: null };
  return { status: outcome.status, body: ('json' in outcome ? JSON.parse(outcome.json) : outcome.value) ?? null };
}

interface Logging {
  readonly log: Log;
  readonly operation: string;
  readonly requestId: string;
}

function rawReply({ status, headers: own, body }: RawReply, headers: Record<string, string>, about: Logging): Reply {
  const reply = { status, headers: { ...headers, ...own } };
  if (typeof body !== 'object' || body instanceof Uint8Array) return { ...reply, body };
  return { ...reply, body: 'parts' in body ? { ...body, parts: logged(body.parts, about) } : logged(body, about) };
}

/** A failure after the first part can no longer be answered with an error. */
async function* logged<Part>(parts: AsyncIterable<Part>, { log, ...about }: Logging): AsyncGenerator<Part> {
  try {
    yield* parts;
  } catch (error) {
    log.error({ ...about, err: error }, 'a streamed reply failed before its end');
    throw error;
  }
}

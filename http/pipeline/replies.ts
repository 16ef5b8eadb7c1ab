// Turns the result or the error of a handler into a reply. The only place where an unexpected error becomes a 500 and
// its cause is logged.

import { DirectoryUnavailable } from '../../engine/directory/directory-file.ts';
import { Refusal, refusals, type Slug, wordOf } from '../../engine/errors.ts';
import { WorkspaceUnavailable } from '../../engine/runtime/engine.ts';
import { CommitFailed, LaneFull, Voided } from '../../engine/runtime/lane.ts';
import type { Log } from '../../engine/runtime/log.ts';
import { isElsewhere, NotServed } from '../../engine/runtime/placement.ts';
import { isStorageFailure } from '../../store/database.ts';
import { Unavailable } from '../../workers/failures.ts';
import type { LogThrottle } from '../process/log-throttle.ts';

export interface ErrorBody {
  readonly statusCode: number;
  readonly error: string;
  readonly message: string;
  readonly detail?: object;
  readonly retryAfter?: number;
}

export function rateRefusal(retryAfter: number, message: string = refusals.rate_limited.message): Refusal {
  return new Refusal('rate_limited', message, undefined, { retryAfter });
}

/** Seconds until a client may retry after a lack of resources. */
export const unavailableRetrySeconds = 1;

/**
 * Failures of a resource, not of the request: a retry may succeed, for a missing key after the operator has restored
 * it.
 */
const unavailable = [
  CommitFailed,
  DirectoryUnavailable,
  LaneFull,
  Voided,
  WorkspaceUnavailable,
  NotServed,
  Unavailable,
] as const;

/** `throttle` limits lines that a flood would repeat. */
export function refusalOf(
  error: unknown,
  context: { log: Log; throttle: LogThrottle; requestId: string; operation: string },
): Refusal {
  if (error instanceof Refusal) {
    if (error.cause !== undefined)
      context.log.error(
        { requestId: context.requestId, operation: context.operation, err: error.cause },
        `refused with ${error.slug}`,
      );
    return error;
  }
  const slug = slugOf(error);
  const { requestId, operation } = context;
  // Not a fault: the queue is full, or the workspace is between two nodes.
  if (isPassing(error)) {
    const times = context.throttle.count(error.name);
    if (times !== undefined) context.log.warn({ operation, times }, `refused for the moment: ${error.message}`);
    return new Refusal(slug, whyNotServed(error) ?? refusals[slug].message, undefined);
  }
  context.log.error(
    { requestId, operation, err: error },
    slug === 'server_error' ? 'a request failed with an unexpected error' : 'a request failed',
  );
  return new Refusal(slug, refusals[slug].message, undefined);
}

/** What asks for the directory gets the reason as a cause. */
function whyNotServed(error: Error): string | undefined {
  return [error, error.cause].find((one) => one instanceof NotServed)?.why;
}

function isPassing(error: unknown): error is Error {
  if (error instanceof Unavailable) return error.isOverload;
  return (
    isElsewhere(error) || [DirectoryUnavailable, LaneFull, Voided, NotServed].some((kind) => error instanceof kind)
  );
}

function slugOf(error: unknown): Slug {
  if (error instanceof Unavailable && error.isEmbedding) return 'embedding_unavailable';
  const isUnavailable =
    isElsewhere(error) || unavailable.some((kind) => error instanceof kind) || isStorageFailure(error);
  return isUnavailable ? 'service_unavailable' : 'server_error';
}

export function errorBody(refusal: Refusal): ErrorBody {
  return {
    statusCode: refusal.status,
    error: wordOf(refusal.slug),
    message: refusal.message,
    ...(refusal.detail === undefined ? {} : { detail: refusal.detail }),
    ...(refusal.retryAfter === undefined ? {} : { retryAfter: refusal.retryAfter }),
  };
}

/** Seconds for the Retry-After header, when there is one. */
export function retryAfterOf(refusal: Refusal): number | undefined {
  return refusal.retryAfter ?? (refusal.status === 503 ? unavailableRetrySeconds : undefined);
}

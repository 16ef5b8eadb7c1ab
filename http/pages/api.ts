// How the pages ask the service: one function, JSON in and out, with the token of who signed in. Every failure is an
// ApiError that says what a person can do with it. A call that the rate limit refused has not happened, so it is made
// again after the pause that the service names; anything else is never repeated here, since what was sent may have been
// done.

import { signal } from '@preact/signals';
import { onWindow, type Stop } from './subscriptions.ts';

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | null | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export class ApiError extends Error {
  /** 0 when no answer came: what was asked may have been done. */
  readonly status: number;
  /** The stable word to branch on; `unreachable` without an answer. */
  readonly slug: string;
  /** Messages by path of the body or the query: `{"password": ["is too short"]}`. */
  readonly fieldErrors: Readonly<Record<string, readonly string[]>>;
  readonly detail: Readonly<Record<string, unknown>>;

  constructor(status: number, slug: string, message: string, detail: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.slug = slug;
    this.detail = detail;
    const fields = detail['fieldErrors'];
    // As decisions, Errors, says; whatever else comes is shown as nothing.
    this.fieldErrors =
      typeof fields === 'object' && fields !== null ? (fields as Record<string, readonly string[]>) : {};
  }
}

/** A wrong password is no reason to be signed out. */
const signedOutSlugs: ReadonlySet<string> = new Set(['unauthorized', 'token_revoked']);
const tokenKey = 'switchboard.token';
const timeoutMs = 20_000;
const maxAttempts = 3;
const jitterMs = 250;

/** Of who signed in on this browser; null when nobody is. The same in every tab. */
export const token = signal<string | null>(readToken());

function readToken(): string | null {
  try {
    return localStorage.getItem(tokenKey);
  } catch {
    // A browser that keeps nothing: signed in for as long as the page is open.
    return null;
  }
}

/** Takes over sign-ins and sign-outs of other tabs. */
export function startTokenSharing(): Stop {
  return onWindow('storage', ({ key, newValue }) => {
    if (key === tokenKey) token.value = newValue;
  });
}

export function keepToken(value: string | null): void {
  token.value = value;
  try {
    if (value === null) localStorage.removeItem(tokenKey);
    else localStorage.setItem(tokenKey, value);
  } catch {
    // As above.
    return;
  }
}

/** `path` is below /api/v1. Rejects with ApiError alone, or with an AbortError when `signal` says so. */
export async function call<Answer = unknown>(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const asking = token.peek();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask<Answer>(method, path, options);
    } catch (error) {
      const pause = error instanceof ApiError && error.status === 429 ? error.detail['retryAfter'] : undefined;
      if (typeof pause !== 'number' || pause > 10 || attempt === maxAttempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause * 1000 + 50 + Math.random() * jitterMs));
      // What one agent asked for is not done as another, who signed in meanwhile.
      if (token.peek() !== asking) throw error;
    }
  }
}

async function ask<Answer>(
  method: string,
  path: string,
  { query = {}, body, signal: given }: CallOptions,
): Promise<Answer> {
  const url = new URL(`/api/v1${path}`, location.origin);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null && value !== '') url.searchParams.set(name, String(value));
  const sentToken = token.value;
  const timeout = AbortSignal.timeout(timeoutMs);
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method,
      headers: {
        Accept: 'application/json',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(sentToken === null ? {} : { Authorization: `Bearer ${sentToken}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: given === undefined ? timeout : AbortSignal.any([given, timeout]),
      cache: 'no-store',
      credentials: 'omit',
    });
    text = await response.text();
  } catch (error) {
    if (given?.aborted === true) throw error;
    throw new ApiError(
      0,
      'unreachable',
      timeout.aborted
        ? 'The server took too long to respond.'
        : 'The server cannot be reached. Check your connection and try again.',
    );
  }
  const answer = parse(text);
  if (response.ok) return answer as Answer;
  const {
    error = 'server_error',
    message,
    detail,
    details,
    retryAfter,
  } = (answer ?? {}) as {
    error?: string;
    message?: string;
    detail?: Record<string, unknown>;
    details?: Record<string, readonly string[]>;
    retryAfter?: number;
  };
  // The sign-in is over: whoever shows a page is led to sign in again, and back.
  if (signedOutSlugs.has(error) && sentToken !== null && sentToken === token.value) keepToken(null);
  // The verification area words its errors in its own way: fields under `details`, and often no sentence.
  const sentence =
    message ??
    (details === undefined ? `The server answered ${response.status}.` : 'Some of what you entered is not valid.');
  throw new ApiError(response.status, error, sentence, {
    ...detail,
    ...(details === undefined ? {} : { fieldErrors: details }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What went wrong, for a person. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'Something went wrong.';
}

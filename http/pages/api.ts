// How the pages call the API: one function, JSON or a file in and out, with the agent's token. Every failure is an ApiError whose
// message helps a reader. A call that the rate limit refused is repeated after the pause that the server names. Nothing
// else is repeated here, since the server may have done it.

import { signal } from '@preact/signals';
import { ApiError } from './api-error.ts';
import { onWindow, type Stop } from './subscriptions.ts';

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | null | undefined>>;
  readonly body?: unknown;
  /** Instead of `body`: a file, or a part of one. */
  readonly bytes?: Blob;
  readonly signal?: AbortSignal;
  /** The answer is a file: a Blob. */
  readonly asFile?: boolean;
  /** 20 seconds by default. */
  readonly timeoutMs?: number;
  /** The longest pause that is waited for after the rate limit, 10 seconds by default. */
  readonly maxPauseMs?: number;
}

/** Other refusals with status 401, such as a wrong password, do not end the session. */
const signedOutSlugs: ReadonlySet<string> = new Set(['unauthorized', 'token_revoked']);
const tokenKey = 'switchboard.token';
const defaultTimeoutMs = 20_000;
const defaultMaxPauseMs = 10_000;
const maxAttempts = 3;
const jitterMs = 250;

/** The session's token, the same in every tab; null if no one is signed in. */
export const token = signal<string | null>(readToken());

function readToken(): string | null {
  try {
    return localStorage.getItem(tokenKey);
  } catch {
    // Without storage the session lasts as long as the page.
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

/** `path` is below /api/v1. Rejects with ApiError, or with AbortError if `signal` is aborted. */
export async function call<Answer = unknown>(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const asking = token.peek();
  const { maxPauseMs = defaultMaxPauseMs } = options;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask<Answer>(method, path, options);
    } catch (error) {
      const pause = error instanceof ApiError && error.status === 429 ? error.detail['retryAfter'] : undefined;
      if (typeof pause !== 'number' || pause * 1000 > maxPauseMs || attempt === maxAttempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause * 1000 + 50 + Math.random() * jitterMs));
      // Another agent may have signed in during the pause.
      if (token.peek() !== asking) throw error;
    }
  }
}

async function ask<Answer>(
  method: string,
  path: string,
  { query = {}, body, bytes, signal: given, asFile = false, timeoutMs = defaultTimeoutMs }: CallOptions,
): Promise<Answer> {
  const url = new URL(`/api/v1${path}`, location.origin);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null && value !== '') url.searchParams.set(name, String(value));
  const sentToken = token.value;
  const sent: { type: string; body: BodyInit } | undefined =
    bytes !== undefined
      ? { type: 'application/octet-stream', body: bytes }
      : body === undefined
        ? undefined
        : { type: 'application/json', body: JSON.stringify(body) };
  const timeout = AbortSignal.timeout(timeoutMs);
  let response: Response;
  let text = '';
  let file: Blob | undefined;
  try {
    response = await fetch(url, {
      method,
      headers: {
        Accept: asFile ? '*/*' : 'application/json',
        ...(sent === undefined ? {} : { 'Content-Type': sent.type }),
        ...(sentToken === null ? {} : { Authorization: `Bearer ${sentToken}` }),
      },
      ...(sent === undefined ? {} : { body: sent.body }),
      signal: given === undefined ? timeout : AbortSignal.any([given, timeout]),
      cache: 'no-store',
      credentials: 'omit',
    });
    if (asFile && response.ok) file = await response.blob();
    else text = await response.text();
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
  if (file !== undefined) return file as Answer;
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
  // The session has ended: the app leads to the sign-in page, and back after it.
  if (signedOutSlugs.has(error) && sentToken !== null && sentToken === token.value) keepToken(null);
  // The verification API has its own form of errors: fields under `details`, and often no message.
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

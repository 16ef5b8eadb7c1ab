// The body of an error: one shape for the whole service, and the few areas that have their own. Chosen by path, so that
// errors before routing have the shape of their area too. Specification 7, decisions "Verification", "4.2 OAuth".

import { type Refusal, type Slug, wordOf } from '../../engine/errors.ts';
import { consentRefusedPage } from '../browser/consent-page.ts';
import { missingHelpPage, missingPage, refusedPage } from '../browser/missing-page.ts';
import { errorBody } from './replies.ts';

export interface ErrorShape {
  /** The name of its schema in the OpenAPI document; undefined for a page. */
  readonly name: 'Error' | 'VerificationError' | 'OAuthError' | undefined;
  readonly contentType: 'application/json' | 'text/html';
  /** Beside its type. */
  readonly headers?: Readonly<Record<string, string>>;
  word(slug: Slug): string;
  write(refusal: Refusal): string;
}

const usual: ErrorShape = {
  name: 'Error',
  contentType: 'application/json',
  word: wordOf,
  write: (refusal) => JSON.stringify(errorBody(refusal)),
};
/** `{error, ...}` without a statusCode. */
const verification: ErrorShape = {
  name: 'VerificationError',
  contentType: 'application/json',
  word: wordOf,
  write: (refusal) => JSON.stringify(verificationBody(refusal)),
};
/** RFC 6749 §5.2, also for errors that it does not name. */
const oauth: ErrorShape = {
  name: 'OAuthError',
  contentType: 'application/json',
  word: oauthWordOf,
  write: ({ slug, message }) => JSON.stringify({ error: oauthWordOf(slug), error_description: message }),
};
/** HTML pages that load nothing. */
const pageHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
};
/** These addresses are opened by people in browsers. */
const consent: ErrorShape = {
  name: undefined,
  contentType: 'text/html',
  headers: pageHeaders,
  word: wordOf,
  write: ({ message }) => consentRefusedPage(message),
};
const missing: ErrorShape = {
  name: undefined,
  contentType: 'text/html',
  headers: pageHeaders,
  word: wordOf,
  write: () => missingPage,
};

/** The help centre, which customers open. */
const help: ErrorShape = {
  ...missing,
  write: ({ slug, message }) => (slug === 'not_found' ? missingHelpPage : refusedPage(message)),
};

/** Longer paths first. */
const areas: readonly { readonly path: string; readonly shape: ErrorShape }[] = [
  { path: '/api/v1/verify', shape: verification },
  { path: '/oauth/authorize', shape: consent },
  { path: '/oauth', shape: oauth },
  { path: '/help', shape: help },
];

export function shapeAt(path: string): ErrorShape {
  return areas.find((area) => path === area.path || path.startsWith(`${area.path}/`))?.shape ?? usual;
}

/** For unknown addresses: a browser that navigates accepts HTML explicitly, and JSON would not help its user. */
export function shapeOfNothing({
  path,
  accept,
}: {
  readonly path: string;
  readonly accept: string | undefined;
}): ErrorShape {
  return accept?.includes('text/html') === true && !path.startsWith('/api/') ? missing : shapeAt(path);
}

/** Without a message: the specification gives these bodies field by field (section 7). */
const wordless: ReadonlySet<string> = new Set(['not_found', 'channel_not_available', 'validation_error']);

function oauthWordOf(slug: Slug): string {
  return slug === 'invalid_body' || slug === 'invalid_query' ? 'invalid_request' : wordOf(slug);
}

function verificationBody(refusal: Refusal): object {
  const { fieldErrors, ...rest }: { fieldErrors?: object; verified?: boolean } = refusal.detail ?? {};
  // A check of an unknown id is answered like its other outcomes.
  if (rest.verified !== undefined) return rest;
  const { slug, message, retryAfter } = refusal;
  return {
    error: wordOf(slug),
    ...(wordless.has(slug) ? {} : { message }),
    ...(fieldErrors === undefined ? {} : { details: fieldErrors }),
    ...rest,
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}

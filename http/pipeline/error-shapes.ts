// How a refusal is worded on its way out: one shape for the whole service, and the few areas that have their own. By
// path, so that what is refused before a route is known is worded as its area words it too. Specification 7, decisions
// "Verification", "4.2 OAuth".

import { type Refusal, type Slug, wordOf } from '../../engine/errors.ts';
import { consentRefusedPage } from '../browser/consent-page.ts';
import { missingPage } from '../browser/missing-page.ts';
import { errorBody } from './replies.ts';

export interface ErrorShape {
  /** Of its schema in the OpenAPI document; undefined for a page. */
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
/** RFC 6749 §5.2, also for what it does not name. */
const oauth: ErrorShape = {
  name: 'OAuthError',
  contentType: 'application/json',
  word: oauthWordOf,
  write: ({ slug, message }) => JSON.stringify({ error: oauthWordOf(slug), error_description: message }),
};
/** Plain pages that load nothing. */
const pageHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
};
/** Whoever is here is a person with a browser. */
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

/** The longer path first. */
const areas: readonly { readonly path: string; readonly shape: ErrorShape }[] = [
  { path: '/api/v1/verify', shape: verification },
  { path: '/oauth/authorize', shape: consent },
  { path: '/oauth', shape: oauth },
];

export function shapeAt(path: string): ErrorShape {
  return areas.find((area) => path === area.path || path.startsWith(`${area.path}/`))?.shape ?? usual;
}

/** Where no route is: browsers ask for HTML by name when a person goes somewhere, and nobody is helped by JSON then. */
export function shapeOfNothing({
  path,
  accept,
}: {
  readonly path: string;
  readonly accept: string | undefined;
}): ErrorShape {
  return accept?.includes('text/html') === true && !path.startsWith('/api/') ? missing : shapeAt(path);
}

/** Shown without a sentence: their bodies are given field by field (specification 7). */
const wordless: ReadonlySet<string> = new Set(['not_found', 'channel_not_available', 'validation_error']);

function oauthWordOf(slug: Slug): string {
  return slug === 'invalid_body' || slug === 'invalid_query' ? 'invalid_request' : wordOf(slug);
}

function verificationBody(refusal: Refusal): object {
  const { fieldErrors, ...rest }: { fieldErrors?: object; verified?: boolean } = refusal.detail ?? {};
  // The check of an unknown id is worded as its other outcomes are.
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

// The input of a request: path, query and body, from HTTP or from a socket frame, validated by the route's schemas. A
// handler sees only what its route declares. Used only by the pipeline.

import { type FieldErrors, refuse, refuseField, refuseFields, type Slug } from '../../engine/errors.ts';
import type { RequestHead } from '../request.ts';
import type { Route } from '../route.ts';
import { requireFormType, requireJsonType } from './headers.ts';
import { JsonTooIntricate, parseJson } from './json.ts';
import { coercingValidator, strictValidator, unknownFieldsOf, type Validate } from './validation.ts';
import { canonicalForm } from './value-forms.ts';

export interface Parts {
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
}

/** How one route reads and validates its input. */
export interface PartsReader {
  readonly paramNames: readonly string[];
  readonly queryNames: readonly string[];
  readonly validateParams: Validate | undefined;
  readonly validateQuery: Validate | undefined;
  readonly validateBody: Validate | undefined;
  /** Removes fields that the route does not declare (decisions, "Unknown body fields"). */
  readonly dropUnknown: ((body: unknown) => void) | undefined;
  /** Normalise names, subjects and ids. */
  readonly formParams: ((params: unknown) => unknown) | undefined;
  readonly formQuery: ((query: unknown) => unknown) | undefined;
  readonly formBody: ((body: unknown) => unknown) | undefined;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

export function partsReader(route: Route): PartsReader {
  return {
    paramNames: namesOf(route.params),
    queryNames: namesOf(route.query),
    validateParams: route.params && coercingValidator(route.params),
    validateQuery: route.query && coercingValidator(route.query),
    validateBody: route.body && strictValidator(route.body),
    dropUnknown: route.body && unknownFieldsOf(route.body),
    formParams: route.params && canonicalForm(route.params),
    formQuery: route.query && canonicalForm(route.query),
    formBody: route.body && canonicalForm(route.body),
  };
}

function namesOf(schema: unknown): readonly string[] {
  // Parameters and queries are declared as objects, whose `properties` TypeBox keeps as JSON Schema does.
  const properties = (schema as { properties?: object } | undefined)?.properties;
  return properties === undefined ? [] : Object.keys(properties);
}

/**
 * Refuses invalid_body for anything but JSON with a JSON Content-Type. A signed body is not parsed here, because its
 * signature is verified first.
 */
export function bodyOf(route: Route, head: RequestHead, bytes: Uint8Array): unknown {
  if (route.rawBody !== undefined || route.access.kind === 'signed') return undefined;
  if (route.anyHeaders === true && route.body === undefined) return bytes;
  if (bytes.length === 0) return undefined;
  if (route.form === true) return formOf(head, bytes);
  if (route.anyHeaders === undefined) requireJsonType(head);
  return jsonIn(bytes);
}

/** Refuses invalid_body. */
export function jsonIn(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    refuseField('invalid_body', 'body', error instanceof JsonTooIntricate ? error.message : 'must be JSON');
  }
}

/** An empty value counts as absent; a repeated one is a list, which no form schema accepts (RFC 6749 §3.2). */
function formOf(head: RequestHead, bytes: Uint8Array): unknown {
  requireFormType(head);
  const form: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(utf8Text(bytes))) {
    if (value !== '') form[name] = Object.hasOwn(form, name) ? [form[name], value] : value;
  }
  return form;
}

function utf8Text(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    refuseField('invalid_body', 'body', 'must be UTF-8');
  }
}

/** A repeated name is a list. */
export function queryOf(reader: PartsReader, text: string): Record<string, unknown> {
  if (text === '') return {};
  const query: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    if (!reader.queryNames.includes(name)) continue;
    const present = query[name];
    if (present === undefined) query[name] = value;
    else if (Array.isArray(present)) present.push(value);
    else query[name] = [present, value];
  }
  return query;
}

/**
 * A socket call has path, query and body fields in one object; each goes where the route declares it, the rest into the
 * body.
 */
export function partsOfFrame(reader: PartsReader, given: Record<string, unknown>): Parts {
  const parts: Parts = { params: {}, query: {}, body: undefined };
  const body: [string, unknown][] = [];
  for (const [name, value] of Object.entries(given)) {
    if (reader.paramNames.includes(name)) parts.params[name] = value;
    else if (reader.queryNames.includes(name)) parts.query[name] = value;
    else body.push([name, value]);
  }
  if (reader.validateBody !== undefined) parts.body = Object.fromEntries(body);
  return parts;
}

/** Refuses not_found for a path, invalid_query, and invalid_body or the area's own slug. Names every invalid field. */
export function requireSound(
  reader: PartsReader,
  parts: Parts,
  slugs: { readonly query: Slug; readonly body: Slug },
): void {
  // A malformed id names nothing (decisions, "Errors").
  if (reader.validateParams?.(parts.params) !== undefined) refuse('not_found');
  reader.formParams?.(parts.params);
  refuseWith(slugs.query, reader.validateQuery?.(parts.query));
  reader.formQuery?.(parts.query);
  if (reader.validateBody === undefined) return;
  // No body counts as an empty object; null is a body, and not an object.
  if (parts.body === undefined) parts.body = {};
  refuseWith(slugs.body, reader.validateBody(parts.body));
  reader.dropUnknown?.(parts.body);
  if (reader.formBody !== undefined) parts.body = reader.formBody(parts.body);
}

function refuseWith(slug: Slug, fieldErrors: FieldErrors | undefined): void {
  if (fieldErrors !== undefined) refuseFields(slug, fieldErrors);
}

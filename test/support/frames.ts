// Validates socket frames by the AsyncAPI document: every frame must be declared for its namespace, with the declared
// fields and no others. An internal field that leaks fails the test it occurs in.

import type { TSchema } from 'typebox';
import { asyncApi } from '../../http/documents/asyncapi.ts';
import { strictValidator, type Validate } from '../../http/pipeline/validation.ts';

type Channels = Record<string, { messages: Record<string, { payload: TSchema }> }>;

// The payloads do not depend on the routes, which the document only lists.
const { channels } = asyncApi([], { baseUrl: 'http://switchboard.test', version: '' }) as unknown as {
  channels: Channels;
};
const validators = new Map<string, Validate>();

/** The problem with a frame of the server, or undefined. */
export function problemOf(
  namespace: string,
  frame: { readonly type?: unknown; readonly [field: string]: unknown },
): string | undefined {
  const key = `server.${String(frame.type)}`;
  const payload = channels[namespace]?.messages[key]?.payload;
  if (payload === undefined) return `the document has no ${key} in ${namespace}`;
  let validate = validators.get(`${namespace} ${key}`);
  if (validate === undefined) {
    validate = strictValidator(closed(payload));
    validators.set(`${namespace} ${key}`, validate);
  }
  const errors = validate(frame);
  return errors === undefined ? undefined : `${key} in ${namespace}: ${JSON.stringify(errors)}`;
}

/** The same schema without additional properties. An object without declared properties stays open. */
export function closed(schema: TSchema): TSchema {
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) copy[key] = closedValue(key, value);
  const names = Object.keys((schema as { properties?: object }).properties ?? {});
  if (names.length > 0) copy['additionalProperties'] = false;
  return copy as TSchema;
}

function closedValue(key: string, value: unknown): unknown {
  if (key === 'properties')
    return Object.fromEntries(
      Object.entries(value as Record<string, TSchema>).map(([name, property]) => [name, closed(property)]),
    );
  if (key === 'items') return closed(value as TSchema);
  if (key === 'anyOf') return (value as TSchema[]).map(closed);
  return value;
}

// The OpenAPI 3.1 document, generated only from the routes and the catalogue of refusals. A test compares it with both.
// Records are named, so that generated clients have one type for each. Web pages are left out.

import type { TSchema } from 'typebox';
import { refusals, type Slug } from '../../engine/errors.ts';
import { scopeNames, scopes } from '../../engine/rights/scopes.ts';
import { slugsOf } from '../pipeline/compiled-route.ts';
import { shapeAt } from '../pipeline/error-shapes.ts';
import { fullPath, type OtherReply, type Route } from '../route.ts';
import { statusText } from '../status-text.ts';
import { exampleOf } from './examples.ts';
import { SchemaNames } from './named-schemas.ts';
import { tagTexts } from './route-tags.ts';

type Json = Record<string, unknown>;
/** By media type. */
type Content = Record<string, { schema: object; example?: unknown }>;

const jsonType = 'application/json';

/** A web page, which programs do not call. */
export const pagesTag = 'Pages';

export function openApi(
  everyRoute: readonly Route[],
  options: { baseUrl: string; version: string; withPages?: boolean },
): Json {
  const routes = options.withPages === true ? everyRoute : everyRoute.filter(({ tag }) => tag !== pagesTag);
  const paths: Record<string, Json> = {};
  const names = new SchemaNames();
  const operations = routes.map((route) => operationOf(route, names));
  const responses = shareResponses(operations);
  for (const [index, route] of routes.entries()) {
    const path = fullPath(route);
    const item = (paths[path] ??= {});
    item[route.method.toLowerCase()] = operations[index];
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Switchboard',
      version: options.version,
      description:
        'Chats, ' +
        'tickets and calls of many workspaces in one process. Live updates are sent over the sockets that /api/v1/asyncapi.json describes.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: options.baseUrl }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name, description: tagTexts[name] })),
    paths,
    components: {
      securitySchemes: securitySchemes(options),
      parameters: { ServiceVersion: serviceVersion, RequestId: requestId },
      headers,
      responses,
      schemas: {
        ...names.components(),
        Error: errorSchema,
        FieldErrors: fieldErrorsSchema,
        VerificationError: verificationErrorSchema,
        OAuthError: oauthErrorSchema,
      },
    },
  };
}

function securitySchemes({ baseUrl }: { baseUrl: string }): Json {
  return {
    workspaceToken: {
      type: 'http',
      scheme: 'bearer',
      description: 'From register, login, join or reset-password.',
    },
    apiKey: {
      type: 'http',
      scheme: 'bearer',
      description:
        'sk_live_... or sk_test_..., limited to its scopes. ' +
        "A route's requirements are its x-scope (or x-or-scope) and x-also-scopes; null requires a key with the scope `*`. " +
        'Members of a reply that require another scope are marked x-scope, and omitted without it. ' +
        'A test key only opens /verify.',
    },
    appToken: {
      type: 'oauth2',
      description:
        'For apps: access tokens from /oauth/token, limited to what the agent allowed. ' +
        "A route's requirements are its x-scope (or x-or-scope) and x-also-scopes; " +
        'members of a reply that require another scope are marked x-scope, and omitted without it.',
      flows: {
        authorizationCode: {
          authorizationUrl: `${baseUrl}/oauth/authorize`,
          tokenUrl: `${baseUrl}/oauth/token`,
          refreshUrl: `${baseUrl}/oauth/token`,
          scopes: Object.fromEntries(
            scopeNames.filter((name) => scopes[name].forApps).map((name) => [name, scopes[name].summary]),
          ),
        },
      },
    },
    visitorToken: { type: 'http', scheme: 'bearer', description: 'From widget/sessions.' },
    signature: {
      type: 'apiKey',
      in: 'header',
      name: 'X-Signature',
      description: "sha256=<hex>: HMAC-SHA256 of the raw body with the workspace's secret from workspace/integrations.",
    },
  };
}

const errorSchema = {
  type: 'object',
  required: ['statusCode', 'error', 'message'],
  properties: {
    statusCode: { type: 'integer' },
    error: { type: 'string', description: 'Branch on this.' },
    message: { type: 'string' },
    detail: {
      type: 'object',
      description: 'Details, depending on the error.',
      properties: {
        fieldErrors: { $ref: '#/components/schemas/FieldErrors' },
        currentVersion: { type: 'integer', description: 'The stale record.' },
        reason: {
          type: 'string',
          description: 'Why the call was lost: already_claimed, call_ended, agent_busy or stale_version.',
        },
        scope: { type: 'string', description: 'The scope that the key or app lacks.' },
        assignedAgentId: { type: 'string', format: 'uuid', description: 'The current assignee.' },
      },
      additionalProperties: true,
    },
    retryAfter: { type: 'integer', description: 'Seconds; with 429.' },
  },
} as const;

const fieldErrorsSchema = {
  type: 'object',
  description: 'Problems by field path.',
  additionalProperties: { type: 'array', items: { type: 'string' } },
} as const;

/**
 * Specification 7: the verification API has its own error shape. The check of an unknown id has the shape of its other
 * outcomes.
 */
const verificationErrorSchema = {
  type: 'object',
  properties: {
    error: { type: 'string', description: 'Branch on this.' },
    message: { type: 'string' },
    details: { $ref: '#/components/schemas/FieldErrors' },
    channel: { type: 'string' },
    scope: { type: 'string', description: 'The exceeded limit, or the missing scope.' },
    retryAfter: { type: 'integer', description: 'Seconds; with 429.' },
    id: { type: 'string', description: 'For a check, instead of `error`.' },
    verified: { type: 'boolean', description: 'For a check: false.' },
    reason: { type: 'string', description: 'For a check: not_found.' },
  },
} as const;

/** RFC 6749 §5.2. */
const oauthErrorSchema = {
  type: 'object',
  required: ['error'],
  properties: { error: { type: 'string' }, error_description: { type: 'string' } },
} as const;

const requestIdSchema = { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' } as const;
/** Any text: a malformed one is replaced by a generated id. */
const sentRequestIdSchema = { type: 'string' } as const;
const serviceVersion = {
  name: 'Service-Version',
  in: 'header',
  required: false,
  description: "Pins the API's behaviour to that date (YYYY-MM-DD). Default: the latest.",
  schema: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$' },
} as const;
const requestId = {
  name: 'X-Request-Id',
  in: 'header',
  required: false,
  description: 'Your id for this request; generated if omitted or malformed.',
  schema: sentRequestIdSchema,
} as const;

/** Headers of replies. */
const headers = {
  'X-Request-Id': { description: 'Quote it when you ask about this request.', schema: requestIdSchema },
  'Service-Version': {
    description: 'The API version in effect.',
    schema: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$' },
  },
  'RateLimit-Limit': { description: "The caller's requests per minute.", schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'Requests left.', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until the budget is full again.', schema: { type: 'integer' } },
  'App-RateLimit-Limit': {
    description:
      "With an app's token: the app's requests per minute. RateLimit-* describe the budget that all apps of the workspace share.",
    schema: { type: 'integer' },
  },
  'App-RateLimit-Remaining': { description: 'Requests left.', schema: { type: 'integer' } },
  'App-RateLimit-Reset': { description: 'Seconds until the budget is full again.', schema: { type: 'integer' } },
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer' } },
  Sunset: { description: 'When this route will be removed (RFC 8594).', schema: { type: 'string' } },
} as const;

function headersOf(route: Route, status: number): Json {
  const names: (keyof typeof headers)[] = ['X-Request-Id', 'Service-Version'];
  if (route.access.kind !== 'public' && status !== 401)
    names.push('RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset');
  if (route.access.kind === 'agent' && status !== 401)
    names.push('App-RateLimit-Limit', 'App-RateLimit-Remaining', 'App-RateLimit-Reset');
  if (status === 429 || status === 503) names.push('Retry-After');
  if (route.sunset !== undefined) names.push('Sunset');
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

interface Operation extends Json {
  readonly responses: Record<string, object>;
}

/** Replies that many operations share are defined once and referred to. Returns them by name. */
function shareResponses(operations: readonly Operation[]): Json {
  const counts = new Map<string, number>();
  for (const { responses } of operations)
    for (const response of Object.values(responses))
      counts.set(JSON.stringify(response), (counts.get(JSON.stringify(response)) ?? 0) + 1);
  const names = new Map<string, string>();
  const shared: Json = {};
  for (const { responses } of operations) {
    for (const [status, response] of Object.entries(responses)) {
      const text = JSON.stringify(response);
      if (Number(status) < 400 || (counts.get(text) ?? 0) < 2) continue;
      const name = names.get(text) ?? nameFor(status, shared);
      names.set(text, name);
      shared[name] = response;
      responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  return shared;
}

/** Such as `NotFound`, and `NotFound2` for another reply with that status. */
function nameFor(status: string, taken: Json): string {
  const name = (statusText(status) || status).replaceAll(/[^A-Za-z]/g, '');
  let count = 1;
  while (Object.hasOwn(taken, count === 1 ? name : `${name}${count}`)) count += 1;
  return count === 1 ? name : `${name}${count}`;
}

function operationOf(route: Route, names: SchemaNames): Operation {
  const { access, reply } = route;
  const errors = errorsOf(route, names);
  return {
    operationId: route.operation,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(route.sunset === undefined ? {} : { deprecated: true }),
    security: securityOf(access),
    ...(access.kind === 'agent'
      ? {
          'x-scope': access.scope,
          ...(access.or === undefined ? {} : { 'x-or-scope': access.or }),
          ...(access.also === undefined ? {} : { 'x-also-scopes': access.also }),
          'x-role': access.role ?? 'any',
          ...(access.feature === undefined ? {} : { 'x-feature': access.feature }),
        }
      : {}),
    ...(route.limit === undefined ? {} : { 'x-rate-limit': route.limit }),
    'x-socket-method':
      (access.kind === 'agent' || access.kind === 'visitor') &&
      route.httpOnly !== true &&
      route.send === undefined &&
      route.receive === undefined,
    parameters: [
      ...parametersOf(route.params, 'path', names),
      ...parametersOf(route.query, 'query', names),
      ...['ServiceVersion', 'RequestId'].map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    ...(route.rawBody === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { [route.rawBody.contentType]: { schema: names.refer(route.rawBody.schema) } },
          },
        }),
    ...(route.receive === undefined
      ? {}
      : { requestBody: { required: true, content: { '*/*': { schema: { type: 'string', format: 'binary' } } } } }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: hasRequired(route.body),
            content: {
              [route.form === true ? 'application/x-www-form-urlencoded' : jsonType]: {
                schema: names.refer(route.body),
                example: exampleOf(route.body),
              },
            },
          },
        }),
    responses: {
      [reply.status]: {
        description: 'Done.',
        headers: headersOf(route, reply.status),
        ...(reply.schema === null && reply.contentType === undefined ? {} : { content: contentOf(reply, names) }),
      },
      ...errors,
    },
  };
}

function contentOf({ schema, contentType = jsonType }: Route['reply'], names: SchemaNames): Content {
  return Object.fromEntries(
    [contentType]
      .flat()
      .map((type) => [
        type,
        { schema: schema === null ? { type: type === jsonType ? 'object' : 'string' } : names.refer(schema) },
      ]),
  );
}

function securityOf(access: Route['access']): Json[] {
  switch (access.kind) {
    case 'public':
      return [];
    case 'agent':
      if (access.credential === 'person') return [{ workspaceToken: [] }];
      return [
        ...(access.credential === 'key' ? [] : [{ workspaceToken: [] }]),
        { apiKey: [] },
        ...(access.scope !== null && scopes[access.scope].forApps
          ? [access.scope, ...(access.or === undefined ? [] : [access.or])].map((scope) => ({
              appToken: [scope, ...(access.also ?? [])],
            }))
          : []),
      ];
    case 'visitor':
      return [{ visitorToken: [] }];
    case 'signed':
      return [{ signature: [] }];
  }
}

function errorsOf(route: Route, names: SchemaNames): Json {
  const byStatus = new Map<number, Slug[]>();
  for (const slug of slugsOf(route)) {
    const { status } = refusals[slug];
    byStatus.set(status, [...(byStatus.get(status) ?? []), slug]);
  }
  const others: Readonly<Record<number, OtherReply>> = route.otherReplies ?? {};
  const responses: Json = {};
  const { word } = shapeAt(fullPath(route));
  for (const status of [...new Set([...byStatus.keys(), ...Object.keys(others).map(Number)])].sort((a, b) => a - b)) {
    const slugs = byStatus.get(status) ?? [];
    const other = others[status];
    const told = slugs.map((slug) => `\`${word(slug)}\`: ${refusals[slug].message}`);
    const words = [...new Set([...slugs.map(word), ...(other?.errors ?? [])])];
    const content = mergedContent(
      words.length === 0 ? {} : errorContent(route),
      other?.contentType === undefined
        ? {}
        : {
            [other.contentType]: {
              schema: other.schema === undefined ? { type: 'string' } : names.refer(other.schema),
            },
          },
    );
    responses[status] = {
      description: [...told, ...(other === undefined ? [] : [other.description])].join(' '),
      headers: headersOf(route, status),
      ...(Object.keys(content).length === 0 ? {} : { content }),
      // In addition to the one schema of all errors: a type for each would be a thousand.
      ...(words.length === 0 ? {} : { 'x-errors': words }),
    };
  }
  return responses;
}

/** One status may stand for either. */
function mergedContent(one: Content, other: Content): Content {
  const merged: Content = { ...one };
  for (const [type, { schema }] of Object.entries(other)) {
    const present = one[type];
    merged[type] = present === undefined ? { schema } : { schema: { anyOf: [present.schema, schema] } };
  }
  return merged;
}

function errorContent(route: Route): Content {
  const { name, contentType } = shapeAt(fullPath(route));
  return {
    [contentType]: { schema: name === undefined ? { type: 'string' } : { $ref: `#/components/schemas/${name}` } },
  };
}

function parametersOf(schema: TSchema | undefined, place: 'path' | 'query', names: SchemaNames): Json[] {
  // Parameters and queries are declared with Type.Object.
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(property['description'] === undefined ? {} : { description: property['description'] }),
    schema: names.refer(property),
  }));
}

function hasRequired(schema: TSchema): boolean {
  return ((schema as { required?: string[] }).required ?? []).length > 0;
}

// The OpenAPI 3.1 document, made from the routes and the catalogue of refusals alone. A test compares it with both.

import type { TSchema } from 'typebox';
import { refusals, type Slug } from '../engine/errors.ts';
import { slugsOf } from './pipeline.ts';
import { fullPath, type Route } from './route.ts';

type Json = Record<string, unknown>;

export function openApi(routes: readonly Route[], options: { baseUrl: string; version: string }): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = fullPath(route);
    const item = (paths[path] ??= {});
    item[route.method.toLowerCase()] = operationOf(route);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Switchboard',
      version: options.version,
      description: 'Chats, tickets and calls of many workspaces in one process. Live updates come over the sockets that /api/v1/asyncapi.json describes.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: options.baseUrl }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        workspaceToken: { type: 'http', scheme: 'bearer', description: 'From register, login, join or reset-password.' },
        apiKey: { type: 'http', scheme: 'bearer', description: 'sk_live_... or sk_test_..., limited to its scopes. What a route needs is its x-scope; null needs a key for everything.' },
        visitorToken: { type: 'http', scheme: 'bearer', description: 'From widget/sessions.' },
        signature: { type: 'apiKey', in: 'header', name: 'X-Signature', description: 'sha256=<hex>: HMAC-SHA256 over the raw body with the workspace\'s secret of workspace/integrations.' },
      },
      parameters: { ServiceVersion: serviceVersion, RequestId: requestId },
      headers,
      schemas: { Error: errorSchema },
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
    detail: { type: 'object', description: 'fieldErrors of what is not valid, currentVersion of a stale version, reason of a lost call.' },
    retryAfter: { type: 'integer', description: 'Seconds; with 429.' },
  },
} as const;

const requestIdSchema = { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' } as const;
const serviceVersion = { name: 'Service-Version', in: 'header', required: false, description: 'Pins the behaviour current on that date. Default: the latest.', schema: { type: 'string', format: 'date' } } as const;
const requestId = { name: 'X-Request-Id', in: 'header', required: false, description: 'Yours for this request; one of ours when it is left out or of another form.', schema: requestIdSchema } as const;

/** What replies carry beside their bodies. */
const headers = {
  'X-Request-Id': { description: 'To be named when something about this request is asked.', schema: requestIdSchema },
  'Service-Version': { description: 'The version in force.', schema: { type: 'string', format: 'date' } },
  'RateLimit-Limit': { description: 'Calls a minute that the caller has.', schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'What is left of them.', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until they are all there again.', schema: { type: 'integer' } },
  'Retry-After': { description: 'Seconds after which another try is welcome.', schema: { type: 'integer' } },
  Sunset: { description: 'When this route ends (RFC 8594).', schema: { type: 'string' } },
} as const;

function headersOf(route: Route, status: number): Json {
  const names: (keyof typeof headers)[] = ['X-Request-Id', 'Service-Version'];
  if (route.access.kind !== 'public' && status !== 401) names.push('RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset');
  if (status === 429 || status === 503) names.push('Retry-After');
  if (route.sunset !== undefined) names.push('Sunset');
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function operationOf(route: Route): Json {
  const { access, reply } = route;
  return {
    operationId: route.operation,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(route.sunset === undefined ? {} : { deprecated: true }),
    security: securityOf(access),
    ...(access.kind === 'agent' ? { 'x-scope': access.scope, 'x-role': access.role ?? 'any', ...(access.feature === undefined ? {} : { 'x-feature': access.feature }) } : {}),
    ...(route.limit === undefined ? {} : { 'x-rate-limit': route.limit }),
    'x-socket-method': (access.kind === 'agent' || access.kind === 'visitor') && route.httpOnly !== true && route.send === undefined && route.receive === undefined,
    parameters: [...parametersOf(route.params, 'path'), ...parametersOf(route.query, 'query'), ...['ServiceVersion', 'RequestId'].map((name) => ({ $ref: `#/components/parameters/${name}` }))],
    ...(route.rawBody === undefined ? {} : { requestBody: { required: true, content: { [route.rawBody.contentType]: { schema: route.rawBody.schema } } } }),
    ...(route.receive === undefined ? {} : { requestBody: { required: true, content: { '*/*': { schema: { type: 'string', format: 'binary' } } } } }),
    ...(route.body === undefined ? {} : { requestBody: { required: hasRequired(route.body), content: { 'application/json': { schema: route.body } } } }),
    responses: {
      [reply.status]: {
        description: 'Done.',
        headers: headersOf(route, reply.status),
        ...(reply.schema === null && reply.contentType === undefined ? {} : { content: { [reply.contentType ?? 'application/json']: { schema: reply.schema ?? { type: 'string' } } } }),
      },
      ...errorsOf(route),
    },
  };
}

function securityOf(access: Route['access']): Json[] {
  switch (access.kind) {
    case 'public':
      return [];
    case 'agent':
      return [{ workspaceToken: [] }, { apiKey: [] }];
    case 'visitor':
      return [{ visitorToken: [] }];
    case 'signed':
      return [{ signature: [] }];
  }
}

function errorsOf(route: Route): Json {
  const byStatus = new Map<number, Slug[]>();
  for (const slug of slugsOf(route)) {
    const { status } = refusals[slug];
    byStatus.set(status, [...(byStatus.get(status) ?? []), slug]);
  }
  const responses: Json = {};
  for (const [status, slugs] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[status] = {
      description: slugs.map((slug) => `\`${slug}\`: ${refusals[slug].message}`).join(' '),
      headers: headersOf(route, status),
      content: { 'application/json': { schema: { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { error: { enum: slugs } } }] } } },
    };
  }
  return responses;
}

function parametersOf(schema: TSchema | undefined, place: 'path' | 'query'): Json[] {
  // Parameters and queries are declared with Type.Object.
  const { properties = {}, required = [] } = (schema ?? {}) as { properties?: Record<string, Json>; required?: string[] };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(property['description'] === undefined ? {} : { description: property['description'] }),
    schema: property,
  }));
}

function hasRequired(schema: TSchema): boolean {
  return ((schema as { required?: string[] }).required ?? []).length > 0;
}

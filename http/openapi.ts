// The OpenAPI 3.1 document, made from the routes and the catalogue of refusals alone. A test compares it with both.

import type { TSchema } from 'typebox';
import { refusals, type Slug } from '../engine/errors.ts';
import { scopeNames, scopes } from '../engine/scopes.ts';
import { shapeAt } from './error-shapes.ts';
import { slugsOf } from './pipeline.ts';
import { fullPath, type OtherReply, type Route } from './route.ts';

type Json = Record<string, unknown>;
/** By media type. */
type Content = Record<string, { schema: object }>;

const jsonType = 'application/json';

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
        appToken: { type: 'oauth2', description: 'For apps: access tokens from /oauth/token, limited to what the agent allowed. What a route needs is its x-scope.', flows: { authorizationCode: { authorizationUrl: `${options.baseUrl}/oauth/authorize`, tokenUrl: `${options.baseUrl}/oauth/token`, refreshUrl: `${options.baseUrl}/oauth/token`, scopes: Object.fromEntries(scopeNames.filter((name) => scopes[name].forApps).map((name) => [name, scopes[name].summary])) } } },
        visitorToken: { type: 'http', scheme: 'bearer', description: 'From widget/sessions.' },
        signature: { type: 'apiKey', in: 'header', name: 'X-Signature', description: 'sha256=<hex>: HMAC-SHA256 over the raw body with the workspace\'s secret of workspace/integrations.' },
      },
      parameters: { ServiceVersion: serviceVersion, RequestId: requestId },
      headers,
      schemas: { Error: errorSchema, VerificationError: verificationErrorSchema, OAuthError: oauthErrorSchema },
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

/** Specification 7: the verification API words its errors itself. The check of an unknown id is worded as its other outcomes are. */
const verificationErrorSchema = {
  type: 'object',
  properties: {
    error: { type: 'string', description: 'Branch on this.' },
    message: { type: 'string' },
    details: { type: 'object', description: 'By field, what is not valid.' },
    channel: { type: 'string' },
    scope: { type: 'string', description: 'Which cap was hit, or which scope is missing.' },
    retryAfter: { type: 'integer', description: 'Seconds; with 429.' },
    id: { type: 'string', description: 'Of a check, instead of an error.' },
    verified: { const: false },
    reason: { const: 'not_found' },
  },
} as const;

/** RFC 6749 §5.2. */
const oauthErrorSchema = {
  type: 'object',
  required: ['error'],
  properties: { error: { type: 'string' }, error_description: { type: 'string' } },
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
  'App-RateLimit-Limit': { description: 'With an app\'s token: calls a minute that the app has. RateLimit-* tell of the budget that all apps of the workspace share.', schema: { type: 'integer' } },
  'App-RateLimit-Remaining': { description: 'What is left of them.', schema: { type: 'integer' } },
  'App-RateLimit-Reset': { description: 'Seconds until they are all there again.', schema: { type: 'integer' } },
  'Retry-After': { description: 'Seconds after which another try is welcome.', schema: { type: 'integer' } },
  Sunset: { description: 'When this route ends (RFC 8594).', schema: { type: 'string' } },
} as const;

function headersOf(route: Route, status: number): Json {
  const names: (keyof typeof headers)[] = ['X-Request-Id', 'Service-Version'];
  if (route.access.kind !== 'public' && status !== 401) names.push('RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset');
  if (route.access.kind === 'agent' && status !== 401) names.push('App-RateLimit-Limit', 'App-RateLimit-Remaining', 'App-RateLimit-Reset');
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
    ...(route.body === undefined ? {} : { requestBody: { required: hasRequired(route.body), content: { [route.form === true ? 'application/x-www-form-urlencoded' : jsonType]: { schema: route.body } } } }),
    responses: {
      [reply.status]: {
        description: 'Done.',
        headers: headersOf(route, reply.status),
        ...(reply.schema === null && reply.contentType === undefined ? {} : { content: contentOf(reply) }),
      },
      ...errorsOf(route),
    },
  };
}

function contentOf({ schema, contentType = jsonType }: Route['reply']): Content {
  return Object.fromEntries([contentType].flat().map((type) => [type, { schema: schema ?? { type: type === jsonType ? 'object' : 'string' } }]));
}

function securityOf(access: Route['access']): Json[] {
  switch (access.kind) {
    case 'public':
      return [];
    case 'agent':
      return [...(access.credential === 'key' ? [] : [{ workspaceToken: [] }]), { apiKey: [] }, ...(access.scope !== null && scopes[access.scope].forApps ? [{ appToken: [access.scope] }] : [])];
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
  const others: Readonly<Record<number, OtherReply>> = route.otherReplies ?? {};
  const responses: Json = {};
  const { word } = shapeAt(fullPath(route));
  for (const status of [...new Set([...byStatus.keys(), ...Object.keys(others).map(Number)])].sort((a, b) => a - b)) {
    const slugs = byStatus.get(status) ?? [];
    const other = others[status];
    const told = slugs.map((slug) => `\`${word(slug)}\`: ${refusals[slug].message}`);
    const words = [...new Set([...slugs.map(word), ...(other?.errors ?? [])])];
    const content = mergedContent(words.length === 0 ? {} : errorContent(route, words), other?.contentType === undefined ? {} : { [other.contentType]: { schema: other.schema ?? { type: 'string' } } });
    responses[status] = {
      description: [...told, ...(other === undefined ? [] : [other.description])].join(' '),
      headers: headersOf(route, status),
      ...(Object.keys(content).length === 0 ? {} : { content }),
    };
  }
  return responses;
}

/** Under one status either may come. */
function mergedContent(one: Content, other: Content): Content {
  const merged: Content = { ...one };
  for (const [type, { schema }] of Object.entries(other)) {
    const present = one[type];
    merged[type] = present === undefined ? { schema } : { schema: { anyOf: [present.schema, schema] } };
  }
  return merged;
}

function errorContent(route: Route, words: readonly string[]): Content {
  const { name, contentType } = shapeAt(fullPath(route));
  return { [contentType]: { schema: name === undefined ? { type: 'string' } : { allOf: [{ $ref: `#/components/schemas/${name}` }, { properties: { error: { enum: words } } }] } } };
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

// The documents against the code, in both directions. The slugs of the specification and the decisions are listed here.

import { Validator } from '@seriousme/openapi-schema-validator';
import t from 'tap';
import { refusals, type Slug } from '../../engine/errors.ts';
import { exampleOf } from '../../http/documents/examples.ts';
import { pagesTag } from '../../http/documents/openapi.ts';
import { tagTexts } from '../../http/documents/route-tags.ts';
import { slugsOf } from '../../http/pipeline/compiled-route.ts';
import { shapeAt } from '../../http/pipeline/error-shapes.ts';
import { strictValidator } from '../../http/pipeline/validation.ts';
import { serviceVersions } from '../../http/pipeline/versions.ts';
import { fullPath, type Route } from '../../http/route.ts';
import { wordsOf } from '../../http/schemas/field-words.ts';
import { dereferenced } from '../support/dereferenced.ts';
import { startService } from '../support/service.ts';

/** Every slug of specification 7 and of the decisions, with its status. */
const contract: Readonly<Record<string, number>> = {
  invalid_body: 400,
  invalid_query: 400,
  validation_error: 400,
  website_not_public: 400,
  last_admin: 400,
  cannot_demote_owner: 400,
  cannot_deactivate_self: 400,
  cannot_deactivate_owner: 400,
  content_type_not_allowed: 400,
  file_too_large: 400,
  no_changes: 400,
  empty_patch: 400,
  invalid_email: 400,
  invalid_number: 400,
  bad_channel: 400,
  no_default_service: 400,
  channel_not_enabled: 400,
  forbidden_url: 400,
  unauthorized: 401,
  token_revoked: 401,
  invalid_credentials: 401,
  invalid_signature: 401,
  feature_locked: 402,
  seat_limit_reached: 402,
  storage_limit_reached: 402,
  plan_limit: 402,
  insufficient_credits: 402,
  forbidden: 403,
  admin_required: 403,
  not_assigned: 403,
  channel_not_assigned: 403,
  country_not_allowed: 403,
  insufficient_scope: 403,
  not_found: 404,
  service_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  stale_version: 409,
  conflict: 409,
  illegal_status_transition: 409,
  already_assigned: 409,
  nobody_assigned: 409,
  not_its_assignee: 409,
  no_pending_handshake: 409,
  email_taken: 409,
  email_already_exists: 409,
  already_joined: 409,
  call_unavailable: 409,
  conversation_archived: 409,
  campaign_archived: 409,
  number_taken: 409,
  default_required: 409,
  gone: 410,
  second_factor_required: 401,
  invalid_code: 401,
  second_factor_missing: 403,
  confirmation_required: 403,
  reset_token_expired: 410,
  payload_too_large: 413,
  semantic_error: 422,
  range_too_large: 422,
  channel_not_available: 422,
  channel_not_sendable: 422,
  preview_not_available: 422,
  /** Reported as channel_not_enabled, which is 400 elsewhere. */
  totp_not_enabled: 422,
  rate_limited: 429,
  server_error: 500,
  site_bootstrap_failed: 500,
  format_not_implemented: 501,
  email_provider_error: 502,
  service_unavailable: 503,
  embedding_unavailable: 503,
  storage_not_configured: 503,
  email_provider_not_configured: 503,
};
/** Refused before a route is known, or by no route. */
const ofNoRoute: readonly Slug[] = ['method_not_allowed', 'feature_locked', 'format_not_implemented'];

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: object;
}

interface Operation {
  readonly operationId: string;
  readonly tags: string[];
  readonly summary: string;
  readonly security: object[];
  readonly parameters: (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { required: boolean; content: Record<string, { schema: object }> };
  readonly responses: Record<
    string,
    {
      description: string;
      headers: Record<string, object>;
      content?: Record<string, { schema: any }>;
      'x-errors'?: readonly string[];
    }
  >;
}

/** TypeBox stores JSON Schema. */
interface Shape {
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}
const shapeOf = (schema: unknown): Shape => (schema ?? {}) as Shape;

t.test('the OpenAPI document', async (t) => {
  const service = await startService(t);
  const routes = service.running.routes.filter(({ tag }) => tag !== pagesTag);
  const { body: served, headers } = await service.get('/openapi.json');
  const document = dereferenced(served);
  const operations = new Map<string, Operation>();
  for (const [path, item] of Object.entries<Record<string, Operation>>(document.paths))
    for (const [method, operation] of Object.entries(item))
      operations.set(`${method.toUpperCase()} ${path}`, operation);
  const parametersOf = (route: Route): Parameter[] =>
    operationOf(route).parameters.filter((one): one is Parameter => 'name' in one);
  const operationOf = (route: Route): Operation =>
    operations.get(`${route.method} ${fullPath(route)}`) ?? raise(`${route.operation} is not in the document`);

  t.test('is OpenAPI 3.1, and sound', async (t) => {
    t.match(headers.get('content-type'), /^application\/json/);
    t.match(document, {
      openapi: /^3\.1\./,
      info: { version: serviceVersions.at(-1) },
      servers: [{ url: 'http://switchboard.test' }],
    });
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(served));
    t.equal(valid, true, JSON.stringify(errors)?.slice(0, 2000));
    t.equal(validator.version, '3.1');
  });

  t.test('has every route and nothing else', async (t) => {
    t.same([...operations.keys()].sort(), routes.map((route) => `${route.method} ${fullPath(route)}`).sort());
    t.equal(
      new Set(routes.map(({ operation }) => operation)).size,
      routes.length,
      'operations have names of their own',
    );
    for (const route of routes)
      t.match(operationOf(route), { operationId: route.operation, tags: [route.tag], summary: route.summary });
    t.same(
      [...new Set(routes.map(({ tag }) => tag))].sort(),
      document.tags.map(({ name }: { name: string }) => name).sort(),
    );
  });

  t.test("has each route's parameters", async (t) => {
    const wrong: string[] = [];
    for (const route of routes) {
      const named = (place: string): string[] =>
        parametersOf(route)
          .filter((one) => one.in === place)
          .map(({ name }) => name)
          .sort();
      const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).sort();
      if (named('path').join() !== inPath.join())
        wrong.push(`${route.operation}: path ${named('path')} against ${inPath}`);
      if (
        Object.keys(shapeOf(route.params).properties ?? {})
          .sort()
          .join() !== inPath.join()
      )
        wrong.push(`${route.operation} declares other parameters than its path has`);
      if (
        named('query').join() !==
        Object.keys(shapeOf(route.query).properties ?? {})
          .sort()
          .join()
      )
        wrong.push(`${route.operation}: query ${named('query')}`);
      for (const { name, in: place, required, schema } of parametersOf(route)) {
        const isRequired = place === 'path' || (shapeOf(route.query).required ?? []).includes(name);
        const declared = shapeOf(place === 'path' ? route.params : route.query).properties?.[name];
        if (required !== isRequired || JSON.stringify(schema) !== JSON.stringify(declared))
          wrong.push(`${route.operation}: ${name}`);
      }
    }
    t.same(wrong, []);
  });

  t.test("has each route's body and success", async (t) => {
    const wrong: string[] = [];
    for (const route of routes) {
      const { requestBody, responses } = operationOf(route);
      const documented =
        requestBody?.content[route.form === true ? 'application/x-www-form-urlencoded' : 'application/json']?.schema;
      if (route.body !== undefined && JSON.stringify(documented) !== JSON.stringify(route.body))
        wrong.push(`${route.operation}: body`);
      if (route.body !== undefined && requestBody?.required !== (shapeOf(route.body).required ?? []).length > 0)
        wrong.push(`${route.operation}: whether a body is required`);
      const success = responses[route.reply.status];
      if (success === undefined) wrong.push(`${route.operation}: no ${route.reply.status}`);
      else if (
        route.reply.schema !== null &&
        JSON.stringify(success.content?.['application/json']?.schema) !== JSON.stringify(route.reply.schema)
      )
        wrong.push(`${route.operation}: reply`);
      else if (route.reply.schema === null && route.reply.contentType === undefined && success.content !== undefined)
        wrong.push(`${route.operation}: a body where there is none`);
      const successes = Object.keys(responses).filter((status) => Number(status) < 400);
      const declared = [route.reply.status, ...Object.keys(route.otherReplies ?? {}).map(Number)]
        .filter((status) => status < 400)
        .sort();
      if (successes.join() !== declared.join()) wrong.push(`${route.operation}: ${successes}`);
    }
    t.same(wrong, []);
  });

  t.test('[4.13] declares both forms of an export', async (t) => {
    const owner = await service.workspace();
    const declared = Object.keys(
      operations.get('GET /api/v1/reports/exports/{token}')?.responses['200']?.content ?? {},
    );
    t.same(declared, ['text/csv', 'application/json']);
    for (const [index, format] of ['csv', 'json'].entries()) {
      const { url } = (await service.get(`/reports/export?type=chats/total&format=${format}`, owner.token)).body;
      const { headers } = await service.call('GET', `/${new URL(url).pathname}`);
      t.equal(headers.get('content-type')?.split(';')[0], declared[index]);
    }
  });

  t.test("has each route's refusals, under their status", async (t) => {
    const wrong: string[] = [];
    for (const route of routes) {
      const documented = Object.entries(operationOf(route).responses).flatMap(
        ([status, { content, 'x-errors': errors = [] }]) => {
          return Number(status) < 400 || content?.['application/json'] === undefined
            ? []
            : errors.map((slug) => `${status} ${slug}`);
        },
      );
      // Pages describe errors in sentences.
      const others = Object.entries(route.otherReplies ?? {}).flatMap(([status, { errors = [] }]) =>
        errors.map((word) => `${status} ${word}`),
      );
      const declared =
        shapeAt(fullPath(route)).name === undefined
          ? []
          : [
              ...new Set([
                ...[...slugsOf(route)].map((slug) => `${refusals[slug].status} ${shapeAt(fullPath(route)).word(slug)}`),
                ...others,
              ]),
            ];
      if (documented.sort().join() !== declared.sort().join())
        wrong.push(`${route.operation}: ${documented} against ${declared}`);
    }
    t.same(wrong, []);
  });

  t.test('names the headers that a request may have, and those that answers do have', async (t) => {
    const { components } = document;
    const shared = { ServiceVersion: 'Service-Version', RequestId: 'X-Request-Id' };
    for (const [component, name] of Object.entries(shared))
      t.match(components.parameters[component], { name, in: 'header', required: false });
    for (const route of routes)
      t.same(
        operationOf(route).parameters.flatMap((one) => ('$ref' in one ? [one.$ref] : [])),
        Object.keys(shared).map((name) => `#/components/parameters/${name}`),
        route.operation,
      );
    const owner = await service.workspace();
    const rows: [string, string, Awaited<ReturnType<typeof service.get>>][] = [
      ['GET /api/v1/me', '200', await service.get('/me', owner.token)],
      ['GET /api/v1/me', '401', await service.get('/me')],
      ['GET /api/v1/agents/{agentId}', '404', await service.get('/agents/1', owner.token)],
      ['POST /api/v1/auth/login', '400', await service.post('/auth/login', {})],
    ];
    for (const [operation, status, { headers }] of rows) {
      // Only apps have this share (test/platform/oauth.test.ts).
      const documented = Object.keys(operations.get(operation)?.responses[status]?.headers ?? {})
        .map((name) => name.toLowerCase())
        .filter((name) => !name.startsWith('app-'))
        .sort();
      const sent = Object.keys(components.headers)
        .map((name) => name.toLowerCase())
        .filter((name) => headers.has(name))
        .sort();
      t.same(documented, sent, `${operation} ${status}`);
    }
  });

  t.test('names the callers: anyone, an agent, a visitor, holders of a secret', async (t) => {
    for (const route of routes) {
      const { access } = route;
      const forPeople = access.kind === 'agent' && access.credential === 'key' ? [] : [{ workspaceToken: [] }];
      const forApps =
        access.kind === 'agent' && access.scope !== null && access.scope !== 'verify'
          ? [access.scope, ...(access.or === undefined ? [] : [access.or])].map((scope) => ({
              appToken: [scope, ...(access.also ?? [])],
            }))
          : [];
      const forKeys = access.kind === 'agent' && access.credential === 'person' ? [] : [{ apiKey: [] }];
      const scheme = {
        public: [],
        agent: [...forPeople, ...forKeys, ...forApps],
        visitor: [{ visitorToken: [] }],
        signed: [{ signature: [] }],
      }[access.kind];
      t.same(operationOf(route).security, scheme, route.operation);
    }
    t.same(Object.keys(document.components.securitySchemes).sort(), [
      'apiKey',
      'appToken',
      'signature',
      'visitorToken',
      'workspaceToken',
    ]);
  });

  t.test('names each record once, and refers to it', async (t) => {
    const { schemas } = served.components;
    for (const name of [
      'Agent',
      'Conversation',
      'Message',
      'Note',
      'Visitor',
      'Contact',
      'Site',
      'Call',
      'Campaign',
      'Goal',
      'SavedReply',
      'PhoneNumber',
      'Webhook',
      'Verification',
      'Subscription',
      'AuditEntry',
      'KbDocument',
      'KbJob',
    ])
      t.ok(schemas[name]?.properties, name);
    const replyOf = (path: string, method = 'get') => served.paths[`/api/v1${path}`][method].responses;
    t.match(replyOf('/conversations/{conversationId}/messages', 'post')['201'].content['application/json'].schema, {
      $ref: '#/components/schemas/Message',
    });
    t.match(
      replyOf('/conversations/{conversationId}/messages')['200'].content['application/json'].schema.$ref,
      /MessageList$/,
    );
    t.match(schemas.MessageList.properties.messages.items, { $ref: '#/components/schemas/Message' });
    t.match(served.components.schemas.Error.properties.detail.properties.fieldErrors, {
      $ref: '#/components/schemas/FieldErrors',
    });
    t.ok(JSON.stringify(served).length < 1_200_000, `${JSON.stringify(served).length} characters`);
    t.notOk(
      JSON.stringify([served.components.parameters, served.components.headers]).includes('"date"'),
      'a date in a header is more than generators can read',
    );
  });

  t.test('every tag has a sentence, and none is of nothing', async (t) => {
    t.same(Object.keys(tagTexts).sort(), [...new Set(service.running.routes.map(({ tag }) => tag))].sort());
  });

  t.test('every body has an example that its schema takes', async (t) => {
    for (const route of routes) {
      if (route.body === undefined) continue;
      const example = exampleOf(route.body);
      t.same(strictValidator(route.body)(example), undefined, `${route.operation}: ${JSON.stringify(example)}`);
      t.same(
        Object.values<any>(operationOf(route).requestBody?.content ?? {})[0].example,
        JSON.parse(JSON.stringify(example)),
        route.operation,
      );
    }
  });

  t.test('the page for people has every route too', async (t) => {
    const { body: page } = await service.get('//docs');
    for (const route of routes)
      t.ok(
        page.includes(`<article id="${route.operation}">`) && page.includes(`<code>${fullPath(route)}</code>`),
        route.operation,
      );
    t.equal(
      [...page.matchAll(/<article id="(?!(?:agent|visitor)-socket-)/g)].length,
      routes.length,
      'and no page for people',
    );
    t.notMatch(page, /<script|src=|@import|url\(/, 'without a script and without anything from elsewhere');
  });
});

t.test('the page for people has the sockets, as their document has them', async (t) => {
  const service = await startService(t);
  const { body: page } = await service.get('//docs');
  const { body: document } = await service.get('/asyncapi.json');
  const articles = new Map<string, string>(
    [...page.matchAll(/<article id="([^"]+)">([\s\S]*?)<\/article>/g)].map(([, id, html]: string[]) => [
      id ?? '',
      html ?? '',
    ]),
  );
  const links = new Set([...page.matchAll(/href="#([^"]+)"/g)].map(([, id]: string[]) => id));
  const asText = (value: string): string =>
    value
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;');
  for (const [name, channel] of Object.entries<any>(document.channels)) {
    t.ok(page.includes(`<section id="${name}-socket"><h2>${channel.title}</h2>`), name);
    const own = [...articles.keys()].filter((id) => id.startsWith(`${name}-socket-`)).sort();
    t.same(
      own,
      ['connect', 'end', ...Object.keys(channel.messages)].map((key) => `${name}-socket-${key}`).sort(),
      'every frame, and how it begins and ends',
    );
    for (const id of own) t.ok(links.has(id), `${id} is in the contents`);
    for (const [key, { payload, examples }] of Object.entries<any>(channel.messages)) {
      const html = articles.get(`${name}-socket-${key}`) ?? '';
      const missing = Object.keys(payload.properties).filter((field) => !html.includes(`<code>${field}</code>`));
      t.same(missing, [], `${key} has its fields`);
      t.ok(
        html.includes(`<pre>${asText(JSON.stringify(examples[0].payload, undefined, 2))}</pre>`),
        `${key} has its example`,
      );
    }
    const connect = articles.get(`${name}-socket-connect`) ?? '';
    for (const words of [
      `ws://switchboard.test/${name}`,
      'messaging.v1',
      'Authorization',
      '<code>since</code>',
      'resync',
      asText(JSON.stringify(channel.messages['client.auth'].examples[0].payload)),
    ])
      t.ok(connect.includes(words), `how to connect: ${words}`);
    const end = articles.get(`${name}-socket-end`) ?? '';
    t.same(
      [...end.matchAll(/<code>(\d+)<\/code>/g)].map(([, code]) => Number(code)),
      channel['x-close-codes'].map(({ code }: { code: number }) => code),
    );
    for (const method of document['x-methods'][name])
      t.ok(
        articles.get(method) !== undefined && page.includes(`<a href="#${method}"><code>`),
        `${method} leads to what it does`,
      );
  }
  for (const link of links) t.ok(page.includes(`id="${link}"`), `#${link} leads to something`);
});

t.test('slugs', async (t) => {
  const service = await startService(t);
  const { routes } = service.running;

  t.test("[7] every slug of the code is the contract's, with its status", async (t) => {
    for (const [slug, { status, message }] of Object.entries(refusals)) {
      t.equal(status, contract[slug], slug);
      t.match(message, /^[A-Z].*\.$/, `${slug} says something to a person`);
    }
  });

  t.test('[7] every slug can be answered by some route', async (t) => {
    const declared = new Set(routes.flatMap((route) => [...slugsOf(route)]));
    t.same(
      Object.keys(refusals).filter((slug) => !declared.has(slug as Slug) && !ofNoRoute.includes(slug as Slug)),
      [],
    );
  });

  t.test('a route names no slug twice, and none that the pipeline adds', async (t) => {
    const added: readonly Slug[] = [
      'invalid_body',
      'not_found',
      'rate_limited',
      'server_error',
      'service_unavailable',
      'payload_too_large',
      'request_timeout',
      'unauthorized',
      'token_revoked',
      'insufficient_scope',
      'second_factor_missing',
    ];
    const wrong = routes.flatMap(({ operation, refusals: named }) => [
      ...(new Set(named).size === named.length ? [] : [`${operation} names one twice`]),
      ...named.filter((slug) => added.includes(slug)).map((slug) => `${operation} names ${slug}`),
    ]);
    t.same(wrong, []);
  });
});

function raise(message: string): never {
  throw new Error(message);
}

t.test('every pattern for requests has a message for values that do not match', async (t) => {
  const service = await startService(t);
  const patterns = new Set<string>();
  const collect = (key: string, value: unknown): unknown => {
    if (key === 'pattern' && typeof value === 'string') patterns.add(value);
    return value;
  };
  for (const { params, query, body } of service.running.routes)
    for (const part of [params, query, body]) JSON.stringify(part ?? null, collect);
  t.ok(patterns.size > 10);
  for (const pattern of patterns)
    t.not(
      wordsOf({ instancePath: '', keyword: 'pattern', params: { pattern } }),
      'must be in the documented form',
      pattern,
    );
});

// The service itself: documents, health, metrics.

import Type, { type Static } from 'typebox';
import { refuse } from '../../engine/errors.ts';
import { compressFile, fileReply } from '../browser/compressed-file.ts';
import { asyncApi } from '../documents/asyncapi.ts';
import { docsPage } from '../documents/docs.ts';
import { guideNames, guideSections, renderGuide } from '../documents/guide.ts';
import { openApi, pagesTag } from '../documents/openapi.ts';
import { unavailableRetrySeconds } from '../pipeline/replies.ts';
import { serviceVersions } from '../pipeline/versions.ts';
import type { Metrics } from '../process/metrics.ts';
import type { RawReply } from '../request.ts';
import { type Route, route } from '../route.ts';

export interface SystemOptions {
  /** Every route of the service, including these, once they are registered. */
  routes(): readonly Route[];
  readonly metrics: Metrics;
  readonly baseUrl: string;
  /** The text of a file of the project, by its path. */
  readPage(path: string): string;
  /** False while the service starts or stops. */
  isReady(): boolean;
  /** Why a node of a cluster answers nothing now; none otherwise. */
  hindrances?(): readonly string[];
  /** Problems while the service runs, and how to fix them. */
  faults(): readonly string[];
}

const version = serviceVersions.at(-1) ?? '';
const jsonType = 'application/json';
const Ready = Type.Object({
  status: Type.Literal('ready'),
  faults: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Omitted if there are no faults. ' +
        'What is wrong with the data folder or the file storage while everything else is served, and how to fix it. ' +
        'The log has details, such as the workspaces concerned.',
    }),
  ),
});
/** Without faults the reply has no such field, as in earlier versions. */
const readyAnswer = (faults: readonly string[]): Static<typeof Ready> => ({
  status: 'ready',
  ...(faults.length > 0 && { faults: [...faults] }),
});
const notModified = { description: 'If-None-Match matches the current version.' };
/** Constant until the next version starts: cached, and revalidated by its tag. */
const documentHeaders = { 'Content-Type': `${jsonType}; charset=utf-8`, 'Cache-Control': 'no-cache' };
/** It loads nothing and cannot be framed. */
const pageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-cache',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
};
const NotReady = Type.Object({
  status: Type.Literal('not ready'),
  faults: Type.Optional(
    Type.Array(Type.String(), { description: 'In a cluster: why this node answers nothing now. Omitted otherwise.' }),
  ),
});

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table, one route after the other
export function systemRoutes(options: SystemOptions): Route[] {
  const once = <Value>(make: () => Value): (() => Value) => {
    let made: { value: Value } | undefined;
    return () => (made ??= { value: make() }).value;
  };
  const openApiFile = once(() =>
    compressFile(JSON.stringify(openApi(options.routes(), { baseUrl: options.baseUrl, version }))),
  );
  const asyncApiFile = once(() =>
    compressFile(JSON.stringify(asyncApi(options.routes(), { baseUrl: options.baseUrl, version }))),
  );
  const docs = once(() => compressFile(docsPage(options.routes(), { baseUrl: options.baseUrl, version })));

  const guide = once(
    () => new Map([...renderGuide(options.readPage)].map(([path, html]) => [path, compressFile(html)])),
  );

  return [
    route({
      operation: 'system.openapi',
      method: 'GET',
      path: '/openapi.json',
      tag: 'Service',
      summary: 'Get the OpenAPI document',
      access: { kind: 'public' },
      anyHeaders: true,
      reply: { status: 200, schema: null, contentType: jsonType },
      otherReplies: { 304: notModified },
      refusals: [],
      send: ({ headers }) => fileReply(openApiFile(), headers, documentHeaders),
    }),
    route({
      operation: 'system.asyncapi',
      method: 'GET',
      path: '/asyncapi.json',
      tag: 'Service',
      summary: 'Get the AsyncAPI document of the sockets',
      access: { kind: 'public' },
      anyHeaders: true,
      reply: { status: 200, schema: null, contentType: jsonType },
      otherReplies: { 304: notModified },
      refusals: [],
      send: ({ headers }) => fileReply(asyncApiFile(), headers, documentHeaders),
    }),
    route({
      operation: 'system.docs',
      method: 'GET',
      path: '//docs',
      tag: 'Service',
      summary: 'Read the API reference',
      access: { kind: 'public' },
      anyHeaders: true,
      reply: { status: 200, schema: null, contentType: 'text/html' },
      otherReplies: { 304: notModified },
      refusals: [],
      send: ({ headers }) => fileReply(docs(), headers, pageHeaders),
    }),
    route({
      operation: 'system.guide',
      method: 'GET',
      path: '//docs/{section}/{page}',
      tag: pagesTag,
      summary: 'A page of the guide',
      access: { kind: 'public' },
      anyHeaders: true,
      params: Type.Object({ section: Type.Enum(guideSections), page: Type.Enum([...guideNames]) }),
      reply: { status: 200, schema: null, contentType: 'text/html' },
      otherReplies: { 304: notModified },
      refusals: [],
      send: ({ params, headers }) =>
        fileReply(guide().get(`${params.section}/${params.page}`) ?? refuse('not_found'), headers, pageHeaders),
    }),
    route({
      operation: 'system.health',
      method: 'GET',
      path: '//healthz',
      tag: 'Service',
      summary: 'Check that the process responds',
      access: { kind: 'public' },
      anyHeaders: true,
      reply: { status: 200, schema: null, contentType: jsonType },
      refusals: [],
      send: () => json('{"status":"ok"}'),
    }),
    route({
      operation: 'system.ready',
      method: 'GET',
      path: '//readyz',
      tag: 'Service',
      summary: 'Check that the service accepts requests',
      description:
        'Returns 503 while the service starts or stops, and while a node of a cluster cannot reach the log. ' +
        '`faults` summarizes what is wrong with the data folder or the file storage; everything not affected is served.',
      access: { kind: 'public' },
      anyHeaders: true,
      reply: { status: 200, schema: Ready },
      otherReplies: {
        503: {
          description: 'The service starts or stops, or cannot reach the log.',
          contentType: jsonType,
          schema: NotReady,
        },
      },
      refusals: [],
      send() {
        const hindrances = options.hindrances?.() ?? [];
        return options.isReady() && hindrances.length === 0
          ? json(JSON.stringify(readyAnswer(options.faults())))
          : notReady(hindrances);
      },
    }),
    route({
      operation: 'system.metrics',
      method: 'GET',
      path: '//metrics',
      tag: 'Service',
      summary: 'Get metrics for Prometheus',
      access: { kind: 'public' },
      anyHeaders: true,
      reply: { status: 200, schema: null, contentType: 'text/plain' },
      refusals: [],
      async send() {
        const { contentType, text } = await options.metrics.text();
        return { status: 200, headers: { 'Content-Type': contentType }, body: text };
      },
    }),
  ];
}

function json(body: string): RawReply {
  return { status: 200, headers: { 'Content-Type': `${jsonType}; charset=utf-8` }, body };
}

function notReady(hindrances: readonly string[]): RawReply {
  const answer: Static<typeof NotReady> = {
    status: 'not ready',
    ...(hindrances.length > 0 && { faults: [...hindrances] }),
  };
  const { headers, body } = json(JSON.stringify(answer));
  return { status: 503, headers: { ...headers, 'Retry-After': String(unavailableRetrySeconds) }, body };
}

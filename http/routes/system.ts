// What is about the service itself: documents, health, figures, and the two pages that mails link to.

import Type from 'typebox';
import { escapeHtml } from '../../engine/text.ts';
import { asyncApi } from '../asyncapi.ts';
import { docsPage } from '../docs.ts';
import type { Metrics } from '../metrics.ts';
import { openApi } from '../openapi.ts';
import { localBillingPage } from '../pages/billing.ts';
import { passwordPage, passwordScript } from '../pages/password.ts';
import { type RawReply, type Route, route } from '../route.ts';
import { serviceVersions } from '../versions.ts';

export interface SystemOptions {
  /** Every route of the service, these included, once they are listed. */
  routes(): readonly Route[];
  readonly metrics: Metrics;
  readonly baseUrl: string;
  /** False while the service starts or stops. */
  isReady(): boolean;
}

const version = serviceVersions.at(-1) ?? '';

export function systemRoutes(options: SystemOptions): Route[] {
  const once = <Value>(make: () => Value): (() => Value) => {
    let made: { value: Value } | undefined;
    return () => (made ??= { value: make() }).value;
  };
  const openApiText = once(() => JSON.stringify(openApi(options.routes(), { baseUrl: options.baseUrl, version })));
  const asyncApiText = once(() => JSON.stringify(asyncApi(options.routes(), { baseUrl: options.baseUrl, version })));
  const docs = once(() => docsPage(options.routes(), options.baseUrl));

  return [
    route({
      operation: 'system.openapi',
      method: 'GET',
      path: '/openapi.json',
      tag: 'Service',
      summary: 'This document',
      access: { kind: 'public' },
      anyHeaders: true,
      reply: { status: 200, schema: null, contentType: 'application/json' },
      refusals: [],
      send: () => json(openApiText()),
    }),
    route({
      operation: 'system.asyncapi',
      method: 'GET',
      path: '/asyncapi.json',
      tag: 'Service',
      summary: 'The sockets\' document',
      access: { kind: 'public' },
      anyHeaders: true,
      reply: { status: 200, schema: null, contentType: 'application/json' },
      refusals: [],
      send: () => json(asyncApiText()),
    }),
    route({
      operation: 'system.docs',
      method: 'GET',
      path: '//docs',
      tag: 'Service',
      summary: 'This document for people',
      access: { kind: 'public' },
      anyHeaders: true,
      reply: { status: 200, schema: null, contentType: 'text/html' },
      refusals: [],
      send: () => page(docs(), { scripts: false }),
    }),
    route({
      operation: 'system.health',
      method: 'GET',
      path: '//healthz',
      tag: 'Service',
      summary: 'The process answers',
      access: { kind: 'public' },
      anyHeaders: true,
      reply: { status: 200, schema: null, contentType: 'application/json' },
      refusals: [],
      send: () => json('{"status":"ok"}'),
    }),
    route({
      operation: 'system.ready',
      method: 'GET',
      path: '//readyz',
      tag: 'Service',
      summary: 'The service takes requests',
      description: '503 while it starts or stops.',
      access: { kind: 'public' },
      anyHeaders: true,
      reply: { status: 200, schema: null, contentType: 'application/json' },
      refusals: [],
      send: () => (options.isReady() ? json('{"status":"ready"}') : { ...json('{"status":"not ready"}'), status: 503 }),
    }),
    route({
      operation: 'system.metrics',
      method: 'GET',
      path: '//metrics',
      tag: 'Service',
      summary: 'Figures for Prometheus',
      access: { kind: 'public' },
      anyHeaders: true,
      reply: { status: 200, schema: null, contentType: 'text/plain' },
      refusals: [],
      async send() {
        const { contentType, text } = await options.metrics.text();
        return { status: 200, headers: { 'Content-Type': contentType }, body: text };
      },
    }),
    route({
      operation: 'page.join',
      method: 'GET',
      path: '//join/{code}',
      tag: 'Pages',
      summary: 'Where an invitation leads',
      access: { kind: 'public' },
      anyHeaders: true,
      params: Type.Object({ code: Type.String({ maxLength: 200 }) }),
      reply: { status: 200, schema: null, contentType: 'text/html' },
      refusals: [],
      send: ({ params }) => page(passwordPage({ title: 'Join', action: 'Join', path: '/api/v1/auth/join', secretField: 'code', secret: escapeHtml(params.code), passwordField: 'password', asksName: true }), { scripts: true }),
    }),
    route({
      operation: 'page.resetPassword',
      method: 'GET',
      path: '//reset-password',
      tag: 'Pages',
      summary: 'Where a reset link leads',
      access: { kind: 'public' },
      anyHeaders: true,
      query: Type.Object({ token: Type.Optional(Type.String({ maxLength: 200 })) }),
      reply: { status: 200, schema: null, contentType: 'text/html' },
      refusals: [],
      send: ({ query }) =>
        page(passwordPage({ title: 'Choose a new password', action: 'Save', path: '/api/v1/auth/reset-password', secretField: 'token', secret: escapeHtml(query.token ?? ''), passwordField: 'newPassword', asksName: false }), { scripts: true }),
    }),
    route({
      operation: 'page.billing',
      method: 'GET',
      path: '//billing',
      tag: 'Pages',
      summary: 'Where the local provider\'s billing portal leads',
      access: { kind: 'public' },
      anyHeaders: true,
      reply: { status: 200, schema: null, contentType: 'text/html' },
      refusals: [],
      send: () => page(localBillingPage, { scripts: false }),
    }),
    route({
      operation: 'page.passwordScript',
      method: 'GET',
      path: '//pages/password.js',
      tag: 'Pages',
      summary: 'What those two pages run',
      access: { kind: 'public' },
      anyHeaders: true,
      reply: { status: 200, schema: null, contentType: 'text/javascript' },
      refusals: [],
      send: () => ({ status: 200, headers: { 'Content-Type': 'text/javascript; charset=utf-8' }, body: passwordScript }),
    }),
  ];
}

function json(body: string): RawReply {
  return { status: 200, headers: { 'Content-Type': 'application/json; charset=utf-8' }, body };
}

/** Pages load nothing from elsewhere and can be framed by nobody. */
function page(body: string, options: { scripts: boolean }): RawReply {
  const policy = `default-src 'none'; style-src 'unsafe-inline'; ${options.scripts ? "script-src 'self'; connect-src 'self'; " : ''}base-uri 'none'; form-action 'self'; frame-ancestors 'none'`;
  return { status: 200, headers: { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' }, body };
}

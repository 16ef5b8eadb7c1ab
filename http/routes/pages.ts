// The web pages: one document for all of their addresses, the files it loads, and a sample page to try a site's widget.

import Type from 'typebox';
import { visitorKind } from '../../engine/customers/visitors.ts';
import { refuse } from '../../engine/errors.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { escapeHtml } from '../../engine/text.ts';
import { requireSite } from '../../engine/workspace/sites.ts';
import { iconPng, iconSizes } from '../browser/app-icon.ts';
import { fileReply } from '../browser/compressed-file.ts';
import { type PageName, pagePaths } from '../pages/paths.ts';
import { mayUseSite } from '../pipeline/own-origin.ts';
import type { RawReply } from '../request.ts';
import { type Route, route } from '../route.ts';

/**
 * What the document may load and do: only files from here, and no inline code. Images may also be made by the page
 * itself.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "frame-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/** The widget sets its own policy; the page around it only has a style. Only the settings may frame it. */
const previewPolicy =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; img-src 'self' data: blob:; media-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

const documentHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': policy,
  'Cache-Control': 'no-cache',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(self)',
};
const notModified = { description: 'If-None-Match matches the current version.' };
const contentTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

const sniffless = { 'X-Content-Type-Options': 'nosniff' };

const manifest = JSON.stringify({
  id: '/',
  name: 'Switchboard',
  short_name: 'Switchboard',
  description: 'Answer your customers: chats, mail and calls.',
  start_url: '/inbox',
  scope: '/',
  display: 'standalone',
  background_color: '#ffffff',
  theme_color: '#0f6b5c',
  icons: iconSizes.map((size) => ({
    src: `/icons/${size}.png`,
    sizes: `${size}x${size}`,
    type: 'image/png',
    purpose: 'any maskable',
  })),
});

/** A person opens one at a time; mail scanners open them, too. */
const chatLinksPerMinute = 60;
const oldLinkReply: RawReply = {
  status: 200,
  headers: { ...documentHeaders, 'Content-Security-Policy': "default-src 'none'", 'Cache-Control': 'no-store' },
  body: '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>This link is no longer valid</title><p>This link is no longer valid. Answer the mail instead, or write to us on our website.',
};

export const pageRoutes: readonly Route[] = [
  ...Object.entries(pagePaths).map(([name, path]) => documentRoute(name as PageName, path)),

  route({
    operation: 'page.asset',
    method: 'GET',
    path: '//assets/{file}',
    tag: 'Pages',
    summary: 'Get a file that the pages load',
    description: 'The name contains a hash of the content; browsers cache it for a year.',
    access: { kind: 'public' },
    anyHeaders: true,
    params: Type.Object({ file: Type.String({ maxLength: 200 }) }),
    reply: {
      status: 200,
      schema: null,
      contentType: [...new Set(Object.values(contentTypes).map((type) => type.split(';')[0] ?? ''))],
    },
    otherReplies: { 304: notModified },
    refusals: [],
    async send({ params, headers }, { pageFiles }) {
      const contentType = contentTypes[params.file.split('.').at(-1) ?? ''];
      const file = await pageFiles.file(params.file);
      if (file === undefined || contentType === undefined) refuse('not_found');
      return fileReply(file, headers, {
        'Content-Type': contentType,
        'Cache-Control': 'public, max-age=31536000, immutable',
        'X-Content-Type-Options': 'nosniff',
      });
    },
  }),

  route({
    operation: 'page.manifest',
    method: 'GET',
    path: '//manifest.webmanifest',
    tag: 'Pages',
    summary: 'Get the manifest of the web app',
    description: 'With it, browsers can install the pages as an app (W3C Web Application Manifest).',
    access: { kind: 'public' },
    anyHeaders: true,
    reply: { status: 200, schema: null, contentType: 'application/manifest+json' },
    refusals: [],
    send: (): RawReply => ({
      status: 200,
      headers: { 'Content-Type': 'application/manifest+json', 'Cache-Control': 'no-cache', ...sniffless },
      body: manifest,
    }),
  }),

  route({
    operation: 'page.icon',
    method: 'GET',
    path: '//icons/{file}',
    tag: 'Pages',
    summary: 'Get an icon of the web app',
    access: { kind: 'public' },
    anyHeaders: true,
    params: Type.Object({ file: Type.String({ maxLength: 20 }) }),
    reply: { status: 200, schema: null, contentType: 'image/png' },
    refusals: [],
    send({ params }): RawReply {
      const size = iconSizes.find((one) => params.file === `${one}.png`) ?? refuse('not_found');
      return {
        status: 200,
        headers: { 'Content-Type': 'image/png', 'Cache-Control': 'public, max-age=86400', ...sniffless },
        body: iconPng(size),
      };
    },
  }),

  route({
    operation: 'page.serviceWorker',
    method: 'GET',
    path: '//service-worker.js',
    tag: 'Pages',
    summary: 'Get the service worker of the pages',
    description: 'Shows what is pushed. It caches nothing and handles no request.',
    access: { kind: 'public' },
    anyHeaders: true,
    reply: { status: 200, schema: null, contentType: 'text/javascript' },
    otherReplies: { 304: notModified },
    refusals: [],
    send: async ({ headers }, { pageFiles }) =>
      fileReply(await pageFiles.serviceWorker(), headers, {
        'Content-Type': 'text/javascript; charset=utf-8',
        'Cache-Control': 'no-cache',
        ...sniffless,
      }),
  }),

  route({
    operation: 'page.preview',
    method: 'GET',
    path: '//preview/{embedId}',
    tag: 'Pages',
    summary: "Preview a site's widget on a sample page",
    description: 'Lets you try the widget before you install it. Messages sent here start real conversations.',
    access: { kind: 'public' },
    anyHeaders: true,
    params: Type.Object({ embedId: Type.String({ maxLength: 100 }) }),
    reply: { status: 200, schema: null, contentType: 'text/html' },
    refusals: [],
    send: ({ params }): RawReply => ({
      status: 200,
      headers: { ...documentHeaders, 'Content-Security-Policy': previewPolicy, 'Cache-Control': 'no-store' },
      body: previewPage(params.embedId),
    }),
  }),

  route({
    operation: 'page.chat',
    method: 'GET',
    path: '//c/{token}',
    tag: 'Pages',
    summary: 'Open a chat from a mail',
    description:
      'For 30 days, leads to the page of the site where the customer wrote, with the token in the fragment ' +
      '`#switchboard=…`: the widget there opens the chat, by `POST /widget/sessions` with the token as `proof`.',
    access: { kind: 'public' },
    limit: { by: 'ip', perMinute: chatLinksPerMinute },
    anyHeaders: true,
    params: Type.Object({ token: Type.String({ maxLength: 300 }) }),
    reply: { status: 200, schema: null, contentType: 'text/html' },
    otherReplies: { 302: { description: 'Redirects to the page.' } },
    refusals: [],
    async send({ params }, { engine, chatLinks, clock, config }): Promise<RawReply> {
      const link = chatLinks.verify(params.token, clock.now());
      if (link === undefined) return oldLinkReply;
      await engine.whenOpen(link.workspaceId);
      const view = engine.workspace(link.workspaceId)?.view(systemCaller);
      const visitor = view?.state(visitorKind, link.visitorId);
      if (view === undefined || visitor === undefined) return oldLinkReply;
      const site = requireSite(view, visitor.siteId);
      const page = visitor.currentPageUrl === null ? null : URL.parse(visitor.currentPageUrl);
      // A browser names any page: only those of the site are led to.
      const to = page !== null && mayUseSite(site, page.origin, config) ? page : new URL(`https://${site.domain}/`);
      to.hash = `switchboard=${params.token}`;
      return {
        status: 302,
        headers: { Location: to.href, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' },
        body: '',
      };
    },
  }),
];

function documentRoute(name: PageName, path: string): Route {
  const params = Object.fromEntries(
    [...path.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => [param, Type.String({ maxLength: 200 })]),
  );
  return route({
    operation: `page.${name}`,
    method: 'GET',
    path: `/${path}`,
    tag: 'Pages',
    summary: `The page at ${path}`,
    access: { kind: 'public' },
    anyHeaders: true,
    params: Type.Object(params),
    reply: { status: 200, schema: null, contentType: 'text/html' },
    otherReplies: { 304: notModified },
    refusals: [],
    send: async ({ headers }, { pageFiles }) => fileReply(await pageFiles.document(), headers, documentHeaders),
  });
}

function previewPage(embedId: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A sample page</title>
<style>
:root { color-scheme: light dark; }
body { margin: 0; padding: 12vh 8vw; font: 16px/1.6 system-ui, sans-serif; color: #454b52; background: #f6f5f2; }
h1 { font-size: 1.5rem; color: #22262a; }
p { max-width: 34rem; }
@media (prefers-color-scheme: dark) { body { color: #b3b8be; background: #191a1b; } h1 { color: #eceef0; } }
</style>
</head>
<body>
<h1>A sample page with your widget</h1>
<p>The button in the corner is the chat that your customers will see. Write a message as one of them would, and it appears in your inbox at once.</p>
<script src="/widget.js" data-site-id="${escapeHtml(embedId)}" async></script>
</body>
</html>`;
}

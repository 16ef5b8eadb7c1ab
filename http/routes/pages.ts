// The web pages: one document for all of their addresses, the files it loads, and a sample page to try a site's widget.

import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import { escapeHtml } from '../../engine/text.ts';
import { fileReply } from '../browser/compressed-file.ts';
import { type PageName, pagePaths } from '../pages/paths.ts';
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

// The widget's scripts, served to any page. Whether a page may use a site is checked when its session opens.

import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import { fileReply } from '../browser/compressed-file.ts';
import { route } from '../route.ts';

/** Short, because a page keeps this name forever; a browser uses the old copy while it revalidates. */
const installCaching = 'public, max-age=300, stale-while-revalidate=86400';
/** The name contains a hash of the content. */
const appCaching = 'public, max-age=31536000, immutable';
/**
 * A cached install script may request an earlier app. It gets the current one, under a name that must not be cached for
 * long.
 */
const otherAppCaching = 'no-cache';
const fileName = /^(app|articles)-([A-Za-z0-9_-]{1,64})\.js$/;

export const widgetFileRoutes = [
  route({
    operation: 'widget.installScript',
    method: 'GET',
    path: '//widget.js',
    tag: 'Widget',
    summary: 'Get the install script',
    description:
      "Include it in a page as an asynchronous script with the attribute `data-site-id`, a site's `embedId`. " +
      'Optional attributes: `data-locale` (default: ' +
      'the page\'s language) and `data-consent="required"` (nothing is loaded, ' +
      'sent or stored before `Switchboard.start()`). ' +
      'It defines one global, `Switchboard`, with `start()`, `open()`, `close()` and `identify({name, email, signature})`.',
    access: { kind: 'public' },
    anyHeaders: true,
    reply: { status: 200, schema: null, contentType: 'text/javascript' },
    otherReplies: { 304: { description: 'If-None-Match matches the current version.' } },
    refusals: [],
    send: async ({ headers }, { widgetFiles }) =>
      fileReply(await widgetFiles.install(), headers, scriptHeaders(installCaching)),
  }),

  route({
    operation: 'widget.app',
    method: 'GET',
    path: '//widget/{file}',
    tag: 'Widget',
    summary: 'Get a script that the install script loads',
    description: 'The name contains a hash of the content; browsers cache it for a year.',
    access: { kind: 'public' },
    anyHeaders: true,
    params: Type.Object({ file: Type.String({ maxLength: 100 }) }),
    reply: { status: 200, schema: null, contentType: 'text/javascript' },
    otherReplies: { 304: { description: 'If-None-Match matches the current version.' } },
    refusals: [],
    async send({ params, headers }, { widgetFiles }) {
      const [, name, hash] = fileName.exec(params.file) ?? [];
      if (name === undefined) refuse('not_found');
      const file = await (name === 'app' ? widgetFiles.app() : widgetFiles.articles());
      return fileReply(file, headers, scriptHeaders(hash === file.hash ? appCaching : otherAppCaching));
    },
  }),
];

/**
 * Loaded by pages of other origins, including isolated ones; identical for all of them, so that caches may share it.
 */
function scriptHeaders(caching: string): Readonly<Record<string, string>> {
  return {
    'Cache-Control': caching,
    'Content-Type': 'text/javascript; charset=utf-8',
    'Access-Control-Allow-Origin': '*',
    'Cross-Origin-Resource-Policy': 'cross-origin',
  };
}

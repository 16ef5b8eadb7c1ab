// The page at /docs: the reference of the API and its sockets for people, without scripts and external resources.

import { refusals } from '../../engine/errors.ts';
import { escapeHtml } from '../../engine/text.ts';
import { slugsOf } from '../pipeline/compiled-route.ts';
import { shapeAt } from '../pipeline/error-shapes.ts';
import { fullPath, type Route } from '../route.ts';
import { asyncApi } from './asyncapi.ts';
import { fieldTable, prose } from './docs-fields.ts';
import { socketContents, socketSections } from './docs-sockets.ts';
import { exampleOf } from './examples.ts';
import { pagesTag } from './openapi.ts';
import { tagTexts } from './route-tags.ts';

export function docsPage(everyRoute: readonly Route[], options: { baseUrl: string; version: string }): string {
  const { baseUrl } = options;
  const sockets = asyncApi(everyRoute, options);
  const routes = everyRoute.filter(({ tag }) => tag !== pagesTag);
  const tags = [...new Set(routes.map((route) => route.tag))];
  const of = (tag: string): readonly Route[] => routes.filter((route) => route.tag === tag);
  const contents = tags
    .map(
      (tag) =>
        `<li><details><summary><a href="#${slug(tag)}">${escapeHtml(tag)}</a></summary><ul>${of(tag)
          .map(({ operation, summary }) => `<li><a href="#${escapeHtml(operation)}">${escapeHtml(summary)}</a></li>`)
          .join('')}</ul></details></li>`,
    )
    .join('');
  const sections = tags
    .map(
      (tag) =>
        `<section id="${slug(tag)}"><h2>${escapeHtml(tag)}</h2><p>${escapeHtml(tagTexts[tag] ?? '')}</p>${of(tag)
          .map((route) => article(route, baseUrl))
          .join('')}</section>`,
    )
    .join('');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Switchboard API</title>
<style>${style}</style>
</head>
<body>
<nav aria-label="Contents"><strong>Switchboard API</strong><ul>${contents}${socketContents(sockets)}</ul><p><a href="docs/guide/first-conversation">Guide</a><br><a href="/api/v1/openapi.json">OpenAPI 3.1</a><br><a href="/api/v1/asyncapi.json">AsyncAPI 3.0</a></p></nav>
<main>
<h1>Switchboard API</h1>
<p>Everything here is at <code>${escapeHtml(baseUrl)}</code>. Send <code>Accept: application/json</code>, <code>Content-Type: application/json</code> with a body, and <code>Authorization: Bearer …</code> with a token from register or login. Errors are <code>{statusCode, error, message, detail?}</code>; branch on <code>error</code>.</p>
${sections}
${socketSections(sockets)}
</main>
</body>
</html>`;
}

function article(route: Route, baseUrl: string): string {
  const { access } = route;
  const who =
    access.kind === 'public'
      ? 'Anybody'
      : access.kind === 'signed'
        ? 'Anyone with the secret'
        : access.kind === 'visitor'
          ? 'The visitor'
          : access.role === 'admin'
            ? 'Admins'
            : access.role === 'senior'
              ? 'Admins and supervisors'
              : 'Agents';
  return `<article id="${escapeHtml(route.operation)}">
<h3><span class="method ${route.method.toLowerCase()}">${route.method}</span> <code>${escapeHtml(fullPath(route))}</code></h3>
<p><strong>${escapeHtml(route.summary)}.</strong> ${prose(route.description ?? '')}</p>
<p class="who">${who}${scopeOf(route)} · <code>${escapeHtml(route.operation)}</code></p>
${fieldTable('Query', route.query)}${fieldTable('Body', route.body)}${fieldTable(`Answers ${route.reply.status}`, route.reply.schema)}${example(route, baseUrl)}
<p class="errors">Refuses with ${errorsOf(route)}</p>
</article>`;
}

function scopeOf({ access }: Route): string {
  if (access.kind !== 'agent') return '';
  return access.scope === null ? ' · keys need <code>*</code>' : ` · scope <code>${escapeHtml(access.scope)}</code>`;
}

function errorsOf(route: Route): string {
  const { word } = shapeAt(fullPath(route));
  const byStatus = Map.groupBy([...slugsOf(route)].sort(), (one) => refusals[one].status);
  return [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(
      ([status, slugs]) =>
        `<span>${status} ${slugs.map((one) => `<code>${escapeHtml(word(one))}</code>`).join(' ')}</span>`,
    )
    .join(' · ');
}

/** The call as a shell command. */
function example(route: Route, baseUrl: string): string {
  const { access, method } = route;
  const lines = [`curl -X ${method} '${baseUrl}${fullPath(route)}'`, `-H 'Accept: application/json'`];
  if (access.kind === 'agent' || access.kind === 'visitor') lines.push(`-H 'Authorization: Bearer TOKEN'`);
  if (route.body !== undefined && route.form !== true)
    lines.push(
      `-H 'Content-Type: application/json'`,
      `-d '${JSON.stringify(exampleOf(route.body)).replaceAll(`'`, `'\\''`)}'`,
    );
  return `<details><summary>Example</summary><pre>${escapeHtml(lines.join(' \\\n  '))}</pre></details>`;
}

function slug(tag: string): string {
  return tag.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

export const style = `
:root { color-scheme: light dark; --ink: #1a1d21; --paper: #fff; --soft: #5b6470; --line: #dfe3e8; --tint: #f5f7f9; --accent: #0f6b5c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --paper: #14171a; --soft: #9aa4b0; --line: #2b3138; --tint: #1b2025; --accent: #4fc3ac; } }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--paper); font: 15px/1.55 system-ui, sans-serif; display: grid; grid-template-columns: 15rem minmax(0, 1fr); }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1.5rem; border-right: 1px solid var(--line); background: var(--tint); }
nav ul { list-style: none; margin: 1rem 0; padding: 0; }
a { color: var(--accent); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
main { padding: 2rem clamp(1rem, 4vw, 3rem) 6rem; max-width: 62rem; }
h1 { margin-top: 0; font-size: 1.7rem; }
h2 { margin: 3rem 0 0; padding-bottom: .4rem; border-bottom: 1px solid var(--line); font-size: 1.25rem; }
article { padding: 1.2rem 0; border-bottom: 1px solid var(--line); }
h3, h4 { margin: 0; font-size: 1rem; overflow-wrap: anywhere; }
h3.side { margin-top: 2rem; }
.methods p { line-height: 1.9; }
p { margin: .5rem 0; }
code { font: .88em ui-monospace, monospace; }
.method { display: inline-block; min-width: 4.2em; padding: .1em .5em; border-radius: .3em; background: var(--tint); border: 1px solid var(--line); font: 600 .75rem ui-monospace, monospace; text-align: center; }
.frame { min-width: 6.4em; }
.who, .errors, small { color: var(--soft); font-size: .85rem; }
.errors code { margin-right: .3em; white-space: nowrap; }
details { margin: .4rem 0; }
summary { cursor: pointer; }
nav ul ul { margin: .2rem 0 .6rem 1rem; font-size: .85rem; }
pre { overflow-x: auto; padding: .6rem .8rem; border: 1px solid var(--line); border-radius: .3em; background: var(--tint); font: .82rem/1.5 ui-monospace, monospace; }
table { border-collapse: collapse; width: 100%; margin: .4rem 0; font-size: .88rem; }
th, td { padding: .3rem .8rem .3rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: 400; overflow-wrap: anywhere; }
th { width: 15rem; }
@media (max-width: 50rem) {
  body { display: block; }
  nav { position: static; height: auto; border: 0; }
  table, tbody, tr, th, td { display: block; width: auto; }
  tr { padding: .3rem 0; border-top: 1px solid var(--line); }
  th, td { padding: 0; border: 0; }
}
`;

// The pages of the help centre. Plain HTML that needs no script; with one, articles are suggested as one types.

import { createHash } from 'node:crypto';
import { escapeHtml, firstWords } from '../../engine/text.ts';
import type { RawReply } from '../request.ts';
import { directionOf, type HelpWords, helpWords } from './help-words.ts';

/** What all pages of one help centre have in common. */
export interface HelpCentre {
  readonly name: string;
  /** For search engines, without a slash at its end. */
  readonly url: string;
  /** Where it is shown now, from the root: `/help/shop`, or empty at a host of its own. */
  readonly path: string;
  readonly colour: string | undefined;
  readonly logoUrl: string | null;
}

export interface HelpLink {
  readonly title: string;
  /** From the root. */
  readonly href: string;
  readonly excerpt?: string;
}

export interface HelpPage {
  readonly centre: HelpCentre;
  /** A BCP 47 tag. */
  readonly language: string;
  /** The same page in other languages. */
  readonly languages: readonly { readonly language: string; readonly href: string }[];
  readonly status?: 200 | 404;
}

export interface ArticlePage extends HelpPage {
  readonly title: string;
  /** Safe. */
  readonly html: string;
  readonly updatedAt: string;
  /** Undefined for a preview. */
  readonly href: string | undefined;
  /** Where a reader says whether it helped, or that one has; undefined for a preview. */
  readonly vote?: { readonly href: string } | 'done';
}

const descriptionChars = 160;

export function homePage(
  page: HelpPage & { collections: readonly { name: string | null; links: readonly HelpLink[] }[] },
): RawReply {
  const words = helpWords(page.language);
  const parts = page.collections.map(
    ({ name, links }) => `<section><h2>${escapeHtml(name ?? words.others)}</h2>${listOf(links)}</section>`,
  );
  const title = words.title(page.centre.name);
  return reply(page, words, {
    title,
    href:
      page.languages.length < 2
        ? page.centre.path || '/'
        : `${page.centre.path || '/'}?lang=${encodeURIComponent(page.language)}`,
    body: `<h1>${escapeHtml(title)}</h1>${parts.length === 0 ? `<p>${words.empty}</p>` : `<div class="collections">${parts.join('')}</div>`}`,
  });
}

export function articlePage(page: ArticlePage): RawReply {
  const words = helpWords(page.language);
  const text = textOf(page.html);
  const day = new Date(page.updatedAt).toLocaleDateString(tagOf(page.language), {
    dateStyle: 'long',
    timeZone: 'UTC',
  });
  const question = {
    '@context': 'https://schema.org',
    '@type': 'FAQPage',
    inLanguage: page.language,
    mainEntity: [{ '@type': 'Question', name: page.title, acceptedAnswer: { '@type': 'Answer', text } }],
  };
  return reply(page, words, {
    title: page.title,
    href: page.href,
    description: firstWords(text, descriptionChars),
    ...(page.href === undefined ? {} : { data: question }),
    body: `<p><a href="${homeOf(page)}">${words.home}</a></p>
<article><h1>${escapeHtml(page.title)}</h1>
${page.html}<p class="soft">${words.changed} <time datetime="${page.updatedAt}">${escapeHtml(day)}</time></p></article>
${votingOf(page.vote, words)}`,
  });
}

function votingOf(vote: ArticlePage['vote'], words: HelpWords): string {
  if (vote === undefined) return '';
  if (vote === 'done') return `<p class="vote" id="vote" role="status">${words.thanks}</p>`;
  return `<form class="vote" id="vote" method="post" action="${escapeHtml(vote.href)}" aria-label="${words.helped}"><p>${words.helped}</p><button name="helpful" value="yes">${words.yes}</button> <button name="helpful" value="no">${words.no}</button></form>`;
}

export function resultsPage(page: HelpPage & { sought: string; links: readonly HelpLink[] }): RawReply {
  const words = helpWords(page.language);
  return reply(page, words, {
    title: words.results(page.sought),
    href: undefined,
    sought: page.sought,
    body: `<h1>${escapeHtml(words.results(page.sought))}</h1>${page.links.length === 0 ? `<p>${words.nothing}</p>` : listOf(page.links)}<p><a href="${homeOf(page)}">${words.home}</a></p>`,
  });
}

export function missingArticlePage(page: HelpPage): RawReply {
  const words = helpWords(page.language);
  return reply({ ...page, status: 404 }, words, {
    title: words.title(page.centre.name),
    href: undefined,
    body: `<h1>${escapeHtml(words.title(page.centre.name))}</h1><p>${words.missing}</p><p><a href="${homeOf(page)}">${words.home}</a></p>`,
  });
}

/** sitemaps.org. */
export function sitemap(urls: readonly { readonly href: string; readonly at: string }[]): RawReply {
  const entries = urls.map(({ href, at }) => `<url><loc>${escapeHtml(href)}</loc><lastmod>${at}</lastmod></url>`);
  return {
    status: 200,
    headers: {
      'Content-Type': 'application/xml; charset=utf-8',
      'Cache-Control': caching,
      'X-Content-Type-Options': 'nosniff',
    },
    body: `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join('')}</urlset>`,
  };
}

/** What is changed or taken back is seen within a minute. */
const caching = 'public, max-age=60';

interface Content {
  readonly title: string;
  /** Undefined for a page that search engines leave out. */
  readonly href: string | undefined;
  readonly description?: string;
  readonly data?: object;
  readonly sought?: string;
  readonly body: string;
}

function reply(page: HelpPage, words: HelpWords, content: Content): RawReply {
  const { centre, language, status = 200 } = page;
  const css = style.replace('COLOUR', centre.colour ?? '#0f6b5c');
  return {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policyOf(css),
      'Cache-Control': content.href === undefined ? 'no-store' : caching,
      'Content-Language': language,
      'Referrer-Policy': 'strict-origin-when-cross-origin',
      'X-Content-Type-Options': 'nosniff',
      Vary: 'Accept-Language',
    },
    body: documentOf(page, words, content, css),
  };
}

/** Pictures may be anywhere, as the writers of the articles chose. */
function policyOf(css: string): string {
  return [
    "default-src 'none'",
    `style-src '${hashOf(css)}'`,
    `script-src '${hashOf(script)}'`,
    "connect-src 'self'",
    "img-src 'self' https: data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** In the language of the page. */
function homeOf({ centre, language }: HelpPage): string {
  return escapeHtml(`${centre.path || '/'}?lang=${encodeURIComponent(language)}`);
}

function documentOf(page: HelpPage, words: HelpWords, content: Content, css: string): string {
  const { centre, language, languages } = page;
  const { title, href, description = '', data, sought = '', body } = content;
  const name = escapeHtml(centre.name);
  const full = title.includes(centre.name) ? escapeHtml(title) : `${escapeHtml(title)} · ${name}`;
  const at = (to: string): string => escapeHtml(centre.url + to.slice(centre.path.length));
  const head =
    href === undefined
      ? '<meta name="robots" content="noindex">'
      : `<link rel="canonical" href="${at(href)}">
<meta property="og:type" content="${data === undefined ? 'website' : 'article'}">
<meta property="og:title" content="${escapeHtml(title)}">
<meta property="og:url" content="${at(href)}">
<meta property="og:site_name" content="${name}">
<meta property="og:description" content="${escapeHtml(description || words.placeholder)}">
<meta name="description" content="${escapeHtml(description || words.title(centre.name))}">
${centre.logoUrl === null ? '' : `<meta property="og:image" content="${escapeHtml(centre.logoUrl)}">`}
${languages.map((one) => `<link rel="alternate" hreflang="${escapeHtml(one.language)}" href="${at(one.href)}">`).join('\n')}`;
  const logo = centre.logoUrl === null ? '' : `<img src="${escapeHtml(centre.logoUrl)}" alt="" width="32" height="32">`;
  const others =
    languages.length < 2
      ? ''
      : `<nav aria-label="${words.languages}"><ul class="languages">${languages.map((one) => `<li><a lang="${escapeHtml(one.language)}" hreflang="${escapeHtml(one.language)}" href="${escapeHtml(one.href)}"${one.language === language ? ' aria-current="true"' : ''}>${escapeHtml(nameOf(one.language))}</a></li>`).join('')}</ul></nav>`;
  return `<!doctype html>
<html lang="${escapeHtml(language)}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${full}</title>
${head}
<style>${css}</style>
${data === undefined ? '' : `<script type="application/ld+json">${JSON.stringify(data).replaceAll('<', '\\u003c')}</script>`}
</head>
<body>
<a class="skip" href="#main">${words.skip}</a>
<header><div>
<a class="home" href="${homeOf(page)}">${logo}<span>${name}</span></a>
<form role="search" action="${escapeHtml(centre.path)}/search" data-suggestions="${escapeHtml(centre.path)}/suggestions">
<input type="hidden" name="lang" value="${escapeHtml(language)}">
<label class="skip" for="q">${words.search}</label>
<input id="q" name="q" type="search" required maxlength="200" autocomplete="off" placeholder="${escapeHtml(words.placeholder)}" value="${escapeHtml(sought)}">
<button>${words.search}</button>
<ul id="suggestions" aria-label="${words.search}" aria-live="polite" hidden></ul>
</form>
</div></header>
<main id="main" tabindex="-1">
${body}
</main>
<footer>${others}</footer>
<script>${script}</script>
</body>
</html>`;
}

function listOf(links: readonly HelpLink[]): string {
  return `<ul class="links">${links.map(({ title, href, excerpt = '' }) => `<li><a href="${escapeHtml(href)}">${escapeHtml(title)}</a>${excerpt === '' ? '' : `<p class="soft">${escapeHtml(excerpt)}</p>`}</li>`).join('')}</ul>`;
}

/** Its own name of itself. */
function nameOf(language: string): string {
  const tag = tagOf(language);
  return tag === undefined ? language : (new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? language);
}

/** As the platform's own formats take it; undefined if it is none. */
function tagOf(language: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(language.replaceAll('_', '-'))[0];
  } catch {
    return undefined;
  }
}

/** Of safe HTML. */
function textOf(html: string): string {
  return html
    .replace(/<[^<>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Shows what is found while one types. Answers that come late are dropped. */
const script = `
const form = document.querySelector('[role=search]');
const list = document.getElementById('suggestions');
let waiting, asked = 0;
const show = (articles) => {
  list.replaceChildren(...articles.map(({ title, href }) => {
    const item = document.createElement('li');
    const link = document.createElement('a');
    link.href = href;
    link.textContent = title;
    item.append(link);
    return item;
  }));
  list.hidden = articles.length === 0;
};
const ask = async () => {
  const number = ++asked;
  const words = form.elements.q.value.trim();
  if (words.length < 2) return show([]);
  const query = new URLSearchParams({ q: words, lang: form.elements.lang.value });
  const answer = await fetch(form.dataset.suggestions + '?' + query).catch(() => undefined);
  if (answer?.ok && number === asked) show((await answer.json()).articles);
};
form.elements.q.addEventListener('input', () => { clearTimeout(waiting); waiting = setTimeout(ask, 150); });
form.addEventListener('keydown', (event) => { if (event.key === 'Escape') { show([]); form.elements.q.focus(); } });
`;

/** Light or dark like the reader's system; text contrast is at least 4.5:1, and 3:1 for the edges of controls. */
const style = `
:root { color-scheme: light dark; --ink: #1a1d21; --paper: #f5f7f9; --card: #fff; --line: #c5ccd4; --edge: #7b8591; --soft: #5b6470; --link: #0f6b5c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --paper: #14171a; --card: #1b2025; --line: #3a424b; --edge: #727c88; --soft: #9aa4b0; --link: #4fc3ac; } }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--paper); font: 17px/1.6 system-ui, sans-serif; overflow-wrap: anywhere; }
a { color: var(--link); }
a:focus-visible, button:focus-visible, input:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
main:focus-visible { outline: 0; }
header { border-top: 4px solid COLOUR; border-bottom: 1px solid var(--line); background: var(--card); }
header > div { display: flex; flex-wrap: wrap; align-items: center; gap: .75rem 1.5rem; max-width: 56rem; margin: 0 auto; padding: 1rem; }
.home { display: flex; align-items: center; gap: .6rem; color: inherit; font-weight: 650; text-decoration: none; }
.home img { border-radius: .4rem; object-fit: contain; }
form[role=search] { position: relative; display: flex; flex: 1 1 18rem; gap: .5rem; }
input[type=search] { flex: 1; min-width: 0; min-height: 44px; padding: .5rem .8rem; color: inherit; background: transparent; border: 1px solid var(--edge); border-radius: .5rem; font: inherit; }
::placeholder { color: var(--soft); opacity: 1; }
button { min-height: 44px; padding: .4rem 1rem; color: var(--ink); background: var(--card); border: 1px solid var(--edge); border-radius: .5rem; font: inherit; cursor: pointer; }
#suggestions { position: absolute; z-index: 1; top: 100%; inset-inline: 0; margin: .25rem 0 0; padding: .4rem 0; list-style: none; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
#suggestions a { display: block; padding: .45rem .9rem; }
main { max-width: 56rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
article { max-width: 44rem; }
h1 { margin: .5rem 0 1rem; font-size: 1.8rem; line-height: 1.25; }
h2 { margin: 2rem 0 .6rem; font-size: 1.25rem; line-height: 1.3; }
h3 { margin: 1.5rem 0 .5rem; font-size: 1.05rem; }
.collections { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: 1rem; }
.collections section { padding: 1.1rem 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
.collections h2 { margin-top: 0; }
.links { margin: 0; padding: 0; list-style: none; }
.links li { padding: .3rem 0; }
.links a { display: inline-block; padding: .1rem 0; }
.links p { margin: .1rem 0 0; }
.soft { color: var(--soft); font-size: .9rem; }
img { max-width: 100%; height: auto; }
blockquote { margin: 1rem 0; padding-inline-start: 1rem; border-inline-start: 3px solid var(--line); color: var(--soft); }
pre, .table { overflow: auto; }
pre { padding: .8rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
code { font-size: .9em; }
table { border-collapse: collapse; }
th, td { padding: .4rem .75rem; border: 1px solid var(--line); text-align: start; vertical-align: top; }
.vote { display: flex; flex-wrap: wrap; align-items: center; gap: .6rem; margin-top: 2rem; padding-top: 1rem; border-top: 1px solid var(--line); }
.vote p { margin: 0; }
footer { max-width: 56rem; margin: 0 auto; padding: 0 1rem 2rem; }
.languages { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: 0; padding: 0; list-style: none; }
.languages a { display: inline-block; padding: .35rem 0; }
.languages [aria-current] { color: inherit; font-weight: 650; text-decoration: none; }
.skip { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.skip:focus { position: static; width: auto; height: auto; clip-path: none; }
`;

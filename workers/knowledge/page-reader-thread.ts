// The thread that reads fetched pages: decodes the bytes, extracts the main content and converts it to Markdown. The
// only importer of parse5, linkedom, Readability and turndown. It runs no script and loads no resource of a page. A
// malicious page (endless nesting, memory) can end only this thread.

import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { parse, serialize } from 'parse5';
import Turndown from 'turndown';
import { answerCalls, giveWay } from '../thread.ts';
import { decodeText } from './charset.ts';

export interface PageSource {
  readonly bytes: Uint8Array;
  /** Without parameters. */
  readonly contentType: string;
  readonly charset: string | undefined;
  /** The page's address, to which relative ones refer. */
  readonly url: string;
}

export interface ReadPage {
  readonly title: string;
  /** The main content as Markdown; empty if there is none. */
  readonly text: string;
  /** The page's canonical link, absolute. */
  readonly canonicalUrl: string | undefined;
  /** Absolute addresses of its links, without duplicates. */
  readonly links: readonly string[];
}

const maxLinks = 2000;
const maxTitleChars = 300;
/** Most text kept of a page. A longer one is a data dump that retrieval cannot use. */
const maxTextChars = 500_000;
/** An article shorter than this share of the page's text was not the main content. */
const articleShare = 0.25;
/** Elements around the content. */
const surroundings =
  'script, style, noscript, template, svg, iframe, form, button, nav, header, footer, aside, [role=navigation], [role=banner], [role=contentinfo], [hidden], [aria-hidden=true]';

type Document = ReturnType<typeof parseHTML>['document'];

const markdown = new Turndown({
  headingStyle: 'atx',
  codeBlockStyle: 'fenced',
  bulletListMarker: '-',
  emDelimiter: '_',
});
// People and models read the text, and it is never rendered as HTML again, so addresses, pictures and escapes would
// only be noise.
markdown.escape = (text) => text;
markdown.addRule('link', { filter: 'a', replacement: (content) => content });
markdown.addRule('picture', { filter: ['img', 'picture', 'video', 'audio', 'canvas'], replacement: () => '' });
markdown.addRule('cell', {
  filter: ['td', 'th'],
  replacement: (content) => `${content.trim().replace(/\s+/g, ' ')} | `,
});
markdown.addRule('row', { filter: 'tr', replacement: (content) => `\n${content.replace(/ \| $/, '')}` });

export const methods = {
  read({ bytes, contentType, charset, url }: PageSource): ReadPage {
    const text = decodeText(bytes, charset);
    return contentType.includes('html') ? readHtml(text, url) : readPlain(text, url);
  },
};

function readPlain(text: string, url: string): ReadPage {
  const tidy = tidied(text.replaceAll('\r\n', '\n'));
  const firstLine =
    tidy
      .split('\n', 1)[0]
      ?.replace(/^#+\s*/, '')
      .trim() ?? '';
  return {
    title: (firstLine || lastSegment(url)).slice(0, maxTitleChars),
    text: tidy,
    canonicalUrl: undefined,
    links: [],
  };
}

function readHtml(html: string, url: string): ReadPage {
  // Parsed as browsers do, with missing or crossed tags repaired; linkedom takes them literally.
  const { document } = parseHTML(serialize(parse(html)));
  const base = URL.parse(document.querySelector('base[href]')?.getAttribute('href') ?? '', url)?.href ?? url;
  const canonical = document.querySelector('link[rel~=canonical][href]')?.getAttribute('href');
  const links = linksOf(document, base);
  const heading = document.querySelector('h1')?.textContent ?? '';
  const whole = wholeText(document);
  // Last, because Readability modifies the document.
  const article = new Readability(document, { charThreshold: 100 }).parse();
  const main = article?.content == null ? '' : toMarkdown(article.content);
  const text = main.length >= whole.length * articleShare ? main : whole;
  const title = oneLine(article?.title ?? '') || oneLine(heading) || lastSegment(url);
  return {
    title: title.slice(0, maxTitleChars),
    text: tidied(text),
    canonicalUrl: canonical == null ? undefined : URL.parse(canonical, base)?.href,
    links,
  };
}

/** Everything except what is plainly not content, for pages that are not articles: FAQs, tables, short pages. */
function wholeText(document: Document): string {
  const copy = parseHTML(
    `<html><body>${(document.querySelector('main, [role=main]') ?? document.body)?.innerHTML ?? ''}</body></html>`,
  ).document;
  for (const element of copy.querySelectorAll(surroundings)) element.remove();
  return toMarkdown(copy.body.innerHTML);
}

function toMarkdown(html: string): string {
  const { document } = parseHTML(`<html><body>${html}</body></html>`);
  // turndown's type wants another DOM's node; linkedom's has everything it reads.
  return markdown.turndown(document.body as unknown as Parameters<typeof markdown.turndown>[0]);
}

function linksOf(document: Document, base: string): string[] {
  const links = new Set<string>();
  for (const anchor of document.querySelectorAll('a[href]')) {
    const url = URL.parse(anchor.getAttribute('href') ?? '', base);
    if (url === null || !/^https?:$/.test(url.protocol)) continue;
    url.hash = '';
    links.add(url.href);
    if (links.size >= maxLinks) break;
  }
  return [...links];
}

function tidied(text: string): string {
  return text
    .replace(/[^\S\n]+$/gm, '')
    .replace(/^([^\S\n]*)([-*]|\d+\.)[^\S\n]+/gm, '$1$2 ')
    .replace(/\n{3,}/g, '\n\n')
    .replaceAll('\u0000', '')
    .trim()
    .slice(0, maxTextChars);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function lastSegment(url: string): string {
  const { pathname, host } = new URL(url);
  return (
    pathname
      .split('/')
      .filter((segment) => segment !== '')
      .at(-1) ?? host
  );
}

giveWay();
answerCalls(methods);

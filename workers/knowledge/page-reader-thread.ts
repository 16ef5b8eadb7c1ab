// The thread that reads fetched pages: text out of bytes, the main content out of a page, Markdown out of that. The
// only importer of parse5, linkedom, Readability and turndown. It runs nothing of a page and loads nothing that a page
// names. What a page does to it (endless nesting, no memory) ends this thread and no other.

import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { parse, serialize } from 'parse5';
import Turndown from 'turndown';
import { answerQuestions, giveWay } from '../thread.ts';
import { decodeText } from './charset.ts';

export interface PageSource {
  readonly bytes: Uint8Array;
  /** Without parameters. */
  readonly contentType: string;
  readonly charset: string | undefined;
  /** Where it came from; relative addresses are relative to it. */
  readonly url: string;
}

export interface ReadPage {
  readonly title: string;
  /** The main content as Markdown; empty when there is none. */
  readonly text: string;
  /** What the page calls its own address, absolute. */
  readonly canonicalUrl: string | undefined;
  /** Absolute addresses that it links to, each once. */
  readonly links: readonly string[];
}

const maxLinks = 2000;
const maxTitleChars = 300;
/** Text of a page that is kept. A longer one is a data dump that no retrieval is served by. */
const maxTextChars = 500_000;
/** An article shorter than this share of the whole page's text was not the main content. */
const articleShare = 0.25;
/** What stands around the content. */
const surroundings =
  'script, style, noscript, template, svg, iframe, form, button, nav, header, footer, aside, [role=navigation], [role=banner], [role=contentinfo], [hidden], [aria-hidden=true]';

type Document = ReturnType<typeof parseHTML>['document'];

const markdown = new Turndown({
  headingStyle: 'atx',
  codeBlockStyle: 'fenced',
  bulletListMarker: '-',
  emDelimiter: '_',
});
// The text is read by people and models, never rendered as HTML again: an address, a picture or an escape in it is
// noise.
markdown.escape = (text) => text;
markdown.addRule('link', { filter: 'a', replacement: (content) => content });
markdown.addRule('picture', { filter: ['img', 'picture', 'video', 'audio', 'canvas'], replacement: () => '' });
markdown.addRule('cell', {
  filter: ['td', 'th'],
  replacement: (content) => `${content.trim().replace(/\s+/g, ' ')} | `,
});
markdown.addRule('row', { filter: 'tr', replacement: (content) => `\n${content.replace(/ \| $/, '')}` });

export const questions = {
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
  // As browsers read it, whatever tags were left out or crossed over: linkedom takes them as they stand.
  const { document } = parseHTML(serialize(parse(html)));
  const base = URL.parse(document.querySelector('base[href]')?.getAttribute('href') ?? '', url)?.href ?? url;
  const canonical = document.querySelector('link[rel~=canonical][href]')?.getAttribute('href');
  const links = linksOf(document, base);
  const heading = document.querySelector('h1')?.textContent ?? '';
  const whole = wholeText(document);
  // Readability takes the document apart, so it is asked last.
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

/**
 * Everything but what is plainly not content, for pages that are no article: lists of questions, tables, short ones.
 */
function wholeText(document: Document): string {
  const copy = parseHTML(
    `<html><body>${(document.querySelector('main, [role=main]') ?? document.body)?.innerHTML ?? ''}</body></html>`,
  ).document;
  for (const element of copy.querySelectorAll(surroundings)) element.remove();
  return toMarkdown(copy.body.innerHTML);
}

function toMarkdown(html: string): string {
  const { document } = parseHTML(`<html><body>${html}</body></html>`);
  // turndown asks for a node of the DOM it was typed with; linkedom's has what it reads.
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
answerQuestions(questions);

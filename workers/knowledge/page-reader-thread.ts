// The thread that reads fetched pages: decodes the bytes, takes out the main content and writes it as Markdown. A
// malicious page (endless nesting, memory) can end only this thread.

import { createHash } from 'node:crypto';
import { answerCalls, giveWay } from '../thread.ts';
import { decodeText } from './charset.ts';
import { languageOf } from './language.ts';
import { type FileText, readCsv, readDocx, readPdf } from './office-files.ts';
import { documentOf, mainContent, type PageDocument } from './page-content.ts';
import { markdownOf } from './page-markdown.ts';

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
  /** What it tells robots, such as `noindex`. */
  readonly robots: string;
  /** ISO 639-1, or null if it is not known. */
  readonly language: string | null;
  /** The same for texts that differ only in spaces. */
  readonly textHash: string;
}

const maxLinks = 2000;
const maxTitleChars = 300;
/** Most text kept of a page. A longer one is a data dump that retrieval cannot use. */
const maxTextChars = 500_000;
const fileTypes = {
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  csv: 'text/csv',
} as const;

export const methods = {
  async read({ bytes, contentType, charset, url }: PageSource): Promise<ReadPage> {
    switch (kindOf(contentType, url)) {
      case 'pdf':
        return fromFile(await readPdf(bytes), url);
      case 'docx':
        return fromFile(await readDocx(bytes), url);
      case 'csv':
        return fromFile(await readCsv(decodeText(bytes, charset)), url);
      case 'html':
        return readHtml(decodeText(bytes, charset), url);
      case 'plain':
        return readPlain(decodeText(bytes, charset), url);
    }
  },
};

/** By its type, or by its name if the type says nothing. */
function kindOf(contentType: string, url: string): 'html' | 'pdf' | 'docx' | 'csv' | 'plain' {
  if (contentType.includes('html')) return 'html';
  for (const [kind, type] of Object.entries(fileTypes))
    if (contentType === type || (isUntold(contentType) && new URL(url).pathname.toLowerCase().endsWith(`.${kind}`)))
      return kind as keyof typeof fileTypes;
  return /\.x?html?$/i.test(new URL(url).pathname) && contentType === '' ? 'html' : 'plain';
}

const isUntold = (contentType: string): boolean => ['', 'application/octet-stream', 'text/plain'].includes(contentType);

function fromFile({ title, text }: FileText, url: string): ReadPage {
  const tidy = tidied(text);
  return {
    title: (oneLine(title) || lastSegment(url)).slice(0, maxTitleChars),
    text: tidy,
    canonicalUrl: undefined,
    links: [],
    robots: '',
    language: languageOf(tidy),
    textHash: hashOf(tidy),
  };
}

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
    robots: '',
    language: languageOf(tidy),
    textHash: hashOf(tidy),
  };
}

function readHtml(html: string, url: string): ReadPage {
  const document = documentOf(html);
  const base = URL.parse(document.querySelector('base[href]')?.getAttribute('href') ?? '', url)?.href ?? url;
  const canonical = document.querySelector('link[rel~=canonical][href]')?.getAttribute('href');
  const robots = [...document.querySelectorAll('meta[name=robots i], meta[name=switchboard i]')]
    .map((tag) => tag.getAttribute('content') ?? '')
    .join(',');
  const declared = document.documentElement?.getAttribute('lang') ?? undefined;
  const links = linksOf(document, base);
  const named = titleOf(document);
  // Last, because it modifies the document.
  const content = mainContent(document);
  const heading = content?.querySelector('h1')?.textContent ?? '';
  const text = content === undefined ? '' : tidied(markdownOf(content, document));
  return {
    title: (oneLine(heading) || named || lastSegment(url)).slice(0, maxTitleChars),
    text,
    canonicalUrl: canonical == null ? undefined : URL.parse(canonical, base)?.href,
    links,
    robots,
    language: languageOf(text, declared),
    textHash: hashOf(text),
  };
}

/** Without the site's name, which most pages add. */
function titleOf(document: PageDocument): string {
  const title = oneLine(document.querySelector('title')?.textContent ?? '');
  const heading = oneLine(document.querySelector('h1')?.textContent ?? '');
  if (heading !== '' && title.includes(heading)) return heading;
  const [first = '', ...others] = title.split(/\s+[|–—·•»«-]\s+/);
  return others.length > 0 && first !== '' ? first : title || heading;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text.replace(/\s+/g, ' ')).digest('base64url');
}

function linksOf(document: PageDocument, base: string): string[] {
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
  const segment = pathname.split('/').findLast((one) => one !== '');
  if (segment === undefined) return host;
  try {
    return decodeURIComponent(segment);
  } catch {
    // Escapes that are no text are shown as they are.
    return segment;
  }
}

giveWay();
answerCalls(methods);

// A help centre of 67 pages made from the fixture: an ordinary site for a crawl, with a menu, header and footer around
// each text, and questions with the page that answers each.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Site } from './site.ts';

export interface Question {
  readonly text: string;
  /** The page that answers it. */
  readonly path: string;
}

const fixtures = join(import.meta.dirname, '..', 'fixtures');

/** Markdown by path. */
export const pages: ReadonlyMap<string, string> = new Map(
  readFileSync(join(fixtures, 'help-centre.md'), 'utf8')
    .split(/^=== /m)
    .filter((part) => part.trim() !== '')
    .map((part) => [part.slice(0, part.indexOf('\n')).trim(), part.slice(part.indexOf('\n') + 1).trim()] as const),
);

export const questions: readonly Question[] = readFileSync(join(fixtures, 'help-centre-questions.tsv'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => {
    const [text = '', path = ''] = line.split('\t');
    return { text, path };
  });

/**
 * The page at `path` as served: the home page links to every area's first page, and those to the others in their area.
 */
export function htmlOf(path: string, text = pages.get(path) ?? ''): string {
  const area = path.split('/')[1] ?? '';
  const areas = new Map([...pages.keys()].filter((one) => one !== '/').map((one) => [one.split('/')[1] ?? '', one]));
  const near = [...pages.keys()].filter((one) => one !== '/' && one.split('/')[1] === area);
  const blocks = text
    .split('\n')
    .map((line) =>
      line.startsWith('## ')
        ? `<h2>${line.slice(3)}</h2>`
        : line.startsWith('# ')
          ? `<h1>${line.slice(2)}</h1>`
          : `<p>${line}</p>`,
    );
  const title = /^# (.+)$/m.exec(text)?.[1] ?? 'Help';
  const link = (to: string): string => `<li><a href="${to}?utm_source=menu#top">${to}</a></li>`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title} | Larch &amp; Loam</title><link rel="canonical" href="${path}"></head><body>
<header><nav><ul>${[...areas.values()].map(link).join('')}</ul></nav></header>
<main><article>${blocks.join('\n')}</article></main>
<aside><ul>${near.map(link).join('')}</ul></aside>
<footer>Larch and Loam, Bergen. All rights reserved. Cookie settings, imprint and small print that stands on every page.</footer><script>var secret = 'never indexed';</script></body></html>`;
}

export function serveHelpCentre(site: Site): Site {
  for (const path of pages.keys()) site.page(path, htmlOf(path));
  return site;
}

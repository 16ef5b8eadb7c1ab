// Writes the content of a page as Markdown: headings with their anchors, questions of accordions and lists as headings,
// tables as rows. The only importer of turndown.

import Turndown from 'turndown';
import { headingWith } from './headings.ts';
import type { PageDocument, PageElement } from './page-content.ts';

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
markdown.addRule('heading', {
  filter: ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'],
  replacement(content, node) {
    // turndown's type wants another DOM's node; linkedom's has everything that is read here.
    const element = node as unknown as PageElement;
    const words = content.replace(/\s+/g, ' ').trim();
    if (words === '') return '';
    const line = `${'#'.repeat(Number(element.tagName.charAt(1)))} ${words}`;
    return `\n\n${headingWith(line, element.getAttribute('data-anchor') ?? undefined)}\n\n`;
  },
});
markdown.addRule('cell', {
  filter: ['td', 'th'],
  replacement: (content) => `${content.trim().replace(/\s+/g, ' ')} | `,
});
markdown.addRule('row', {
  filter: 'tr',
  replacement: (content) => (/[^\s|]/.test(content) ? `\n${content.replace(/ \| $/, '')}` : ''),
});
markdown.addRule('line', { filter: 'hr', replacement: () => '\n\n' });
markdown.addRule('term', { filter: 'dt', replacement: (content) => `\n\n**${content.trim()}**\n` });
markdown.addRule('description', { filter: 'dd', replacement: (content) => `\n${content.trim()}\n\n` });

/** Modifies the content. */
export function markdownOf(content: PageElement, document: PageDocument): string {
  unwrapLayoutTables(content, document);
  for (const element of content.querySelectorAll('summary, button, [role=button], [role=tab], dt')) {
    if (element.parentNode !== null && isQuestion(element)) asHeading(element, document, levelAt(element, content));
  }
  for (const heading of content.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
    const anchor = anchorNear(heading, content);
    if (anchor !== undefined) heading.setAttribute('data-anchor', anchor);
  }
  return markdown.turndown(content as unknown as Parameters<typeof markdown.turndown>[0]);
}

/** A table that arranges the page, instead of showing data, is a sequence of its cells. Inner tables come first. */
function unwrapLayoutTables(content: PageElement, document: PageDocument): void {
  for (const table of [...content.querySelectorAll('table')].reverse()) {
    const cells = [...table.querySelectorAll('td, th, caption')].filter((cell) => cell.closest('table') === table);
    const isLayout =
      table.getAttribute('role') === 'presentation' ||
      (cells.every(({ tagName }) => tagName !== 'TH') &&
        cells.some(
          (cell) => cell.querySelector('h1, h2, h3, h4, p + p, ul, ol, dl, div div, center, pre, table') !== null,
        ));
    if (!isLayout) continue;
    const flow = document.createElement('div');
    for (const cell of cells) {
      const part = document.createElement('div');
      part.append(...cell.childNodes);
      flow.append(part);
    }
    table.replaceWith(flow);
  }
}

/** Text that opens an answer: of an accordion or a tab, or a term that is asked or explained at length. */
function isQuestion(element: PageElement): boolean {
  const text = (element.textContent ?? '').trim();
  if (text === '' || text.length > 300 || element.closest('h1, h2, h3, h4, h5, h6, table') !== null) return false;
  if (element.querySelector('h1, h2, h3, h4, h5, h6') !== null) return false;
  if (element.tagName !== 'DT') return true;
  return /[?？؟;]$/.test(text) || (element.nextElementSibling?.textContent ?? '').trim().length > 200;
}

function asHeading(element: PageElement, document: PageDocument, level: number): void {
  const heading = document.createElement(`h${level}`);
  const id =
    element.id ||
    (element.getAttribute('aria-controls') ?? '') ||
    (element.parentElement?.matches('details[id], li[id]') ? element.parentElement.id : '');
  if (id !== '') heading.id = id;
  heading.append(...element.childNodes);
  element.replaceWith(heading);
}

/** One below the heading above it. */
function levelAt(element: PageElement, content: PageElement): number {
  let above = 1;
  for (const heading of content.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
    // 4: the heading follows the element.
    if ((element.compareDocumentPosition(heading) & 4) !== 0) break;
    if (heading.getAttribute('data-question') === null) above = Number(heading.tagName.charAt(1));
  }
  return Math.min(6, above + 1);
}

/** Its own id, or that of an anchor in or before it, or of the section that it begins. */
function anchorNear(heading: PageElement, content: PageElement): string | undefined {
  const named = (element: PageElement | null): string | undefined =>
    element === null ? undefined : element.id || (element.getAttribute('name') ?? '') || undefined;
  const inside = named(heading) ?? named(heading.querySelector('[id], a[name]'));
  if (inside !== undefined) return inside;
  const before = heading.previousElementSibling;
  if (before !== null && (before.textContent ?? '').trim() === '') {
    const anchor = named(before) ?? named(before.querySelector('[id], a[name]'));
    if (anchor !== undefined) return anchor;
  }
  for (let parent = heading.parentElement; parent !== null && parent !== content; parent = parent.parentElement) {
    if (parent.id !== '') return parent.id;
    if ((parent.textContent ?? '').trim().startsWith((heading.textContent ?? '').trim()) === false) return undefined;
  }
  return undefined;
}

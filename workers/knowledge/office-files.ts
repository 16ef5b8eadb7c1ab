// Texts of files that are not pages: PDF, Word, CSV. The only importer of unpdf, mammoth and csv-parse, each loaded when
// the first such file is read.

import { documentOf } from './page-content.ts';
import { markdownOf } from './page-markdown.ts';

export interface FileText {
  /** Empty if the file has none. */
  readonly title: string;
  /** Markdown. */
  readonly text: string;
}

/** A piece of text, or a mark without text. */
type PdfItem = { readonly str: string; readonly hasEOL: boolean } | { readonly type: string };

/** More is a book that retrieval cannot use, or a trap. */
const maxPdfPages = 500;
const maxCsvRows = 5000;

/** Each page is a section; a link with its anchor opens the file there. */
export async function readPdf(bytes: Uint8Array): Promise<FileText> {
  const { getDocumentProxy, getMeta } = await import('unpdf');
  const document = await getDocumentProxy(new Uint8Array(bytes));
  const { info } = await getMeta(document);
  const parts: string[] = [];
  for (let number = 1; number <= Math.min(document.numPages, maxPdfPages); number += 1) {
    const { items } = await (await document.getPage(number)).getTextContent();
    const lines = (items as readonly PdfItem[])
      .map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : ''))
      .join('');
    const text = withParagraphs(lines);
    if (text !== '') parts.push(document.numPages === 1 ? text : `## Page ${number} {#page=${number}}\n\n${text}`);
  }
  await document.destroy();
  return { title: typeof info['Title'] === 'string' ? info['Title'].trim() : '', text: parts.join('\n\n') };
}

/** Lines of a page joined to paragraphs; a word that is divided at the end of a line is joined, too. */
function withParagraphs(lines: string): string {
  return lines
    .replace(/[^\S\n]+/g, ' ')
    .replace(/(\p{Ll})-\n(?=\p{Ll})/gu, '$1')
    .replace(/\n\s*\n+/g, '\n\n')
    .replace(/([.!?。！？।:])\n/gu, '$1\n\n')
    .trim();
}

export async function readDocx(bytes: Uint8Array): Promise<FileText> {
  const { default: mammoth } = await import('mammoth');
  const { value: html } = await mammoth.convertToHtml({ buffer: Buffer.from(bytes) });
  const document = documentOf(`<html><body>${html}</body></html>`);
  const { body } = document;
  const title = body?.querySelector('h1')?.textContent?.trim() ?? '';
  return { title, text: body === null ? '' : markdownOf(body, document) };
}

/** Each row is a section: its first column is the heading, the others are named by the first row. */
export async function readCsv(text: string): Promise<FileText> {
  const { parse } = await import('csv-parse/sync');
  const rows = parse(text, {
    bom: true,
    delimiter: [',', ';', '\t'],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    trim: true,
    to: maxCsvRows,
  }) as string[][];
  const [names = [], ...others] = rows;
  const sections = others.map(([first = '', ...cells]) => {
    const lines = cells.flatMap((cell, index) => {
      const name = names[index + 1] ?? '';
      if (cell === '') return [];
      return cells.length === 1 || name === '' ? [cell] : [`**${name}**: ${cell}`];
    });
    return first === '' ? lines.join('\n\n') : `## ${first.replace(/\s+/g, ' ')}\n\n${lines.join('\n\n')}`;
  });
  return { title: '', text: sections.join('\n\n') };
}

// How much of a page's content is kept and how much around it is taken, on the corpus of the tests: the page reader, beside
// Readability alone and Trafilatura. Trafilatura is Python: set TRAFILATURA_PYTHON to a Python that has it, such as that of
// a virtual environment; python3 is tried otherwise.

import { spawnSync } from 'node:child_process';
import { Readability } from '@mozilla/readability';
import { type CorpusPage, keptOf, pageCorpus } from '../test/support/page-corpus.ts';
import { documentOf, mainContent } from '../workers/knowledge/page-content.ts';
import { markdownOf } from '../workers/knowledge/page-markdown.ts';
import { type Row, row, runAlone } from './frame.ts';

const trafilaturaTimeoutMs = 120_000;
const maxOutputBytes = 64 * 1024 * 1024;
const trafilaturaScript = `
import json, sys
from trafilatura import extract
pages = json.load(sys.stdin)
print(json.dumps([extract(page, include_comments=False, include_tables=True) or '' for page in pages]))
`;

export async function run(): Promise<Row[]> {
  const pages = pageCorpus();
  const ours = figuresOf(
    pages,
    pages.map(({ html }) => read(html)),
  );
  const rows = [
    row({ name: `${pages.length} pages: content kept`, value: ours.kept, unit: '%', target: { atLeast: 99.5 } }),
    row({ name: `${pages.length} pages: wrongly taken`, value: ours.taken, unit: '%', target: { below: 2 } }),
  ];
  for (const [name, texts] of [
    ['Readability', pages.map(({ html }) => readability(html))],
    ['Trafilatura', trafilatura(pages)],
  ] as const) {
    if (texts === undefined) continue;
    const { kept, taken } = figuresOf(pages, texts);
    rows.push(
      row({ name: `${name}: content kept`, value: kept, unit: '%' }),
      row({ name: `${name}: wrongly taken`, value: taken, unit: '%' }),
    );
  }
  return rows;
}

/** Shares of all pages' characters. */
function figuresOf(pages: readonly CorpusPage[], texts: readonly string[]): { kept: number; taken: number } {
  let [content, kept, around, taken] = [0, 0, 0, 0];
  for (const [index, page] of pages.entries()) {
    const one = keptOf(page, texts[index] ?? '');
    content += one.content;
    kept += one.kept;
    around += one.around;
    taken += one.taken;
  }
  return { kept: (100 * kept) / content, taken: (100 * taken) / around };
}

function read(html: string): string {
  const document = documentOf(html);
  const content = mainContent(document);
  return content === undefined ? '' : markdownOf(content, document);
}

function readability(html: string): string {
  const article = new Readability(documentOf(html), { charThreshold: 100 }).parse();
  return `${article?.title ?? ''}\n${article?.textContent ?? ''}`;
}

function trafilatura(pages: readonly CorpusPage[]): string[] | undefined {
  const python = process.env['TRAFILATURA_PYTHON'] ?? 'python3';
  const { status, stdout } = spawnSync(python, ['-c', trafilaturaScript], {
    input: JSON.stringify(pages.map(({ html }) => html)),
    encoding: 'utf8',
    timeout: trafilaturaTimeoutMs,
    maxBuffer: maxOutputBytes,
  });
  if (status === 0) return JSON.parse(stdout);
  process.stderr.write(`${python} has no Trafilatura; it is left out. Set TRAFILATURA_PYTHON.\n`);
  return undefined;
}

await runAlone(import.meta.url, run);

// The documentation as a whole: its links lead somewhere, its generated part is current, its pages keep their form.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import t from 'tap';
import { settingsTables } from '../../http/process/settings.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const pagesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules') && !name.includes('fixtures'))
    .map((name) => join(folder, name));

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...['docs', 'engine', 'http', 'store', 'workers', 'bench', 'test'].flatMap(pagesIn),
];

t.test('every link leads to a file, and to a heading in it', async (t) => {
  const broken: string[] = [];
  let count = 0;
  for (const page of pages) {
    for (const [, target = ''] of withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      count += 1;
      const [path = '', heading] = target.split('#');
      const file = path === '' ? page : relative(root, resolve(root, dirname(page), path));
      if (!existsSync(join(root, file)) || (heading !== undefined && !headingsOf(file).includes(heading)))
        broken.push(`${page}: ${target}`);
    }
  }
  t.ok(count > 100, `${count} links`);
  t.same(broken, []);
});

t.test('the tables of settings are current; npm run docs writes them', async (t) => {
  const page = read('docs/operations/configuration.md');
  t.equal(page.slice(page.indexOf('\n## ') + 1), settingsTables());
});

t.test('every page of docs/ can be reached from its index, and the README is short', async (t) => {
  const indexed = new Set(
    ['docs/README.md', 'docs/design/decisions/README.md'].flatMap((index) =>
      [...read(index).matchAll(/\]\(([^)#]+)\)/g)].map(([, target = '']) => join(dirname(index), target)),
    ),
  );
  t.same(
    pagesIn('docs').filter((page) => page !== 'docs/README.md' && !indexed.has(page)),
    [],
  );
  t.ok(read('README.md').split('\n').length <= 121);
});

t.test('a decision has its context, its choice and its cost', async (t) => {
  const decisions = pagesIn('docs/design/decisions').filter((page) => /\/\d{3}-/.test(page));
  t.ok(decisions.length > 30);
  for (const page of decisions) t.same(headingsOf(page).slice(1), ['context', 'choice', 'cost'], page);
});

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');
}

/** As GitHub names them. */
function headingsOf(file: string): string[] {
  return [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

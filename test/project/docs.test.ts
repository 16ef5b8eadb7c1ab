// The documentation as a whole: its links work, its generated part is current, its pages have the required form.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import t from 'tap';
import { guidePages } from '../../http/documents/guide.ts';
import { settingsTables } from '../../http/process/settings.ts';
import { startService } from '../support/service.ts';

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

t.test('the server serves the pages, and their links work', async (t) => {
  const paths = Object.entries(guidePages).flatMap(([section, names]) => names.map((name) => `${section}/${name}`));
  t.same(
    paths.map((path) => `docs/${path}.md`).sort(),
    pagesIn('docs')
      .filter((page) => !page.endsWith('README.md') && !page.includes('/decisions/'))
      .sort(),
  );
  const service = await startService(t);
  const html = new Map<string, string>();
  for (const path of paths) {
    const reply = await service.get(`//docs/${path}`);
    t.equal(reply.status, 200, path);
    t.match(reply.headers.get('content-security-policy'), "default-src 'none'", path);
    t.notMatch(reply.body, /<script|src="|@import|url\(/, path);
    html.set(`/docs/${path}`, reply.body);
  }
  const broken: string[] = [];
  for (const [from, text] of html)
    for (const [, href = ''] of text.matchAll(/href="([^"]+)"/g)) {
      if (/^https?:/.test(href)) continue;
      const { pathname, hash } = new URL(href, `http://x${from}`);
      if (pathname === '/docs') continue;
      if (!html.has(pathname) || (hash !== '' && !html.get(pathname)?.includes(`id="${hash.slice(1)}"`)))
        broken.push(`${from}: ${href}`);
    }
  t.same(broken, []);
  t.match(await service.get('//docs/guide/monitoring'), { status: 404 }, 'a page of another section');
  t.match(await service.get('//docs/guide/..%2f..%2fREADME'), { status: 404 });
  t.match((await service.get('//docs')).body, 'href="docs/guide/first-conversation"');
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

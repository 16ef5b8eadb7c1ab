// The pages at /docs/…: the guides in docs/, rendered from Markdown like the page of the API, without a script and
// without anything from elsewhere.

import { Marked } from 'marked';
import { escapeHtml } from '../../engine/text.ts';
import { style } from './docs.ts';

/** The served pages of docs/, in the order of the contents. */
export const guidePages = {
  guide: [
    'first-conversation',
    'inbox',
    'widget',
    'mail',
    'moving-in',
    'calls',
    'notifications',
    'knowledge-base',
    'assistant',
    'files',
    'billing',
  ],
  api: ['authentication', 'sockets', 'webhooks', 'verification-codes', 'oauth-apps'],
  operations: ['installing', 'configuration', 'accounts', 'backup-restore', 'upgrading', 'monitoring', 'cluster'],
  design: ['architecture', 'behaviour', 'performance'],
} as const;

export const guideSections = Object.keys(guidePages);
export const guideNames: readonly string[] = Object.values(guidePages).flat();

/** The pages by section and name, such as `guide/mail`. `readPage` returns the Markdown at a path of the project. */
export function renderGuide(readPage: (path: string) => string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const [section, names] of Object.entries(guidePages))
    for (const name of names) texts.set(`${section}/${name}`, readPage(guideFile(`${section}/${name}`)));
  return new Map([...texts].map(([path, text]) => [path, page(path, text, texts)]));
}

function guideFile(path: string): string {
  return `docs/${path}.md`;
}

function page(path: string, text: string, texts: ReadonlyMap<string, string>): string {
  const contents = Object.entries(guidePages)
    .map(([section, names]) => {
      const items = names.map((name) => {
        const current = `${section}/${name}` === path ? ' aria-current="page"' : '';
        return `<li><a href="../${section}/${name}"${current}>${escapeHtml(titleOf(texts.get(`${section}/${name}`)))}</a></li>`;
      });
      return `<li>${titles[section] ?? section}<ul>${items.join('')}</ul></li>`;
    })
    .join('');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(titleOf(text))} · Switchboard</title>
<style>${style}</style>
</head>
<body>
<nav aria-label="Contents"><strong>Switchboard</strong><ul>${contents}</ul><p><a href="../../docs">API reference</a></p></nav>
<main>
${rendererFor(path, texts).parse(text, { async: false })}
</main>
</body>
</html>`;
}

const titles: Readonly<Record<string, string>> = {
  guide: 'Guide',
  api: 'API',
  operations: 'Operations',
  design: 'Design',
};

/** Headings get the ids that links use. A link to a file that is not served becomes its text. */
function rendererFor(path: string, texts: ReadonlyMap<string, string>): Marked {
  return new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${headingId(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        if (/^(?:https?:|#)/.test(href)) return `<a href="${escapeHtml(href)}">${text}</a>`;
        const { pathname, hash } = new URL(href, `http://docs/${path}`);
        return texts.has(pathname.slice(1).replace(/\.md$/, ''))
          ? `<a href="..${pathname.replace(/\.md$/, '')}${hash}">${text}</a>`
          : text;
      },
    },
  });
}

function titleOf(text = ''): string {
  return /^# (.+)$/m.exec(text)?.[1] ?? '';
}

/** As GitHub makes them. */
function headingId(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

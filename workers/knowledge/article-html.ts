// Renders an article for the help centre. The result is safe by the way it is made: the writer's own HTML becomes text,
// and addresses are only those of the web, of mail, of telephones and of the same page. Headings have the anchors that
// passages name. Runs in the retrieval thread.

import { Marked } from 'marked';

/** The page's own title is the first heading. */
const levelBelow = 1;
const lowestLevel = 6;

export function articleHtml(markdown: string): string {
  const ids = new Set<string>();
  const marked = new Marked({
    gfm: true,
    renderer: {
      html({ text }) {
        return this.text({ type: 'text', raw: text, text });
      },
      heading({ tokens, depth, text }) {
        const level = Math.min(depth + levelBelow, lowestLevel);
        return `<h${level} id="${freeId(ids, text)}">${this.parser.parseInline(tokens)}</h${level}>\n`;
      },
      // False: as the library renders it.
      link({ href, tokens }) {
        return leadsSomewhere(href) ? false : this.parser.parseInline(tokens);
      },
      image({ href, text }) {
        return /^https?:\/\//i.test(href) ? false : this.text({ type: 'text', raw: text, text });
      },
      table(token) {
        const row = (cells: typeof token.header, tag: 'th' | 'td'): string =>
          `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
        const body = token.rows.map((cells) => row(cells, 'td')).join('');
        return `<div class="table" tabindex="0"><table><thead>${row(token.header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`;
      },
      checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    },
  });
  // What looks like an element in the writer's text is escaped, so these are the pictures.
  return marked.parse(markdown, { async: false }).replaceAll('<img ', '<img loading="lazy" ');
}

function leadsSomewhere(href: string): boolean {
  return /^(?:https?:\/\/|mailto:|tel:|#)/i.test(href);
}

/** Of letters and digits of any script; the second of a name gets a number. */
function freeId(ids: Set<string>, text: string): string {
  const name =
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
      .replace(/^-+|-+$/g, '') || 'section';
  let id = name;
  for (let count = 2; ids.has(id); count += 1) id = `${name}-${count}`;
  ids.add(id);
  return id;
}

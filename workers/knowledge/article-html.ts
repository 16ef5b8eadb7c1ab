// Renders an article for the help centre. The result is safe by the way it is made: the writer's own HTML becomes text,
// and addresses are only those of the web, of mail, of telephones and of the same page. Headings have the anchors that
// passages name. Runs in the retrieval thread.

import { Marked } from 'marked';
import { anchorOf } from '../../store/knowledge/anchors.ts';

/** The page's own title is the first heading. */
const levelBelow = 1;
const lowestLevel = 6;

export function articleHtml(markdown: string): string {
  const ids = new Map<string, number>();
  const marked = new Marked({
    gfm: true,
    renderer: {
      html({ text }) {
        return this.text({ type: 'text', raw: text, text });
      },
      heading({ tokens, depth, text }) {
        const level = Math.min(depth + levelBelow, lowestLevel);
        return `<h${level} id="${anchorOf(text, ids)}">${this.parser.parseInline(tokens)}</h${level}>\n`;
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

// Renders the small Markdown that agents write mails in: emphasis, lists, links, quotes, code and pictures. As safe HTML
// and as plain text. The result holds no markup of the writer's own, and pictures only from our storage. Runs in the
// mail thread.

import { Marked } from 'marked';
import { plainTextOf } from '../plain-text.ts';
import { writtenHtml } from './html.ts';

export interface RenderedText {
  readonly text: string;
  readonly html: string;
}

const skip = (): undefined => undefined;

const markdown = new Marked({
  gfm: true,
  // A line is a line, as in the field it was written in.
  breaks: true,
  // A number after # is a ticket's, dashes below a line are a rule, and indented text is no code.
  tokenizer: { heading: skip, lheading: skip, table: skip, code: skip, def: skip },
  renderer: { html: ({ text }) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;') },
});

export function renderMarkdown(written: string, pictureBase: string): RenderedText {
  const html = writtenHtml(markdown.parse(written, { async: false }), pictureBase);
  return { html, text: plainTextOf(html.replace(/<img\b[^>]*?\balt="([^"]*)"[^>]*>/g, '[$1]')) };
}

// A chunk as plain text, for a chat that shows no Markdown: without its heading, which names the section, and with the
// addresses of its links.

import { Marked } from 'marked';
import { plainTextOf } from '../plain-text.ts';

const markdown = new Marked({ gfm: true });

export function plainChunk(text: string): string {
  const withoutHeading = text.replace(/^#{1,6} .*\n+/, '');
  return plainTextOf(markdown.parse(withoutHeading.trim() === '' ? text : withoutHeading, { async: false })).trim();
}

// The text of an HTML mail that brought none of its own. The only importer of html-to-text. Works in the mail thread.

import { compile } from 'html-to-text';

/** Quoted mail keeps its `>`, links keep their address, pictures say nothing. Bounds against what was made to be slow. */
const convert = compile({
  wordwrap: false,
  selectors: [
    { selector: 'img', format: 'skip' },
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, noAnchorUrl: true, linkBrackets: ['<', '>'] } },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
    { selector: 'table', format: 'block' },
  ],
  limits: { maxDepth: 200, maxChildNodes: 20_000, maxInputLength: 2 * 1024 * 1024 },
});

export function plainTextOf(html: string): string {
  return convert(html).trim();
}

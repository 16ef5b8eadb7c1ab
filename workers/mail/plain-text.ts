// The text of an HTML mail that brought none of its own. The only importer of html-to-text. Works in the mail thread.

import { compile, type FormatCallback } from 'html-to-text';

/** What stands on lines of its own and the library takes for words in a line. */
const blocks = [
  'table',
  'caption',
  'tr',
  'dl',
  'dt',
  'dd',
  'address',
  'center',
  'details',
  'summary',
  'fieldset',
  'legend',
  'figure',
  'figcaption',
  'option',
];

/**
 * Cells of a row are parted by a blank, whatever pictures and further tables are in them: most tables of mails are
 * there for the looks.
 */
const cell: FormatCallback = (element, walk, builder) => {
  walk(element.children, builder);
  builder.addInline(' ');
};

/**
 * Quoted mail keeps its `>`, links keep their address, pictures say nothing. Bounds against what was made to be slow.
 */
const convert = compile({
  wordwrap: false,
  selectors: [
    { selector: 'img', format: 'skip' },
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, noAnchorUrl: true, linkBrackets: ['<', '>'] } },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
    ...blocks.map((selector) => ({
      selector,
      format: 'block',
      options: { leadingLineBreaks: 1, trailingLineBreaks: 1 },
    })),
    ...['td', 'th'].map((selector) => ({ selector, format: 'cell' })),
  ],
  formatters: { cell },
  limits: { maxDepth: 200, maxChildNodes: 20_000, maxInputLength: 2 * 1024 * 1024 },
});

export function plainTextOf(html: string): string {
  return convert(html).trim();
}

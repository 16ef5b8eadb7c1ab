// Text for an HTML mail without a text part. The only importer of html-to-text. Runs in the threads
// that read mail and that search chunks.

import { compile, type FormatCallback } from 'html-to-text';

/** Block elements that the library treats as inline. */
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

/** Cells of a row are separated by a space, whatever they contain: most tables in mails are for layout. */
const cell: FormatCallback = (element, walk, builder) => {
  walk(element.children, builder);
  builder.addInline(' ');
};

/**
 * Quoted mail keeps its `>`, links keep their address, pictures are omitted. Limits protect against malicious input.
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

// Sanitises HTML from strangers for agents: no script, no style, no form, and nothing loaded from elsewhere (a remote
// picture tells its sender when and where the mail was read). And the HTML of agents' own formatted texts. The only
// importer of sanitize-html. Runs in the mail thread.

import sanitizeHtml from 'sanitize-html';

/** The mail's own pictures keep their cid: address, which the caller replaces. */
const allowed: sanitizeHtml.IOptions = {
  allowedTags: [
    ...[
      'p',
      'br',
      'div',
      'span',
      'hr',
      'pre',
      'code',
      'blockquote',
      'h1',
      'h2',
      'h3',
      'h4',
      'h5',
      'h6',
      'ul',
      'ol',
      'li',
      'dl',
      'dt',
      'dd',
    ],
    ...['b', 'strong', 'i', 'em', 'u', 's', 'del', 'ins', 'small', 'sub', 'sup', 'mark', 'q', 'a', 'img'],
    ...['address', 'article', 'aside', 'center', 'figcaption', 'figure', 'footer', 'header', 'main', 'nav', 'section'],
    ...['table', 'caption', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td'],
  ],
  allowedAttributes: {
    a: ['href', 'title', 'rel', 'target'],
    img: ['src', 'alt', 'width', 'height'],
    td: ['colspan', 'rowspan'],
    th: ['colspan', 'rowspan'],
    ol: ['start'],
  },
  allowedSchemes: ['http', 'https', 'mailto', 'tel'],
  allowedSchemesByTag: { img: ['cid'] },
  // Their content is not text of the mail.
  nonTextTags: [
    'script',
    'style',
    'textarea',
    'option',
    'title',
    'noscript',
    'noembed',
    'noframes',
    'template',
    'xmp',
    'svg',
    'math',
    'object',
    'iframe',
    'button',
  ],
  allowProtocolRelative: false,
  nestingLimit: 100,
  transformTags: { a: linkOut },
};

/** Links open in a separate window without access to ours; a link into our own pages is removed. */
function linkOut(tagName: string, attribs: sanitizeHtml.Attributes): sanitizeHtml.Tag {
  const { href = '', title } = attribs;
  const leadsOut = /^(?:https?:\/\/|mailto:|tel:)/i.test(href.trim());
  return {
    tagName,
    attribs: leadsOut
      ? { href, rel: 'noopener noreferrer nofollow', target: '_blank', ...(title === undefined ? {} : { title }) }
      : {},
  };
}

/** The formatted text of an agent: few elements, and pictures only from `pictureBase`. */
export function writtenHtml(html: string, pictureBase: string): string {
  return sanitizeHtml(html, {
    allowedTags: ['p', 'br', 'strong', 'em', 'del', 'a', 'ul', 'ol', 'li', 'blockquote', 'pre', 'code', 'hr', 'img'],
    allowedAttributes: { a: ['href', 'rel', 'target'], img: ['src', 'alt'], ol: ['start'] },
    allowedSchemes: ['http', 'https', 'mailto', 'tel'],
    allowProtocolRelative: false,
    nestingLimit: 20,
    transformTags: { a: linkOut },
    exclusiveFilter: ({ tag, attribs }) => tag === 'img' && attribs['src']?.startsWith(pictureBase) !== true,
  }).trim();
}

/** Containers that clients put the earlier mail into, by class or id. */
const historyClass =
  /(?:^|\s)(?:gmail_quote|gmail_quote_container|gmail_extra|\w*yahoo_quoted|moz-cite-prefix|protonmail_quote|tutanota_quote|zmail_extra|OutlookMessageHeader|mail_quote|quoted-message)(?:\s|$)/;
const historyId =
  /^(?:isForwardContent|mail-editor-reference-message-container|replySplit|\w*yahoo_quoted_\w*|divRplyFwdMsg|ms-outlook-mobile-reference-message)$/;
/** Everything after this is the earlier mail: Outlook marks only its beginning. */
const historyBegins: readonly RegExp[] = [
  /<[a-z]+[^<>]{0,200}\bid=["']?(?:x_)?(?:appendonsend|divRplyFwdMsg|mail-editor-reference-message-container|stopSpelling)["'\s>]/i,
  /<div[^<>]{0,200}\bstyle=["'][^"'<>]{0,100}border:\s*none;\s*border-top:\s*solid #(?:E1E1E1|B5C4DF) 1\.0pt/i,
];

/** Text that clients hide, most often the preview line in lists. */
const hiddenStyle =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|(?:max-height|opacity)\s*:\s*0(?:\.0+)?(?:px|pt|em|%)?\s*(?:!|;|$))/i;
const mayHide = /\bhidden\b|\bdisplay\s*:|\bmax-height|\bopacity/i;

const everythingButHidden: sanitizeHtml.IOptions & { readonly allowedEmptyAttributes: string[] } = {
  allowedTags: false,
  allowedAttributes: false,
  allowedEmptyAttributes: ['hidden'],
  allowVulnerableTags: true,
  nonTextTags: [],
  exclusiveFilter: ({ attribs }) => attribs['hidden'] !== undefined || hiddenStyle.test(attribs['style'] ?? ''),
};

/** Removes text that its sender hid from readers. The result is not sanitised: scripts are still in it. */
export function withoutHidden(html: string): string {
  if (!mayHide.test(html)) return html;
  const shown = sanitizeHtml(html, everythingButHidden);
  // A mail with nothing visible in it is unlikely: something was not understood here, so all of it is shown.
  return shown.replace(/<[^<>]*>/g, '').trim() === '' ? html : shown;
}

export interface SafeHtml {
  readonly html: string;
  /** Addresses of the pictures elsewhere, each once. An empty one is of history that was removed. */
  readonly pictures: readonly string[];
  /** Of its text, without markup. */
  readonly textChars: number;
  /** Whether it contained an earlier mail that was removed. */
  readonly leftHistoryOut: boolean;
}

/** More than a long newsletter has. */
const maxPictures = 100;
const maxAddressChars = 4000;

/** A picture elsewhere stays as `<img data-picture="1">`, without an address: its place in `pictures`, from 1. */
export function safeHtml(html: string, options: { withHistory: boolean }): SafeHtml {
  let leftHistoryOut = false;
  const pictures: string[] = [];
  const begin = options.withHistory ? -1 : firstOf(html);
  if (begin >= 0) leftHistoryOut = true;
  const isLeftOut = (frame: sanitizeHtml.IFrame): boolean => {
    if (frame.tag === 'img')
      return frame.attribs['src']?.startsWith('cid:') !== true && frame.attribs['data-picture'] === undefined;
    if (options.withHistory || !isHistory(frame)) return false;
    leftHistoryOut = true;
    return true;
  };
  const safe = sanitizeHtml(begin >= 0 ? html.slice(0, begin) : html, {
    ...allowed,
    allowedAttributes: { ...allowed.allowedAttributes, img: ['src', 'alt', 'width', 'height', 'data-picture'] },
    transformTags: { ...allowed.transformTags, img: pictureElsewhere(pictures) },
    exclusiveFilter: isLeftOut,
  });
  const shown = new Set([...safe.matchAll(placeholder)].map(([, number]) => Number(number)));
  return {
    html: safe.trim(),
    pictures: pictures.map((address, index) => (shown.has(index + 1) ? address : '')),
    textChars: safe.replace(/<[^<>]*>/g, '').trim().length,
    leftHistoryOut,
  };
}

const placeholder = /<img\b[^<>]*\bdata-picture="(\d+)"[^<>]*>/g;

/** Collects the addresses. A picture that no one could see only reports that the mail was read. */
function pictureElsewhere(pictures: string[]): sanitizeHtml.Transformer {
  return (tagName, { 'data-picture': _, ...attribs }) => {
    const address = attribs['src']?.trim() ?? '';
    const isSeen = ![attribs['width'], attribs['height']].some((size) => /^\s*[0-2](?:px)?\s*$/.test(size ?? ''));
    if (!/^https?:\/\//i.test(address) || !isSeen || address.length > maxAddressChars) return { tagName, attribs };
    const { src: __, ...others } = attribs;
    const known = pictures.indexOf(address);
    if (known < 0 && pictures.length === maxPictures) return { tagName, attribs: others };
    const number = known < 0 ? pictures.push(address) : known + 1;
    return { tagName, attribs: { ...others, 'data-picture': `${number}` } };
  };
}

function isHistory({ tag, attribs }: sanitizeHtml.IFrame): boolean {
  if (tag === 'blockquote' && attribs['type'] === 'cite') return true;
  return historyClass.test(attribs['class'] ?? '') || historyId.test(attribs['id'] ?? '');
}

function firstOf(html: string): number {
  const found = historyBegins.map((pattern) => html.search(pattern)).filter((index) => index >= 0);
  return found.length === 0 ? -1 : Math.min(...found);
}

// The HTML document of a mail that leaves: the text in a frame that mail programs show alike. Outlook lays out by tables
// and knows neither max-width nor padding of paragraphs; Gmail may drop the head, so every style is in its element. No
// colour is set, so that each program has its own, light or dark.

export interface MailPage {
  readonly title: string;
  /** Well-formed, without styles, from the service's own rendering. */
  readonly html: string;
  /** Of most of its words, such as `en-US`; undefined if unknown. */
  readonly language: string | undefined;
}

/** Lines of about eighty letters. */
const widthPx = 640;
const font = 'font-family:Arial,Helvetica,sans-serif;font-size:16px;line-height:24px';
/** On light and on dark ground alike. */
const line = '#8a8f98';

/** The elements that agents' texts and sanitised quotes consist of. */
const styles: Readonly<Record<string, string>> = {
  p: 'margin:0 0 12px',
  blockquote: `margin:0 0 12px 4px;padding-left:12px;border-left:3px solid ${line}`,
  pre: `margin:0 0 12px;padding:8px;border:1px solid ${line};font-family:Consolas,Menlo,monospace;font-size:14px;line-height:20px;white-space:pre-wrap`,
  code: 'font-family:Consolas,Menlo,monospace;font-size:14px',
  ul: 'margin:0 0 12px 24px;padding:0',
  ol: 'margin:0 0 12px 24px;padding:0',
  li: 'margin:0 0 4px',
  img: 'max-width:100%;height:auto;border:0',
  hr: `margin:16px 0;border:0;border-top:1px solid ${line}`,
  td: 'text-align:left;vertical-align:top',
  th: 'text-align:left;vertical-align:top',
};
const styled = new RegExp(`<(${Object.keys(styles).join('|')})(?=[\\s/>])`, 'g');

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (char) => escapes[char] ?? char);

export function mailPageOf({ title, html, language }: MailPage): string {
  const body = html.replace(styled, (tag, name: string) => `${tag} style="${styles[name]}"`);
  const table = (width: string): string =>
    `<table role="presentation" width="${width}" cellpadding="0" cellspacing="0" border="0" style="table-layout:fixed"><tr>`;
  return [
    `<!DOCTYPE html><html${language === undefined ? '' : languageAttributes(language)}><head><meta charset="utf-8">`,
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    '<meta name="x-apple-disable-message-reformatting">',
    '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">',
    `<title>${escaped(title)}</title><style>:root{color-scheme:light dark;supported-color-schemes:light dark}</style></head>`,
    `<body style="margin:0;padding:0">${table('100%')}<td style="padding:8px">`,
    `<!--[if mso]>${table(`${widthPx}`)}<td><![endif]-->`,
    `<div dir="auto" style="max-width:${widthPx}px;${font};word-wrap:break-word;word-break:break-word">${body}</div>`,
    '<!--[if mso]></td></tr></table><![endif]--></td></tr></table></body></html>',
  ].join('\n');
}

/** Gmail drops them, and goes by the directions of the elements. */
function languageAttributes(language: string): string {
  return ` lang="${escaped(language)}"${/^ar\b/i.test(language) ? ' dir="rtl"' : ''}`;
}

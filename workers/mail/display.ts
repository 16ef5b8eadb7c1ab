// The display form of a mail's text and HTML: bounded, sanitised, without quoted history. Runs in the mail thread and the
// thread for opened mails.

import { plainTextOf } from '../plain-text.ts';
import { safeHtml, withoutHidden } from './html.ts';
import { stripHistory } from './quoted-history.ts';

/** A mail as agents see it: bounded, sanitised, without quoted history. */
export interface Display {
  readonly body: string;
  /** With `<img data-picture="1">` for the first picture elsewhere. Null: derive it from the body. */
  readonly bodyHtml: string | null;
  /** How many pictures elsewhere it has; undefined for none. */
  readonly remotePictures?: number;
}

/** The limit for messages (specification 8). */
const maxBodyChars = 10_000;
/** Ten times that, for markup; longer HTML is shown as text. */
const maxBodyHtmlChars = 100_000;
/**
 * More than a long newsletter has. Parsing HTML takes time quadratic in its depth: minutes for a megabyte of unclosed
 * tags.
 */
const maxTags = 20_000;

/** HTML has slightly more characters than its text, for lists and links. Less than any line that introduces a quote. */
const htmlSurplusChars = 40;

export interface Written {
  readonly text: string | null;
  readonly html: string | null;
}

export function displayOf(mail: Written): Display {
  const { body, bodyHtml, addresses } = render(mail);
  const remotePictures = addresses.filter((address) => address !== '').length;
  return { body, bodyHtml, ...(remotePictures === 0 ? {} : { remotePictures }) };
}

/** The addresses of its pictures elsewhere: the first is that of `<img data-picture="1">` in its display form. */
export function picturesOf(mail: Written): readonly string[] {
  return render(mail).addresses;
}

function render({ text, html: htmlAsItCame }: Written): Display & { addresses: readonly string[] } {
  const bounded = htmlAsItCame === null ? null : withinTags(htmlAsItCame);
  const isHtmlCut = bounded?.length !== htmlAsItCame?.length;
  const html = bounded === null ? null : withoutHidden(bounded);
  const written = text ?? (html === null ? '' : plainTextOf(html));
  const stripped = stripHistory(written);
  const isCut = stripped.text.length > maxBodyChars || (isHtmlCut && text === null);
  const body = isCut ? `${wholeCharacters(stripped.text, maxBodyChars - 1)}…` : stripped.text;
  if (html === null || isCut || isHtmlCut) return { body, bodyHtml: null, addresses: [] };
  const safe = safeHtml(html, { withHistory: !stripped.isShorter });
  // The text has quoted history. If the HTML is longer than the text without it, its history was not found, or not all
  // of it, and would be shown.
  const maxChars = safe.leftHistoryOut ? body.length * 1.2 + htmlSurplusChars : body.length;
  const showsHistory = stripped.isShorter && safe.textChars > maxChars;
  if (showsHistory || safe.html.length > maxBodyHtmlChars) return { body, bodyHtml: null, addresses: [] };
  return { body, bodyHtml: safe.html === '' ? null : safe.html, addresses: safe.pictures };
}

/** Truncated at the limit of tags. */
function withinTags(html: string): string {
  const tag = /<[a-z/]/gi;
  for (let count = 0; tag.test(html); count += 1) if (count === maxTags) return html.slice(0, tag.lastIndex - 2);
  return html;
}

/** Truncated without splitting a character. */
function wholeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

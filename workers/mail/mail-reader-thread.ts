// The thread that reads and renders mail: untrusted mail is parsed, sanitised and freed of quoted history here, where a
// slow one blocks no socket.

import { stat } from 'node:fs/promises';
import { workerData } from 'node:worker_threads';
import { plainTextOf } from '../plain-text.ts';
import { createResolver, type NameResolver } from '../providers/resolver.ts';
import type { RejectedMail } from '../providers/smtp-listener.ts';
import { answerCalls } from '../thread.ts';
import { type Authentication, authenticateMail, type Envelope } from './authentication.ts';
import { type CalendarReading, readCalendar } from './calendar.ts';
import { requireBoundedHead, requireBoundedText } from './head.ts';
import { safeHtml, withoutHidden } from './html.ts';
import { type AttachmentFile, type MailParts, MailTooComplex, readParts } from './parts.ts';
import { stripHistory } from './quoted-history.ts';
import { type RenderedText, renderMarkdown } from './rich-text.ts';

export interface ReaderData {
  readonly dnsServers: readonly string[] | undefined;
}

/** A mail as agents see it: bounded, sanitised, without quoted history. */
export interface Display {
  readonly body: string;
  /** With `<img data-picture="1">` for the first picture elsewhere. Null: derive it from the body. */
  readonly bodyHtml: string | null;
  /** How many pictures elsewhere it has; undefined for none. */
  readonly remotePictures?: number;
}

export interface ReadMail extends MailParts, Display {
  readonly authentication: Authentication;
}

/** The limit for messages (specification 8). */
const maxBodyChars = 10_000;
/** Ten times that, for markup; longer HTML is shown as text. */
const maxBodyHtmlChars = 100_000;
/** Kept of the original text and HTML in the row. */
const maxOriginalChars = 1024 * 1024;

/**
 * More than a long newsletter has. Parsing HTML takes time quadratic in its depth: minutes for a megabyte of unclosed
 * tags.
 */
const maxTags = 20_000;

/** HTML has slightly more characters than its text, for lists and links. Less than any line that introduces a quote. */
const htmlSurplusChars = 40;

/** Of an old mail: keys and records have changed since. */
const notJudged: Authentication = { spf: 'none', dkim: 'none', dmarc: 'none' };

let resolver: NameResolver | undefined;

export const methods = {
  display: (mail: Written): Display => displayOf(mail),

  pictures: (mail: Written): readonly string[] => render(mail).addresses,

  calendar: (file: { bytes: Uint8Array }): Promise<CalendarReading> => readCalendar(file.bytes),

  compose: (written: { markdown: string; pictureBase: string }): RenderedText =>
    renderMarkdown(written.markdown, written.pictureBase),

  async file(mail: { path: string; envelope: Envelope | null }): Promise<ReadMail | RejectedMail> {
    // Only createMailReader() sets it.
    resolver ??= createResolver((workerData as ReaderData).dnsServers);
    return readFile(mail, resolver).catch((error: unknown) => {
      // The same mail would fail the same way again.
      if (error instanceof MailTooComplex) return { rejected: error.message };
      throw error;
    });
  },
};

async function readFile(mail: { path: string; envelope: Envelope | null }, dns: NameResolver): Promise<ReadMail> {
  await requireBoundedHead(mail.path);
  await requireBoundedText(mail.path);
  const [parts, authentication] = await Promise.all([
    readParts(mail.path),
    mail.envelope === null ? notJudged : authenticateMail(mail.path, mail.envelope, dns),
  ]);
  const text = parts.text?.slice(0, maxOriginalChars) ?? null;
  const html = parts.html?.slice(0, maxOriginalChars) ?? null;
  const isWhole = !parts.isTextCut && text === parts.text && html === parts.html;
  const attachments = isWhole ? parts.attachments : [...parts.attachments, await theMailItself(mail.path)];
  return { ...parts, text, html, attachments, ...displayOf({ text, html }), authentication };
}

interface Written {
  readonly text: string | null;
  readonly html: string | null;
}

function displayOf(mail: Written): Display {
  const { body, bodyHtml, addresses } = render(mail);
  const remotePictures = addresses.filter((address) => address !== '').length;
  return { body, bodyHtml, ...(remotePictures === 0 ? {} : { remotePictures }) };
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

/** A text that is too long for its row is kept as a file. */
async function theMailItself(path: string): Promise<AttachmentFile> {
  return { path, name: 'message.eml', contentType: 'message/rfc822', size: (await stat(path)).size, contentId: null };
}

/** Truncated without splitting a character. */
function wholeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

answerCalls(methods);

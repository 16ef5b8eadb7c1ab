// The thread that reads mail: what strangers wrote is taken apart, made safe and freed of quoted history here, where a
// slow one holds up no socket.

import { stat } from 'node:fs/promises';
import { workerData } from 'node:worker_threads';
import { createResolver, type NameResolver } from '../providers/resolver.ts';
import { answerQuestions } from '../thread.ts';
import { type Authentication, authenticateMail, type Envelope } from './authentication.ts';
import { requireBoundedHead, requireBoundedText } from './head.ts';
import { safeHtml, withoutHidden } from './html.ts';
import { type AttachmentFile, type MailParts, readParts } from './parts.ts';
import { plainTextOf } from './plain-text.ts';
import { stripHistory } from './quoted-history.ts';

export interface ReaderData {
  readonly dnsServers: readonly string[] | undefined;
}

/** A mail as agents see it: bounded, without quoted history, safe. */
export interface Display {
  readonly body: string;
  /** Null: make it of the body. */
  readonly bodyHtml: string | null;
}

export interface ReadMail extends MailParts, Display {
  readonly authentication: Authentication;
}

/** As long as a message may be (specification 8). */
const maxBodyChars = 10_000;
/** Ten times that for its markup; a longer one is shown as text. */
const maxBodyHtmlChars = 100_000;
/** What is kept of a text in its row, and of an HTML as it came. */
const maxOriginalChars = 1024 * 1024;

/**
 * More than a long newsletter has. What reads HTML takes a time that grows with the square of its depth: minutes, for a
 * megabyte of tags that nobody closes.
 */
const maxTags = 20_000;

/**
 * HTML says a little more than its text: what a list or a link is written with. Less than any line that begins a quote.
 */
const htmlSurplusChars = 40;

let resolver: NameResolver | undefined;

export const questions = {
  display: (mail: { text: string | null; html: string | null }): Display => displayOf(mail.text, mail.html),

  async file(mail: { path: string; envelope: Envelope }): Promise<ReadMail> {
    // Given by createMailReader() alone.
    resolver ??= createResolver((workerData as ReaderData).dnsServers);
    await requireBoundedHead(mail.path);
    await requireBoundedText(mail.path);
    const [parts, authentication] = await Promise.all([
      readParts(mail.path),
      authenticateMail(mail.path, mail.envelope, resolver),
    ]);
    const text = parts.text?.slice(0, maxOriginalChars) ?? null;
    const html = parts.html?.slice(0, maxOriginalChars) ?? null;
    const isWhole = !parts.isTextCut && text === parts.text && html === parts.html;
    const attachments = isWhole ? parts.attachments : [...parts.attachments, await theMailItself(mail.path)];
    return { ...parts, text, html, attachments, ...displayOf(text, html), authentication };
  },
};

function displayOf(text: string | null, htmlAsItCame: string | null): Display {
  const bounded = htmlAsItCame === null ? null : withinTags(htmlAsItCame);
  const isHtmlCut = bounded?.length !== htmlAsItCame?.length;
  const html = bounded === null ? null : withoutHidden(bounded);
  const written = text ?? (html === null ? '' : plainTextOf(html));
  const stripped = stripHistory(written);
  const isCut = stripped.text.length > maxBodyChars || (isHtmlCut && text === null);
  const body = isCut ? `${wholeCharacters(stripped.text, maxBodyChars - 1)}…` : stripped.text;
  if (html === null || isCut || isHtmlCut) return { body, bodyHtml: null };
  const safe = safeHtml(html, { withHistory: !stripped.isShorter });
  // The text says that there is history; HTML that says more than is left of the text, and in which it was not found or
  // not all of it, would show it after all.
  const maxChars = safe.leftHistoryOut ? body.length * 1.2 + htmlSurplusChars : body.length;
  const showsHistory = stripped.isShorter && safe.textChars > maxChars;
  return { body, bodyHtml: showsHistory || safe.html === '' || safe.html.length > maxBodyHtmlChars ? null : safe.html };
}

/** As far as its tags are not too many. */
function withinTags(html: string): string {
  const tag = /<[a-z/]/gi;
  for (let count = 0; tag.test(html); count += 1) if (count === maxTags) return html.slice(0, tag.lastIndex - 2);
  return html;
}

/** What is too long to be kept as text is kept as a file. */
async function theMailItself(path: string): Promise<AttachmentFile> {
  return { path, name: 'message.eml', contentType: 'message/rfc822', size: (await stat(path)).size, contentId: null };
}

/** Cut so that no character is left in half. */
function wholeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

answerQuestions(questions);

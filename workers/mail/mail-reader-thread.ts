// The thread that reads and renders mail: untrusted mail is parsed, sanitised and freed of quoted history here, where a
// slow one blocks no socket.

import { stat } from 'node:fs/promises';
import { workerData } from 'node:worker_threads';
import type { MailSource } from '../../store/mail/mails.ts';
import { createResolver, type NameResolver } from '../providers/resolver.ts';
import type { RejectedMail } from '../providers/smtp-listener.ts';
import { answerCalls, giveWay } from '../thread.ts';
import { type Authentication, authenticateMail, type Envelope } from './authentication.ts';
import { type Display, displayOf, type Written } from './display.ts';
import { requireBoundedHead, requireBoundedText } from './head.ts';
import { type AttachmentFile, type MailParts, MailTooComplex, readParts } from './parts.ts';
import { type RenderedText, renderMarkdown } from './rich-text.ts';
import { sourceOf } from './source.ts';

export interface ReaderData {
  readonly dnsServers: readonly string[] | undefined;
  /** Live mail goes first. */
  readonly isBackground?: true;
}

export interface ReadMail extends MailParts, Display {
  readonly authentication: Authentication;
  readonly source: MailSource;
}

/** Kept of the original text and HTML in the row. */
const maxOriginalChars = 1024 * 1024;

/** Of an old mail: keys and records have changed since. */
const notJudged: Authentication = { spf: 'none', dkim: 'none', dmarc: 'none' };

// Only createMailReader() and createImportedMails() set it.
const data = workerData as ReaderData;
let resolver: NameResolver | undefined;

export const methods = {
  display: (mail: Written): Display => displayOf(mail),

  compose: (written: { markdown: string; pictureBase: string }): RenderedText =>
    renderMarkdown(written.markdown, written.pictureBase),

  async file(mail: { path: string; envelope: Envelope | null }): Promise<ReadMail | RejectedMail> {
    resolver ??= createResolver(data.dnsServers);
    return readFile(mail, resolver).catch((error: unknown) => {
      // The same mail would fail the same way again.
      if (error instanceof MailTooComplex) return { rejected: error.message };
      throw error;
    });
  },
};

async function readFile(mail: { path: string; envelope: Envelope | null }, dns: NameResolver): Promise<ReadMail> {
  const beginning = await requireBoundedHead(mail.path);
  await requireBoundedText(mail.path);
  const { size } = await stat(mail.path);
  const [parts, authentication, source] = await Promise.all([
    readParts(mail.path),
    mail.envelope === null ? notJudged : authenticateMail(mail.path, mail.envelope, dns),
    sourceOf(beginning, size),
  ]);
  const text = parts.text?.slice(0, maxOriginalChars) ?? null;
  const html = parts.html?.slice(0, maxOriginalChars) ?? null;
  const isWhole = !parts.isTextCut && text === parts.text && html === parts.html;
  const attachments = isWhole ? parts.attachments : [...parts.attachments, theMailItself(mail.path, size)];
  return { ...parts, text, html, attachments, ...displayOf({ text, html }), authentication, source };
}

/** A text that is too long for its row is kept as a file. */
function theMailItself(path: string, size: number): AttachmentFile {
  return { path, name: 'message.eml', contentType: 'message/rfc822', size, contentId: null };
}

if (data.isBackground === true) giveWay();
answerCalls(methods);

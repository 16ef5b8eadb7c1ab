// Reads a mail file into what the service keeps of it. Used in the mail thread, which loads this and its libraries with
// the first file: not every service gets mail as files.

import { stat } from 'node:fs/promises';
import type { MailSource } from '../../store/mail/mails.ts';
import type { NameResolver } from '../providers/resolver.ts';
import type { RejectedMail } from '../providers/smtp-listener.ts';
import { type Authentication, authenticateMail, type Envelope } from './authentication.ts';
import { type Display, displayOf } from './display.ts';
import { requireBoundedHead, requireBoundedText } from './head.ts';
import { type AttachmentFile, type MailParts, MailTooComplex, readParts } from './parts.ts';
import { sourceOf } from './source.ts';

export interface MailFile {
  readonly path: string;
  /** Null for an old mail, whose sender is not authenticated. */
  readonly envelope: Envelope | null;
}

export interface ReadMail extends MailParts, Display {
  readonly authentication: Authentication;
  readonly source: MailSource;
}

/** Kept of the original text and HTML in the row. */
const maxOriginalChars = 1024 * 1024;

/** Of an old mail: keys and records have changed since. */
const notJudged: Authentication = { spf: 'none', dkim: 'none', dmarc: 'none' };

export async function readMailFile(mail: MailFile, dns: NameResolver): Promise<ReadMail | RejectedMail> {
  try {
    return await read(mail, dns);
  } catch (error) {
    // The same mail would fail the same way again.
    if (error instanceof MailTooComplex) return { rejected: error.message };
    throw error;
  }
}

async function read({ path, envelope }: MailFile, dns: NameResolver): Promise<ReadMail> {
  const beginning = await requireBoundedHead(path);
  await requireBoundedText(path);
  const { size } = await stat(path);
  const [parts, authentication, source] = await Promise.all([
    readParts(path),
    envelope === null ? notJudged : authenticateMail(path, envelope, dns),
    sourceOf(beginning, size),
  ]);
  const text = parts.text?.slice(0, maxOriginalChars) ?? null;
  const html = parts.html?.slice(0, maxOriginalChars) ?? null;
  const isWhole = !parts.isTextCut && text === parts.text && html === parts.html;
  const attachments = isWhole ? parts.attachments : [...parts.attachments, theMailItself(path, size)];
  return { ...parts, text, html, attachments, ...displayOf({ text, html }), authentication, source };
}

/** A text that is too long for its row is kept as a file. */
function theMailItself(path: string, size: number): AttachmentFile {
  return { path, name: 'message.eml', contentType: 'message/rfc822', size, contentId: null };
}

// Parses a mail file into headers, text, HTML and attachments, each streamed into a file of its own beside it, so that
// a large one is never in memory as a whole. Libraries handle charsets, encodings and MIME structure. The only importer
// of mailsplit. Runs in the mail thread.

import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Splitter, type SplitterChunk } from '@zone-eu/mailsplit';
import { type DeliveryReport, deliveryReportOf } from './delivery-report.ts';
import {
  type AddressObject,
  type AttachmentStream,
  createMailParser,
  type HeaderLines,
  type Headers,
  type MessageText,
  withReadableHead,
} from './parser.ts';
import { filesInWinmail } from './winmail.ts';

export interface MailParts {
  readonly messageId: string;
  readonly from: PartMailbox | null;
  readonly replyTo: readonly PartMailbox[];
  /** To and Cc. */
  readonly recipients: readonly string[];
  readonly subject: string;
  readonly text: string | null;
  readonly html: string | null;
  /** The text was truncated; only the file has all of it. */
  readonly isTextCut: boolean;
  /** Raw values, unfolded; the first of each name. */
  readonly headers: PartHeaders;
  readonly attachments: readonly AttachmentFile[];
  readonly bounce: DeliveryReport | null;
}

export interface PartMailbox {
  readonly address: string;
  readonly name: string | null;
}

export interface PartHeaders {
  readonly autoSubmitted: string | undefined;
  readonly precedence: string | undefined;
  readonly listUnsubscribe: string | undefined;
  readonly listId: string | undefined;
  readonly autoReply: string | undefined;
  readonly inReplyTo: string | undefined;
  readonly references: string | undefined;
  readonly contentLanguage: string | undefined;
  readonly returnPath: string | undefined;
  readonly date: string | undefined;
}

export interface AttachmentFile {
  readonly path: string;
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
  /** Set if the HTML shows it as cid:<this>. */
  readonly contentId: string | null;
}

/** More files than a person attaches. Mails with more are refused, not truncated. */
const maxAttachments = 100;
/** Only the headers of a returned mail matter. */
const maxReportPartBytes = 64 * 1024;
const reportParts: ReadonlySet<string> = new Set([
  'message/delivery-status',
  'message/global-delivery-status',
  'message/rfc822',
  'message/global',
  'text/rfc822-headers',
  'message/global-headers',
]);

/** Named in its header; each is looked up on the event loop. More than a wedding invitation names. */
const maxRecipients = 1000;
/** Raw text and HTML together: the parser holds them in memory several times over. */
const maxTextBytes = 4 * 1024 * 1024;

/** The mail has more parts than any mail client writes. */
export class MailTooComplex extends Error {
  override readonly name = 'MailTooComplex';
}

/** Writes attachments to `<path>.<number>`; the caller removes them. Rejects with MailTooComplex or a disk error. */
export async function readParts(path: string): Promise<MailParts> {
  const { headers, lines, text, html, isTextCut, reported, ...parsed } = await parse(path);
  const attachments = await withoutWinmail(path, parsed.attachments, { hasText: text !== null || html !== null });
  const header = (name: string): string | undefined => unfolded(lines.findLast((line) => line.key === name)?.line);
  const reportType = reportTypeOf(headers);
  const isDeliveryReport = reportType !== undefined && /^(?:global-)?delivery-status$/i.test(reportType);
  return {
    messageId: header('message-id') ?? '',
    from: addressesOf(headers.get('from'))[0] ?? null,
    replyTo: addressesOf(headers.get('reply-to')),
    recipients: [...addressesOf(headers.get('to')), ...addressesOf(headers.get('cc'))]
      .slice(0, maxRecipients)
      .map(({ address }) => address),
    subject: String(headers.get('subject') ?? ''),
    text,
    html,
    isTextCut,
    headers: {
      // A receipt or any other report is automatic, whether it says so or not (RFC 6522).
      autoSubmitted: header('auto-submitted') ?? (reportType === undefined ? undefined : 'auto-generated'),
      precedence: header('precedence'),
      listUnsubscribe: header('list-unsubscribe'),
      listId: header('list-id'),
      autoReply: header('x-autoreply') ?? header('x-autorespond'),
      inReplyTo: header('in-reply-to'),
      references: header('references'),
      contentLanguage: header('content-language'),
      returnPath: header('return-path'),
      date: header('date'),
    },
    attachments,
    bounce: isDeliveryReport ? deliveryReportOf(reported, text ?? '') : null,
  };
}

/** A mail as the parser finds it. */
interface Parsed {
  headers: Headers;
  lines: HeaderLines;
  text: string | null;
  html: string | null;
  /** Only the beginning of the text was read. */
  isTextCut: boolean;
  readonly attachments: AttachmentFile[];
  /** The parts of a delivery report. */
  readonly reported: { contentType: string; text: string }[];
}

async function parse(path: string): Promise<Parsed> {
  const parser = createMailParser();
  const parsed: Parsed = {
    headers: new Map(),
    lines: [],
    text: null,
    html: null,
    isTextCut: false,
    attachments: [],
    reported: [],
  };
  parser.on('headers', (found: Headers) => {
    parsed.headers = found;
  });
  parser.on('headerLines', (found: HeaderLines) => {
    parsed.lines = found;
  });
  const isLarge = (await stat(path)).size > maxTextBytes;
  const feeding = isLarge
    ? pipeline(
        createReadStream(path),
        withReadableHead,
        new Splitter({ ignoreEmbedded: true }),
        (parts: AsyncIterable<SplitterChunk>) => boundedText(parts, () => (parsed.isTextCut = true)),
        parser,
      )
    : pipeline(createReadStream(path), withReadableHead, parser);
  // The library's untyped stream yields attachments as they begin and the text at the end.
  const reading = collect(parser as AsyncIterable<AttachmentStream | MessageText>, path, parsed);
  await Promise.all([feeding, reading]).catch((error: unknown): never => {
    // The library's own limits on headers and parts: a retry would fail the same way.
    if (error instanceof Error && 'code' in error && error.code === 'EMAXLEN')
      throw new MailTooComplex(error.message, { cause: error });
    throw error;
  });
  return parsed;
}

async function collect(
  parts: AsyncIterable<AttachmentStream | MessageText>,
  path: string,
  parsed: Parsed,
): Promise<void> {
  const { attachments, reported } = parsed;
  for await (const part of parts) {
    if (part.type === 'text') {
      parsed.text = textOrNull(part.text);
      parsed.html = textOrNull(part.html);
      continue;
    }
    if (attachments.length >= maxAttachments) throw new MailTooComplex(`a mail may have ${maxAttachments} attachments`);
    const number = attachments.length + 1;
    const file = `${path}.${number}`;
    const head = await save(part, file);
    if (reportParts.has(part.contentType)) reported.push({ contentType: part.contentType, text: head.text });
    attachments.push({
      path: file,
      name: part.filename ?? nameFor(part.contentType, number),
      contentType: part.contentType,
      size: head.size,
      contentId: part.cid ?? null,
    });
  }
}

const isWinmail = ({ contentType, name }: AttachmentFile): boolean =>
  /^application\/(?:vnd\.)?ms-tnef$/.test(contentType) || /^winmail\.dat$/i.test(name);

/**
 * Replaces a winmail.dat by its files. One that cannot be parsed stays, and so does one that may hold the only text.
 */
async function withoutWinmail(
  path: string,
  attachments: readonly AttachmentFile[],
  { hasText }: { hasText: boolean },
): Promise<readonly AttachmentFile[]> {
  if (!attachments.some(isWinmail)) return attachments;
  const files: AttachmentFile[] = [];
  let number = attachments.length;
  for (const attachment of attachments) {
    const wrapped = isWinmail(attachment) ? filesInWinmail(await readFile(attachment.path)) : undefined;
    if (wrapped === undefined || !hasText) files.push(attachment);
    for (const { name, contentType, content } of wrapped ?? []) {
      number += 1;
      if (number > maxAttachments) throw new MailTooComplex(`a mail may have ${maxAttachments} attachments`);
      await writeFile(`${path}.${number}`, content);
      files.push({
        path: `${path}.${number}`,
        name: name ?? nameFor('', number),
        contentType: contentType ?? 'application/octet-stream',
        size: content.length,
        contentId: null,
      });
    }
  }
  return files;
}

/** The mail's bytes, with its text truncated at the limit. */
async function* boundedText(parts: AsyncIterable<SplitterChunk>, onCut: () => void): AsyncGenerator<Buffer> {
  let isText = false;
  let textBytes = 0;
  for await (const part of parts) {
    if (part.type === 'node') {
      isText = part.disposition !== 'attachment' && /^(?:text\/(?:plain|html)|)$/.test(part.contentType || '');
      yield part.getHeaders();
      continue;
    }
    if (part.type === 'body' && isText) {
      textBytes += part.value.length;
      if (textBytes > maxTextBytes) {
        onCut();
        continue;
      }
    }
    yield part.value;
  }
}

async function save(part: AttachmentStream, file: string): Promise<{ size: number; text: string }> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let size = 0;
  await pipeline(
    // Typed as any stream, but readable.
    part.content as Readable,
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        size += chunk.length;
        if (reportParts.has(part.contentType) && keptBytes < maxReportPartBytes) {
          kept.push(chunk);
          keptBytes += chunk.length;
        }
        yield chunk;
      }
    },
    createWriteStream(file),
  );
  part.release();
  return { size, text: Buffer.concat(kept).toString('utf8') };
}

/** The report's type; undefined if it is not a report. */
function reportTypeOf(headers: Headers): string | undefined {
  const type = headers.get('content-type');
  return typeof type === 'object' && 'params' in type && type.value === 'multipart/report'
    ? String(type.params['report-type'] ?? '')
    : undefined;
}

/** Expands groups and skips entries without an address. */
function addressesOf(header: unknown): PartMailbox[] {
  const objects = (Array.isArray(header) ? header : [header]) as (AddressObject | undefined)[];
  return objects
    .flatMap((object) => object?.value ?? [])
    .flatMap((entry) => entry.group ?? [entry])
    .flatMap(({ address, name }) =>
      address === undefined || address === '' ? [] : [{ address, name: name === '' ? null : name }],
    );
}

function unfolded(line: string | undefined): string | undefined {
  return line
    ?.slice(line.indexOf(':') + 1)
    .replace(/\r?\n[ \t]*/g, ' ')
    .trim();
}

function textOrNull(text: string | boolean | undefined): string | null {
  return typeof text === 'string' && text.trim() !== '' ? text : null;
}

const extensions: Readonly<Record<string, string>> = {
  'message/rfc822': 'eml',
  'message/delivery-status': 'txt',
  'text/rfc822-headers': 'txt',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/gif': 'gif',
  'application/pdf': 'pdf',
  'text/html': 'html',
  'text/plain': 'txt',
};

function nameFor(contentType: string, number: number): string {
  if (contentType === 'text/calendar') return 'invitation.ics';
  return `attachment-${number}.${extensions[contentType] ?? 'bin'}`;
}

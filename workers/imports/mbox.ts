// Reads an mbox file (RFC 4155) mail by mail, from any mail's position on. A line that begins with "From ", has a time
// and follows an empty line or the start separates two mails; ">From " of a body is unquoted. Reads in pieces, so that
// neither a file of many gigabytes nor a mail of any size is in memory.

import { type FileHandle, open } from 'node:fs/promises';
import { SourceFailed } from './foreign.ts';

export interface MboxMail {
  /** In the file; `end` is where the next begins. */
  readonly start: number;
  readonly end: number;
  /** Of the line before it, ISO. */
  readonly separatedAt: string | undefined;
  /** It has more bytes than are kept, and is not whole. `end` is then within it. */
  readonly isTooLarge: boolean;
  /** Nothing of its own: more of the mail before, which is too large. */
  readonly isRest?: true;
}

const readBytes = 64 * 1024;
/** A longer line is handled in parts, which separate nothing. */
const maxLineBytes = 64 * 1024;
/** The longest is an address of 254 characters and a time; longer ones are of no program. */
const maxSeparatorBytes = 300;
/** Of a mail that is too large: then the caller may stop, and go on from there. */
const skipBytes = 8 * 1024 * 1024;
const lf = 10;
const cr = 13;
const greater = 0x3e;
const quoted = /^>+From /;
/** Of any program: an address or none, and a time with a year. */
const separator = /^From (?:.*\D)?\d{1,2}:\d{2}(?::\d{2})?\b.*\d{4}|^From .*\d{4}.*\d{1,2}:\d{2}/;
const bom = Buffer.from('\ufeff');

/**
 * Writes each mail to `to`, at most `maxBytes` of it, before it is returned; the next one replaces it. Rejects with
 * SourceFailed for another kind of file.
 */
export async function* mailsOf(
  path: string,
  { from, to, maxBytes }: { from: number; to: string; maxBytes: number },
): AsyncGenerator<MboxMail, void, void> {
  let mail:
    | { start: number; separatedAt: string | undefined; file: FileHandle; parts: Buffer[]; held: number; size: number }
    | undefined;
  const flush = async (): Promise<void> => {
    if (mail === undefined || mail.parts.length === 0) return;
    const bytes = Buffer.concat(mail.parts);
    mail.parts = [];
    mail.held = 0;
    await mail.file.writeFile(bytes);
  };
  const finish = async (end: number): Promise<MboxMail> => {
    if (mail === undefined) throw new Error('no mail is being read');
    const { start, separatedAt, size, file } = mail;
    await flush();
    await file.close();
    mail = undefined;
    return { start, end, separatedAt, isTooLarge: size > maxBytes };
  };
  let isAfterEmpty = true;
  // In the rest of a mail that is too large: where its last piece ended.
  let skipped: number | undefined = from > 0 ? from : undefined;
  try {
    for await (const lines of linesOf(path, from)) {
      for (const { line, at } of lines) {
        const isSeparator =
          isAfterEmpty && startsWithFrom(line) && separator.test(line.toString('latin1', 0, maxSeparatorBytes));
        if (isSeparator) {
          if (mail !== undefined) yield await finish(at);
          skipped = undefined;
          mail = {
            start: at,
            separatedAt: timeOf(line.toString('latin1', 5, maxSeparatorBytes)),
            file: await open(to, 'w', 0o600),
            parts: [],
            held: 0,
            size: 0,
          };
          isAfterEmpty = false;
          continue;
        }
        isAfterEmpty = isEmpty(line);
        if (skipped !== undefined) continue;
        if (mail === undefined) {
          if (line.toString('latin1').trim() === '') continue;
          throw new SourceFailed(
            'final',
            'This is no mbox file: its first line must begin with "From " and have a time.',
          );
        }
        const text = line[0] === greater && quoted.test(line.toString('latin1', 0, 100)) ? line.subarray(1) : line;
        mail.size += text.length;
        if (mail.size > maxBytes) {
          skipped = at + line.length;
          yield await finish(skipped);
          continue;
        }
        mail.parts.push(text);
        mail.held += text.length;
        if (mail.held >= readBytes) await flush();
      }
      const last = lines.at(-1);
      const end = last === undefined ? from : last.at + last.line.length;
      if (skipped !== undefined && end - skipped >= skipBytes) {
        yield { start: skipped, end, separatedAt: undefined, isTooLarge: true, isRest: true };
        skipped = end;
      }
    }
    if (mail !== undefined) yield await finish(Number.POSITIVE_INFINITY);
  } finally {
    await mail?.file.close();
  }
}

/** With their ends, those of a piece of the file at a time. */
async function* linesOf(path: string, from: number): AsyncGenerator<{ line: Buffer; at: number }[]> {
  const file = await open(path);
  try {
    let [position, at] = [from, from];
    let rest: Buffer = Buffer.alloc(0);
    for (;;) {
      const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(readBytes), position });
      if (bytesRead === 0) break;
      const isStart = position === 0;
      position += bytesRead;
      const read = buffer.subarray(0, bytesRead);
      const isMarked = isStart && read.subarray(0, bom.length).equals(bom);
      if (isMarked) at += bom.length;
      rest = Buffer.concat([rest, isMarked ? read.subarray(bom.length) : read]);
      const lines: { line: Buffer; at: number }[] = [];
      let start = 0;
      for (let end = rest.indexOf(lf); end >= 0; end = rest.indexOf(lf, start)) {
        lines.push({ line: rest.subarray(start, end + 1), at });
        at += end + 1 - start;
        start = end + 1;
      }
      rest = rest.subarray(start);
      if (rest.length > maxLineBytes) {
        lines.push({ line: rest, at });
        at += rest.length;
        rest = Buffer.alloc(0);
      }
      yield lines;
    }
    if (rest.length > 0) yield [{ line: rest, at }];
  } finally {
    await file.close();
  }
}

function startsWithFrom(line: Buffer): boolean {
  return line[0] === 0x46 && line[1] === 0x72 && line[2] === 0x6f && line[3] === 0x6d && line[4] === 0x20;
}

function isEmpty(line: Buffer): boolean {
  return line[0] === lf || (line[0] === cr && line[1] === lf);
}

/** "Thu Jan  1 00:00:00 2015", with an address before and a zone anywhere. */
function timeOf(text: string): string | undefined {
  const found = /(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*$/.exec(text.trim())?.[0];
  const zoned = found === undefined || /(?:[+-]\d{4}|GMT|UTC|Z)\b/.test(found) ? found : `${found} UTC`;
  const ms = zoned === undefined ? Number.NaN : Date.parse(zoned);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

// Limits a mail before any library parses it. Header lines: authenticating the sender takes time quadratic in them, so
// 150 KB could block the mail thread until its time limit. All lines: each costs the same whatever it holds, and the
// limit keeps them below half a minute. Runs of blanks: 100 KB in a row took as long. Runs in the mail thread.

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { MailTooComplex } from './parts.ts';

/** Twice Postfix's default, and more than any mail in the test corpus. */
const maxHeadBytes = 256 * 1024;
/** Enough for a header that names a thousand people, one per line. */
const maxHeadLines = 2000;
/** Twice the lines of the largest attachment, at 76 characters each. */
const maxLines = 1_000_000;
/**
 * Decoding quoted-printable takes 4 ns times the square of each run of blanks. The limit on the sum of squares is 4 s;
 * the largest text mail has a hundredth of it.
 */
const maxBlankSquares = 1e9;
const [tab, lf, cr, space] = [9, 10, 13, 32];

/** Resolves to the beginning of the mail, which the header is in. Rejects with MailTooComplex or a disk error. */
export async function requireBoundedHead(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(maxHeadBytes + 1), position: 0 });
    const beginning = buffer.subarray(0, bytesRead);
    const { lines, isWhole } = headOf(beginning);
    if (!isWhole && bytesRead > maxHeadBytes)
      throw new MailTooComplex(`the header of a mail may have ${maxHeadBytes} bytes`);
    if (lines > maxHeadLines) throw new MailTooComplex(`the header of a mail may have ${maxHeadLines} lines`);
    return beginning;
  } finally {
    await file.close();
  }
}

/** Rejects with MailTooComplex or a disk error. */
export async function requireBoundedText(path: string): Promise<void> {
  let [lines, blanks, squares] = [0, 0, 0];
  for await (const part of createReadStream(path) as AsyncIterable<Buffer>) {
    for (let at = 0; at < part.length; at += 1) {
      const byte = part[at];
      if (byte === space || byte === tab) {
        blanks += 1;
        continue;
      }
      squares += blanks * blanks;
      blanks = 0;
      if (byte === lf) lines += 1;
    }
    if (lines > maxLines) throw new MailTooComplex(`a mail may have ${maxLines} lines`);
    if (squares + blanks * blanks > maxBlankSquares)
      throw new MailTooComplex(`a mail may not have ${Math.sqrt(maxBlankSquares).toFixed(0)} blanks in a row`);
  }
}

/** Lines up to the first empty one (RFC 5322 §2.1); incomplete if there is none. */
function headOf(bytes: Uint8Array): { lines: number; isWhole: boolean } {
  let lines = 0;
  let start = 0;
  for (let end = bytes.indexOf(lf); end >= 0; end = bytes.indexOf(lf, start)) {
    if (end === start || (end === start + 1 && bytes[start] === cr)) return { lines, isWhole: true };
    lines += 1;
    start = end + 1;
  }
  return { lines, isWhole: false };
}

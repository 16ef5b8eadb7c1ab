// A mail's header section held to a bound before any library sees it: what proves its sender takes time that grows with
// the square of the lines, so that 150 KB of them would hold up the mail thread for as long as it may live. And the
// whole: its lines, each of which costs the same whatever it holds, as many as fit half a minute; its blanks, of which
// 100 KB in a row took as long. Works in the mail thread.

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { MailTooComplex } from './parts.ts';

/** Twice what Postfix takes by default, and more than any mail that was read for the tests. */
const maxHeadBytes = 256 * 1024;
/** A header that names a thousand people, one on each line, has room. */
const maxHeadLines = 2000;
/** Twice those of the largest attachment, which has 76 characters on each. */
const maxLines = 1_000_000;
/**
 * Decoding quoted-printable takes 4 ns times the square of each run of blanks, so the squares are added up: this is 4
 * s. The largest mail
 * of words has a hundredth of it.
 */
const maxBlankSquares = 1e9;
const [tab, lf, cr, space] = [9, 10, 13, 32];

/** Rejects with MailTooComplex or an error of the disk. */
export async function requireBoundedHead(path: string): Promise<void> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(maxHeadBytes + 1), position: 0 });
    const { lines, isWhole } = headOf(buffer.subarray(0, bytesRead));
    if (!isWhole && bytesRead > maxHeadBytes)
      throw new MailTooComplex(`the header of a mail may have ${maxHeadBytes} bytes`);
    if (lines > maxHeadLines) throw new MailTooComplex(`the header of a mail may have ${maxHeadLines} lines`);
  } finally {
    await file.close();
  }
}

/** Rejects with MailTooComplex or an error of the disk. */
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

/** Its lines up to the first empty one (RFC 5322 §2.1); not whole when there is none. */
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

// Configures the mail parser and adds what it lacks: texts and header lines without a declared charset are guessed
// instead of becoming U+FFFD. The only importer of mailparser. Runs in the mail thread.

import { Transform, type TransformCallback } from 'node:stream';
import { MailParser } from 'mailparser';
import { decodeText } from '../knowledge/charset.ts';

export type { AddressObject, AttachmentStream, HeaderLines, Headers, MessageText } from 'mailparser';

/** Declared by senders that ignore other charsets, even for texts beyond ASCII. */
const saysNothing = /^(?:us-?ascii|ascii|unknown-8bit|x-unknown|default)?$/i;
/** Our name for an undeclared charset. */
const unnamed = 'x-unnamed';

/** Undeclared internals of the library: its version is pinned, and test/mail/mail-corpus.test.ts checks them. */
interface Inside {
  createNode(part: { charset?: string | false }): object;
  decoder: { decodeStream(charset: string): Transform };
}

export function createMailParser(): MailParser {
  // A mail within the mail is an attachment, not text of this one.
  const parser = new MailParser({
    skipTextToHtml: true,
    skipHtmlToText: true,
    skipImageLinks: true,
    keepDeliveryStatus: true,
    ignoreEmbedded: true,
  } as object);
  const inside = parser as unknown as Inside;
  const { createNode, decoder } = inside;
  inside.createNode = (part) => {
    if (saysNothing.test(part.charset || '')) part.charset = unnamed;
    return createNode.call(parser, part);
  };
  inside.decoder = { decodeStream: (charset) => (charset === unnamed ? guessed() : decoder.decodeStream(charset)) };
  return parser;
}

/** Texts have been bounded before this. */
function guessed(): Transform {
  const chunks: Buffer[] = [];
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      chunks.push(chunk);
      done();
    },
    flush(done: TransformCallback) {
      done(null, decodeText(Buffer.concat(chunks), undefined));
    },
  });
}

/**
 * The mail's bytes with its header in UTF-8, converted if it was in another, undeclared charset (RFC 6532 allows only
 * UTF-8).
 */
export async function* withReadableHead(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (head === undefined) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    const end = endOfHead(head);
    if (end === undefined) continue;
    yield Buffer.from(decodeText(head.subarray(0, end), undefined));
    yield head.subarray(end);
    head = undefined;
  }
  if (head !== undefined) yield head;
}

/** The position before the empty line. The header's length has been checked before this. */
function endOfHead(bytes: Buffer): number | undefined {
  const ends = ['\r\n\r\n', '\n\n'].map((line) => bytes.indexOf(line)).filter((at) => at >= 0);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

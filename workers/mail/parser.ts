// The library that takes mails apart, as this service wants it, and what it leaves undone: bytes of which nobody said
// what they are, in texts and in header lines, are guessed at instead of becoming U+FFFD. The only importer of
// mailparser. Works in the mail thread.

import { Transform, type TransformCallback } from 'node:stream';
import { MailParser } from 'mailparser';
import { decodeText } from '../knowledge/charset.ts';

export type { AddressObject, AttachmentStream, HeaderLines, Headers, MessageText } from 'mailparser';

/** Said of texts that have more than ASCII in them by who writes as if there were nothing else. */
const saysNothing = /^(?:us-?ascii|ascii|unknown-8bit|x-unknown|default)?$/i;
/** The name, among character sets, of those that nobody named. */
const unnamed = 'x-unnamed';

/**
 * What the library has inside and does not declare: its version is pinned, and test/mail/mail-corpus.test.ts shows that
 * it still has it.
 */
interface Inside {
  createNode(part: { charset?: string | false }): object;
  decoder: { decodeStream(charset: string): Transform };
}

export function createMailParser(): MailParser {
  // A mail within the mail is an attachment like any other, not text of this one.
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

/** Texts are bounded before they come here. */
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
 * The mail's bytes again, its header in UTF-8 where it was in something else that nobody named (RFC 6532 allows UTF-8
 * alone).
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

/** Just before the empty line. A header is bounded in length before it comes here. */
function endOfHead(bytes: Buffer): number | undefined {
  const ends = ['\r\n\r\n', '\n\n'].map((line) => bytes.indexOf(line)).filter((at) => at >= 0);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

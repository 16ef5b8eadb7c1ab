// A static text, compressed once per encoding and tagged with its hash; a client that has it already gets 304. Used for
// the widget's scripts, the pages and the documents.

import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { RawReply } from '../request.ts';

const encodings = ['br', 'gzip', 'identity'] as const;
export type Encoding = (typeof encodings)[number];

export interface CompressedFile {
  /** Of the text. */
  readonly hash: string;
  /** Compressed on first use and cached. */
  bytes(encoding: Encoding): Promise<Uint8Array>;
}

const hashChars = 16;
/**
 * Brotli's highest is 11, which takes twenty times as long and saves a few percent. A client waits for the first
 * result.
 */
const brotliQuality = 9;
const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** `compressAs` works on other threads; tests replace it. A failure, such as a lack of memory, is not cached. */
export function compressFile(text: string, compressAs = compress): CompressedFile {
  const identity = Buffer.from(text);
  const made = new Map<Encoding, Promise<Uint8Array>>();
  return {
    hash: createHash('sha256').update(identity).digest('base64url').slice(0, hashChars),
    bytes(encoding) {
      const known = made.get(encoding);
      if (known !== undefined) return known;
      const making = compressAs(identity, encoding).catch((error: unknown) => {
        made.delete(encoding);
        throw error;
      });
      made.set(encoding, making);
      return making;
    },
  };
}

function compress(identity: Buffer, encoding: Encoding): Promise<Uint8Array> {
  switch (encoding) {
    case 'br': {
      // The compressor's memory grows with the window, so it is no larger than the text.
      const window = Math.min(
        constants.BROTLI_MAX_WINDOW_BITS,
        Math.max(constants.BROTLI_MIN_WINDOW_BITS, Math.ceil(Math.log2(identity.length + 1))),
      );
      return compressBrotli(identity, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
          [constants.BROTLI_PARAM_SIZE_HINT]: identity.length,
          [constants.BROTLI_PARAM_LGWIN]: window,
        },
      });
    }
    case 'gzip':
      return compressGzip(identity, { level: constants.Z_BEST_COMPRESSION });
    case 'identity':
      return Promise.resolve(identity);
  }
}

/** The smallest encoding that the Accept-Encoding header accepts (RFC 9110 §12.5.3). */
export function encodingFor(accepted: string | undefined): Encoding {
  const taken = new Set<string>();
  for (const part of (accepted ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((one) => one.trim());
    if (!parameters.some((one) => /^q=0(\.0*)?$/.test(one))) taken.add(name);
  }
  return encodings.find((encoding) => taken.has(encoding)) ?? 'identity';
}

/** Whether the If-None-Match header names this tag (RFC 9110 §13.1.2). */
function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag);
}

/** The file in the encoding the client accepts, or 304 with its length. `headers` are added. */
export async function fileReply(
  file: CompressedFile,
  requested: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): Promise<RawReply> {
  const encoding = encodingFor(requested['accept-encoding']);
  const tag = `"${file.hash}-${encoding}"`;
  const always = { ETag: tag, Vary: 'Accept-Encoding', ...headers };
  const body = await file.bytes(encoding);
  if (namesTag(requested['if-none-match'], tag)) return { status: 304, headers: always, body };
  return {
    status: 200,
    headers: { ...always, ...(encoding === 'identity' ? {} : { 'Content-Encoding': encoding }) },
    body,
  };
}

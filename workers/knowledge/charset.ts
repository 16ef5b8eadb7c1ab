// Decodes bytes of unknown encoding: by byte order mark, header or the document's own declaration, in the order of the
// WHATWG Encoding and HTML standards, or else by a statistical guess. The only importer of chardet.

import { TextDecoder } from 'node:util';
import { analyse } from 'chardet';

/** Where a document may declare its encoding (HTML standard, prescan). */
const prescanBytes = 1024;
/** Enough for a guess; more seldom changes it. */
const sampleBytes = 16 * 1024;
const fallback = 'windows-1252';
/** Confidence, out of a hundred, that the library gives to every possible charset. */
const noConfidence = 10;

/** `declared`: the charset of the Content-Type header, if any. Never fails: undecodable bytes become U+FFFD. */
export function decodeText(bytes: Uint8Array, declared: string | undefined): string {
  const decoder =
    byteOrderMark(bytes) ??
    decoderFor(declared) ??
    decoderFor(declaredInside(bytes)) ??
    utf8If(bytes) ??
    decoderFor(guessOf(bytes)) ??
    new TextDecoder(fallback);
  return decoder.decode(bytes);
}

/** Undefined if no charset is more likely than another, as with only a word or two. */
function guessOf(bytes: Uint8Array): string | undefined {
  const [likeliest] = analyse(bytes.subarray(0, sampleBytes));
  return likeliest === undefined || likeliest.confidence <= noConfidence ? undefined : likeliest.name;
}

function byteOrderMark(bytes: Uint8Array): TextDecoder | undefined {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return new TextDecoder('utf-8');
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be');
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le');
  return undefined;
}

function declaredInside(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, prescanBytes)).toString('latin1');
  const label =
    /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w:.-]+)/i.exec(head)?.[1] ??
    /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w:.-]+)/i.exec(head)?.[1];
  // A declaration that is readable as ASCII cannot be in UTF-16, whatever it says.
  return label !== undefined && /^utf-?16/i.test(label) ? 'utf-8' : label;
}

function utf8If(bytes: Uint8Array): TextDecoder | undefined {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return new TextDecoder('utf-8');
  } catch {
    return undefined;
  }
}

function decoderFor(label: string | undefined): TextDecoder | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label);
  } catch {
    // An unknown label is ignored.
    return undefined;
  }
}

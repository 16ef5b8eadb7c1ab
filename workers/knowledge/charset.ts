// From bytes of unknown origin to text: what the bytes, the server or the document itself say about their encoding, in
// the order that browsers ask (WHATWG Encoding and HTML standards), and a statistical guess when nobody says anything.
// The only importer of chardet.

import { TextDecoder } from 'node:util';
import { analyse } from 'chardet';

/** Where a document may declare its encoding (HTML standard, prescan). */
const prescanBytes = 1024;
/** Enough for a guess; more changes it seldom. */
const sampleBytes = 16 * 1024;
const fallback = 'windows-1252';
/** What the library gives to every set that the bytes could be in, of a hundred. */
const noConfidence = 10;

/**
 * `declared` is the charset of the Content-Type header, if it had one. Never fails: what cannot be read becomes U+FFFD.
 */
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

/** Undefined when one set is as likely as the next: of a word or two, most often. */
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
  // A declaration that could be read as ASCII is not in UTF-16, whatever it says.
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
    // A label that nobody knows says nothing.
    return undefined;
  }
}

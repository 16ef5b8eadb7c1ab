// Parses JSON from outside: request bodies and socket frames.

const escapedSurrogate = /\\u[dD][89a-fA-F]/;
/**
 * Ten times what any request needs. A megabyte of brackets takes a hundred times the time and memory of a megabyte of
 * text.
 */
const maxValues = 20_000;
/** Nesting. The deepest schema has six levels. */
const maxDepth = 64;

/** A text with too many values or levels. */
export class JsonTooIntricate extends SyntaxError {
  override readonly name = 'JsonTooIntricate';

  constructor() {
    super(`may have at most ${maxValues} values and ${maxDepth} levels of nesting`);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses bytes. A lone surrogate, which JSON can spell and no file can hold, becomes U+FFFD, as in UTF-8.
 * Throws SyntaxError, and TypeError for invalid UTF-8.
 */
export function parseJson(given: Uint8Array): unknown {
  // Checked before decoding, so that a refused body costs only one scan.
  requireModest(given);
  const text = utf8.decode(given);
  return escapedSurrogate.test(text)
    ? JSON.parse(text, (_key, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value))
    : JSON.parse(text);
}

/**
 * Counts separators and brackets outside of strings. Does not check that it is JSON. No byte of a longer UTF-8
 * character looks like one of these.
 */
function requireModest(bytes: Uint8Array): void {
  let values = 1;
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case 0x22: // "
        at = endOfString(bytes, at);
        break;
      case 0x2c: // ,
        values += 1;
        break;
      case 0x5b: // [
      case 0x7b: // {
        values += 1;
        depth += 1;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        break;
    }
    if (values > maxValues || depth > maxDepth) throw new JsonTooIntricate();
  }
}

/** The end of the string that begins here, or of the bytes if it does not end. */
function endOfString(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(0x22, from + 1); at >= 0; at = bytes.indexOf(0x22, at + 1)) {
    let backslashes = 0;
    while (bytes[at - 1 - backslashes] === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return bytes.length;
}

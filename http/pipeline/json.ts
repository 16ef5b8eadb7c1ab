// Text from outside to a value: bodies of requests, frames of sockets.

const escapedSurrogate = /\\u[dD][89a-fA-F]/;
/**
 * No request has a tenth of it. A megabyte of brackets takes a hundred times as long to read, and as much memory, as
 * one of text.
 */
const maxValues = 20_000;
/** Values within values. The deepest schema has six levels. */
const maxDepth = 64;

/** A text with more values, or more levels of them, than are read. */
export class JsonTooIntricate extends SyntaxError {
  override readonly name = 'JsonTooIntricate';

  constructor() {
    super(`may have at most ${maxValues} values and ${maxDepth} levels of nesting`);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Of bytes, or of a text that was made of some already. Half a character, which JSON can spell and no file can hold,
 * becomes U+FFFD as it does
 * in UTF-8. Throws SyntaxError, and TypeError for bytes that are no UTF-8.
 */
export function parseJson(given: Uint8Array | string): unknown {
  // Before a text is made of the bytes: what is refused costs no more than looking at them.
  requireModest(typeof given === 'string' ? Buffer.from(given) : given);
  const text = typeof given === 'string' ? given : utf8.decode(given);
  return escapedSurrogate.test(text)
    ? JSON.parse(text, (_key, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value))
    : JSON.parse(text);
}

/**
 * Counts what parts and nests values, outside of strings. Whether it is JSON is not asked here. In UTF-8 no byte of a
 * longer character looks like one of these.
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

/** Where the string that begins here ends; the end of the bytes when it does not. */
function endOfString(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(0x22, from + 1); at >= 0; at = bytes.indexOf(0x22, at + 1)) {
    let backslashes = 0;
    while (bytes[at - 1 - backslashes] === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return bytes.length;
}

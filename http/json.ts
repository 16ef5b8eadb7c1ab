// Text from outside to a value: bodies of requests, frames of sockets.

const escapedSurrogate = /\\u[dD][89a-fA-F]/;
/** No request has a tenth of it. A megabyte of brackets takes a hundred times as long to read, and as much memory, as one of text. */
const maxValues = 20_000;
/** Values within values. The deepest schema has six levels. */
const maxDepth = 64;

/** A text with more values, or more levels of them, than are read. */
export class JsonTooIntricate extends SyntaxError {
  override readonly name = 'JsonTooIntricate';

  constructor() {
    super(`may have ${maxValues} values, and ${maxDepth} levels of them`);
  }
}

/** Half a character, which JSON can spell and no file can hold, becomes U+FFFD as it does in UTF-8. Throws SyntaxError. */
export function parseJson(text: string): unknown {
  requireModest(text);
  return escapedSurrogate.test(text) ? JSON.parse(text, (_key, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)) : JSON.parse(text);
}

/** Counts what parts and nests values, outside of strings. Whether it is JSON is not asked here. */
function requireModest(text: string): void {
  let values = 1;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at);
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

/** Where the string that begins here ends; the end of the text when it does not. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return text.length;
}

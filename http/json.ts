// Text from outside to a value: bodies of requests, frames of sockets.

const escapedSurrogate = /\\u[dD][89a-fA-F]/;

/** Half a character, which JSON can spell and no file can hold, becomes U+FFFD as it does in UTF-8. Throws SyntaxError. */
export function parseJson(text: string): unknown {
  return escapedSurrogate.test(text) ? JSON.parse(text, (_key, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)) : JSON.parse(text);
}

// Tokens that are a text and its signature. Each purpose has signatures of its own, so that no token serves another one.

import { createHmac, timingSafeEqual } from 'node:crypto';

export interface SignedTexts {
  issue(text: string): string;
  /** The text of a token, whose first `chars` it is; undefined for anything that we did not sign. */
  verify(token: string, chars: number): string | undefined;
}

export function createSignedTexts(secret: string, purpose: string): SignedTexts {
  const sign = (text: string): string => createHmac('sha256', secret).update(`${purpose}:${text}`).digest('base64url');
  return {
    issue: (text) => text + sign(text),
    verify(token, chars) {
      const text = token.slice(0, chars);
      const given = Buffer.from(token.slice(chars));
      const expected = Buffer.from(sign(text));
      return given.length === expected.length && timingSafeEqual(given, expected) ? text : undefined;
    },
  };
}

/** Of a time in a token, to the second. */
export const timeChars = 7;

export function timeText(ms: number): string {
  return Math.floor(ms / 1000)
    .toString(36)
    .padStart(timeChars, '0');
}

/** In ms. */
export function timeIn(text: string): number {
  return Number.parseInt(text, 36) * 1000;
}

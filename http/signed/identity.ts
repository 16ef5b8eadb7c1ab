// The secret with which a site signs the address of a customer that it knows, so that no other page can pass one off as
// its own. Derived from the service's key and the site's id, and nothing is stored. Decisions "Whose address it is".

import { createHmac, timingSafeEqual } from 'node:crypto';

export interface Identity {
  secretOf(siteId: string): string;
  /** Whether the signature is the hexadecimal HMAC-SHA256 of the address, as it was given, under the site's secret. */
  isSigned(siteId: string, said: { email: string; signature: string }): boolean;
}

export function createIdentity(secret: string): Identity {
  const secretOf = (siteId: string): string =>
    createHmac('sha256', secret).update(`identity:${siteId}`).digest('base64url');
  return {
    secretOf,
    isSigned(siteId, { email, signature }) {
      const given = Buffer.from(signature.toLowerCase());
      const expected = Buffer.from(createHmac('sha256', secretOf(siteId)).update(email).digest('hex'));
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}

// Signatures of webhooks with a secret of the workspace: X-Signature is `sha256=` and the HMAC-SHA256 of the body's
// bytes in hex. Specification 5.

import { createHmac, timingSafeEqual } from 'node:crypto';

/** Compares in constant time. The hex may be in either case. */
export function verifySignature(rawBody: Uint8Array, header: string, secret: string): boolean {
  const given = Buffer.from(/^sha256=([0-9a-f]{64})$/i.exec(header.trim())?.[1] ?? '', 'hex');
  const expected = createHmac('sha256', secret).update(rawBody).digest();
  return given.length === expected.length && timingSafeEqual(given, expected);
}

export function signatureOf(rawBody: Uint8Array | string, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(rawBody).digest('hex')}`;
}

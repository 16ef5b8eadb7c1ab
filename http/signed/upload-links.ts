// The addresses of uploaded files: the public one of a key, and the one by which its bytes may be sent once, until a
// time, of one type and up to one size. What was signed stands in the address, so a link is judged before anything is
// looked up. Specification 4.9.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { AttachmentInput } from '../../engine/conversations/attachments.ts';

export interface SignedUpload {
  readonly contentType: string;
  /** The most bytes it may have. */
  readonly size: number;
  readonly expiresAt: string;
}

export interface UploadLinks {
  /** Where everybody who knows it can read the object. */
  publicUrl(key: string): string;
  /** The key of a public address of ours; undefined for any other. What it ends in is not looked up. */
  keyOf(publicUrl: string): string | undefined;
  uploadUrl(key: string, signed: SignedUpload): string;
  /** What a link of ours was signed for; undefined for any other, and after its time. */
  verify(key: string, query: Readonly<Record<string, string | undefined>>, nowMs: number): SignedUpload | undefined;
}

export function createUploadLinks({ secret, baseUrl }: { secret: string; baseUrl: string }): UploadLinks {
  const publicUrl = (key: string): string => `${baseUrl}/storage/${key}`;
  const sign = (key: string, { contentType, size, expiresAt }: SignedUpload): string =>
    createHmac('sha256', secret)
      .update(`upload:${JSON.stringify([key, contentType, size, expiresAt])}`)
      .digest('base64url');

  return {
    publicUrl,
    keyOf: (url) => (url.startsWith(publicUrl('')) ? url.slice(publicUrl('').length) : undefined),
    uploadUrl(key, signed) {
      const { contentType, size, expiresAt } = signed;
      return `${publicUrl(key)}?${new URLSearchParams({ type: contentType, size: String(size), expires: expiresAt, signature: sign(key, signed) })}`;
    },
    verify(key, { type, size, expires, signature }, nowMs) {
      if (type === undefined || size === undefined || expires === undefined || signature === undefined)
        return undefined;
      const signed: SignedUpload = { contentType: type, size: Number(size), expiresAt: expires };
      const given = Buffer.from(signature);
      const expected = Buffer.from(sign(key, signed));
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
      return Date.parse(expires) > nowMs ? signed : undefined;
    },
  };
}

/** Files as a caller names them, with the keys that their addresses are of. */
export function withKeys(
  links: UploadLinks,
  attachments: readonly Omit<AttachmentInput, 'key'>[] | undefined,
): AttachmentInput[] | undefined {
  return attachments?.map((attachment) => ({ ...attachment, key: links.keyOf(attachment.url) }));
}

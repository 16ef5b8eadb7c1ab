// Addresses of uploaded files: the public one of a key, and the signed one to which its bytes may be sent once, until a
// time, with one type and up to one size. The address contains what was signed, so a link is verified before any
// lookup. Specification 4.9.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { AttachmentInput } from '../../engine/conversations/attachments.ts';

export interface SignedUpload {
  readonly contentType: string;
  /** The maximum size in bytes. */
  readonly size: number;
  readonly expiresAt: string;
}

export interface UploadLinks {
  /** The address at which anyone who knows it can read the object. */
  publicUrl(key: string): string;
  /** The key in a public address of ours; undefined for any other. Does not check whether it exists. */
  keyOf(publicUrl: string): string | undefined;
  uploadUrl(key: string, signed: SignedUpload): string;
  /** The signed content of a link; undefined for any other link, and after it expired. */
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

/** Files as a caller names them, with the keys of their addresses. */
export function withKeys(
  links: UploadLinks,
  attachments: readonly Omit<AttachmentInput, 'key'>[] | undefined,
): AttachmentInput[] | undefined {
  return attachments?.map((attachment) => ({ ...attachment, key: links.keyOf(attachment.url) }));
}

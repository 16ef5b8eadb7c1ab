// Secrets that begin with their workspace's id, so that one lookup finds its file: join codes, reset tokens, embed ids,
// visitor tokens. The first 22 characters are the id in base64url, its compact form; the rest is the secret.

import { createHash } from 'node:crypto';

export const compactIdChars = 22;

export function compactId(workspaceId: string): string {
  return Buffer.from(workspaceId.replaceAll('-', ''), 'hex').toString('base64url');
}

/** The workspace named by the start of the text, or undefined. Does not check whether it exists. */
export function workspaceIdIn(text: string): string | undefined {
  const bytes = Buffer.from(text.slice(0, compactIdChars), 'base64url');
  if (bytes.length !== 16) return undefined;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The stored form of a secret that is only compared. The secret is long and random, so one SHA-256 is enough. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

export const emailHashChars = 22;

/** Stands for an address in a token, which others may see. 128 bits tell addresses apart. */
export function emailHashOf(email: string): string {
  return hashOf(`email:${email.toLowerCase()}`).slice(0, emailHashChars);
}

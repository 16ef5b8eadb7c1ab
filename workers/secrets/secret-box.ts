// Seals secrets that must be used again and must not be readable in a file (signing secrets, private keys) with
// AES-256-GCM under one key, stored beside the data or taken from SECRETS_KEY. Each seal is bound to its purpose, so
// that one secret's row cannot replace another's.

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Unavailable } from '../failures.ts';

export interface SecretBox {
  /** `about` names the owner and the secret, such as `<workspaceId>:inbound-email`; opening needs the same. */
  seal(plain: string, about: string): string;
  /** Throws SecretUnreadable. */
  open(sealed: string, about: string): string;
  /** A keyed digest of a text short enough to be guessed: without the key, texts cannot be tried against it. */
  digest(text: string, about: string): string;
}

/** Sealed with another key or for another purpose, or damaged. */
export class SecretUnreadable extends Unavailable {
  override readonly name = 'SecretUnreadable';
}

const form = 'v1';
const cipher = 'aes-256-gcm';
const keyBytes = 32;
/** NIST SP 800-38D: 96 bits, random for each seal. */
const nonceBytes = 12;
const tagBytes = 16;

/** `secret` is text of at least 32 characters. */
export function createSecretBox(secret: string): SecretBox {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'switchboard secrets', keyBytes));
  const digestKey = Buffer.from(hkdfSync('sha256', secret, '', 'switchboard digests', keyBytes));
  return {
    digest: (text, about) => createHmac('sha256', digestKey).update(`${about}\0${text}`).digest('base64url'),
    seal(plain, about) {
      const nonce = randomBytes(nonceBytes);
      const sealing = createCipheriv(cipher, key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(about));
      const sealed = Buffer.concat([sealing.update(plain, 'utf8'), sealing.final()]);
      return `${form}.${Buffer.concat([nonce, sealing.getAuthTag(), sealed]).toString('base64url')}`;
    },
    open(sealed, about) {
      try {
        const [version, text = ''] = sealed.split('.');
        if (version !== form) throw new Error(`not of the form ${form}`);
        const bytes = Buffer.from(text, 'base64url');
        const opening = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), {
          authTagLength: tagBytes,
        }).setAAD(Buffer.from(about));
        opening.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
        return Buffer.concat([opening.update(bytes.subarray(nonceBytes + tagBytes)), opening.final()]).toString('utf8');
      } catch (cause) {
        throw new SecretUnreadable(
          `the secret of ${about} cannot be opened; was SECRETS_KEY or the file secrets-key changed?`,
          { cause },
        );
      }
    },
  };
}

// Seals what must be used again and may not lie readable in a file (signing secrets, private keys) with AES-256-GCM
// under one key, which lives beside the data or comes from SECRETS_KEY. Each seal names what it is for, so that one
// secret's row cannot stand in for another's.

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

export interface SecretBox {
  /**
   * `about` says whose and which secret it is, such as `<workspaceId>:inbound-email`; the same is needed to open it.
   */
  seal(plain: string, about: string): string;
  /** Throws SecretUnreadable. */
  open(sealed: string, about: string): string;
  /** What can be kept of a text that is short enough to be guessed: nobody without the key can try texts against it. */
  digest(text: string, about: string): string;
}

/** Sealed with another key, or for something else, or damaged. */
export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable';
}

const form = 'v1';
const cipher = 'aes-256-gcm';
const keyBytes = 32;
/** NIST SP 800-38D: 96 bits, drawn anew for each seal. */
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

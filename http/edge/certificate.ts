// The certificate of a TLS listener, checked before the library gets it: the library treats a file that it cannot read
// as absent, and gives no reason.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { TlsFiles } from '../process/config.ts';

/** The certificate's files cannot be read, or do not belong together. */
export class CertificateUnusable extends Error {
  override readonly name = 'CertificateUnusable';
}

/** Only suites with forward secrecy and authenticated encryption (RFC 9325 §4.2); all of TLS 1.3 are such. */
export const tls12Ciphers = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/** Throws CertificateUnusable. */
export function requireCertificate(tls: TlsFiles | undefined): void {
  if (tls === undefined) return;
  try {
    const cert = new X509Certificate(readFileSync(tls.certFile));
    if (!cert.checkPrivateKey(createPrivateKey(readFileSync(tls.keyFile))))
      throw new Error('the key does not match the certificate');
    createSecureContext({ cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) });
  } catch (cause) {
    throw new CertificateUnusable(
      `the certificate in ${tls.certFile} with the key in ${tls.keyFile} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

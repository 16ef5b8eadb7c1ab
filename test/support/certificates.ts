// Certificates for localhost, made with openssl.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** For `t.test`. */
export const noOpenssl = ((): string | false => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'certificates are made with openssl, which is not here';
  }
})();

/** A self-signed certificate, for localhost by default, and its key. */
export function makeCertificate(
  folder: string,
  name: string,
  { host = 'DNS:localhost' }: { host?: string } = {},
): { cert: string; key: string } {
  const files = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '1',
      '-subj',
      `/CN=${name}`,
      '-addext',
      `subjectAltName=${host}`,
      '-keyout',
      files.key,
      '-out',
      files.cert,
    ],
    { stdio: 'ignore' },
  );
  return files;
}

// Secrets that the service makes for itself and keeps beside the data, readable by its own user alone.

import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';

const secretBytes = 48;

/** The secret in the file at `path`; made on first use, mode 0600. */
export function readOrMakeSecret(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const secret = randomBytes(secretBytes).toString('base64url');
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, `${secret}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return secret;
}

// The beginning of a mail as it was received, compressed to be kept in its row. Runs in the mail thread.

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type MailSource, maxSourceBytes } from '../../store/mail/mails.ts';

const compress = promisify(gzip);

/** `beginning`: of the mail's bytes, at least as much as is kept. `bytes`: of the whole mail. */
export async function sourceOf(beginning: Uint8Array, bytes: number): Promise<MailSource> {
  const kept = beginning.subarray(0, maxSourceBytes);
  // A copy, since a message to another thread takes the whole buffer that a part is of.
  const packed = new Uint8Array(await compress(kept));
  return { bytes, keptBytes: kept.length, packed };
}

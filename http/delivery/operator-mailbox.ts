// Mail to the operator: postmaster and abuse, which every host must have (RFC 5321 §4.5.1, RFC 2142), and replies to
// the service's own sender, whose existence other servers check. Stored as files for a person to read.

import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { withoutTag } from '../../engine/mail-addresses.ts';
import type { Log } from '../../engine/runtime/log.ts';
import type { ReceivedMail } from '../../workers/providers/smtp-listener.ts';

/** Keeps the newest mails, and the beginning of each: together at most 100 MiB. */
const maxMails = 100;
const maxBytes = 1024 * 1024;

export interface OperatorMailbox {
  has(address: string): boolean;
  keep(mail: ReceivedMail): Promise<void>;
}

export function createOperatorMailbox(options: {
  folder: string;
  mailHost: string;
  mailFrom: string;
  log: Log;
  now: () => number;
}): OperatorMailbox {
  const { folder, mailHost, mailFrom, log, now } = options;
  // Only postmaster may be addressed without a host.
  const addresses = new Set(['postmaster', `postmaster@${mailHost}`, `abuse@${mailHost}`, mailFrom.toLowerCase()]);
  return {
    has: (address) => addresses.has(address.toLowerCase()) || addresses.has(withoutTag(address).toLowerCase()),
    async keep({ path, recipients, envelope }) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const name = `${new Date(now()).toISOString().replaceAll(':', '-')}-${randomUUID()}.eml`;
      await pipeline(
        createReadStream(path, { end: maxBytes - 1 }),
        createWriteStream(join(folder, name), { mode: 0o600 }),
      );
      const older = (await readdir(folder)).sort().slice(0, -maxMails);
      await Promise.all(older.map((file) => rm(join(folder, file), { force: true })));
      log.warn(
        { file: join(folder, name), sender: envelope.sender, recipients },
        'there is mail for the operator of this service',
      );
    },
  };
}

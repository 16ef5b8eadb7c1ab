// Runs the mail thread in its own process, so that the process's memory is that of a mail. Reads the given files one at
// a time and reports what was parsed; ends with its parent.

import { createMailReader, type MailReader, type ReadMail } from '../../workers/mail/mail-reader.ts';

export type Asked = Parameters<MailReader['file']>[0];
export type Answered = { readonly mail: ReadMail } | { readonly rejected: string } | { readonly failed: string };

const reader = createMailReader({ dnsServers: process.argv.slice(2) });

process.on('message', (asked: Asked) => {
  const tell = (answer: Answered): void => void process.send?.(answer);
  reader.file(asked).then(
    (read) => tell('rejected' in read ? read : { mail: read }),
    (error: unknown) => tell({ failed: String(error) }),
  );
});
process.on('disconnect', () => void reader.stop());

// The mail thread in a process of its own, so that the memory which the process takes is what a mail takes. Reads the
// files that it is told of, one at a time, and tells what was read of each; ends with the process that asks.

import { createMailReader, type MailReader, type ReadMail } from '../../workers/mail/mail-reader.ts';

export type Asked = Parameters<MailReader['file']>[0];
export type Answered =
  | { readonly mail: ReadMail }
  | { readonly refused: { readonly name: string; readonly message: string } };

const reader = createMailReader({ dnsServers: process.argv.slice(2) });

process.on('message', (asked: Asked) => {
  const tell = (answer: Answered): void => void process.send?.(answer);
  reader.file(asked).then(
    (mail) => tell({ mail }),
    (error: unknown) =>
      tell({
        refused:
          error instanceof Error
            ? { name: error.name, message: error.message }
            : { name: 'Error', message: String(error) },
      }),
  );
});
process.on('disconnect', () => void reader.stop());

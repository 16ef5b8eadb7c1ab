// Runs the mail thread in its own process, so that the process's memory is that of a mail. Reads the given files one at
// a time and reports what was parsed; ends with its parent.

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

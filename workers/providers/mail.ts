// Mail out: to a folder as .eml files, or to an SMTP server. The only importer of nodemailer, loaded with the first mail. The id of a mail becomes its
// Message-ID and its file name, so that a mail tried twice is the same mail.

import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { SendMailOptions } from 'nodemailer';

export interface OutgoingMail {
  /** Stays the same over every attempt. */
  readonly id: string;
  readonly from: { readonly address: string; readonly name?: string };
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface MailSender {
  /** Resolves to what the other side said. Rejects with MailRefused when asking again would not help, with any error otherwise. */
  send(mail: OutgoingMail): Promise<string>;
  close(): void;
}

/** The server will not take this mail: a 5xx answer. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
}

const timeoutMs = 20_000;

/** Each mail as `<id>.eml` in `folder`, complete or not there. */
export function outboxSender(folder: string): MailSender {
  const composer = once(async () => (await import('nodemailer')).createTransport({ streamTransport: true, buffer: true, newline: 'windows' }));
  return {
    async send(mail) {
      await mkdir(folder, { recursive: true });
      const { message } = await (await composer()).sendMail(messageOf(mail));
      if (!Buffer.isBuffer(message)) throw new Error('the composer gave no buffer');
      const path = join(folder, `${mail.id}.eml`);
      const file = await open(`${path}.part`, 'w');
      try {
        await file.writeFile(message);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${path}.part`, path);
      return path;
    },
    close() {},
  };
}

/** `url` as in smtp://user:password@host:587 or smtps://. */
export function smtpSender(url: string): MailSender {
  let closed = false;
  const transport = once(async () =>
    (await import('nodemailer')).createTransport({ url, pool: true, maxConnections: 4, connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs }),
  );
  return {
    async send(mail) {
      if (closed) throw new Error('the service is stopping');
      try {
        const { response } = await (await transport()).sendMail(messageOf(mail));
        return response;
      } catch (error) {
        const code = (error as { responseCode?: number }).responseCode ?? 0;
        if (code >= 500 && code < 600) throw new MailRefused(error instanceof Error ? error.message : String(error), { cause: error });
        throw error;
      }
    },
    close() {
      closed = true;
      if (transport.made) void transport().then((made) => made.close());
    },
  };
}

function once<Value>(make: () => Promise<Value>): (() => Promise<Value>) & { made: boolean } {
  let value: Promise<Value> | undefined;
  const get = Object.assign(
    () => {
      get.made = true;
      value ??= make();
      return value;
    },
    { made: false },
  );
  return get;
}

function messageOf(mail: OutgoingMail): SendMailOptions {
  const host = mail.from.address.split('@')[1] ?? 'localhost';
  return {
    messageId: `<${mail.id}@${host}>`,
    from: mail.from.name === undefined ? mail.from.address : { name: mail.from.name, address: mail.from.address },
    to: mail.to,
    subject: mail.subject,
    text: mail.text,
    ...(mail.html === undefined ? {} : { html: mail.html }),
    ...(mail.headers === undefined ? {} : { headers: { ...mail.headers } }),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

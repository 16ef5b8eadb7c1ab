// Mail out: to a folder as .eml files, or to an SMTP server. The only importer of nodemailer, loaded with the first
// mail. The id of a mail becomes its Message-ID and its file name, so that a mail tried twice is the same mail.

import { type FileHandle, mkdir, open, rename } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { SendMailOptions } from 'nodemailer';
import { isPublicAddress } from './host-resolver.ts';
import { refusesAddress } from './mail-refusal.ts';

export interface OutgoingMail {
  /** Stays the same over every attempt. */
  readonly id: string;
  /** Whose it is. */
  readonly workspaceId: string;
  readonly from: { readonly address: string; readonly name?: string };
  readonly to: string;
  /** As its header says, beside `to` or whom it is a copy for. */
  readonly cc?: readonly string[];
  /** It is a copy for `to` of this other mail, whose Message-ID and header it has. */
  readonly copyOf?: { readonly id: string; readonly to: string };
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  /** Of the mail that this one answers, and of its thread, oldest first; without brackets. */
  readonly inReplyTo?: string;
  readonly references?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Where it comes back to when it is not delivered; the sender unless set. */
  readonly returnPath?: string;
  /** To be signed for this domain (RFC 6376). */
  readonly dkim?: { readonly domain: string; readonly selector: string; readonly privateKey: string };
}

export interface MailSender {
  /**
   * Resolves to what the other side said. Rejects with MailRefused when asking again would not help, with any error
   * otherwise.
   */
  send(mail: OutgoingMail): Promise<string>;
  close(): void;
}

/**
 * The server will not take this mail, now or later. `isAddress`: because of the address, which takes no mail at all.
 */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
  readonly isAddress: boolean;

  constructor(message: string, options: { isAddress: boolean; cause: unknown }) {
    super(message, { cause: options.cause });
    this.isAddress = options.isAddress;
  }
}

export interface SmtpPatience {
  /** For each step: to connect, to be greeted, for each answer. */
  readonly stepMs: number;
  /** For a whole mail, its turn in the pool included. */
  readonly mailMs: number;
}

const patience: SmtpPatience = { stepMs: 20_000, mailMs: 90_000 };
/**
 * What a server answers to a wrong or missing sign-in (RFC 4954 §6). That is ours to mend and no word about the mail.
 */
const signInCodes: ReadonlySet<number> = new Set([530, 534, 535, 538]);

/** Each mail as `<id>.<workspace's id>.eml` in `folder`, complete or not there. */
export function outboxSender(folder: string): MailSender {
  const composer = once(async () =>
    (await import('nodemailer')).createTransport({ streamTransport: true, buffer: true, newline: 'windows' }),
  );
  return {
    async send(mail) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const { message } = await (await composer()).sendMail(messageOf(mail));
      if (!Buffer.isBuffer(message)) throw new Error('the composer gave no buffer');
      const path = join(folder, `${mail.id}.${mail.workspaceId}.eml`);
      await withFile(`${path}.part`, 'w', async (file) => {
        await file.writeFile(message);
        await file.sync();
      });
      await rename(`${path}.part`, path);
      // The mail counts as sent from here on, so its name must outlive a power cut too.
      await withFile(folder, 'r', (made) => made.sync());
      return path;
    },
    close() {},
  };
}

/**
 * `url` as in smtp://user:password@host:587 or smtps://. `?requireTLS=true` sends nothing unencrypted,
 * `?tls.rejectUnauthorized=false` or `true` says whether
 * the certificate is checked. A server of this machine or its own network, where nothing is said, has its certificate
 * unchecked: it is mostly one that
 * the server made for itself, and encrypted without a check is more than not (RFC 7435).
 */
export function smtpSender(url: string, { stepMs, mailMs }: SmtpPatience = patience): MailSender {
  let closed = false;
  const transport = once(async () =>
    (await import('nodemailer')).createTransport({
      url,
      ...(certificateIsChecked(url) ? {} : { tls: { rejectUnauthorized: false } }),
      pool: true,
      maxConnections: 4,
      // A connection that the server closed while it was idle costs a second try, not the first pause of the schedule.
      maxRequeues: 1,
      connectionTimeout: stepMs,
      greetingTimeout: stepMs,
      socketTimeout: stepMs,
      dnsTimeout: stepMs,
    }),
  );
  return {
    async send(mail) {
      if (closed) throw new Error('the service is stopping');
      try {
        const { response } = await (await transport()).sendMail({
          ...messageOf(mail),
          signal: AbortSignal.timeout(mailMs),
        });
        return response;
      } catch (error) {
        if (isRefusal(error)) throw refusalOf(error, mail.to);
        throw error;
      }
    },
    close() {
      closed = true;
      if (transport.made) void transport().then((made) => made.close());
    },
  };
}

/**
 * Whether the server has to prove who it is. A name without a dot is one of the own network. Where the address says
 * how, that is not overridden.
 */
export function certificateIsChecked(url: string): boolean {
  const { protocol, hostname, searchParams } = new URL(url);
  if (protocol !== 'smtp:' || searchParams.get('requireTLS') === 'true' || searchParams.has('tls.rejectUnauthorized'))
    return true;
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return isIP(host) === 0 ? host.replace(/\.localhost$/, '').includes('.') : isPublicAddress(host);
}

/** Said of this mail or its addresses, and for good. */
function isRefusal(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { code, responseCode = 0 } = error as { code?: string; responseCode?: number };
  const isOfMail = code === 'EENVELOPE' || code === 'EMESSAGE';
  return isOfMail && (responseCode < 400 || responseCode >= 500) && !signInCodes.has(responseCode);
}

/** A server that does not know the letters of an address says nothing about who has it. */
function refusalOf(error: Error, to: string): MailRefused {
  const isInternational = /[^\x00-\x7f]/.test(to);
  if (isInternational && (error as { code?: string }).code === 'EENVELOPE')
    return new MailRefused(
      `the mail server takes no address with letters beyond ASCII before the @ (SMTPUTF8): ${error.message}`,
      { isAddress: false, cause: error },
    );
  return new MailRefused(error.message, { isAddress: isOfAddress(error), cause: error });
}

function isOfAddress(error: unknown): boolean {
  // As nodemailer describes an SMTP error.
  const { command, response = '' } = error as { command?: string; response?: string };
  return command === 'RCPT TO' && refusesAddress({ status: '', text: response });
}

async function withFile(path: string, flags: 'r' | 'w', use: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, flags);
  try {
    await use(file);
  } finally {
    await file.close();
  }
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
    messageId: `<${mail.copyOf?.id ?? mail.id}@${host}>`,
    from: { name: mail.from.name ?? '', address: mail.from.address },
    // As one address, never a list of them.
    to: { name: '', address: mail.copyOf?.to ?? mail.to },
    ...(mail.cc === undefined ? {} : { cc: mail.cc.map((address) => ({ name: '', address })) }),
    subject: mail.subject,
    text: mail.text,
    ...(mail.html === undefined ? {} : { html: mail.html }),
    ...(mail.inReplyTo === undefined ? {} : { inReplyTo: `<${mail.inReplyTo}>` }),
    ...(mail.references === undefined ? {} : { references: mail.references.map((id) => `<${id}>`) }),
    ...(mail.headers === undefined ? {} : { headers: { ...mail.headers } }),
    // Whoever else is in the header gets a mail of its own.
    envelope: { from: { name: '', address: mail.returnPath ?? mail.from.address }, to: { name: '', address: mail.to } },
    ...(mail.dkim === undefined
      ? {}
      : { dkim: { domainName: mail.dkim.domain, keySelector: mail.dkim.selector, privateKey: mail.dkim.privateKey } }),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

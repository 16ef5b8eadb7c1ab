// Sends mail: to a folder as .eml files, or to an SMTP server. The only importer of nodemailer, loaded on first use. A
// mail's id becomes its Message-ID and its file name, so that a retried mail is the same mail.

import { type FileHandle, mkdir, open, rename } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { SendMailOptions, Transporter } from 'nodemailer';
import type SMTPTransport from 'nodemailer/lib/smtp-transport/index.js';
import { Refused } from '../failures.ts';
import { isPublicAddress } from './host-resolver.ts';
import { mailPageOf } from './mail-page.ts';
import { refusesAddress } from './mail-refusal.ts';

export interface OutgoingMail {
  /** The same for every attempt. */
  readonly id: string;
  /** The workspace that sends it. */
  readonly workspaceId: string;
  readonly from: { readonly address: string; readonly name?: string };
  readonly to: string;
  /** For its header, besides `to` or the recipient it is a copy for. */
  readonly alsoTo?: readonly string[];
  readonly cc?: readonly string[];
  /** It is a copy for `to` of this other mail, with the same Message-ID and header. */
  readonly copyOf?: { readonly id: string; readonly to: string };
  readonly subject: string;
  readonly text: string;
  /** Well-formed, without styles: it leaves as a whole document. */
  readonly html?: string;
  /** Of most of its words, such as `en-US`. */
  readonly language?: string;
  /** The mail that this one answers, and its thread, oldest first; without brackets. */
  readonly inReplyTo?: string;
  readonly references?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** The envelope sender, for bounces; the sender by default. */
  readonly returnPath?: string;
  /** The host of its Message-ID; the sender's by default. */
  readonly idHost?: string;
  /** The domain that signs it (RFC 6376). */
  readonly dkim?: { readonly domain: string; readonly selector: string; readonly privateKey: string };
}

export interface MailSender {
  /**
   * Resolves to the other side's answer. Rejects with MailRefused if a retry would not help, with any other error
   * otherwise.
   */
  send(mail: OutgoingMail): Promise<string>;
  close(): void;
}

/** The server refuses this mail permanently. `isAddress`: because the address accepts no mail at all. */
export class MailRefused extends Refused {
  override readonly name = 'MailRefused';
  override readonly isAddress: boolean;

  constructor(message: string, options: { isAddress: boolean; cause: unknown }) {
    super(message, { cause: options.cause });
    this.isAddress = options.isAddress;
  }
}

export interface SmtpPatience {
  /** For each step: the connection, the greeting, each answer. */
  readonly stepMs: number;
  /** For a whole mail, including its wait in the pool. */
  readonly mailMs: number;
}

const patience: SmtpPatience = { stepMs: 20_000, mailMs: 90_000 };
/** A server's answers to a wrong or missing sign-in (RFC 4954 §6): our configuration, not this mail. */
const signInCodes: ReadonlySet<number> = new Set([530, 534, 535, 538]);

/** Each mail as `<id>.<workspace's id>.eml` in `folder`, complete or not there. */
export function outboxSender(folder: string): MailSender {
  const composer = once(async () =>
    (await import('nodemailer')).createTransport({ streamTransport: true, buffer: true, newline: 'windows' }),
  );
  return {
    async send(mail) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const { html, ...others } = messageOf(mail);
      const { message } = await (await composer()).sendMail({ ...others, ...asAlternative(html) });
      if (!Buffer.isBuffer(message)) throw new Error('the composer gave no buffer');
      const path = join(folder, `${mail.id}.${mail.workspaceId}.eml`);
      await withFile(`${path}.part`, 'w', async (file) => {
        await file.writeFile(message);
        await file.sync();
      });
      await rename(`${path}.part`, path);
      // The mail counts as sent from here on, so its name must survive a power failure too.
      await withFile(folder, 'r', (made) => made.sync());
      return path;
    },
    close() {},
  };
}

/** Encoded as a whole, so that someone who looks through the folder finds each link once, and not cut in two. */
function asAlternative(html: SendMailOptions['html']): Pick<SendMailOptions, 'alternatives'> {
  if (typeof html !== 'string') return {};
  return {
    alternatives: [{ contentType: 'text/html; charset=utf-8', contentTransferEncoding: 'base64', content: html }],
  };
}

/**
 * `url` as in smtp://user:password@host:587 or smtps://. `?requireTLS=true` sends nothing unencrypted;
 * `?tls.rejectUnauthorized=false` or `true` sets whether the certificate is checked. By default it is not checked for a
 * server on this machine or its own network, which mostly has a self-signed one: encryption without a check is better
 * than none (RFC 7435).
 */
export function smtpSender(url: string, { stepMs, mailMs }: SmtpPatience = patience): MailSender {
  let closed = false;
  const transport = once(async () =>
    (await import('nodemailer')).createTransport({
      url,
      ...(certificateIsChecked(url) ? {} : { tls: { rejectUnauthorized: false } }),
      pool: true,
      maxConnections: 4,
      // A connection that the server closed while idle costs an immediate second try, not a retry delay.
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
      return sendOver(await transport(), mail, mailMs);
    },
    close() {
      closed = true;
      if (transport.made) void transport().then((made) => made.close());
    },
  };
}

export type SmtpSignIn = NonNullable<SMTPTransport.Options['auth']>;

/** Over a connection of its own. Resolves to the server's answer; rejects as MailSender does. */
export async function sendOnce(
  server: SMTPTransport.Options,
  mail: OutgoingMail,
  { stepMs, mailMs }: SmtpPatience,
): Promise<string> {
  const transport = (await import('nodemailer')).createTransport({
    ...server,
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
  });
  try {
    return await sendOver(transport, mail, mailMs);
  } finally {
    transport.close();
  }
}

async function sendOver(
  transport: Transporter<{ response: string }>,
  mail: OutgoingMail,
  mailMs: number,
): Promise<string> {
  try {
    const { response } = await transport.sendMail({ ...messageOf(mail), signal: AbortSignal.timeout(mailMs) });
    return response;
  } catch (error) {
    if (isRefusal(error)) throw refusalOf(error, mail.to);
    throw error;
  }
}

/**
 * Whether the server must prove its identity. A host without a dot is on our own network. The address's explicit
 * setting wins.
 */
export function certificateIsChecked(url: string): boolean {
  const { protocol, hostname, searchParams } = new URL(url);
  if (protocol !== 'smtp:' || searchParams.get('requireTLS') === 'true' || searchParams.has('tls.rejectUnauthorized'))
    return true;
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return isIP(host) === 0 ? host.replace(/\.localhost$/, '').includes('.') : isPublicAddress(host);
}

/** A permanent refusal of this mail or its addresses. */
function isRefusal(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { code, responseCode = 0 } = error as { code?: string; responseCode?: number };
  const isOfMail = code === 'EENVELOPE' || code === 'EMESSAGE';
  return isOfMail && (responseCode < 400 || responseCode >= 500) && !signInCodes.has(responseCode);
}

/** A server that does not support an address's characters says nothing about whether the address exists. */
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
  // nodemailer's form of an SMTP error.
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

/** RFC 6376 §5.4.1, and what RFC 8058 §4 asks for. */
const signedFields =
  'From:Reply-To:Subject:Date:Message-ID:To:Cc:MIME-Version:Content-Type:Content-Transfer-Encoding:In-Reply-To:References:List-Unsubscribe:List-Unsubscribe-Post';

const bare = (address: string): { name: string; address: string } => ({ name: '', address });

function messageOf(mail: OutgoingMail): SendMailOptions {
  const host = mail.idHost ?? mail.from.address.split('@')[1] ?? 'localhost';
  return {
    messageId: `<${mail.copyOf?.id ?? mail.id}@${host}>`,
    from: { name: mail.from.name ?? '', address: mail.from.address },
    // Each as a single address, never a list.
    to: [mail.copyOf?.to ?? mail.to, ...(mail.alsoTo ?? [])].map(bare),
    ...(mail.cc === undefined ? {} : { cc: mail.cc.map(bare) }),
    subject: mail.subject,
    text: mail.text,
    ...(mail.html === undefined
      ? {}
      : { html: mailPageOf({ title: mail.subject, html: mail.html, language: mail.language }) }),
    ...(mail.inReplyTo === undefined ? {} : { inReplyTo: `<${mail.inReplyTo}>` }),
    ...(mail.references === undefined ? {} : { references: mail.references.map((id) => `<${id}>`) }),
    ...(mail.headers === undefined ? {} : { headers: { ...mail.headers } }),
    // Other recipients in the header get mails of their own.
    envelope: { from: bare(mail.returnPath ?? mail.from.address), to: bare(mail.to) },
    ...(mail.dkim === undefined
      ? {}
      : {
          dkim: {
            domainName: mail.dkim.domain,
            keySelector: mail.dkim.selector,
            privateKey: mail.dkim.privateKey,
            headerFieldNames: signedFields,
          },
        }),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

// Mail in by SMTP: recipients are looked at when they are named, so that nothing is relayed; the mail is written to a
// file as it comes, so that none is held in memory; and it is answered only when it is durable here, so that until then
// it is the sender's. The only importer of smtp-server, loaded when a listener is asked for.

import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createSecureContext } from 'node:tls';
import type { SMTPServerDataStream, SMTPServerOptions, SMTPServerSession } from 'smtp-server';

export interface ReceivedMail {
  /** The whole mail, in a file that is alone in its folder; the folder goes when the mail is answered. */
  readonly path: string;
  /** Those of RCPT TO, each known. */
  readonly recipients: readonly string[];
  readonly envelope: {
    readonly remoteAddress: string;
    readonly helo: string;
    readonly sender: string;
    readonly receiver: string;
  };
}

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface SmtpListenerOptions {
  readonly host: string;
  readonly port: number;
  /** What it calls itself. */
  readonly name: string;
  /** Files of a certificate and its key, PEM; without them there is no STARTTLS. */
  readonly tls: CertificateFiles | undefined;
  /** For mails under way. */
  readonly folder: string;
  /** What counts as one sender for the number of its connections. */
  networkOf(remoteAddress: string): string;
  /** Of what one network sends; unset: no bound. A sender that has had it is asked to come again. */
  readonly bytes?: { isSpent(remoteAddress: string): boolean; took(remoteAddress: string, bytes: number): void };
  /** How long a connection may last, whatever it does; maxSessionMs unless set. */
  readonly sessionMs?: number;
  /** Whether mail is taken for this address. */
  takes(address: string): boolean;
  /**
   * Resolves when the mail is durable. Rejects with MailNotTaken to say it will never be; with anything else the sender
   * is asked to come again.
   */
  receive(mail: ReceivedMail): Promise<void>;
  onError(error: unknown): void;
}

export interface SmtpListener {
  readonly port: number;
  /**
   * New sessions are met with what the certificate's files hold now. Rejects with CannotTakeMail, and nothing changes.
   */
  reloadCertificate(): Promise<void>;
  /** Takes no new mail, finishes what is under way. */
  close(): Promise<void>;
}

/** Coming again would not help (5xx). */
export class MailNotTaken extends Error {
  override readonly name = 'MailNotTaken';
}

/** The listener cannot be started; the message says what is wrong with its port or its certificate. */
export class CannotTakeMail extends Error {
  override readonly name = 'CannotTakeMail';
}

/** 25 MiB of attachments are 34.2 MiB in base64 with its line breaks; the rest is for text and headers. */
export const maxMailBytes = 36 * 1024 * 1024;
/** Each may hold a file and a place in the mail thread. */
const maxClients = 100;
/** The others are for everybody else. The largest senders open fewer at a time. */
const maxClientsOfNetwork = 20;
/** A sender that has more to say comes again; 36 MiB in this time are 330 kbit/s. */
const maxSessionMs = 15 * 60_000;
const maxRecipients = 100;
/** The sender left before its mail was whole; the second when it had gone before anybody read. */
const hungUp: ReadonlySet<string> = new Set(['ECONNECTION', 'ERR_STREAM_PREMATURE_CLOSE']);
const socketTimeoutMs = 60_000;
const closeTimeoutMs = 5000;

/** Rejects with CannotTakeMail. */
export async function listenForMail(options: SmtpListenerOptions): Promise<SmtpListener> {
  await emptied(options.folder);
  const { SMTPServer } = await import('smtp-server');
  const underWay = new Set<Promise<void>>();
  /** Open connections by network. */
  const connected = new Map<string, number>();
  const settings: SMTPServerOptions = {
    name: options.name,
    banner: 'Switchboard',
    size: maxMailBytes,
    rejectOversized: true,
    hideENHANCEDSTATUSCODES: false,
    // Nobody signs in here: mail is taken for its recipients, not for its senders.
    disabledCommands: options.tls === undefined ? ['AUTH', 'STARTTLS'] : ['AUTH'],
    authOptional: true,
    disableReverseLookup: true,
    maxClients,
    maxRecipients,
    socketTimeout: socketTimeoutMs,
    closeTimeout: closeTimeoutMs,
    logger: false,
    ...(options.tls === undefined ? {} : await certificateOf(options.tls)),
    onConnect({ remoteAddress }, done) {
      done(
        (connected.get(options.networkOf(remoteAddress)) ?? 0) > maxClientsOfNetwork
          ? reply(421, 'too many connections from your network, come again later')
          : null,
      );
    },
    onMailFrom(_address, { remoteAddress }, done) {
      done(
        options.bytes?.isSpent(remoteAddress) === true
          ? reply(452, 'too much mail from your network today, come again later')
          : null,
      );
    },
    onRcptTo({ address }, _session, done) {
      try {
        done(options.takes(address) ? null : reply(550, 'no such address here'));
      } catch (error) {
        options.onError(error);
        done(reply(451, 'try again later'));
      }
    },
    onData(stream, session, done) {
      const taking = take(stream, session).then(
        () => done(null, 'taken'),
        (error: unknown) => {
          const wentAway = hungUp.has((error as NodeJS.ErrnoException).code ?? '');
          if (!(error instanceof MailNotTaken) && !wentAway) options.onError(error);
          done(error instanceof MailNotTaken ? reply(554, error.message) : reply(451, 'try again later'));
        },
      );
      underWay.add(taking);
      void taking.finally(() => underWay.delete(taking));
    },
  };

  async function take(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<void> {
    const folder = await mkdtemp(join(options.folder, 'mail-'));
    const path = join(folder, 'mail.eml');
    try {
      const file = createWriteStream(path);
      await pipeline(stream, bounded, file);
      options.bytes?.took(session.remoteAddress, file.bytesWritten);
      // The library answers an oversized mail itself.
      if (stream.sizeExceeded) return;
      const sender = session.envelope.mailFrom === false ? '' : session.envelope.mailFrom.address;
      await options.receive({
        path,
        recipients: [...new Set(session.envelope.rcptTo.map(({ address }) => address.toLowerCase()))],
        envelope: {
          remoteAddress: session.remoteAddress,
          helo: session.hostNameAppearsAs,
          sender,
          receiver: options.name,
        },
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  const server = new SMTPServer(settings);
  server.server.on('connection', (socket: Socket) => {
    const network = options.networkOf(socket.remoteAddress ?? '');
    connected.set(network, (connected.get(network) ?? 0) + 1);
    const ending = setTimeout(() => socket.destroy(), options.sessionMs ?? maxSessionMs).unref();
    socket.once('close', () => {
      clearTimeout(ending);
      const left = (connected.get(network) ?? 1) - 1;
      if (left === 0) connected.delete(network);
      else connected.set(network, left);
    });
  });
  let isListening = false;
  server.on('error', (error: Error & { readonly remoteAddress?: string; readonly meta?: unknown }) => {
    // Before, it is the caller's answer. One that names its sender is of that connection: it broke off, or offered no
    // TLS that we have.
    const isOfSender = error.remoteAddress !== undefined || error.meta !== undefined;
    if (isListening && !isOfSender) options.onError(error);
  });
  await new Promise<void>((resolve, reject) => {
    const failed = (cause: Error): void =>
      reject(
        new CannotTakeMail(`cannot take mail on ${options.host}, port ${options.port}: ${cause.message}`, { cause }),
      );
    server.server.once('error', failed);
    server.listen(options.port, options.host, () => {
      server.server.off('error', failed);
      isListening = true;
      resolve();
    });
  });
  return {
    // A TCP server that listens has an address with a port.
    port: (server.server.address() as AddressInfo).port,
    async reloadCertificate() {
      if (options.tls !== undefined) server.updateSecureContext(await certificateOf(options.tls));
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all([...underWay]);
      await closed;
    },
  };
}

async function certificateOf({ certFile, keyFile }: CertificateFiles): Promise<{ cert: Buffer; key: Buffer }> {
  try {
    const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
    // Throws for what is no certificate, no key, or not the key of the certificate.
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (cause) {
    throw new CannotTakeMail(
      `${certFile} and ${keyFile} cannot be used as a certificate and its key: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

/** What is beyond the limit is read and forgotten: the sender learns of it only after the last byte. */
async function* bounded(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length <= maxMailBytes) yield chunk;
  }
}

/** What a crash left is the sender's still, who never had an answer. */
async function emptied(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

function reply(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

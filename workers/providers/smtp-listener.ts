// Receives mail by SMTP. Recipients are checked at RCPT TO, so nothing is relayed; the mail is streamed to a file, so
// none is held in memory; and it is accepted only when it is durable here, so that until then the sender keeps it. The
// only importer of smtp-server, loaded when a listener is configured.

import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createSecureContext } from 'node:tls';
import type { SMTPServerDataStream, SMTPServerOptions, SMTPServerSession } from 'smtp-server';

export interface ReceivedMail {
  /** The whole mail, in a file alone in its folder; the folder is deleted after the reply. */
  readonly path: string;
  /** From RCPT TO, all known. */
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
  /** The host name in its greeting. */
  readonly name: string;
  /** PEM files of a certificate and its key; without them there is no STARTTLS. */
  readonly tls: CertificateFiles | undefined;
  /** For mails being received. */
  readonly folder: string;
  /** Groups senders, to limit their connections. */
  networkOf(remoteAddress: string): string;
  /** A budget of bytes per network; unset: no limit. A sender beyond it should retry later. */
  readonly bytes?: { isSpent(remoteAddress: string): boolean; took(remoteAddress: string, bytes: number): void };
  /** The longest duration of a connection; maxSessionMs by default. */
  readonly sessionMs?: number;
  /** Whether mail for this address is accepted. */
  takes(address: string): boolean;
  /**
   * Resolves when the mail is durable. Rejects with MailNotTaken for a permanent refusal; after any other error the
   * sender should retry.
   */
  receive(mail: ReceivedMail): Promise<void>;
  onError(error: unknown): void;
}

export interface SmtpListener {
  readonly port: number;
  /** New sessions use the certificate's current files. Rejects with CannotTakeMail and changes nothing. */
  reloadCertificate(): Promise<void>;
  /** Accepts no new mail and finishes what is under way. */
  close(): Promise<void>;
}

/** A retry would not help (5xx). */
export class MailNotTaken extends Error {
  override readonly name = 'MailNotTaken';
}

/** The listener cannot start; the message describes the problem with its port or certificate. */
export class CannotTakeMail extends Error {
  override readonly name = 'CannotTakeMail';
}

/** 25 MiB of attachments are 34.2 MiB in base64 with line breaks; the rest is for text and headers. */
export const maxMailBytes = 36 * 1024 * 1024;
/** Each may hold a file and a place in the mail thread's queue. */
const maxClients = 100;
/** Leaves connections for other networks. The largest senders open fewer at a time. */
const maxClientsOfNetwork = 20;
/** A sender with more mail reconnects; 36 MiB in this time are 330 kbit/s. */
const maxSessionMs = 15 * 60_000;
const maxRecipients = 100;
/** The sender disconnected before its mail was complete; the second if it did so before anything was read. */
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
    // No sign-in: mail is accepted for its recipients, not for its senders.
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
          ? reply(421, 'too many connections from your network, try again later')
          : null,
      );
    },
    onMailFrom(_address, { remoteAddress }, done) {
      done(
        options.bytes?.isSpent(remoteAddress) === true
          ? reply(452, 'too much mail from your network today, try again later')
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
      try {
        await pipeline(stream, bounded, file);
      } finally {
        // A mail that is broken off counts as far as it came.
        options.bytes?.took(session.remoteAddress, file.bytesWritten);
      }
      // The library itself replies to an oversized mail.
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
    // Before startup finishes, the caller handles it. An error that names its sender belongs to that connection: it
    // broke off, or offered no TLS version of ours.
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
    // A listening TCP server has an address with a port.
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
    // Throws for an invalid certificate or key, or a key that does not match.
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (cause) {
    throw new CannotTakeMail(
      `${certFile} and ${keyFile} cannot be used as a certificate and its key: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

/** Reads and discards what exceeds the limit: the sender gets the reply only after the last byte. */
async function* bounded(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length <= maxMailBytes) yield chunk;
  }
}

/** After a crash the sender still has the mail, because it never got a reply. */
async function emptied(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

function reply(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

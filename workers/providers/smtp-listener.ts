// Receives mail by SMTP. Recipients are checked at RCPT TO, so nothing is relayed; the mail is streamed to a file, so
// none is held in memory; and it is accepted only when it is durable here, so that until then the sender keeps it. The
// only importer of smtp-server, loaded when a listener is configured.

import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createSecureContext } from 'node:tls';
import type { SMTPServer, SMTPServerDataStream, SMTPServerSession } from 'smtp-server';

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
  /** Whether mail for this address is accepted. After an error the sender should retry. */
  takes(address: string): Promise<boolean>;
  /**
   * Resolves when the mail is durable, or to the reason why it will never be accepted. After an error the sender should
   * retry.
   */
  receive(mail: ReceivedMail): Promise<RejectedMail | undefined>;
  onError(error: unknown): void;
}

export interface SmtpListener {
  readonly port: number;
  /** New sessions use the certificate's current files. Rejects with CannotTakeMail and changes nothing. */
  reloadCertificate(): Promise<void>;
  /** Accepts no new mail and finishes what is under way. */
  close(): Promise<void>;
}

/** A mail that will never be accepted (5xx). */
export interface RejectedMail {
  /** The reason, for its sender. */
  readonly rejected: string;
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
  const library = await import('smtp-server');
  const certificate = options.tls === undefined ? undefined : await certificateOf(options.tls);
  const listener = new Listener(library, options, certificate);
  await listener.listen();
  return listener;
}

class Listener implements SmtpListener {
  readonly #options: SmtpListenerOptions;
  readonly #server: SMTPServer;
  readonly #underWay = new Set<Promise<void>>();
  /** Open connections by network. */
  readonly #connected = new Map<string, number>();
  #isListening = false;

  constructor(
    library: { readonly SMTPServer: typeof SMTPServer },
    options: SmtpListenerOptions,
    certificate: { cert: Buffer; key: Buffer } | undefined,
  ) {
    this.#options = options;
    this.#server = new library.SMTPServer({
      name: options.name,
      banner: 'Switchboard',
      size: maxMailBytes,
      rejectOversized: true,
      hideENHANCEDSTATUSCODES: false,
      // No sign-in: mail is accepted for its recipients, not for its senders.
      disabledCommands: options.tls === undefined ? ['AUTH', 'STARTTLS'] : ['AUTH'],
      authOptional: true,
      disableReverseLookup: true,
      // Counted here, by network: connections that wait to be greeted or to end would count there, too.
      maxClients: 0,
      maxRecipients,
      socketTimeout: socketTimeoutMs,
      closeTimeout: closeTimeoutMs,
      logger: false,
      ...certificate,
      onMailFrom: (_address, { remoteAddress }, done) => done(this.#refusedSender(remoteAddress)),
      onRcptTo: ({ address }, _session, done) => void this.#refusedRecipient(address).then(done),
      onData: (stream, session, done) => this.#take(stream, session, done),
    });
    this.#admitWithinLimits();
    this.#server.on('error', (error: Error & { readonly remoteAddress?: string; readonly meta?: unknown }) => {
      // An error that names its sender belongs to that connection: it broke off, or offered no TLS version of ours.
      const isOfSender = error.remoteAddress !== undefined || error.meta !== undefined;
      if (this.#isListening && !isOfSender) options.onError(error);
    });
  }

  /** Rejects with CannotTakeMail. */
  listen(): Promise<void> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      const failed = (cause: Error): void =>
        reject(new CannotTakeMail(`cannot take mail on ${host}, port ${port}: ${cause.message}`, { cause }));
      this.#server.server.once('error', failed);
      this.#server.listen(port, host, () => {
        this.#server.server.off('error', failed);
        this.#isListening = true;
        resolve();
      });
    });
  }

  get port(): number {
    // A listening TCP server has an address with a port.
    return (this.#server.server.address() as AddressInfo).port;
  }

  async reloadCertificate(): Promise<void> {
    const { tls } = this.#options;
    if (tls !== undefined) this.#server.updateSecureContext(await certificateOf(tls));
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await Promise.all([...this.#underWay]);
    await closed;
  }

  /** A connection over the limits ends before the library knows of it. */
  #admitWithinLimits(): void {
    const { server } = this.#server;
    const greetings = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      const network = this.#options.networkOf(socket.remoteAddress ?? '');
      const refusal = this.#refusal(network);
      if (refusal !== undefined) {
        socket.on('error', () => undefined);
        socket.end(`421 ${this.#options.name} ${refusal}, try again later\r\n`, () => socket.destroy());
        return;
      }
      this.#count(socket, network);
      for (const greet of greetings) greet.call(server, socket);
    });
  }

  #refusal(network: string): string | undefined {
    if (this.#connectedOf(network) >= maxClientsOfNetwork) return 'too many connections from your network';
    const inAll = [...this.#connected.values()].reduce((sum, count) => sum + count, 0);
    return inAll >= maxClients ? 'too many connections' : undefined;
  }

  #count(socket: Socket, network: string): void {
    this.#connected.set(network, this.#connectedOf(network) + 1);
    const ending = setTimeout(() => socket.destroy(), this.#options.sessionMs ?? maxSessionMs).unref();
    socket.once('close', () => {
      clearTimeout(ending);
      const left = this.#connectedOf(network) - 1;
      if (left <= 0) this.#connected.delete(network);
      else this.#connected.set(network, left);
    });
  }

  #connectedOf(network: string): number {
    return this.#connected.get(network) ?? 0;
  }

  #refusedSender(remoteAddress: string): Error | null {
    return this.#options.bytes?.isSpent(remoteAddress) === true
      ? reply(452, 'too much mail from your network today, try again later')
      : null;
  }

  async #refusedRecipient(address: string): Promise<Error | null> {
    try {
      return (await this.#options.takes(address)) ? null : reply(550, 'no such address here');
    } catch (error) {
      this.#options.onError(error);
      return reply(451, 'try again later');
    }
  }

  #take(
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
    done: (error?: Error | null, message?: string) => void,
  ): void {
    const taking = this.#receive(stream, session).then(
      (rejection) => (rejection === undefined ? done(null, 'taken') : done(reply(554, rejection.rejected))),
      (error: unknown) => {
        const wentAway = hungUp.has((error as NodeJS.ErrnoException).code ?? '');
        if (!wentAway) this.#options.onError(error);
        done(reply(451, 'try again later'));
      },
    );
    this.#underWay.add(taking);
    void taking.finally(() => this.#underWay.delete(taking));
  }

  async #receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<RejectedMail | undefined> {
    const folder = await mkdtemp(join(this.#options.folder, 'mail-'));
    const path = join(folder, 'mail.eml');
    try {
      const file = createWriteStream(path);
      try {
        await pipeline(stream, bounded, file);
      } finally {
        // Of a mail that breaks off, the bytes that arrived are counted.
        this.#options.bytes?.took(session.remoteAddress, file.bytesWritten);
      }
      // The library itself replies to an oversized mail.
      if (stream.sizeExceeded) return undefined;
      const sender = session.envelope.mailFrom === false ? '' : session.envelope.mailFrom.address;
      return await this.#options.receive({
        path,
        recipients: [...new Set(session.envelope.rcptTo.map(({ address }) => address.toLowerCase()))],
        envelope: {
          remoteAddress: session.remoteAddress,
          helo: session.hostNameAppearsAs,
          sender,
          receiver: this.#options.name,
        },
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
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

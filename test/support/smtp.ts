// A real SMTP server whose answers a test chooses, and which keeps the mail it accepted.

import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { Teardown } from './service.ts';

export interface Received {
  readonly from: string;
  readonly to: readonly string[];
  /** The message as received, headers and body. */
  readonly raw: string;
  readonly messageId: string;
  readonly isSecure: boolean;
  readonly user: string | undefined;
}

/** What to do with a message: accept, refuse with a code, answer only when the test says so, or drop the connection. */
export type Verdict = 'accept' | 'hang' | 'drop' | { readonly code: number; readonly text: string };

export interface SmtpOptions extends SMTPServerOptions {
  /** Decides about each message, in order; accepts by default. */
  readonly decide?: (mail: Received) => Verdict;
  /** A fixed port, to return to. */
  readonly port?: number;
}

export class Smtp {
  readonly accepted: Received[] = [];
  /** Every message received, whatever its outcome. */
  readonly seen: Received[] = [];
  /** The number of connections. */
  connections = 0;
  port = 0;
  readonly #server: SMTPServer;
  readonly #open = new Set<() => void>();
  readonly #held: (() => void)[] = [];
  #wake: (() => void)[] = [];

  constructor({ decide = () => 'accept', port: _, ...options }: SmtpOptions) {
    this.#server = new SMTPServer({
      authOptional: true,
      disableReverseLookup: true,
      logger: false,
      onConnect: (_session, callback) => {
        this.connections += 1;
        callback();
      },
      onAuth: (auth, _session, callback) => {
        if (auth.username === 'switchboard' && auth.password === 'open sesame') callback(null, { user: auth.username });
        else callback(Object.assign(new Error('no such user'), { responseCode: 535 }));
      },
      onData: (stream, session, callback) => {
        const parts: Buffer[] = [];
        stream.on('data', (part: Buffer) => parts.push(part));
        stream.on('end', () => {
          const raw = Buffer.concat(parts).toString('utf8');
          const mail: Received = {
            from: session.envelope.mailFrom === false ? '' : session.envelope.mailFrom.address,
            to: session.envelope.rcptTo.map(({ address }) => address),
            raw,
            messageId: /^Message-ID: (\S+)/im.exec(raw)?.[1] ?? '',
            isSecure: session.secure,
            user: session.user,
          };
          this.seen.push(mail);
          const verdict = decide(mail);
          if (verdict === 'accept') {
            this.accepted.push(mail);
            callback();
          } else if (verdict === 'drop') {
            this.dropAll();
          } else if (verdict === 'hang') {
            this.#held.push(() => {
              this.accepted.push(mail);
              callback();
            });
          } else {
            callback(Object.assign(new Error(verdict.text), { responseCode: verdict.code }));
          }
          this.#wakeAll();
        });
      },
      ...options,
    });
    this.#server.on('error', () => {
      // A dropped connection; the test observes it at the other end.
    });
    this.#server.server.on('connection', (socket) => {
      const drop = (): void => void socket.destroy();
      this.#open.add(drop);
      socket.on('close', () => this.#open.delete(drop));
    });
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  listen(port = 0): Promise<void> {
    return new Promise((resolve) => {
      this.#server.listen(port, '127.0.0.1', () => {
        const address = this.#server.server.address();
        if (typeof address === 'object' && address !== null) this.port = address.port;
        resolve();
      });
    });
  }

  /** Resolves when this many messages were received. */
  async sees(count: number): Promise<void> {
    while (this.seen.length < count) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  /** Accepts the messages that wait for an answer. */
  acceptHeld(): void {
    for (const accept of this.#held.splice(0)) accept();
  }

  /** Like a server that dies: drops every connection. */
  dropAll(): void {
    for (const drop of this.#open) drop();
  }

  async close(): Promise<void> {
    this.dropAll();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #wakeAll(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const call of wake) call();
  }
}

/** Listens on a free loopback port until the test is over. */
export async function startSmtp(t: Teardown, options: SmtpOptions = {}): Promise<Smtp> {
  const smtp = new Smtp(options);
  await smtp.listen(options.port ?? 0);
  t.teardown(() => smtp.close());
  return smtp;
}

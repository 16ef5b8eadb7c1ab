// A real SMTP server whose answers a test chooses, and that keeps the mail it accepted.

import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { Teardown } from './service.ts';

export interface Received {
  readonly from: string;
  readonly to: readonly string[];
  /** The message as it came, headers and body. */
  readonly raw: string;
  readonly messageId: string;
  readonly isSecure: boolean;
  readonly user: string | undefined;
}

/**
 * To a message: take it, refuse it with a code, answer only when the test says so, or drop the connection before an
 * answer.
 */
export type Verdict = 'accept' | 'hang' | 'drop' | { readonly code: number; readonly text: string };

export interface SmtpOptions extends SMTPServerOptions {
  /** Decides about each message, in the order they come; accepts when there is none. */
  readonly decide?: (mail: Received) => Verdict;
  /** A fixed port, to come back at. */
  readonly port?: number;
}

export class Smtp {
  readonly accepted: Received[] = [];
  /** Every message that was handed over, whatever became of it. */
  readonly seen: Received[] = [];
  /** How many connections there were. */
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
      // A connection that was dropped; what matters of it is seen at the other end.
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

  /** Resolves when so many messages have been handed over. */
  async sees(count: number): Promise<void> {
    while (this.seen.length < count) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  /** Takes the messages that were left without an answer. */
  acceptHeld(): void {
    for (const accept of this.#held.splice(0)) accept();
  }

  /** As a server that dies: every connection is gone without a word. */
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

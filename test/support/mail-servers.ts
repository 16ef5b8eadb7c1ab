// Real mail servers and clients on free loopback ports: an SMTP server that keeps its mail, a DNS server with a zone
// written by the test, an SMTP client. They play other people's machines.

import type { AddressInfo } from 'node:net';
import dns2 from 'dns2';
import { type ParsedMail, simpleParser } from 'mailparser';
import { createTransport } from 'nodemailer';
import { SMTPServer } from 'smtp-server';
import type { Teardown } from './service.ts';

export interface ArrivedMail {
  /** As received. */
  readonly raw: Buffer;
  readonly parsed: ParsedMail;
  readonly envelope: { readonly from: string; readonly to: readonly string[] };
}

/** Another party's mail server: accepts everything the test does not make it refuse. */
export class SmtpSink {
  readonly #server: SMTPServer;
  readonly #refusals = new Map<string, { code: number; text: string }>();
  readonly #arrived: ArrivedMail[] = [];
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  private constructor() {
    this.#server = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      authOptional: true,
      disableReverseLookup: true,
      logger: false,
      onRcptTo: ({ address }, _session, done) => {
        const refusal = this.#refusals.get(address);
        done(refusal === undefined ? null : Object.assign(new Error(refusal.text), { responseCode: refusal.code }));
      },
      onData: (stream, session, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const raw = Buffer.concat(chunks);
          const { mailFrom, rcptTo } = session.envelope;
          void simpleParser(raw).then((parsed) => {
            this.#arrived.push({
              raw,
              parsed,
              envelope: { from: mailFrom === false ? '' : mailFrom.address, to: rcptTo.map(({ address }) => address) },
            });
            for (const call of this.#waiting.splice(0)) call();
            done();
          });
        });
      },
    });
  }

  static async start(t: Teardown): Promise<SmtpSink> {
    const sink = new SmtpSink();
    sink.#server.on('error', () => {});
    await new Promise<void>((resolve) => sink.#server.listen(0, '127.0.0.1', () => resolve()));
    t.teardown(() => new Promise<void>((resolve) => sink.#server.close(() => resolve())));
    return sink;
  }

  get url(): string {
    return `smtp://127.0.0.1:${(this.#server.server.address() as AddressInfo).port}`;
  }

  /** Answers RCPT TO for this address with an error from now on. */
  refuse(address: string, code: number, text: string): void {
    this.#refusals.set(address, { code, text });
  }

  accept(address: string): void {
    this.#refusals.delete(address);
  }

  get count(): number {
    return this.#arrived.length;
  }

  /** The next mail that no call has returned yet. */
  async next(): Promise<ArrivedMail> {
    const index = this.#taken;
    this.#taken += 1;
    for (;;) {
      const mail = this.#arrived[index];
      if (mail !== undefined) return mail;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}

type ZoneRecord = {
  readonly type: 'A' | 'MX' | 'TXT' | 'CNAME';
  readonly name: string;
  readonly value: string;
  readonly priority?: number;
};

/** DNS with the test's records and nothing else. */
export class DnsZone {
  readonly #server: ReturnType<typeof dns2.createServer>;
  readonly #records: ZoneRecord[] = [];
  #broken = false;
  #questions = 0;
  address = '';

  private constructor() {
    const { Packet } = dns2;
    this.#server = dns2.createServer({
      udp: true,
      handle: (request, send) => {
        this.#questions += 1;
        if (this.#broken) {
          send(Packet.createErrorResponseFromRequest(request, Packet.RCODE.SERVFAIL));
          return;
        }
        const response = Packet.createResponseFromRequest(request);
        const [question] = request.questions;
        const named = this.#records.filter((record) => record.name.toLowerCase() === question?.name.toLowerCase());
        if (named.length === 0) response.header.rcode = Packet.RCODE.NXDOMAIN;
        for (const record of named) {
          if (Packet.TYPE[record.type] !== question?.type) continue;
          response.answers.push({
            name: record.name,
            type: Packet.TYPE[record.type],
            class: Packet.CLASS.IN,
            ttl: 1,
            ...dataOf(record),
          } as never);
        }
        send(response);
      },
    });
  }

  static async start(t: Teardown): Promise<DnsZone> {
    const zone = new DnsZone();
    await zone.#server.listen({ udp: { port: 0, address: '127.0.0.1' } });
    const { udp } = zone.#server.addresses();
    zone.address = `127.0.0.1:${udp?.port ?? 0}`;
    t.teardown(() => zone.#server.close());
    return zone;
  }

  add(...records: ZoneRecord[]): void {
    this.#records.push(...records);
  }

  remove(name: string, type: ZoneRecord['type']): void {
    for (let index = this.#records.length - 1; index >= 0; index -= 1)
      if (this.#records[index]?.name === name && this.#records[index]?.type === type) this.#records.splice(index, 1);
  }

  /** Answers every query with a server failure. */
  break(broken: boolean): void {
    this.#broken = broken;
  }

  get questions(): number {
    return this.#questions;
  }
}

/** TXT records are sent as strings of 255 bytes. */
function dataOf(record: ZoneRecord): object {
  switch (record.type) {
    case 'A':
      return { address: record.value };
    case 'MX':
      return { exchange: record.value, priority: record.priority ?? 10 };
    case 'CNAME':
      return { domain: record.value };
    case 'TXT':
      return { data: record.value.match(/.{1,255}/gs) ?? [''] };
  }
}

/** Sends a mail unchanged. Rejects with the server's answer. */
export async function sendRaw(
  port: number,
  mail: { from: string; to: string | string[]; raw: string | Buffer; tls?: boolean },
): Promise<string> {
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    secure: false,
    ignoreTLS: mail.tls !== true,
    requireTLS: mail.tls === true,
    tls: { rejectUnauthorized: false },
  });
  try {
    const { response } = await transport.sendMail({ envelope: { from: mail.from, to: mail.to }, raw: mail.raw });
    return response;
  } finally {
    transport.close();
  }
}

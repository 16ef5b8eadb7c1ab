// The outside of a run: a mail server and a receiver of webhooks on loopback, always up, which note what arrived and keep
// none of it but the codes of invitations that nobody has fetched yet.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import type { Teardown } from '../../support/service.ts';
import { Deliveries, type Delivery } from './deliveries.ts';
import type { Findings } from './findings.ts';

/** For deliberate defects: what arrives instead of a delivery. */
export type DeliveryTap = (delivery: Delivery) => readonly Delivery[];

export interface ReceiverTaps {
  readonly mail?: DeliveryTap;
  readonly webhook?: DeliveryTap;
}

const codeWaitMs = 60_000;

export class Receivers {
  readonly mails: Deliveries;
  readonly webhooks: Deliveries;
  readonly mailUrl: string;
  readonly hookUrl: string;
  readonly #codes = new Map<string, string>();
  readonly #waiting = new Map<string, (code: string | undefined) => void>();

  private constructor(findings: Findings, urls: { readonly mailUrl: string; readonly hookUrl: string }) {
    this.mails = new Deliveries('mail', (fault) => findings.say([fault]));
    this.webhooks = new Deliveries('webhook', (fault) => findings.say([fault]));
    ({ mailUrl: this.mailUrl, hookUrl: this.hookUrl } = urls);
  }

  static async start(t: Teardown, findings: Findings, taps: ReceiverTaps = {}): Promise<Receivers> {
    let receivers: Receivers | undefined;
    const mailUrl = await startMailServer(t, async (raw) => {
      const { messageId = '', subject = '', to, text = '' } = await simpleParser(raw);
      const address = [to ?? []].flat().flatMap(({ value }) => value)[0]?.address ?? '';
      receivers?.takeMail(
        { key: mailKey({ to: address, subject }), id: messageId },
        { to: address, text, tap: taps.mail },
      );
    });
    const hookUrl = await startHookServer(t, (id, event) => {
      const delivery: Delivery = {
        key: hookKey(event),
        id,
        order: { lane: `${event.workspaceId} ${event.conversationId}`, number: event.seq },
      };
      for (const seen of taps.webhook?.(delivery) ?? [delivery]) receivers?.webhooks.arrive(seen);
    });
    receivers = new Receivers(findings, { mailUrl, hookUrl });
    return receivers;
  }

  /** The code of the invitation that was mailed to this address, once; undefined if none came in time. */
  async codeFor(email: string): Promise<string | undefined> {
    const code = this.#codes.get(email) ?? (await this.#nextCode(email));
    this.#codes.delete(email);
    return code;
  }

  /** Nobody waits for a code any longer. */
  giveUp(): void {
    for (const done of [...this.#waiting.values()]) done(undefined);
  }

  takeMail(delivery: Delivery, mail: { to: string; text: string; tap: DeliveryTap | undefined }): void {
    if (isTracked(mail.to)) for (const seen of mail.tap?.(delivery) ?? [delivery]) this.mails.arrive(seen);
    const [, code] = /\/join\/(\S+)/.exec(mail.text) ?? [];
    if (code === undefined) return;
    this.#codes.set(mail.to, code);
    this.#waiting.get(mail.to)?.(code);
  }

  #nextCode(email: string): Promise<string | undefined> {
    return new Promise((resolve) => {
      const done = (code: string | undefined): void => {
        clearTimeout(timer);
        this.#waiting.delete(email);
        resolve(code);
      };
      const timer = setTimeout(() => done(undefined), codeWaitMs);
      this.#waiting.set(email, done);
    });
  }
}

/** Agents of the workspaces get notices, several of one subject; a customer and a newcomer get one mail each. */
export const trackedHosts = { customer: 'customer.example', newcomer: 'newcomer.example' } as const;

function isTracked(address: string): boolean {
  return Object.values(trackedHosts).some((host) => address.endsWith(`@${host}`));
}

export function mailKey({ to, subject }: { readonly to: string; readonly subject: string }): string {
  return `${to}: ${subject}`;
}

export interface HookEvent {
  readonly workspaceId: string;
  readonly seq: number;
  readonly conversationId?: string;
}

export function hookKey({ workspaceId, seq }: HookEvent): string {
  return `event ${seq} of ${workspaceId}`;
}

async function startMailServer(t: Teardown, take: (raw: Buffer) => Promise<void>): Promise<string> {
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    authOptional: true,
    disableReverseLookup: true,
    logger: false,
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => void take(Buffer.concat(chunks)).then(() => done(), done));
    },
  });
  // A node that is killed in the middle of a mail: that mail has not arrived.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
}

async function startHookServer(t: Teardown, take: (id: string, event: HookEvent) => void): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    // Of a node that is killed in the middle of a request.
    request.on('error', () => undefined);
    request.on('end', () => {
      take(String(request.headers['webhook-id']), JSON.parse(Buffer.concat(chunks).toString()) as HookEvent);
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

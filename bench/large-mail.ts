// The cost of receiving a mail with 25 MB by SMTP: additional memory, and the longest block of the event loop. When it
// is answered, the mail is durable and its file stored. Linux only.

import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { createTransport } from 'nodemailer';
import { Api } from './api.ts';
import { type BenchOptions, type Row, row, runAlone } from './frame.ts';
import { makeDataDir, type ServiceProgram, startService } from './process.ts';

const attachedBytes = 25 * 1024 * 1024;
const maxGrowthMb = 100;
const maxHoldMs = 20;
const lookEveryMs = 5;
/** Time to collect garbage and to flush writes of the previous mail. */
const restMs = 3000;
/** Refuses immediately: the sender's DNS is not part of the measurement. */
const noDns = '127.0.0.1:9';

interface Content {
  readonly text?: string;
  readonly attachment?: Buffer;
}

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const dataDir = makeDataDir();
  const port = await freePort();
  const service = await startService(dataDir, { SMTP_LISTEN: `127.0.0.1:${port}`, DNS_SERVERS: noDns });
  try {
    const to = await addressOf(service);
    let count = 0;
    const send = async ({ text = 'See the attachment.', attachment }: Content): Promise<void> => {
      count += 1;
      const client = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
      await client.sendMail({
        from: `sender${count}@bench.example`,
        to,
        subject: `Mail ${count}`,
        text,
        attachments: attachment === undefined ? [] : [{ filename: 'large.bin', content: attachment }],
      });
      client.close();
    };
    const attached = (): Content => ({ attachment: randomBytes(attachedBytes) });
    const rows = await costOf(service, { what: 'a mail with 25 MB attached, the first', limited: true }, () =>
      send(attached()),
    );
    if (quick) return rows;
    rows.push(...(await costOf(service, { what: 'the next one', limited: true }, () => send(attached()))));
    rows.push(
      ...(await costOf(service, { what: 'a mail of 25 MB of text', limited: true }, () =>
        send({ text: 'All work and no play. '.repeat(attachedBytes / 22) }),
      )),
    );
    rows.push(
      ...(await costOf(service, { what: 'four at once', limited: false }, () =>
        Promise.all([attached(), attached(), attached(), attached()].map(send)),
      )),
    );
    return rows;
  } finally {
    await service.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function costOf(
  service: ServiceProgram,
  mail: { what: string; limited: boolean },
  deliver: () => Promise<unknown>,
): Promise<Row[]> {
  await pause(restMs);
  const beforeBytes = service.residentBytes();
  let mostBytes = beforeBytes;
  const looking = setInterval(() => {
    mostBytes = Math.max(mostBytes, service.residentBytes());
  }, lookEveryMs);
  // Reading the metrics resets the loop's figures.
  await service.metrics();
  await deliver();
  const holdSeconds = (await service.metrics()).get('switchboard_event_loop_delay_max_seconds') ?? Number.NaN;
  clearInterval(looking);
  const asked = (below: number): { target: { below: number } } | object => (mail.limited ? { target: { below } } : {});
  return [
    row({ name: `${mail.what}: memory`, value: (mostBytes - beforeBytes) / 1e6, unit: 'MB', ...asked(maxGrowthMb) }),
    row({
      name: `${mail.what}: longest hold of the event loop`,
      value: holdSeconds * 1000,
      unit: 'ms',
      ...asked(maxHoldMs),
    }),
  ];
}

async function addressOf({ url, dataDir }: ServiceProgram): Promise<string> {
  const api = new Api({ url, dataDir });
  const { token } = await api.call<{ token: string }>('POST', '/auth/register', {
    body: { email: 'owner@bench.example', password: 'correct horse battery staple', workspaceName: 'Bench' },
  });
  const { inboundEmail } = await api.call<{ inboundEmail: { address: string } }>('GET', '/workspace/integrations', {
    token,
  });
  return inboundEmail.address;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      // A TCP server that listens has an address with a port.
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

await runAlone(import.meta.url, run);

// Twelve minutes of a shop's whole work at once: customers and agents on sockets, mail, tickets, searches, reports,
// uploads and downloads of megabytes, and webhooks of everything. Measures memory during the work and after it. The
// clients are those of the soak.

import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Crowd } from '../test/soak/crowd.ts';
import { Desk } from '../test/soak/desk.ts';
import { Ledger } from '../test/soak/ledger.ts';
import { randomFrom } from '../test/support/seeded.ts';
import { Api } from './api.ts';
import { type BenchOptions, type Row, row, runAlone } from './frame.ts';
import { leastResident } from './memory.ts';
import { makeDataDir, type ServiceProgram, startService } from './process.ts';

const size = { agents: 10, customers: 40 };
const thinkMs = 150;
const seed = 20_261_123;
const webhooks = 2;
const maxFileBytes = 8_000_000;
/** One file per this many pauses. */
const filePace = 15;
const lookEveryMs = 5000;
const looks = 40;

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const minutes = quick ? 0.5 : 12;
  const dataDir = makeDataDir();
  let delivered = 0;
  const receiver = createServer((request, response) => {
    request.resume().once('end', () => {
      delivered += 1;
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  const service = await startService(dataDir, { ALLOW_PRIVATE_WEBHOOKS: 'true', LOG_LEVEL: 'error' });
  try {
    const ledger = new Ledger();
    const desk = new Desk({ host: { isUp: true, url: service.url }, ledger, thinkMs });
    const random = randomFrom(seed);
    const crowd = await Crowd.open(desk, random, { ...size, dataDir });
    const api = new Api({ url: service.url, dataDir });
    for (let count = 0; count < webhooks; count += 1)
      await api.call('POST', '/webhooks', {
        token: crowd.ownerToken,
        body: { url: `http://127.0.0.1:${port}/${count}`, events: ['*'] },
      });
    desk.employ(
      random,
      () =>
        sendFile(service, desk, {
          token: crowd.ownerToken,
          bytes: new Uint8Array(1 + random.below(maxFileBytes)).fill(97),
        }),
      { pace: filePace },
    );
    const mostBytes = await mostResident(service, minutes * 60_000);
    crowd.close();
    await desk.end();
    const restBytes = await leastResident(service, looks);
    if (ledger.of('surprises') > 0) throw new Error(`not as it must be: ${ledger.surprises.join('; ')}`);
    return [
      row({ name: 'mixed work: messages', value: ledger.messages / (minutes * 60), unit: '/s' }),
      row({ name: 'mixed work: webhooks delivered', value: delivered / (minutes * 60), unit: '/s' }),
      row({
        name: `mixed work, ${minutes} minutes: most resident memory`,
        value: mostBytes / 1e6,
        unit: 'MB',
        target: { below: 250 },
      }),
      row({ name: 'mixed work: resident memory right after it', value: restBytes / 1e6, unit: 'MB' }),
    ];
  } finally {
    await service.stop();
    receiver.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Uploads and downloads it. */
async function sendFile(
  service: ServiceProgram,
  desk: Desk,
  { token, bytes }: { token: string; bytes: Uint8Array },
): Promise<void> {
  const link = await desk.call('POST', '/uploads/presigned', {
    body: { filename: 'notes.txt', contentType: 'text/plain', size: bytes.length },
    token,
  });
  if (link === undefined) return;
  const here = (address: string): string => service.url + new URL(address).pathname + new URL(address).search;
  if (await desk.put(here(link.body.uploadUrl), bytes, 'text/plain'))
    await (await fetch(here(link.body.publicUrl))).arrayBuffer();
}

async function mostResident(service: ServiceProgram, ms: number): Promise<number> {
  const endMs = performance.now() + ms;
  let most = 0;
  while (performance.now() < endMs) {
    await pause(lookEveryMs);
    most = Math.max(most, service.residentBytes());
  }
  return most;
}

await runAlone(import.meta.url, run);

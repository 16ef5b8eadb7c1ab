// Memory of the process after its start, and per idle agent socket: resident memory as the kernel counts it, the
// minimum over a while, since garbage does not count. Linux only.

import { rmSync } from 'node:fs';
import { Api } from './api.ts';
import { makeFullTenant, openAgentSockets } from './crowd.ts';
import { type BenchOptions, type Row, row, runAlone } from './frame.ts';
import { makeDataDir, type Program, type ServiceProgram, startService } from './process.ts';

/** A hundred for each agent of a full workspace, the maximum. */
const sockets = 5000;
const lookEveryMs = 250;

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const looks = quick ? 8 : 40;
  const count = quick ? sockets / 5 : sockets;
  const dataDir = makeDataDir();
  try {
    // A separate process creates the data, so that the memory for passwords and mails does not count as the sockets'.
    const { agents } = await during(startService(dataDir), (service) => makeFullTenant(new Api(service)));
    return await during(startService(dataDir), async (service) => {
      const idleBytes = await leastResident(service, looks);
      // The first sockets pay for what all share.
      const first = await openAgentSockets(service.url, agents, agents.length);
      const before = await leastResident(service, looks);
      const rest = await openAgentSockets(service.url, agents, count - first.length);
      const after = await leastResident(service, looks);
      for (const client of [...first, ...rest]) client.close();
      return [
        row({ name: 'resident memory after start', value: idleBytes / 1e6, unit: 'MB', target: { below: 130 } }),
        row({
          name: `resident memory per idle agent socket, of ${count.toLocaleString('en-US')}`,
          value: (after - before) / rest.length / 1000,
          unit: 'KB',
          target: { below: 10 },
        }),
      ];
    });
  } finally {
    rmSync(dataDir, { recursive: true });
  }
}

async function during<Result>(
  starting: Promise<ServiceProgram>,
  use: (service: ServiceProgram) => Promise<Result>,
): Promise<Result> {
  const service = await starting;
  try {
    return await use(service);
  } finally {
    await service.stop();
  }
}

/** Resident memory in bytes, the minimum of this many samples. */
export async function leastResident(program: Program, looks: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < looks; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    least = Math.min(least, program.residentBytes());
  }
  return least;
}

await runAlone(import.meta.url, run);

// Who asks for reports: a process of its own, so that what reads the answers does not stand in the way of what times the writes.
// Told by its parent what to ask; says for each report, in the order they were asked for, how long it took in milliseconds. Answers are read, not parsed.

import { HttpConnection } from './http-connection.ts';

export interface AskerStart {
  readonly url: string;
  readonly token: string;
}

interface Rounds {
  readonly paths: readonly string[];
  readonly rounds: number;
  readonly everyMs: number;
}

interface Dashboards {
  readonly paths: readonly string[];
  readonly people: number;
  readonly everyMs: number;
  readonly forMs: number;
}

/** One path after another, each so long after the last or, if that took longer, at once; or people who each ask for all paths at once, every so often. */
export type Order = Rounds | Dashboards;

async function series(start: AskerStart, { paths, rounds, everyMs }: Rounds): Promise<number[]> {
  const connection = await HttpConnection.open(start.url);
  const took: number[] = [];
  for (const path of Array.from({ length: rounds }, () => paths).flat()) {
    const sentAt = performance.now();
    await connection.get({ path, token: start.token });
    took.push(performance.now() - sentAt);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, sentAt + everyMs - performance.now())));
  }
  connection.close();
  return took;
}

async function dashboards(start: AskerStart, order: Dashboards): Promise<number[]> {
  const took: number[] = [];
  const look = async (connections: readonly HttpConnection[]): Promise<void> => {
    await Promise.all(
      order.paths.map(async (path, index) => {
        const sentAt = performance.now();
        await connections[index]?.get({ path, token: start.token });
        took.push(performance.now() - sentAt);
      }),
    );
  };
  const endMs = performance.now() + order.forMs;
  const person = async (index: number): Promise<void> => {
    const connections = await Promise.all(order.paths.map(() => HttpConnection.open(start.url)));
    // Nobody looks at the same moment as the others.
    for (let dueMs = performance.now() + (index * order.everyMs) / order.people; dueMs < endMs; dueMs += order.everyMs) {
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
      await look(connections);
    }
    for (const connection of connections) connection.close();
  };
  await Promise.all(Array.from({ length: order.people }, (_, index) => person(index)));
  return took;
}

let start: AskerStart | undefined;
process.on('message', (message: AskerStart | Order) => {
  if ('url' in message) {
    start = message;
    return;
  }
  if (start === undefined) throw new Error('nobody said whom to ask');
  const asked = 'rounds' in message ? series(start, message) : dashboards(start, message);
  asked.then((took) => process.send?.(took)).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  });
});

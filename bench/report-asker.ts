// A client that requests reports, in its own process so that reading the replies does not disturb the timing of the
// writes. Its parent sends the requests; it returns the milliseconds of each report, in order. Replies are read and not
// parsed.

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

interface Arrival {
  readonly people: number;
  /** Each opens this many, and keeps them. */
  readonly connections: number;
}

interface Dashboards {
  readonly paths: readonly string[];
  readonly everyMs: number;
  readonly forMs: number;
}

/**
 * Rounds: one path after another, at a fixed interval, or immediately if the previous one took longer. Arrival: only
 * opens the connections of these people. Dashboards: everyone who arrived requests all paths at once, at an interval.
 */
export type Order = Rounds | Arrival | Dashboards;

/** The connections of each person who arrived. */
let here: readonly (readonly HttpConnection[])[] = [];

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

async function arrive(start: AskerStart, { people, connections }: Arrival): Promise<number[]> {
  for (const connection of here.flat()) connection.close();
  const open = (): Promise<HttpConnection[]> =>
    Promise.all(Array.from({ length: connections }, () => HttpConnection.open(start.url)));
  here = await Promise.all(Array.from({ length: people }, open));
  return [];
}

async function dashboards(start: AskerStart, { paths, everyMs, forMs }: Dashboards): Promise<number[]> {
  const took: number[] = [];
  if (here.length === 0) throw new Error('nobody is here to look');
  const look = async (connections: readonly HttpConnection[]): Promise<void> => {
    await Promise.all(
      paths.map(async (path, index) => {
        const connection = connections[index];
        if (connection === undefined) throw new Error('there are fewer connections than paths');
        const sentAt = performance.now();
        await connection.get({ path, token: start.token });
        took.push(performance.now() - sentAt);
      }),
    );
  };
  const startMs = performance.now();
  const person = async (connections: readonly HttpConnection[], index: number): Promise<void> => {
    // People request at different moments.
    for (let dueMs = startMs + (index * everyMs) / here.length; dueMs < startMs + forMs; dueMs += everyMs) {
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
      await look(connections);
    }
  };
  await Promise.all(here.map(person));
  return took;
}

function answer(start: AskerStart, order: Order): Promise<number[]> {
  if ('rounds' in order) return series(start, order);
  return 'people' in order ? arrive(start, order) : dashboards(start, order);
}

let start: AskerStart | undefined;
process.on('message', (message: AskerStart | Order) => {
  if ('url' in message) {
    start = message;
    return;
  }
  if (start === undefined) throw new Error('nobody said whom to ask');
  answer(start, message)
    .then((took) => process.send?.(took))
    .catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(1);
    });
});

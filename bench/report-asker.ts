// A client that requests reports, in its own process so that reading the replies does not disturb the timing of the
// writes. Its parent sends the requests; it returns the milliseconds of each report, in order. Replies are read and not
// parsed.

import { HttpConnection } from './http-connection.ts';

export interface AskerStart {
  readonly url: string;
  readonly token: string;
}

/** One path after another, at a fixed interval, or immediately if the previous one took longer. */
export interface Order {
  readonly paths: readonly string[];
  readonly rounds: number;
  readonly everyMs: number;
}

async function take(start: AskerStart, { paths, rounds, everyMs }: Order): Promise<number[]> {
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

let start: AskerStart | undefined;
process.on('message', (message: AskerStart | Order) => {
  if ('url' in message) {
    start = message;
    return;
  }
  if (start === undefined) throw new Error('nobody said whom to ask');
  take(start, message)
    .then((took) => process.send?.(took))
    .catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(1);
    });
});

// Search over 200,000 messages while others are written, by HTTP from the same process. The reference is a LIKE scan of
// the same rows in the same run.

import { rmSync, statSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { silentLog } from '../engine/runtime/log.ts';
import { readConfig } from '../http/process/config.ts';
import { serve } from '../http/serve.ts';
import { Database } from '../store/database.ts';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import { makeDataDir } from './process.ts';
import { fillPast, type Past } from './search-rows.ts';

const messages = 200_000;
const fullSearches = 2000;
const scans = 60;
/** The target of this bench: a search while others write. */
const target = { below: 20 };
const writesPerSecond = 200;
/** The pause before asking again whether the search index is complete. */
const pollMs = 50;

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const searches = quick ? 200 : fullSearches;
  const dataDir = makeDataDir();
  const running = await serve({
    config: readConfig({
      DATA_DIR: dataDir,
      PORT: '0',
      HOST: '127.0.0.1',
      RATE_LIMITS: 'off',
      JWT_SECRET: 'b'.repeat(48),
    }),
    log: silentLog,
  });
  try {
    const client = new Client(running.port);
    const owner = (
      await client.call('POST', '/auth/register', {
        email: 'bench@example.com',
        password: 'correct horse battery staple',
        workspaceName: 'Bench',
        siteUrl: 'https://bench.example',
      })
    ).body;
    client.token = owner.token;
    const { workspaceId } = owner.agent;
    const { db } = running.services.engine.workspace(workspaceId) ?? failed('the workspace is not open');
    const chat = fillPast(db, { messages });
    const commonQueries = [
      ...chat.commonWords,
      ...chat.commonWords.map((word, index) => `${word} ${chat.commonWords[(index + 1) % chat.commonWords.length]}`),
      chat.commonWords.slice(0, 3).join(' '),
    ];

    const buildStartedAt = performance.now();
    const first = await client.search('hello');
    const firstMs = performance.now() - buildStartedAt;
    for (
      let answer = first;
      answer.status !== 200 || answer.body.indexing !== undefined;
      answer = await client.search('hello')
    )
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    const buildMs = performance.now() - buildStartedAt;

    const queries = Array.from({ length: searches }, () => chat.remembered());
    const writing = writeOn(client, chat);
    await timed(queries.slice(0, 100), (query) => client.search(query.misspelt));
    let found = 0;
    const misspelt = await timed(queries, async (query) => {
      const { rows } = (await client.search(query.misspelt)).body;
      if (rows.some((row) => row.conversationId === query.conversationId)) found += 1;
    });
    const common = await timed(queries.slice(0, 500), (_, index) =>
      client.search(commonQueries[index % commonQueries.length] ?? ''),
    );
    const written = await writing.stop();

    const copy = Database.openReader(join(dataDir, 'workspaces', `${workspaceId}.db`));
    const scan = await timed(queries.slice(0, scans), async (query) => likeScan(copy, query.words));
    const commonScan = await timed(queries.slice(0, scans), async (_, index) =>
      likeScan(copy, (commonQueries[index % commonQueries.length] ?? '').split(' ')),
    );
    copy.close();

    const ms = (name: string, took: number[], scanned: number[], share: number): Row =>
      row({
        name,
        value: percentile(took, share),
        unit: 'ms',
        reference: { name: 'LIKE scan', value: percentile(scanned, share) },
      });
    return [
      ms('search with a typo, p50, beside a scan', misspelt, scan, 0.5),
      row({ name: 'search with a typo, p99', value: percentile(misspelt, 0.99), unit: 'ms', target }),
      ms('search of the most common words, p50, beside a scan', common, commonScan, 0.5),
      row({ name: 'search of the most common words, p99', value: percentile(common, 0.99), unit: 'ms', target }),
      row({
        name: 'search: conversation found in spite of the typo',
        value: (100 * found) / queries.length,
        unit: '%',
        target: { atLeast: 99 },
      }),
      row({ name: 'search: messages written meanwhile', value: written, unit: '/s' }),
      row({ name: 'search: the first, where there is no index', value: firstMs, unit: 'ms' }),
      row({ name: 'search: index made from nothing', value: buildMs / 1000, unit: 's' }),
      row({
        name: 'search: index file',
        value: statSync(join(dataDir, 'index', `${workspaceId}.db`)).size / 2 ** 20,
        unit: 'MiB',
        reference: {
          name: 'workspace file',
          value: statSync(join(dataDir, 'workspaces', `${workspaceId}.db`)).size / 2 ** 20,
        },
      }),
    ];
  } finally {
    await running.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** The search's answer by reading every message: the number of conversations, and the newest of them. */
function likeScan(db: Database, words: readonly string[]): void {
  const condition = words.map(() => 'body LIKE ?').join(' AND ');
  db.all(
    `SELECT conversationId, max(rowid) AS newest, count(*) OVER () FROM message WHERE ${condition} GROUP BY conversationId ORDER BY newest DESC LIMIT 50`,
    words.map((word) => `%${word}%`),
  );
}

/** Sends an agent's messages at a steady rate until stopped. */
function writeOn(client: Client, chat: Past): { stop(): Promise<number> } {
  const startedAt = performance.now();
  const underWay = new Set<Promise<unknown>>();
  let written = 0;
  const open = chat.conversationIds.slice(-500);
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * writesPerSecond) - written;
    for (let index = 0; index < due; index += 1) {
      written += 1;
      const sent = client
        .call('POST', `/conversations/${open[written % open.length]}/messages`, { body: chat.text() })
        .then(({ status }) => status === 201 || failed(`a message was answered with ${status}`));
      underWay.add(sent);
      void sent.finally(() => underWay.delete(sent));
    }
  }, 5);
  return {
    async stop() {
      clearInterval(timer);
      const seconds = (performance.now() - startedAt) / 1000;
      await Promise.all(underWay);
      return written / seconds;
    },
  };
}

interface Answer {
  readonly status: number;
  /** Parsed JSON; the caller knows its fields. */
  readonly body: {
    readonly token: string;
    readonly agent: { readonly workspaceId: string };
    readonly rows: readonly { readonly conversationId: string }[];
    readonly indexing?: object;
  };
}

class Client {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true });
  token = '';

  constructor(port: number) {
    this.#port = port;
  }

  search(q: string): Promise<Answer> {
    return this.call('GET', `/conversations/search?q=${encodeURIComponent(q)}`);
  }

  call(method: string, path: string, body?: object): Promise<Answer> {
    const headers: Record<string, string> = { Accept: 'application/json' };
    if (this.token !== '') headers['Authorization'] = `Bearer ${this.token}`;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    return new Promise((resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port: this.#port, method, path: `/api/v1${path}`, headers, agent: this.#agent },
        (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(parts).toString('utf8')) }),
          );
          response.on('error', reject);
        },
      );
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

/** The milliseconds of each, one after another. */
async function timed<Item>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<unknown>,
): Promise<number[]> {
  const took: number[] = [];
  for (const [index, item] of items.entries()) {
    const startedAt = performance.now();
    await work(item, index);
    took.push(performance.now() - startedAt);
  }
  return took;
}

function failed(message: string): never {
  throw new Error(message);
}

await runAlone(import.meta.url, run);

// Search over 1,000,000 messages, each kind of query separately: one client, then eight at once. The service is its own
// process, so that the CPU time of a query, in all threads, is reported beside its latency: on a shared machine, only
// that compares between runs. First, the answers of a service that still builds its index.

import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../store/database.ts';
import { workspaceMigrations } from '../store/migrations/workspace.ts';
import { Api } from './api.ts';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import { HttpConnection } from './http-connection.ts';
import { makeDataDir, startService } from './process.ts';
import { addAgent, makeTenant, type Person } from './scenario.ts';
import { fillPast } from './search-rows.ts';

const fullMessages = 1_000_000;
const fullSearches = 600;
const warmSearches = 40;
const clients = 8;
/** The target of this bench, for every kind of query at one client. */
const target = { below: 20 };
/** The pause before asking again whether the search index is complete. */
const pollMs = 200;

interface Answer {
  readonly total: number;
  readonly indexing?: { readonly done: number; readonly total: number };
}

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const messages = quick ? fullMessages / 20 : fullMessages;
  const searches = quick ? 60 : fullSearches;
  const dataDir = makeDataDir();
  try {
    const first = await startService(dataDir);
    const api = new Api(first);
    const { owner } = await makeTenant(api);
    const departmentIds: string[] = [];
    for (const name of ['Sales', 'Support'])
      departmentIds.push(
        (await api.call<{ id: string }>('POST', '/departments', { token: owner.token, body: { name } })).id,
      );
    const member = await addAgent(api, owner, {
      email: 'member@example.com',
      name: 'Member',
      role: 'agent',
      channels: ['chats'],
      groupIds: departmentIds.slice(0, 1),
    });
    const { workspace } = await api.call<{ workspace: { id: string } }>('GET', '/me/workspace', { token: owner.token });
    await first.stop();
    const path = join(dataDir, 'workspaces', `${workspace.id}.db`);
    const db = Database.openWriter(path, workspaceMigrations);
    const past = fillPast(db, { messages, departmentIds });
    db.checkpoint();
    db.close();

    const service = await startService(dataDir);
    try {
      const made = await waitForIndex(new Api(service), owner);
      const common = (index: number): string => past.commonWords[index % past.commonWords.length] ?? '';
      const rows: Row[] = [
        row({
          name: 'search: the first, where there is no index',
          value: made.firstMs,
          unit: 'ms',
          target: { below: 1000 },
        }),
        row({ name: 'search: index made from nothing', value: made.allMs / 1000, unit: 's' }),
        row({
          name: 'search: index file',
          value: statSync(join(dataDir, 'index', `${workspace.id}.db`)).size / 2 ** 20,
          unit: 'MiB',
          reference: { name: 'workspace file', value: statSync(path).size / 2 ** 20 },
        }),
      ];
      const kinds: readonly { name: string; by?: Person; query(index: number): string }[] = [
        { name: 'a common word', query: common },
        { name: 'a rare word', query: () => past.rareWord() },
        { name: 'two common words', query: (index) => `${common(index)} ${common(index + 1)}` },
        { name: 'two words of a message', query: () => past.remembered().words.join(' ') },
        { name: 'the same with a typo', query: () => past.remembered().misspelt },
        { name: 'a common word, by who sees a third', by: member, query: common },
      ];
      for (const { name, by = owner, query } of kinds) {
        const queries = Array.from({ length: searches }, (_, index) => query(index));
        const ask = (options: { queries: readonly string[]; connections: number }): Promise<number[]> =>
          timed({ ...options, url: service.url, token: by.token });
        await ask({ queries: queries.slice(0, warmSearches), connections: clients });
        const cpuBefore = service.cpuSeconds();
        const alone = await ask({ queries, connections: 1 });
        const cpuMs = ((service.cpuSeconds() - cpuBefore) * 1000) / queries.length;
        const startedMs = performance.now();
        const together = await ask({ queries, connections: clients });
        const perSecond = (queries.length * 1000) / (performance.now() - startedMs);
        rows.push(
          row({ name: `${name}: p50`, value: percentile(alone, 0.5), unit: 'ms' }),
          row({ name: `${name}: p99`, value: percentile(alone, 0.99), unit: 'ms', target }),
          row({ name: `${name}: CPU each`, value: cpuMs, unit: 'ms' }),
          row({ name: `${name}: ${clients} clients`, value: perSecond, unit: '/s' }),
          row({ name: `${name}: ${clients} clients, p50`, value: percentile(together, 0.5), unit: 'ms' }),
          row({ name: `${name}: ${clients} clients, p99`, value: percentile(together, 0.99), unit: 'ms' }),
        );
      }
      rows.push(row({ name: 'resident memory after all searches', value: service.residentBytes() / 1e6, unit: 'MB' }));
      return rows;
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Repeats until the index is complete. Each answer before that reports the progress. */
export async function waitForIndex(api: Api, { token }: Person): Promise<{ firstMs: number; allMs: number }> {
  const startedMs = performance.now();
  let firstMs: number | undefined;
  for (;;) {
    const { indexing } = await api.call<Answer>('GET', '/conversations/search?q=hello', { token });
    firstMs ??= performance.now() - startedMs;
    if (indexing === undefined) return { firstMs, allMs: performance.now() - startedMs };
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

/** The milliseconds of each query, over this many connections, one query at a time on each. */
async function timed({
  url,
  token,
  queries,
  connections,
}: {
  url: string;
  token: string;
  queries: readonly string[];
  connections: number;
}): Promise<number[]> {
  const took: number[] = [];
  const waiting = queries.values();
  const askOn = async (): Promise<void> => {
    const connection = await HttpConnection.open(url);
    for (const q of waiting) {
      const startedMs = performance.now();
      await connection.get({ path: `/api/v1/conversations/search?q=${encodeURIComponent(q)}`, token });
      took.push(performance.now() - startedMs);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, askOn));
  return took;
}

await runAlone(import.meta.url, run);

// The service beside a plain help desk in Postgres with pg_trgm, over the same texts, in alternating turns: sends, the
// inbox's first page, and searches. Both are asked over HTTP, by one kept-alive connection for each client, with a token
// that they look up; the service also checks rights and validates (help-desk-server.ts). Without a Postgres on this
// machine, the bench says so and measures nothing.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Sql } from 'postgres';
import { Database } from '../store/database.ts';
import { workspaceMigrations } from '../store/migrations/workspace.ts';
import { Api } from './api.ts';
import { type BenchOptions, percentile, type Row, row, runAlone, type Target } from './frame.ts';
import { agentToken, fillHelpDesk, settle } from './help-desk.ts';
import { HttpConnection } from './http-connection.ts';
import { findPostgres, type PostgresFound, startPostgres } from './postgres.ts';
import { makeDataDir, type Program, startHelpDesk, startService } from './process.ts';
import { makeTenant, type Person, workspaceIdOf } from './scenario.ts';
import { waitForIndex } from './search-million.ts';
import { fillPast, type Past } from './search-rows.ts';

const fullMessages = 100_000;
const clientCounts = [1, 8] as const;
/** Open conversations, the newest, which are sent to. */
const sentTo = 200;
const warmAsks = 20;
const sendName = 'send';
/** Texts that are sent, and rare words that are tried, in a circle. */
const drawn = 500;
/** Shorter words have no trigram. */
const leastLetters = 3;
/** The target of the searches: so many times faster. */
const timesFaster = 1.5;
const searchP50Target: Target = { below: Number((1 / timesFaster).toFixed(2)) };
const searchRateTarget: Target = { atLeast: timesFaster };

export interface Plan {
  /** Searched messages, a multiple of 16, at least 1,600. */
  readonly messages: number;
  /** For each side, of each kind, at each number of clients; those that are counted. */
  readonly turns: number;
  readonly turnMs: number;
}

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const found = findPostgres();
  if (typeof found === 'string') {
    process.stderr.write(`peer: skipped, ${found}\n`);
    return [];
  }
  return compare(found, { messages: quick ? fullMessages / 5 : fullMessages, turns: 4, turnMs: quick ? 150 : 2500 });
}

/** The bench, of any size. */
export async function compare(found: PostgresFound, plan: Plan): Promise<Row[]> {
  const dataDir = makeDataDir();
  try {
    const { owner, past, path } = await makeWorkspace(dataDir, plan.messages);
    const postgres = await startPostgres(found);
    try {
      const sql = postgres.pool(1);
      const workspace = Database.openReader(path);
      await fillHelpDesk(sql, workspace).finally(() => workspace.close());
      const service = await startService(dataDir);
      const server = await startHelpDesk(postgres.folder);
      const peer = { ...server, cpuSeconds: () => server.cpuSeconds() + postgres.cpuSeconds() };
      try {
        await waitForIndex(new Api(service), owner);
        return await measure({ past, sql, service, peer, token: owner.token }, plan, `Postgres ${postgres.version}`);
      } finally {
        await server.stop();
        await service.stop();
      }
    } finally {
      await postgres.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** A workspace with a past in this folder, and nothing that serves it. */
async function makeWorkspace(dataDir: string, messages: number): Promise<{ owner: Person; past: Past; path: string }> {
  const service = await startService(dataDir);
  const made = await (async () => {
    const api = new Api(service);
    const { owner } = await makeTenant(api);
    return { owner, workspaceId: await workspaceIdOf(api, owner) };
  })().finally(() => service.stop());
  const path = join(dataDir, 'workspaces', `${made.workspaceId}.db`);
  const db = Database.openWriter(path, workspaceMigrations);
  try {
    const past = fillPast(db, { messages });
    db.checkpoint();
    return { owner: made.owner, past, path };
  } finally {
    db.close();
  }
}

/** One question of a client. Resolves to the number of rows in the answer. */
type Ask = (index: number) => Promise<number>;

interface Question {
  readonly name: string;
  readonly isSearch: boolean;
  byService(connection: HttpConnection): Ask;
  byPeer(connection: HttpConnection): Ask;
}

type Asked = Pick<Program, 'url' | 'cpuSeconds'>;

interface Stage {
  readonly past: Past;
  readonly sql: Sql;
  readonly service: Asked;
  /** With its Postgres. */
  readonly peer: Asked;
  readonly token: string;
}

async function measure(stage: Stage, plan: Plan, peerName: string): Promise<Row[]> {
  const { sql, service, peer } = stage;
  const questions = questionsOf(stage, await rareWordsOf(stage));
  // Prepares statements, compiles code, and gives each conversation that is sent to a last message, on both sides.
  for (const { byPeer, byService, name } of questions) {
    const times = name === sendName ? sentTo : warmAsks;
    for (const { program, by } of [
      { program: peer, by: byPeer },
      { program: service, by: byService },
    ])
      await during(program, async (connection) => {
        for (let index = 0; index < times; index += 1) await by(connection)(index);
      });
  }
  await settle(sql);
  const rows: Row[] = [];
  for (const question of questions)
    for (const clients of clientCounts)
      rows.push(
        ...rowsOf(question, { clients, peerName, ...(await alternate(question, { ...plan, service, peer, clients })) }),
      );
  return rows;
}

/** The service closes a connection that is idle for long, as one would be while the other has its turn. */
async function during<Result>(program: Asked, use: (connection: HttpConnection) => Promise<Result>): Promise<Result> {
  const connection = await HttpConnection.open(program.url);
  return use(connection).finally(() => connection.close());
}

async function searchService(connection: HttpConnection, token: string, word: string): Promise<number> {
  const answer = await connection.get({ path: `/api/v1/conversations/search?q=${word}`, token });
  return (JSON.parse(answer) as { rows: unknown[] }).rows.length;
}

/** Resolves to the number of rows. */
async function askPeer(connection: HttpConnection, path: string): Promise<number> {
  return (JSON.parse(await connection.get({ path, token: agentToken })) as unknown[]).length;
}

/** Those that both find. Postgres also finds them within words, and the service also with one letter wrong. */
async function rareWordsOf({ past, peer, service, token }: Stage): Promise<string[]> {
  const drawnWords = Array.from({ length: drawn }, () => past.rareWord());
  const foundBy = (
    program: Asked,
    words: readonly string[],
    ask: (to: HttpConnection, word: string) => Promise<number>,
  ) =>
    during(program, async (connection) => {
      const found: string[] = [];
      for (const word of words) if ((await ask(connection, word)) > 0) found.push(word);
      return found;
    });
  const known = await foundBy(service, drawnWords, (to, word) => searchService(to, token, word));
  const words = await foundBy(peer, known, (to, word) => askPeer(to, `/messages?q=${word}`));
  if (words.length === 0) throw new Error('there is no rare word in the messages');
  return words;
}

function questionsOf({ past, token }: Stage, rareWords: readonly string[]): Question[] {
  const conversationOf = (index: number): string => past.conversationIds.at(-1 - (index % sentTo)) ?? '';
  const texts = Array.from({ length: drawn }, () => past.text());
  const textOf = (index: number): string => texts[index % texts.length] ?? '';
  const searches = [
    ['a common word', past.commonWords.filter((word) => word.length >= leastLetters)],
    ['a rare word', rareWords],
  ] as const;
  return [
    ...searches.flatMap(([kind, words]) => {
      const wordAt = (index: number): string => words[index % words.length] ?? '';
      const byService = (connection: HttpConnection) => (index: number) =>
        searchService(connection, token, wordAt(index));
      return [
        {
          name: `search for ${kind}, beside the newest messages`,
          isSearch: true,
          byService,
          byPeer: (connection: HttpConnection) => (index: number) =>
            askPeer(connection, `/messages?q=${wordAt(index)}`),
        },
        {
          name: `search for ${kind}, beside conversations and total`,
          isSearch: true,
          byService,
          byPeer: (connection: HttpConnection) => (index: number) =>
            askPeer(connection, `/conversations?q=${wordAt(index)}`),
        },
      ];
    }),
    {
      name: 'inbox, first page',
      isSearch: false,
      byService: (connection) => async () => {
        const answer = await connection.get({ path: '/api/v1/conversations/queue?sort=activity&limit=50', token });
        return (JSON.parse(answer) as { conversations: unknown[] }).conversations.length;
      },
      byPeer: (connection) => () => askPeer(connection, '/inbox'),
    },
    {
      name: sendName,
      isSearch: false,
      byService: (connection) => async (index) => {
        const path = `/api/v1/conversations/${conversationOf(index)}/messages`;
        await connection.post({ path, token, body: JSON.stringify({ body: textOf(index) }) });
        return 1;
      },
      byPeer: (connection) => async (index) => {
        const path = `/conversations/${conversationOf(index)}`;
        await connection.post({ path, token: agentToken, body: JSON.stringify({ body: textOf(index) }) });
        return 1;
      },
    },
  ];
}

interface Figures {
  readonly timesMs: number[];
  /** Of all turns together, so that clients and turns ask different things. */
  asked: number;
  seconds: number;
  cpuSeconds: number;
}

function noFigures(): Figures {
  return { timesMs: [], asked: 0, seconds: 0, cpuSeconds: 0 };
}

/**
 * The two sides in turns, so that a change of the machine meets both. The first turn of each is not counted: code is
 * compiled in it, and the second reader starts.
 */
async function alternate(
  question: Question,
  { service, peer, clients, turns, turnMs }: Plan & { service: Asked; peer: Asked; clients: number },
): Promise<{ ours: Figures; peers: Figures }> {
  const ours = noFigures();
  const peers = noFigures();
  const sides = [
    { program: peer, counted: peers, by: question.byPeer },
    { program: service, counted: ours, by: question.byService },
  ];
  for (let turn = 0; turn <= turns; turn += 1) {
    for (const { program, counted, by } of sides) {
      const figures = turn === 0 ? noFigures() : counted;
      const opening = Array.from({ length: clients }, () => HttpConnection.open(program.url));
      const connections = await Promise.all(opening);
      const cpuBefore = program.cpuSeconds();
      await takeTurn(figures, { name: question.name, asks: connections.map(by), turnMs }).finally(() => {
        for (const connection of connections) connection.close();
      });
      figures.cpuSeconds += program.cpuSeconds() - cpuBefore;
    }
  }
  return { ours, peers };
}

/** Each client asks one thing after the other, at least one. Adds to the figures. */
async function takeTurn(
  figures: Figures,
  { name, asks, turnMs }: { name: string; asks: readonly Ask[]; turnMs: number },
): Promise<void> {
  let rows = 0;
  const startedMs = performance.now();
  const askOn = async (ask: Ask): Promise<void> => {
    do {
      const askedMs = performance.now();
      figures.asked += 1;
      rows += await ask(figures.asked);
      figures.timesMs.push(performance.now() - askedMs);
    } while (performance.now() - startedMs < turnMs);
  };
  await Promise.all(asks.map(askOn));
  figures.seconds += (performance.now() - startedMs) / 1000;
  if (rows === 0) throw new Error(`${name}: a whole turn of answers without a row`);
}

function rowsOf(
  { name, isSearch }: Question,
  { clients, peerName, ours, peers }: { clients: number; peerName: string; ours: Figures; peers: Figures },
): Row[] {
  const about = `${name}, ${clients} ${clients === 1 ? 'client' : 'clients'}`;
  const compared = (
    what: string,
    figures: { unit: string; valueOf(side: Figures): number; target?: Target | undefined },
  ): Row =>
    row({
      name: `${about}: ${what}`,
      value: figures.valueOf(ours),
      unit: figures.unit,
      reference: { name: peerName, value: figures.valueOf(peers) },
      ...(figures.target === undefined ? {} : { target: figures.target }),
    });
  return [
    compared('p50', {
      unit: 'ms',
      valueOf: ({ timesMs }) => percentile(timesMs, 0.5),
      target: isSearch && clients === 1 ? searchP50Target : undefined,
    }),
    compared('p99', { unit: 'ms', valueOf: ({ timesMs }) => percentile(timesMs, 0.99) }),
    compared('CPU each', {
      unit: 'ms',
      valueOf: ({ timesMs, cpuSeconds }) => (cpuSeconds * 1000) / timesMs.length,
    }),
    compared('each second', {
      unit: '/s',
      valueOf: ({ timesMs, seconds }) => timesMs.length / seconds,
      target: isSearch && clients > 1 ? searchRateTarget : undefined,
    }),
  ];
}

await runAlone(import.meta.url, run);

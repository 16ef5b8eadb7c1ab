// Search over 200,000 messages while others are being written, by HTTP from the same process, beside what one would do without
// an index: a LIKE scan of the same rows in the same run.

import { rmSync, statSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { silentLog } from '../engine/runtime/log.ts';
import { readConfig } from '../http/config.ts';
import { type Running, serve } from '../http/serve.ts';
import { type ConversationRecord, insertConversation } from '../store/conversations.ts';
import { Database } from '../store/database.ts';
import { insertMessage } from '../store/messages.ts';
import { insertVisitor } from '../store/visitors.ts';
import { type Random, randomFrom } from '../test/support/seeded.ts';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import { makeDataDir } from './process.ts';

const messages = 200_000;
const conversations = 25_000;
const visitors = 12_000;
const vocabulary = 25_000;
const fullSearches = 2000;
const scans = 60;
/** The contract of this bench: a search while others write. */
const target = { below: 20 };
const writesPerSecond = 200;
const seed = 20_261_120;
/** Before the search is asked again whether it knows all. */
const pollMs = 50;

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const searches = quick ? 200 : fullSearches;
  const dataDir = makeDataDir();
  const running = await serve({ config: readConfig({ DATA_DIR: dataDir, PORT: '0', HOST: '127.0.0.1', RATE_LIMITS: 'off', JWT_SECRET: 'b'.repeat(48) }), log: silentLog });
  try {
    const client = new Client(running.port);
    const owner = (await client.call('POST', '/auth/register', { email: 'bench@example.com', password: 'correct horse battery staple', workspaceName: 'Bench', siteUrl: 'https://bench.example' })).body;
    client.token = owner.token;
    const { workspaceId } = owner.agent;
    const chat = fill(running, workspaceId);

    const buildStartedAt = performance.now();
    const first = await client.search('hello');
    const firstMs = performance.now() - buildStartedAt;
    for (let answer = first; answer.status !== 200 || answer.body.indexing !== undefined; answer = await client.search('hello')) await new Promise((resolve) => setTimeout(resolve, pollMs));
    const buildMs = performance.now() - buildStartedAt;

    const queries = Array.from({ length: searches }, () => chat.query());
    const writing = writeOn(client, chat);
    await timed(queries.slice(0, 100), (query) => client.search(query.misspelt));
    let found = 0;
    const misspelt = await timed(queries, async (query) => {
      const { rows } = (await client.search(query.misspelt)).body;
      if (rows.some((row) => row.conversationId === query.conversationId)) found += 1;
    });
    const common = await timed(queries.slice(0, 500), (_, index) => client.search(chat.commonQueries[index % chat.commonQueries.length] ?? ''));
    const written = await writing.stop();

    const db = Database.openReader(join(dataDir, 'workspaces', `${workspaceId}.db`));
    const scan = await timed(queries.slice(0, scans), async (query) => likeScan(db, query.words));
    const commonScan = await timed(queries.slice(0, scans), async (_, index) => likeScan(db, (chat.commonQueries[index % chat.commonQueries.length] ?? '').split(' ')));
    db.close();

    const ms = (name: string, took: number[], scanned: number[], share: number): Row => row({ name, value: percentile(took, share), unit: 'ms', reference: { name: 'LIKE scan', value: percentile(scanned, share) } });
    return [
      ms('search with a typo, p50, beside a scan', misspelt, scan, 0.5),
      row({ name: 'search with a typo, p99', value: percentile(misspelt, 0.99), unit: 'ms', target }),
      ms('search of the most common words, p50, beside a scan', common, commonScan, 0.5),
      row({ name: 'search of the most common words, p99', value: percentile(common, 0.99), unit: 'ms', target }),
      row({ name: 'search: conversation found in spite of the typo', value: (100 * found) / queries.length, unit: '%', target: { atLeast: 99 } }),
      row({ name: 'search: messages written meanwhile', value: written, unit: '/s' }),
      row({ name: 'search: the first, where there is no index', value: firstMs, unit: 'ms' }),
      row({ name: 'search: index made from nothing', value: buildMs / 1000, unit: 's' }),
      row({ name: 'search: index file', value: statSync(join(dataDir, 'index', `${workspaceId}.db`)).size / 2 ** 20, unit: 'MiB', reference: { name: 'workspace file', value: statSync(join(dataDir, 'workspaces', `${workspaceId}.db`)).size / 2 ** 20 } }),
    ];
  } finally {
    await running.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

interface Query {
  readonly words: string[];
  readonly misspelt: string;
  readonly conversationId: string;
}

interface Chat {
  readonly conversationIds: readonly string[];
  readonly commonQueries: readonly string[];
  query(): Query;
  text(): string;
}

/** Writes the workspace's rows as they would be after months of chats: words as often as in talk, most of them rare. */
function fill(running: Running, workspaceId: string): Chat {
  const { engine, ids } = running.services;
  const { db } = engine.workspace(workspaceId) ?? failed('the workspace is not open');
  const random = randomFrom(seed);
  const words = makeWords(random);
  const upTo: number[] = [];
  let sum = 0;
  for (let rank = 0; rank < words.length; rank += 1) upTo.push((sum += 1 / (rank + 2.7)));
  const pick = (): string => words[indexOf(upTo, random.next() * sum)] ?? 'the';
  const text = (): string => {
    const parts = Array.from({ length: 4 + random.below(16) }, pick);
    if (random.chance(0.1)) parts.push(`#${10_000 + random.below(90_000)}`);
    const line = parts.join(' ');
    return `${line[0]?.toUpperCase()}${line.slice(1)}${random.chance(0.3) ? '?' : '.'}`;
  };

  const bodies: string[] = [];
  const owners: string[] = [];
  const timeOf = (index: number): string => new Date(Date.parse('2026-01-01') + index * 60_000).toISOString();
  db.begin();
  const siteId = db.get<{ id: string }>('SELECT id FROM site')?.id ?? failed('there is no site');
  const visitorIds = Array.from({ length: visitors }, (_, index) => {
    const id = ids.uuid();
    const [first, last] = [pick(), pick()];
    insertVisitor(db, {
      id, siteId, email: `${first}.${last}${index}@example.com`, name: `${first} ${last}`, phoneE164: null, ip: null, country: null, userAgent: null, geo: null, wcEnrichment: null,
      contactId: null, currentPageUrl: null, blockedAt: null, firstSeenAt: timeOf(index), lastSeenAt: timeOf(index), visitCount: 1,
    });
    return id;
  });
  const conversationIds = Array.from({ length: conversations }, (_, index) => {
    const id = ids.uuid();
    const at = timeOf(index * 8);
    const conversation: ConversationRecord = {
      id, version: 1, channel: index % 3 === 0 ? 'ticket' : 'chat', status: index < conversations - 500 ? 'closed' : 'open', subject: null, ticketNumber: null, siteId,
      visitorId: visitorIds[index % visitors] ?? null, contactId: null, departmentId: null, assignedAgentId: null, routedAt: null, notToAgentIds: [], tags: [], handshake: null, copiedTo: [], rating: null, ratingComment: null, ratedAgentId: null,
      preview: null, lastMessageAt: at, firstResponseAt: null, firstResponderId: null, solvedAt: null, closedAt: null, lastLineAt: at, lastCustomerMessageAt: null, agentsReadUpTo: null, customerReadUpTo: null, createdAt: at, updatedAt: at,
    };
    insertConversation(db, conversation);
    return id;
  });
  for (let index = 0; index < messages; index += 1) {
    // Conversations overlap, as they do.
    const conversationId = conversationIds[Math.min(conversations - 1, Math.floor((index / messages) * conversations + random.next() * 20))] ?? '';
    const body = text();
    insertMessage(db, { id: ids.uuid(), conversationId, senderType: index % 2 === 0 ? 'visitor' : 'agent', senderId: null, body, bodyHtml: null, attachments: [], threading: null, mail: null, deliveryStatus: null, readAt: null, createdAt: timeOf(index) });
    bodies.push(body);
    owners.push(conversationId);
  }
  db.commit();

  const common = words.slice(0, 6);
  return {
    conversationIds,
    commonQueries: [...common, ...common.map((word, index) => `${word} ${common[(index + 1) % common.length]}`), common.slice(0, 3).join(' ')],
    text,
    query() {
      for (;;) {
        const index = random.below(messages);
        const long = (bodies[index]?.toLowerCase().match(/[a-z]{5,}/g) ?? []).filter((word) => words.indexOf(word) > 200);
        const [first, second] = [long[0], long.at(-1)];
        if (first === undefined || second === undefined || first === second) continue;
        const [bad, good] = random.chance(0.5) ? [first, second] : [second, first];
        return { words: [first, second], misspelt: `${misspell(bad, random)} ${good}`, conversationId: owners[index] ?? '' };
      }
    },
  };
}

const head =
  'the i you to a and it is my for of in that have on not your we can this me be with but are please hi order do was hello so if thanks at will just would get has what like there when how one still know now need out from an help up here no yes time received or all thank back about email account sent payment any then only refund delivery they day card been could as message because work am by today address again number see them sorry good product after did website want shipping some customer great check tell us password';

function makeWords(random: Random): string[] {
  const syllables = ['an', 'ber', 'con', 'de', 'el', 'fin', 'gor', 'hal', 'in', 'jo', 'ka', 'lem', 'mi', 'nor', 'op', 'per', 'qui', 'ra', 'ser', 'ti', 'un', 'ver', 'wil', 'xa', 'yo', 'zen', 'ing', 'ed', 'ly', 'ment', 'tion', 's'];
  const words = new Set(head.split(' '));
  while (words.size < vocabulary) words.add(Array.from({ length: 2 + random.below(4) }, () => random.pick(syllables)).join(''));
  return [...words];
}

function misspell(word: string, random: Random): string {
  const at = random.below(word.length - 1);
  const other = String.fromCharCode(97 + random.below(26));
  switch (random.below(4)) {
    case 0:
      return word.slice(0, at) + word.slice(at + 1);
    case 1:
      return word.slice(0, at) + other + word.slice(at);
    case 2:
      return word.slice(0, at) + other + word.slice(at + 1);
    default:
      return word.slice(0, at) + (word[at + 1] ?? '') + (word[at] ?? '') + word.slice(at + 2);
  }
}

/** What the search answers, by reading every message: how many conversations, and the newest of them. */
function likeScan(db: Database, words: readonly string[]): void {
  const condition = words.map(() => 'body LIKE ?').join(' AND ');
  db.all(`SELECT conversationId, max(rowid) AS newest, count(*) OVER () FROM message WHERE ${condition} GROUP BY conversationId ORDER BY newest DESC LIMIT 50`, words.map((word) => `%${word}%`));
}

/** An agent's messages at a steady rate, until stopped. */
function writeOn(client: Client, chat: Chat): { stop(): Promise<number> } {
  const startedAt = performance.now();
  const underWay = new Set<Promise<unknown>>();
  let written = 0;
  const open = chat.conversationIds.slice(-500);
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * writesPerSecond) - written;
    for (let index = 0; index < due; index += 1) {
      written += 1;
      const sent = client.call('POST', `/conversations/${open[written % open.length]}/messages`, { body: chat.text() }).then(({ status }) => status === 201 || failed(`a message was answered with ${status}`));
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
  /** Parsed JSON; which fields it has is known to who asked. */
  readonly body: { readonly token: string; readonly agent: { readonly workspaceId: string }; readonly rows: readonly { readonly conversationId: string }[]; readonly indexing?: object };
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
      const sent = request({ host: '127.0.0.1', port: this.#port, method, path: `/api/v1${path}`, headers, agent: this.#agent }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(parts).toString('utf8')) }));
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

/** Milliseconds of each, one after the other. */
async function timed<Item>(items: readonly Item[], work: (item: Item, index: number) => Promise<unknown>): Promise<number[]> {
  const took: number[] = [];
  for (const [index, item] of items.entries()) {
    const startedAt = performance.now();
    await work(item, index);
    took.push(performance.now() - startedAt);
  }
  return took;
}

function indexOf(upTo: readonly number[], value: number): number {
  let low = 0;
  let high = upTo.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((upTo[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function failed(message: string): never {
  throw new Error(message);
}

await runAlone(import.meta.url, run);

// Attacks by a hostile workspace that moves conversations in: batches of the API, archives of mails, and services that
// answer without an end.

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Attack, Attacker } from './attack.ts';

const at = '2021-03-01T10:00:00.000Z';
/** A body may have a mebibyte, and a part of a file eight. */
const maxBatchBytes = 1_000_000;
const batchSize = 50;
const archiveBytes = 7 * 1024 * 1024;
const tags = '<div><b>';

/** A batch of 50 conversations with this many messages each; `chars` is what each may have. */
function batch(serial: number, messages: number, message: (id: string, chars: number) => object): Buffer {
  const chars = Math.floor(maxBatchBytes / (batchSize * messages)) - 200;
  return Buffer.from(
    JSON.stringify({
      source: 'hostile',
      conversations: Array.from({ length: batchSize }, (_, conversation) => ({
        externalId: `${serial}-${conversation}`,
        channel: 'ticket',
        status: 'solved',
        customer: { email: `c${serial}-${conversation}@made-up.example` },
        messages: Array.from({ length: messages }, (_, index) => message(`${index}`, chars)),
      })),
    }),
  );
}

const batches: readonly ((serial: number) => Buffer)[] = [
  // As many messages as it may have: a body has 20,000 values.
  (serial) => batch(serial, 75, (externalId) => ({ externalId, from: 'customer', body: 'x', createdAt: at })),
  // Texts that are sanitised in the mail thread.
  (serial) =>
    Buffer.from(
      JSON.stringify({
        source: 'hostile',
        conversations: [
          {
            externalId: `${serial}`,
            channel: 'ticket',
            status: 'solved',
            customer: { email: `c${serial}@made-up.example` },
            messages: Array.from({ length: 9 }, (_, index) => ({
              externalId: `${index}`,
              from: 'customer',
              body: '',
              bodyHtml: tags.repeat(99_000 / tags.length),
              createdAt: at,
            })),
          },
        ],
      }),
    ),
  // Mails that each answer hundreds of others.
  (serial) =>
    batch(serial, 4, (externalId, chars) => ({
      externalId,
      from: 'customer',
      body: 'x',
      createdAt: at,
      messageIdHeader: `<${serial}-${externalId}@made-up.example>`,
      references: Array.from(
        { length: Math.floor(Math.min(chars, 9500) / 40) },
        (_, index) => `<r${serial}-${index}@made-up.example>`,
      ).join(' '),
    })),
];

/** So many write into the same two conversations, which hold 10,000 messages each. */
const crowdedBatches = 45;
/** Before the attack begins. */
const crowdedBefore = 8;

/** Always the same times, of messages that are all new: a run of taken milliseconds that grows. */
function crowded(serial: number): Buffer {
  return Buffer.from(
    JSON.stringify({
      source: 'crowded',
      conversations: ['a', 'b'].map((name) => ({
        externalId: `${name}${Math.floor(serial / crowdedBatches)}`,
        channel: 'ticket',
        status: 'solved',
        customer: { email: `${name}@made-up.example` },
        messages: Array.from({ length: 200 }, (_, ms) => ({
          externalId: `${serial}-${ms}`,
          from: 'customer',
          body: 'x',
          createdAt: new Date(Date.parse(at) + ms).toISOString(),
        })),
      })),
    }),
  );
}

const header = (serial: number, index: number): string =>
  `From x@made-up.example Mon Mar  1 10:00:00 2021\nFrom: x${index % 50}@made-up.example\nSubject: ${index}\nMessage-ID: <${serial}-${index}@made-up.example>\n`;
const nested = Array.from(
  { length: 1000 },
  (_, level) => `Content-Type: multipart/mixed; boundary="b${level}"\n\n--b${level}\n`,
).join('');
const attached = `Content-Type: multipart/mixed; boundary=b\n\n${'--b\nContent-Disposition: attachment; filename=a.txt\n\nx\n'.repeat(100)}--b--\n`;

/** Of a mail, after its first lines. */
const mails: readonly string[] = [
  '\nx\n',
  `${nested}Content-Type: text/plain\n\nHello\n`,
  `Content-Type: text/html\n\n${`${tags.repeat(100)}\n`.repeat(1200)}`,
  `MIME-Version: 1.0\n${attached}`,
  `References: ${'<r@made-up.example>\n '.repeat(1900)}\n\nx\n`,
  `\n${'>From x\n'.repeat(20_000)}`,
];

/** An archive of such mails, as many as a part may have. */
function archive(serial: number, mail: string): Buffer {
  const parts: string[] = [];
  for (let [bytes, index] = [0, 0]; bytes < archiveBytes && index < 20_000; index += 1) {
    const next = `${header(serial, index)}${mail}\n`;
    bytes += next.length;
    parts.push(next);
  }
  return Buffer.from(parts.join(''));
}

/** Deletes what is not done yet: a workspace has three at most. */
async function clear(attacker: Attacker, token: string): Promise<void> {
  const { imports } = (await attacker.caller.call('GET', '/imports', { token })).body ?? {};
  for (const { id, status } of imports ?? [])
    if (status !== 'done' && !attacker.isOver)
      attacker.count((await attacker.caller.call('DELETE', `/imports/${id}`, { token })).status);
}

/** Begins one, and makes room for it if need be. Undefined if it was refused. */
async function begin(attacker: Attacker, token: string, body: object): Promise<string | undefined> {
  const { status, body: job } = await attacker.caller.call('POST', '/imports', { token, body });
  attacker.count(status);
  if (status === 422) await clear(attacker, token);
  return status === 201 ? job.id : undefined;
}

/** What a service may do instead of answering. */
const wholes = {
  /** Its conversations have as many long messages as one reads, and its pages never end. */
  endless(url: URL, response: ServerResponse): void {
    const ticket = Number(/tickets\/(\d+)\/comments/.exec(url.pathname)?.[1] ?? Number.NaN);
    const page = Number(url.searchParams.get('cursor') ?? url.searchParams.get('page[after]') ?? 0);
    const answer = Number.isNaN(ticket)
      ? {
          tickets: Array.from({ length: 1000 }, (_, index) => ({
            id: page * 1000 + index + 1,
            subject: 'x'.repeat(500),
            status: 'solved',
            requester_id: 1,
            created_at: at,
          })),
          users: [{ id: 1, name: 'X', email: 'x@made-up.example', role: 'end-user' }],
          after_cursor: String(page + 1),
          end_of_stream: false,
        }
      : {
          comments: Array.from({ length: 100 }, (_, index) => ({
            id: page * 100 + index + 1,
            author_id: 1,
            public: true,
            html_body: tags.repeat(4000),
            created_at: at,
          })),
          users: [],
          meta: { has_more: true, after_cursor: String(page + 1) },
        };
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
  },
  /** Short conversations, as fast as they are asked for. */
  many(url: URL, response: ServerResponse): void {
    if (!url.pathname.includes('/comments')) return wholes.endless(url, response);
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(
      JSON.stringify({
        comments: [{ id: 1, author_id: 1, public: true, plain_body: 'x', created_at: at }],
        meta: {},
      }),
    );
  },
  /** A body that never ends. */
  pouring(_: URL, response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    const more = (): void => {
      while (!response.destroyed) if (!response.write('['.repeat(65_536))) return void response.once('drain', more);
    };
    more();
  },
  /** A byte now and then. */
  dripping(_: URL, response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 20);
    response.once('close', () => clearInterval(timer));
  },
} as const;
const kinds = Object.keys(wholes) as (keyof typeof wholes)[];
/** How long one is read before the next one takes its place. */
const readMs = 700;

export const importAttacks: readonly Attack[] = [
  {
    name: 'import-batches',
    what: 'batches of conversations of 1 MiB: many messages, long HTML, many references',
    async prepare(attacker) {
      const { token } = await attacker.workspace();
      let turn = 0;
      return () =>
        attacker.flood(
          () => {
            turn += 1;
            const raw = batches[turn % batches.length]?.(turn) ?? '';
            return attacker.request('POST', '/api/v1/conversations/import', { token, raw });
          },
          { connections: 8 },
        );
    },
  },
  {
    name: 'import-times',
    what: 'batches of conversations whose times were all taken by earlier ones',
    async prepare(attacker) {
      const { token } = await attacker.workspace();
      let serial = 0;
      const next = (): Buffer => {
        serial += 1;
        return attacker.request('POST', '/api/v1/conversations/import', { token, raw: crowded(serial) });
      };
      while (serial < crowdedBefore) attacker.count(await attacker.send(next()));
      return () => attacker.flood(next, { connections: 1 });
    },
  },
  {
    name: 'import-archives',
    what: 'archives of hostile mails, sent to two workspaces one after another',
    async prepare(attacker) {
      const tokens = [(await attacker.workspace()).token, (await attacker.workspace()).token];
      let serial = 0;
      const send = async (token: string): Promise<void> => {
        serial += 1;
        const raw = archive(serial, mails[serial % mails.length] ?? '');
        const id = await begin(attacker, token, { kind: 'mbox', name: 'x', bytes: raw.length });
        if (id === undefined) return;
        const headers = { 'Content-Type': 'application/octet-stream', Accept: '*/*' };
        attacker.count(
          await attacker.send(attacker.request('PUT', `/api/v1/imports/${id}/file`, { token, headers, raw })),
        );
      };
      return async () => {
        await Promise.all(
          tokens.map(async (token) => {
            while (!attacker.isOver) await send(token);
          }),
        );
      };
    },
  },
  {
    name: 'import-services',
    what: 'services that answer without an end, and jobs begun and deleted at full speed',
    async prepare(attacker) {
      const reading = (await attacker.workspace()).token;
      const beginning = (await attacker.workspace()).token;
      const server = createServer((request, response) => {
        const url = new URL(request.url ?? '/', 'http://x');
        const kind = kinds.find((one) => request.headers.authorization === authorization(one)) ?? 'many';
        response.on('error', () => {});
        wholes[kind](url, response);
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const start = (token: string, kind: string): Promise<string | undefined> =>
        begin(attacker, token, {
          kind: 'zendesk',
          url: `http://127.0.0.1:${port}`,
          account: 'x@made-up.example',
          token: kind,
        });
      return async () => {
        const read = async (): Promise<void> => {
          for (let turn = 0; !attacker.isOver; turn += 1) {
            await start(reading, kinds[turn % kinds.length] ?? 'many');
            await setTimeout(readMs, undefined, { signal: attacker.over }).catch(() => {});
            await clear(attacker, reading);
          }
        };
        const beginOnly = async (): Promise<void> => {
          while (!attacker.isOver) await start(beginning, 'endless');
        };
        await Promise.all([read(), beginOnly()]);
        server.closeAllConnections();
      };
    },
  },
];

/** By which the server knows what to do. */
function authorization(token: string): string {
  return `Basic ${Buffer.from(`x@made-up.example/token:${token}`).toString('base64')}`;
}

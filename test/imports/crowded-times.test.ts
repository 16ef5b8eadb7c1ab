// Messages of another system whose times many messages have already: each costs the same, wherever it goes.

import t from 'tap';
import { type Person, type Service, startService } from '../support/service.ts';

const startMs = Date.parse('2021-03-01T10:00:00.000Z');
/** A run that is longer than what is looked at step by step. */
const runLength = 1200;
const perBatch = 200;

const at = (ms: number): string => new Date(startMs + ms).toISOString();

const talk = (externalId: string, messages: object[]) => ({
  externalId,
  channel: 'ticket',
  status: 'open',
  customer: { email: 'ixa@customer.example' },
  messages,
});

const message = (externalId: string, ms: number) => ({
  externalId,
  from: 'customer',
  body: externalId,
  createdAt: at(ms),
});

t.test('times that are taken', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const load = async (externalId: string, messages: object[]) => {
    let outcome: any;
    for (let from = 0; from < messages.length; from += perBatch) {
      const conversations = [talk(externalId, messages.slice(from, from + perBatch))];
      const { status, body } = await service.post(
        '/conversations/import',
        { source: 'old', conversations },
        owner.token,
      );
      if (status !== 200) throw new Error(`a batch was answered with ${status}: ${JSON.stringify(body)}`);
      [outcome] = body.conversations;
    }
    return outcome;
  };
  const run = (name: string): object[] => Array.from({ length: runLength }, (_, ms) => message(`${name}${ms}`, ms));
  const stored = (id: string): { body: string; createdAt: string }[] =>
    databaseOf(service, owner).all(
      `SELECT body, createdAt FROM message WHERE conversationId = ? AND senderType <> 'system' ORDER BY createdAt`,
      [id],
    );

  t.test('a message behind a long run reads a bounded number of rows; order and identity hold', async (t) => {
    const { conversationId } = await load('long', run('run '));
    t.equal(stored(conversationId).length, runLength);
    const late = Array.from({ length: 25 }, (_, ms) => message(`late ${ms}`, ms));
    const read = countReads(service, owner);
    t.match(await load('long', late), { outcome: 'updated', messages: 25 });
    const { rows, statements } = read.end();
    t.ok(rows < 25 * 200, `${rows} rows, of ${25 * runLength} that the run has for each`);
    t.ok(statements < 25 * 40, `${statements} statements`);
    const bodies = stored(conversationId).map(({ body }) => body);
    t.same(
      bodies.slice(-25),
      Array.from({ length: 25 }, (_, ms) => `late ${ms}`),
      'in their order, behind the run',
    );
    t.match(await load('long', late), { outcome: 'unchanged', messages: 0 });
    t.equal(stored(conversationId).length, runLength + 25);
  });

  t.test('a system that counts in seconds keeps the order of seconds', async (t) => {
    const many = (name: string, count: number, ms: number): object[] =>
      Array.from({ length: count }, (_, index) => message(`${name} ${index}`, ms));
    const { conversationId } = await load('seconds', [...many('first', 150, 0), message('next', 1000)]);
    await load('seconds', many('more', 30, 0));
    const times = stored(conversationId);
    t.equal(times.at(-1)?.body, 'next');
    t.same(
      times.slice(150, 180).map(({ body, createdAt }) => [body, createdAt]),
      Array.from({ length: 30 }, (_, index) => [`more ${index}`, at(150 + index)]),
    );
  });

  t.test('the first gap of a short run is taken', async (t) => {
    const { conversationId } = await load(
      'gap',
      [0, 1, 2, 4].map((ms) => message(`at ${ms}`, ms)),
    );
    await load('gap', [message('late', 0)]);
    t.same(
      stored(conversationId).map(({ body }) => body),
      ['at 0', 'at 1', 'at 2', 'late', 'at 4'],
    );
  });

  t.test('a ticket merges into one with a long run in a bounded number of statements', async (t) => {
    const { conversationId: into } = await load('target', run('target '));
    const { conversationId } = await load('merged', [message('moved', 0)]);
    const read = countReads(service, owner);
    const { status } = await service.post(`/conversations/${conversationId}/merge`, { into }, owner.token);
    const { statements } = read.end();
    t.equal(status, 200);
    t.ok(statements < runLength / 2, `${statements} statements, of ${runLength} steps`);
    t.match(stored(into).at(-1), { body: 'moved', createdAt: at(runLength) });
  });
});

function databaseOf(service: Service, { workspaceId }: Person) {
  const workspace = service.running.services.engine.workspace(workspaceId);
  if (workspace === undefined) throw new Error('the workspace is not open');
  return workspace.db;
}

/** Counts what is read of the workspace's file until end(). */
function countReads(service: Service, owner: Person): { end(): { rows: number; statements: number } } {
  const db = databaseOf(service, owner);
  const { all, get } = db;
  let [rows, statements] = [0, 0];
  db.all = <Row>(...params: Parameters<typeof all>): Row[] => {
    const found = all.apply(db, params) as Row[];
    rows += found.length;
    statements += 1;
    return found;
  };
  db.get = <Row>(...params: Parameters<typeof get>): Row | undefined => {
    rows += 1;
    statements += 1;
    return get.apply(db, params) as Row | undefined;
  };
  return {
    end() {
      db.all = all;
      db.get = get;
      return { rows, statements };
    },
  };
}

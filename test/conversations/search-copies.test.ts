// The second reader thread answers searches from copies of the indexes that the first one writes: always the same answer.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { insertMessage, unsetMessage } from '../../store/conversations/writes.ts';
import { Database } from '../../store/database.ts';
import { fromJson } from '../../store/json.ts';
import { segmentsOf } from '../../store/search/index.ts';
import { OpenFiles } from '../../workers/reader/open-files.ts';
import { createReader } from '../../workers/reader/reader.ts';
import type { methods } from '../../workers/reader/reader-thread.ts';
import { SecondReader } from '../../workers/reader/second-reader.ts';
import { type SearchAnswer, SearchIndex, type SearchQuestion } from '../../workers/search/search-index.ts';
import { createThread, type Thread } from '../../workers/thread.ts';
import { addThread } from '../support/conversations.ts';
import { type Random, randomFrom } from '../support/seeded.ts';
import { type Person, type Service, startService } from '../support/service.ts';
import { watchThreads } from '../support/threads.ts';
import { turns } from '../support/toy.ts';

const seeds = [7, 20_261_128];
const rounds = 14;
const messagesEach = 2000;
const vocabulary = ['order', 'orders', 'refund', 'invoice', 'invoices', 'hello', 'hallo', 'parcel', 'tomorrow'];
const questions = ['order', 'ordre', 'refund hello', 'invoice', 'inv', 'tomorow parcel', 'ada', 'newcomer', 'x'];

const questionOf = (person: Person, q: string): SearchQuestion => ({
  q,
  looksIn: { messages: true, customers: true },
  reach: { agentId: person.agentId, channels: ['chat', 'ticket', 'call'], departmentIds: null },
  filter: {},
  limit: 50,
});

const sourcePath = (service: Service, person: Person): string =>
  join(service.dataDir, 'workspaces', `${person.workspaceId}.db`);

function indexPath(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'index.db');
}

function open<Index extends SearchIndex | undefined>(
  t: Test,
  service: Service,
  person: Person,
  make: (source: Database) => Index,
): Index {
  const source = Database.openReader(sourcePath(service, person));
  const index = make(source);
  t.teardown(() => {
    index?.close();
    source.close();
  });
  return index;
}

function answerOf(index: SearchIndex, question: SearchQuestion): SearchAnswer {
  for (;;) {
    const { result } = index.search(question);
    if (result !== undefined) return fromJson(result.text);
  }
}

/** Long before anything else the test writes. */
let filledMs = Date.parse('2020-01-01T00:00:00.000Z');

/** More messages of these conversations. */
function fill(service: Service, person: Person, conversationIds: readonly string[], random: Random): void {
  const { engine, ids } = service.running.services;
  const db = engine.workspace(person.workspaceId)?.db;
  if (db === undefined) throw new Error('the workspace is not open');
  db.begin();
  for (let index = 0; index < messagesEach; index += 1)
    insertMessage(db, {
      ...unsetMessage,
      id: ids.uuid(),
      conversationId: random.pick(conversationIds),
      senderType: 'visitor',
      body: `${random.pick(vocabulary)} ${random.pick(vocabulary)} x${random.below(5000)}`,
      createdAt: new Date((filledMs += 1)).toISOString(),
    });
  db.commit();
}

for (const seed of seeds)
  t.test(`[architecture] a copy of an index answers as the index does, seed ${seed}`, async (t) => {
    const random = randomFrom(seed);
    const service = await startService(t);
    const owner = await service.workspace();
    const path = indexPath(t);
    const ids = [await addThread(service, owner.workspaceId, { messages: ['The first one.'] })];
    t.equal(
      open(t, service, owner, (source) => SearchIndex.openCopy(source, path)),
      undefined,
      'there is no index yet',
    );
    const index = open(t, service, owner, (source) => SearchIndex.open(source, path));
    let copy = open(t, service, owner, (source) => SearchIndex.openCopy(source, path));
    for (let round = 0; round < rounds; round += 1) {
      const { visitorId } = await service.customer(owner.embedId, { name: 'Ada', email: `ada${round}@example.com` });
      ids.push(await addThread(service, owner.workspaceId, { visitorId, messages: [`A newcomer x${round}`] }));
      fill(service, owner, ids, random);
      if (random.chance(0.8)) answerOf(index, questionOf(owner, 'order'));
      for (let times = random.below(200); times > 0 && !index.write(); times -= 1);
      if (random.chance(0.2)) copy = open(t, service, owner, (source) => SearchIndex.openCopy(source, path));
      if (copy === undefined) throw new Error('there is no copy');
      for (const q of questions)
        t.same(answerOf(copy, questionOf(owner, q)), answerOf(index, questionOf(owner, q)), `${q}, round ${round}`);
      t.notOk(copy.isWorn);
    }
    const file = Database.openReader(path);
    t.ok(segmentsOf(file, 'message').length >= 2, 'segments were written meanwhile');
    file.close();
  });

t.test('[architecture] while an index lags, a message that moved is not shown where it was found', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const { visitorId } = await service.customer(owner.embedId);
  const ticketOf = (...messages: string[]): Promise<string> =>
    addThread(service, owner.workspaceId, { channel: 'ticket', visitorId, messages });
  const from = await ticketOf('A quetzal has feathers.', 'A second line.');
  const into = await ticketOf('Another question.');
  const path = indexPath(t);
  const index = open(t, service, owner, (source) => SearchIndex.open(source, path));
  const [found] = answerOf(index, questionOf(owner, 'quetzal')).rows;
  t.match(found, { conversationId: from, matchedBody: 'A quetzal has feathers.' });
  const merged = await service.post(`/conversations/${from}/merge`, { into }, owner.token);
  t.equal(merged.status, 200, merged.body);
  const soFar = fromJson<SearchAnswer>(
    index.searchSoFar(questionOf(owner, 'quetzal'), { done: 3, total: 4 }).result.text,
  );
  t.match(soFar, { total: 1, indexing: { done: 3, total: 4 }, rows: [{ conversationId: from }] });
  t.notMatch(soFar.rows[0]?.matchedBody, /quetzal/);
  t.match(answerOf(index, questionOf(owner, 'quetzal')).rows, [{ conversationId: into, matchedBody: /quetzal/ }]);
});

t.test('[architecture] a copy whose index is no longer written is worn, and a foreign file is none', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const other = await service.workspace();
  const path = indexPath(t);
  const ids = [await addThread(service, owner.workspaceId, { messages: ['The first one.'] })];
  const random = randomFrom(1);
  for (let times = 0; times < 5; times += 1) fill(service, owner, ids, random);
  const index = open(t, service, owner, (source) => SearchIndex.open(source, path));
  answerOf(index, questionOf(owner, 'order'));
  while (!index.write());
  const copy = open(t, service, owner, (source) => SearchIndex.openCopy(source, path));
  if (copy === undefined) throw new Error('there is no copy');
  const fillTimes = (count: number): void => {
    for (let times = 0; times < count; times += 1) fill(service, owner, ids, random);
    answerOf(copy, questionOf(owner, 'order'));
  };
  fillTimes(9);
  t.notOk(copy.isWorn);
  fillTimes(8);
  t.ok(copy.isWorn);
  t.equal(
    open(t, service, other, (source) => SearchIndex.openCopy(source, path)),
    undefined,
    'the index of another workspace',
  );
});

t.test('[architecture] searches that would wait use a second thread', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const chat = await service.chat(owner, 'Where is my parcel?');
  const started = watchThreads(t);
  const readerOf = (cores: number) => {
    const reader = createReader({ dataDir: service.dataDir, cores, watch: () => () => Promise.resolve() });
    t.teardown(() => reader.stop());
    return reader;
  };
  const eight = async (reader: ReturnType<typeof readerOf>, q: string): Promise<string[]> => {
    const asked = Array.from({ length: 8 }, () => reader.search(owner.workspaceId, questionOf(owner, q)));
    return (await Promise.all(asked)).map(({ text }) => text);
  };
  const idsIn = (text: string): string[] =>
    (JSON.parse(text) as SearchAnswer).rows.map(({ conversationId }) => conversationId);

  await t.test('where there is one core, there is one thread', async (t) => {
    const reader = readerOf(1);
    for (const text of await eight(reader, 'parcel')) t.same(idsIn(text), [chat.id]);
    t.equal(started.length, 1);
    await reader.stop();
  });

  await t.test('one after another, one thread is enough', async (t) => {
    started.length = 0;
    const reader = readerOf(2);
    for (let times = 0; times < 3; times += 1)
      t.same(idsIn((await reader.search(owner.workspaceId, questionOf(owner, 'parcel'))).text), [chat.id]);
    t.equal(started.length, 1);
    await reader.stop();
  });

  await t.test('a few that wait are not worth a copy of the index', async (t) => {
    started.length = 0;
    const reader = readerOf(2);
    const four = Array.from({ length: 4 }, () => reader.search(owner.workspaceId, questionOf(owner, 'parcel')));
    for (const { text } of await Promise.all(four)) t.same(idsIn(text), [chat.id]);
    t.equal(started.length, 1);
    await reader.stop();
  });

  await t.test('at once, both answer the same, and what was just written', async (t) => {
    started.length = 0;
    const reader = readerOf(2);
    const untilAnsweredBy = async (number: number): Promise<void> => {
      let isAnswered = false;
      const note = ({ result }: { result?: { result?: unknown } }): void =>
        void (isAnswered ||= typeof result?.result === 'string');
      while (started.length < number) await eight(reader, 'parcel');
      started[number - 1]?.on('message', note);
      while (!isAnswered)
        for (const text of await eight(reader, 'parcel')) if (idsIn(text)[0] !== chat.id) t.fail(text);
    };
    await untilAnsweredBy(2);
    t.equal(started.length, 2);
    const written = await service.chat(owner, 'A zyzzyva is in it.');
    for (const text of await eight(reader, 'zyzzyva')) t.same(idsIn(text), [written.id]);
    const asked = eight(reader, 'zyzzyva');
    await started[1]?.terminate();
    for (const text of await asked) t.same(idsIn(text), [written.id], 'the first one answers for one that dies');
    await untilAnsweredBy(3);
    t.equal(started.length, 3, 'another one after it has died');
  });
});

const threadOptions = (service: Service) => ({
  file: 'workers/reader/reader-thread.ts',
  maxWaiting: 200,
  timeoutMs: 600_000,
  data: { dataDir: service.dataDir },
});

function readerThread(t: Test, service: Service): Thread<typeof methods> {
  const thread = createThread<typeof methods>({ ...threadOptions(service), title: 'reader' });
  t.teardown(() => thread.stop());
  return thread;
}

/** One more than a reader thread has files open, each with an index. */
async function nineWithIndexes(service: Service): Promise<[string, string, ...string[]]> {
  const add = async (): Promise<string> => (await service.workspace()).workspaceId;
  const ids: [string, string, ...string[]] = [await add(), await add()];
  while (ids.length < 9) ids.push(await add());
  const files = new OpenFiles(service.dataDir);
  for (const id of ids) {
    files.searchIndex(id);
    files.close(id);
  }
  return ids;
}

t.test('[architecture] the copy that was used least recently gives way, not the one opened first', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const [one, two, ...more] = await nineWithIndexes(service);
  const nine = more.pop() ?? '';

  await t.test('in the thread', async (t) => {
    const files = new OpenFiles(service.dataDir);
    t.teardown(() => {
      for (const id of [one, two, ...more, nine]) files.close(id);
    });
    for (const id of [one, two, ...more]) t.ok(files.searchCopy(id));
    t.ok(files.openSearchCopy(one));
    t.ok(files.searchCopy(nine));
    t.ok(files.openSearchCopy(one));
    t.equal(files.openSearchCopy(two), undefined);
  });

  await t.test('beside the thread', async (t) => {
    const second = new SecondReader(threadOptions(service));
    t.teardown(() => second.stop());
    const opened = async (id: string): Promise<void> => {
      while (!second.canTake(id, 4)) await turns(1);
    };
    for (const id of [one, two, ...more]) await opened(id);
    t.match(await second.search(one, questionOf({ agentId: '' } as Person, 'order')), { result: String });
    await opened(nine);
    t.ok(second.canTake(one, 1));
    t.notOk(second.canTake(two, 1));
  });
});

t.test('[architecture] a copy whose index was replaced is closed', async (t) => {
  const service = await startService(t);
  const { workspaceId } = await service.workspace();
  const [writer, copies] = [new OpenFiles(service.dataDir), new OpenFiles(service.dataDir)];
  t.teardown(() => {
    for (const files of [writer, copies]) files.close(workspaceId);
  });
  writer.searchIndex(workspaceId);
  const copy = copies.searchCopy(workspaceId);
  t.ok(copy);
  t.equal(copies.openSearchCopy(workspaceId), copy);
  writer.removeSearchIndex(workspaceId);
  t.equal(copies.openSearchCopy(workspaceId), undefined, 'removed');
  t.equal(copies.searchCopy(workspaceId), undefined);
  writer.searchIndex(workspaceId);
  t.ok(copies.searchCopy(workspaceId));
  writer.removeSearchIndex(workspaceId);
  writer.searchIndex(workspaceId);
  t.equal(copies.openSearchCopy(workspaceId), undefined, 'another one in its place');
  t.ok(copies.searchCopy(workspaceId));
});

t.test('[architecture] a copy that holds too much, or fails, is closed while it answers', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const { workspaceId } = owner;
  const ids = [await addThread(service, workspaceId, { messages: ['The first one.'] })];
  const [writer, reader] = [readerThread(t, service), readerThread(t, service)];
  const question = questionOf(owner, 'first');
  t.match(await writer.call('search', { workspaceId, question }), { isIndexing: false });
  t.equal(await reader.call('openCopy', { workspaceId }), 'open');
  t.match(await reader.call('searchCopy', { workspaceId, question }), { result: /The first one/ });

  const unfit = { ...question, q: undefined } as unknown as SearchQuestion;
  t.equal(await reader.call('searchCopy', { workspaceId, question: unfit }), undefined);
  t.equal(await reader.call('searchCopy', { workspaceId, question }), undefined, 'it was closed');
  t.equal(await reader.call('openCopy', { workspaceId }), 'open');

  const random = randomFrom(2);
  for (let times = 0; times < 17; times += 1) fill(service, owner, ids, random);
  // Each of them indexes 500 messages.
  for (let times = 0; times < 80; times += 1)
    t.equal(await reader.call('searchCopy', { workspaceId, question }), undefined);
  t.equal(await reader.call('openCopy', { workspaceId }), 'worn', 'it does not try again by itself');
  while ((await writer.call('search', { workspaceId, question })).isIndexing);
  while ((await reader.call('openCopy', { workspaceId })) !== 'open');
  t.match(await reader.call('searchCopy', { workspaceId, question }), { result: /The first one/ });
});

t.test('[architecture] no copy is opened while its index is being made', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const { workspaceId } = owner;
  const second = new SecondReader(threadOptions(service));
  t.teardown(() => second.stop());
  second.noteIndexing(workspaceId, { isIndexing: true });
  t.notOk(second.canTake(workspaceId, 4));
  t.equal(second.waiting, 0);
  second.noteIndexing(workspaceId, { isIndexing: false });
  t.notOk(second.canTake(workspaceId, 4));
  t.equal(second.waiting, 1, 'now it is being opened');
});

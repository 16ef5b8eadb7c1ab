import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { insertMessage, unsetMessage } from '../../store/conversations/writes.ts';
import { insertVisitor } from '../../store/customers/writes.ts';
import { Database, monotonicMs } from '../../store/database.ts';
import type { ReportScope } from '../../store/reports/sums.ts';
import { type SearchField, segmentsOf } from '../../store/search/index.ts';
import { createReader, type Reader } from '../../workers/reader/reader.ts';
import { addThread } from '../support/conversations.ts';
import { type Person, type Service, startService } from '../support/service.ts';
import { watchThreads } from '../support/threads.ts';
import { turns } from '../support/toy.ts';

const ask = (service: Service, person: Person, q: string) =>
  service.get(`/conversations/search?q=${encodeURIComponent(q)}`, person.token);

/** Repeats the search until the index is complete. */
async function search(
  service: Service,
  person: Person,
  q: string,
): Promise<{ status: number; ids: string[]; total: number }> {
  const { status, body } = await ask(service, person, q);
  if (body.indexing !== undefined) return search(service, person, q);
  return {
    status,
    ids: status === 200 ? body.rows.map((row: { conversationId: string }) => row.conversationId) : [],
    total: body.total,
  };
}

const indexPath = (dataDir: string, person: Person): string => join(dataDir, 'index', `${person.workspaceId}.db`);

function folder(t: Test): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  return dataDir;
}

/** Long before anything else the test writes. */
let filledMs = Date.parse('2020-01-01T00:00:00.000Z');

/**
 * Messages of one conversation, more than an index keeps in memory. Every hundredth contains `gong`, unless `word` is
 * given.
 */
function fill(service: Service, person: Person, conversationId: string, count: number, word = 'gong'): void {
  const { engine, ids } = service.running.services;
  const db = engine.workspace(person.workspaceId)?.db;
  if (db === undefined) throw new Error('the workspace is not open');
  db.begin();
  for (let index = 0; index < count; index += 1) {
    const body =
      word === 'gong' ? `tick ${index % 100 === 0 ? 'gong' : 'tock'} ${index}` : `${word} ${100_000 + index}`;
    insertMessage(db, {
      ...unsetMessage,
      id: ids.uuid(),
      conversationId,
      senderType: 'visitor',
      body,
      createdAt: new Date((filledMs += 1)).toISOString(),
    });
  }
  db.commit();
}

/**
 * Resolves when this many segments are in the index's file: full ones are written between answers, a little at a time.
 */
async function written(
  service: Service,
  person: Person,
  segments: number,
  field: SearchField = 'message',
): Promise<void> {
  for (;;) {
    await search(service, person, 'gambit');
    const db = Database.openReader(indexPath(service.dataDir, person));
    const stored = segmentsOf(db, field).length;
    db.close();
    if (stored >= segments) return;
  }
}

t.test("[architecture] the reader's answer waits until what it saw is durable", async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const { id: conversationId } = await service.chat(owner);
  const { workspaceId } = owner;
  const held: { workspaceId: string; call: () => void; seenMs: number }[] = [];
  const reader = createReader({
    dataDir: service.dataDir,
    watch: (ofWorkspace) => (seenMs) => new Promise((call) => held.push({ workspaceId: ofWorkspace, call, seenMs })),
  });
  t.teardown(() => reader.stop());

  const scope: ReportScope = { channels: ['chat', 'ticket', 'call'], departmentIds: null, agentId: null };
  const toMs = Date.now() + 3600_000;
  const range = { fromMs: toMs - 24 * 3600_000, toMs };
  const buckets = { starts: [range.fromMs], toMs };
  const drillDown = { scope, range, status: undefined, isRated: false, isMissed: false, shownDepartmentIds: null };
  const page = { limit: 10, offset: 0 };
  const last = { at: '9', id: '' };
  const first = { at: '', id: '' };
  const asks: Omit<{ [Name in keyof Reader]: () => Promise<unknown> }, 'noteMessages' | 'waiting' | 'forget' | 'stop'> =
    {
      search: () =>
        reader.search(workspaceId, {
          q: 'hello',
          looksIn: { messages: true, customers: true },
          limit: 10,
          reach: { ...scope, agentId: owner.agentId },
          filter: {},
        }),
      messages: () => reader.messages({ workspaceId, conversationId, after: '', upTo: '9' }),
      notes: () => reader.notes({ workspaceId, conversationId, after: first, upTo: last }),
      events: () => reader.events({ workspaceId, conversationId, afterSeq: 0, upToSeq: 1000 }),
      contacts: () => reader.contacts(workspaceId, { search: 'ada', ...page }),
      bucketTotals: () => reader.bucketTotals(workspaceId, scope, buckets),
      totals: () => reader.totals(workspaceId, scope, range),
      totalsByAgent: () => reader.totalsByAgent(workspaceId, scope, range, [owner.agentId]),
      totalsByChannel: () => reader.totalsByChannel(workspaceId, { figures: scope, queue: scope }, range),
      drillDown: () => reader.drillDown(workspaceId, drillDown, page),
      drillDownAfter: () => reader.drillDownAfter(workspaceId, drillDown, { after: undefined, limit: 10 }),
      replyTime: () => reader.replyTime(workspaceId, { siteId: owner.siteId, from: '' }),
      queue: () =>
        reader.queue(workspaceId, {
          ...page,
          reach: { ...scope, agentId: '' },
          filter: {},
          cursor: undefined,
          isCounted: true,
        }),
      countLists: () =>
        reader.countLists(workspaceId, { reach: { ...scope, agentId: '' }, departmentIds: [], views: [] }),
      goals: () => reader.goals(workspaceId, scope, range, buckets),
    };
  for (const [name, ask] of Object.entries(asks)) {
    const askedMs = monotonicMs();
    let isAnswered = false;
    let failure: unknown;
    const told = ask().then(
      () => (isAnswered = true),
      (error: unknown) => (failure = error),
    );
    while (held.length === 0 && failure === undefined) await turns(1);
    const [one] = held.splice(0);
    t.equal(failure, undefined, name);
    t.equal(one?.workspaceId, workspaceId);
    t.ok(
      one !== undefined && one.seenMs > askedMs && one.seenMs < monotonicMs(),
      `${name}: it looked after it was asked and before it answered`,
    );
    await turns(3);
    t.equal(isAnswered, false, name);
    one?.call();
    await told;
    t.equal(isAnswered, true, name);
  }
});

t.test('[architecture] reads of lists do not wait behind reports, and have places of their own', async (t) => {
  const service = await startService(t);
  const { workspaceId } = await service.workspace();
  const reader = createReader({ dataDir: service.dataDir, watch: () => () => Promise.resolve() });
  t.teardown(() => reader.stop());
  const scope: ReportScope = { channels: ['chat', 'ticket', 'call'], departmentIds: null, agentId: null };
  const range = { fromMs: 0, toMs: 3600_000 };
  const order: string[] = [];
  const told = async (name: string, asked: Promise<unknown>): Promise<void> => {
    await asked;
    order.push(name);
  };
  const reports = Array.from({ length: 200 }, () => told('totals', reader.totals(workspaceId, scope, range)));
  await t.rejects(reader.totals(workspaceId, scope, range), { name: 'ThreadBusy' });
  const reach = { ...scope, agentId: '' };
  const page = { reach, filter: {}, limit: 10, offset: 0, cursor: undefined, isCounted: true };
  const lists = [
    told('queue', reader.queue(workspaceId, page)),
    told('countLists', reader.countLists(workspaceId, { reach, departmentIds: [], views: [] })),
  ];
  await Promise.all([...reports, ...lists]);
  t.same(order.slice(0, 2), ['queue', 'countLists']);
  t.equal(order.length, 202);
});

t.test('the reader thread', async (t) => {
  t.test('starts with the first search, not with the service', async (t) => {
    const started = watchThreads(t);
    const service = await startService(t);
    const owner = await service.workspace();
    await service.chat(owner);
    t.equal(started.length, 0);
    t.notOk(existsSync(indexPath(service.dataDir, owner)));
    t.equal((await search(service, owner, 'hello')).total, 1);
    t.equal(started.length, 1);
    t.ok(existsSync(indexPath(service.dataDir, owner)));
  });

  t.test('dies: pending calls get 503, the next is answered, and nothing written meanwhile is missed', async (t) => {
    const started = watchThreads(t);
    const service = await startService(t);
    const owner = await service.workspace();
    const chat = await service.chat(owner, 'The first word is aardvark.');
    t.same((await search(service, owner, 'aardvark')).ids, [chat.id]);
    const [reader] = started;
    if (reader === undefined) throw new Error('no thread started');

    const waiting = service.get('/conversations/search?q=aardvark', owner.token);
    while (service.running.services.reader.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
    await reader.terminate();
    const answer = await waiting;
    t.ok(answer.status === 503 || answer.status === 200, `${answer.status}: lost, or answered just before`);
    if (answer.status === 503) {
      t.equal(answer.body.error, 'service_unavailable');
      t.equal(answer.headers.get('retry-after'), '1');
    }
    const second = await service.chat(owner, 'The last word is zyzzyva.');
    t.same((await search(service, owner, 'zyzzyva')).ids, [second.id]);
    t.same(new Set((await search(service, owner, 'word')).ids), new Set([chat.id, second.id]));
    t.equal(started.length, 2);
  });

  t.test('stops with the service, and answers 503 when it must', async (t) => {
    const service = await startService(t);
    const owner = await service.workspace();
    await service.chat(owner);
    await service.running.services.reader.stop();
    t.match(await service.get('/conversations/search?q=hello', owner.token), {
      status: 503,
      body: { error: 'service_unavailable' },
    });
  });

  t.test('makes the index follow after many writes, without a search', async (t) => {
    const started = watchThreads(t);
    const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
    const owner = await service.workspace();
    for (let index = 0; index < 50; index += 1)
      await addThread(service, owner.workspaceId, { messages: Array.from({ length: 9 }, () => 'One of many.') });
    await service.settled();
    t.equal(started.length, 0, '450 messages are not much');
    for (let index = 0; index < 6; index += 1)
      await addThread(service, owner.workspaceId, { messages: Array.from({ length: 9 }, () => 'One of many.') });
    await service.settled();
    t.equal(started.length, 1);
    t.equal((await search(service, owner, 'many')).total, 56);
  });
});

t.test('the index', async (t) => {
  // A workspace with a full segment of messages in the index's file and more in memory, as its service left it.
  const original = folder(t);
  const first = await startService(t, { dataDir: original });
  const owner = await first.workspace();
  const customer = await first.customer(owner.embedId, { name: 'Ottoline', email: 'otto@example.com' });
  const id = await addThread(first, owner.workspaceId, {
    visitorId: customer.visitorId,
    messages: ['An opening gambit.'],
  });
  fill(first, owner, id, 9000);
  await written(first, owner, 1);
  const check = async (t: Test, service: Service) => {
    for (const q of ['gambit', 'gong', 'tock 8999', 'ti', 'otto gambit', 'gamibt', '8189', '8190', '8191 tock', '8192'])
      t.same((await search(service, owner, q)).ids, [id], q);
    for (const q of ['gogn', '9000', 'gong 8191 quagmire']) t.same((await search(service, owner, q)).ids, [], q);
  };
  await check(t, first);
  const neighbour = await first.workspace();
  await first.chat(neighbour, 'Here is an ibex.');
  await first.stop();
  const prepare = (t: Test) => {
    const dataDir = folder(t);
    cpSync(original, dataDir, { recursive: true });
    return { dataDir, path: indexPath(dataDir, owner) };
  };
  const again = (t: Test, dataDir: string) => startService(t, { dataDir });

  t.test('is gone on with after a restart', async (t) => {
    const { dataDir, path } = prepare(t);
    const { ino } = statSync(path);
    const service = await again(t, dataDir);
    await check(t, service);
    await addThread(service, owner.workspaceId, { messages: ['After the restart, a zeugma.'] });
    t.equal((await search(service, owner, 'zeugma')).total, 1);
    fill(service, owner, id, 9000);
    await check(t, service);
    t.equal(statSync(path).ino, ino);
    await written(service, owner, 2);
    await check(t, service);
    t.equal((await search(service, owner, 'zeugma')).total, 1);
  });

  t.test('if far behind, answers from what is indexed, reports its progress, and completes', async (t) => {
    const { dataDir } = prepare(t);
    const service = await again(t, dataDir);
    rmSync(dirname(indexPath(dataDir, owner)), { recursive: true });
    fill(service, owner, id, 60_000, 'drip');
    const { status, body } = await ask(service, owner, 'drip 159999');
    t.equal(status, 200);
    t.match(body, { rows: [], total: 0, indexing: { total: Number } });
    t.ok(body.indexing.total > 69_000, `of ${body.indexing.total}`);
    t.ok(body.indexing.done < body.indexing.total);
    let last = body.indexing.done;
    for (
      let answer = await ask(service, owner, 'gambit');
      answer.body.indexing !== undefined;
      answer = await ask(service, owner, 'gambit')
    ) {
      t.ok(answer.body.indexing.done >= last, 'it continues');
      last = answer.body.indexing.done;
    }
    t.same((await search(service, owner, 'drip 159999')).ids, [id]);
    await check(t, service);
  });

  t.test('of long mails is written sooner', async (t) => {
    const { dataDir } = prepare(t);
    const service = await again(t, dataDir);
    const long = await addThread(service, owner.workspaceId, { channel: 'ticket', messages: ['A long story.'] });
    fill(service, owner, long, 300, 'to be '.repeat(800));
    await written(service, owner, 2);
    await check(t, service);
    t.same((await search(service, owner, 'be to 100299')).ids, [long]);
  });

  t.test('of many visitors', async (t) => {
    const { dataDir } = prepare(t);
    const service = await again(t, dataDir);
    const { engine, ids } = service.running.services;
    const db = engine.workspace(owner.workspaceId)?.db;
    if (db === undefined) throw new Error('the workspace is not open');
    const known = (await service.get(`/conversations/${id}/export`, owner.token)).body.visitor;
    const people = Array.from({ length: 9000 }, (_, index) => ({
      ...known,
      id: ids.uuid(),
      name: `Person n${index}`,
      email: `person${index}@many.example`,
    }));
    db.begin();
    for (const person of people) insertVisitor(db, person);
    db.commit();
    const threads: string[] = [];
    for (const person of [people[0], people[8189], people[8191], people[8999]])
      threads.push(await addThread(service, owner.workspaceId, { visitorId: person.id, messages: ['One of many.'] }));
    const checkPeople = async (service: Service) => {
      t.same((await search(service, owner, 'person many')).total, 4);
      for (const [index, number] of [0, 8189, 8191, 8999].entries())
        t.same((await search(service, owner, `n${number}`)).ids, [threads[index]]);
      t.equal((await search(service, owner, 'n8190')).total, 0, 'a visitor without messages is not found');
    };
    await checkPeople(service);
    await written(service, owner, 1, 'visitor');
    await checkPeople(service);
    await service.stop();
    const later = await again(t, dataDir);
    await checkPeople(later);
    await check(t, later);
  });

  const harm: [string, (path: string) => void][] = [
    ['that was removed', (path) => rmSync(path)],
    ['that is no database', (path) => writeFileSync(path, 'This is no database. '.repeat(1000))],
    ['that is empty', (path) => truncateSync(path, 0)],
    ['that was cut short', (path) => truncateSync(path, 8192 * 3)],
    [
      'whose middle was overwritten',
      (path) => {
        const bytes = readFileSync(path);
        bytes.fill(0xa5, 8192, bytes.length);
        writeFileSync(path, bytes);
      },
    ],
    [
      'of another version',
      (path) => {
        const db = Database.openCheckpointer(path);
        db.run('PRAGMA user_version = 99');
        db.close();
      },
    ],
  ];
  for (const [what, damage] of harm) {
    t.test(`${what} is rebuilt`, async (t) => {
      const { dataDir, path } = prepare(t);
      damage(path);
      const service = await again(t, dataDir);
      await check(t, service);
      await check(t, service);
      await written(service, owner, 1);
    });
  }

  t.test('that is damaged while it is open is made again', async (t) => {
    const { dataDir, path } = prepare(t);
    const service = await again(t, dataDir);
    await check(t, service);
    const bytes = readFileSync(path);
    // From the third page on, in place, as a failing disk would.
    bytes.fill(0xff, 8192 * 2, bytes.length);
    writeFileSync(path, bytes, { flag: 'r+' });
    await check(t, service);
    await check(t, service);
  });

  t.test('that was removed while it is open costs nothing', async (t) => {
    const { dataDir, path } = prepare(t);
    const service = await again(t, dataDir);
    await check(t, service);
    rmSync(path);
    await check(t, service);
    await service.stop();
    await check(t, await again(t, dataDir));
  });

  t.test('of a workspace that was restored from an older copy is made again', async (t) => {
    const { dataDir } = prepare(t);
    const file = join(dataDir, 'workspaces', `${owner.workspaceId}.db`);
    const copy = join(dataDir, 'copy.db');
    copyFileSync(file, copy);
    const service = await again(t, dataDir);
    fill(service, owner, id, 9000);
    await written(service, owner, 2);
    await service.stop();
    for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
    copyFileSync(copy, file);

    const restored = await again(t, dataDir);
    const other = await addThread(restored, owner.workspaceId, { messages: ['Another history has a quagga.'] });
    for (let index = 0; index < 20; index += 1)
      await addThread(restored, owner.workspaceId, { messages: [`Another numbat ${index}.`] });
    fill(restored, owner, other, 9000, 'quack');
    t.same((await search(restored, owner, 'quagga')).ids, [other]);
    t.equal((await search(restored, owner, 'numbat')).total, 20);
    t.same((await search(restored, owner, 'quack 108999')).ids, [other]);
    await check(t, restored);
  });

  t.test('follows messages written while the service ran without it', async (t) => {
    const { dataDir } = prepare(t);
    const service = await again(t, dataDir);
    await service.patch('/widget/visitor', { name: 'Rosalind' }, customer.token);
    await service.post(`/conversations/${id}/status`, { status: 'pending' }, owner.token);
    for (let index = 0; index < 20; index += 1) await service.chat(owner, `A late wombat number ${index}.`);
    await service.stop();
    const later = await again(t, dataDir);
    t.equal((await search(later, owner, 'wombat')).total, 20);
    t.same((await search(later, owner, 'rosalind gambit')).ids, [id]);
    t.equal((await search(later, owner, 'ottoline')).total, 0);
    t.equal((await later.get('/conversations/search?q=gambit&status=pending', owner.token)).body.total, 1);
    await check(t, later);
  });

  t.test('of a workspace whose file is damaged is no way in', async (t) => {
    const { dataDir } = prepare(t);
    const file = join(dataDir, 'workspaces', `${owner.workspaceId}.db`);
    const bytes = readFileSync(file);
    bytes.fill(0xff, 4096 * 60, bytes.length);
    writeFileSync(file, bytes);
    rmSync(indexPath(dataDir, owner));
    const service = await again(t, dataDir);
    t.match(await service.get('/conversations/search?q=gambit', owner.token), {
      status: 503,
      body: { error: 'service_unavailable' },
    });
    t.equal((await search(service, neighbour, 'ibex')).total, 1, 'the others go on');
  });
});

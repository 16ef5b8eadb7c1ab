// A short `npm run soak`, and that it detects what it checks for.

import { once } from 'node:events';
import { createServer } from 'node:http';
import t from 'tap';
import { type WebSocket, WebSocketServer } from 'ws';
import { Desk } from '../soak/desk.ts';
import { Ledger } from '../soak/ledger.ts';
import { growthOf, planLives } from '../soak/plan.ts';
import { runSoak } from '../soak/soak.ts';
import { tempFolder } from '../support/folder.ts';
import { Line, type Place } from '../support/line.ts';
import { randomFrom } from '../support/seeded.ts';
import { startService } from '../support/service.ts';

// Processes that start, are killed and checked: half a minute, with time to spare on a busy machine.
t.setTimeout(300_000);

t.test(
  '[soak] a short one: killed and stopped, disturbed, sound after each life, and everything stored once',
  async (t) => {
    const { lives, ledger, skipped } = await runSoak(t, {
      seed: 20261122,
      seconds: 10,
      size: { agents: 2, customers: 8 },
      thinkMs: 50,
      folder: tempFolder(t),
      onLine: (line) => t.comment(line),
    });
    for (const line of skipped) t.comment(`skipped: ${line}`);
    t.same(ledger.surprises, []);
    t.same(
      lives.map(({ wrong }) => wrong),
      lives.map(() => ''),
    );
    t.same(
      lives.map(({ end }) => end),
      ['kill', 'kill', 'stop'],
    );
    for (const what of ['messages', 'chats', 'events received', 'resumed sockets']) t.ok(ledger.of(what) > 0, what);
    if (skipped.length === 0)
      for (const fault of ['full disk', 'slow disk'])
        t.ok(
          lives.some(({ faults }) => faults.some((one) => one.endsWith(fault))),
          fault,
        );
  },
);

t.test('[soak] the same seed plans the same lives, each with every fault that the machine can have', async (t) => {
  const plan = (seed: number, canFill: boolean) =>
    planLives({ random: randomFrom(seed), seconds: 600, canFill, canSlow: true });
  t.same(plan(3, true), plan(3, true));
  t.not(JSON.stringify(plan(3, true)), JSON.stringify(plan(4, true)));
  for (let seed = 0; seed < 20; seed += 1) {
    const lives = plan(seed, true);
    t.same(
      new Set(lives.flatMap(({ faults }) => faults.map(({ kind }) => kind))),
      new Set(['dropped sockets', 'clock forward', 'clock back', 'full disk']),
    );
    t.ok(lives.some(({ isDiskSlow }) => isDiskSlow) && lives.some(({ end }) => end === 'kill'));
    t.ok(lives.every(({ faults, seconds }) => faults.every(({ atMs }) => atMs < seconds * 1000)));
    t.ok((lives.at(-1)?.readings.length ?? 0) >= 6);
    t.notOk(plan(seed, false).some(({ faults }) => faults.some(({ kind }) => kind === 'full disk')));
  }
});

t.test('[soak] growing and steady memory are distinguished', async (t) => {
  const readings = (...mb: number[]) => mb.map((one, index) => ({ seconds: index, mb: one, messages: 0 }));
  t.equal(growthOf(readings(100, 101)), undefined);
  t.ok((growthOf(readings(150, 156, 151, 153, 152, 180, 151)) ?? 1) < 0.05, 'one reading says nothing');
  t.ok((growthOf(readings(150, 152, 154, 156, 158, 160, 162, 164)) ?? 0) > 0.05);
});

t.test('[soak] the comparison finds lost, changed, duplicate, misordered and unknown data', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const ledger = new Ledger();
  const customer = await service.customer(owner.embedId);
  const first = ledger.newText('Kim');
  const { conversation, message } = (await service.post('/widget/conversations', { body: first }, customer.token)).body;
  ledger.message(conversation.id, 'Kim', message);
  const say = async (body: string) =>
    (await service.post(`/widget/conversations/${conversation.id}/messages`, { body }, customer.token)).body;
  ledger.message(conversation.id, 'Kim', await say(ledger.newText('Kim')));
  const found = async (): Promise<string[]> => {
    const from = ledger.surprises.length;
    await ledger.compare({ url: service.url, token: owner.token }, { everything: true });
    return ledger.surprises.slice(from);
  };
  t.same(await found(), []);

  const [third, fourth] = [await say(ledger.newText('Kim')), await say(ledger.newText('Kim'))];
  ledger.message(conversation.id, 'Kim', fourth);
  ledger.message(conversation.id, 'Kim', third);
  t.match(await found(), [/what Kim wrote is in another order/]);
  await say('Nobody says this.');
  t.match(await found(), [/no one sent “Nobody says this\.”/, /another order/]);
  await say(first);
  t.match((await found())[0], /what was sent once is there twice/);
  ledger.message(conversation.id, 'Ann', {
    id: '0198f2a0-0000-7000-8000-000000000000',
    body: 'gone',
    createdAt: 'never',
  });
  t.ok((await found()).some((one) => one.includes('the acknowledged message “gone” is lost')));
  ledger.message(conversation.id, 'Bob', { ...message, body: 'other' });
  t.match(ledger.surprises.at(-1), /was acknowledged twice/);
  const later = new Ledger();
  later.note(conversation.id, { id: '0198f2a0-0000-7000-8000-000000000000', body: 'a note' });
  later.upload('/api/v1/files/none', new Uint8Array(3));
  await later.compare({ url: service.url, token: owner.token }, { everything: true });
  t.ok(later.surprises.some((one) => one.includes('the acknowledged note “a note” is lost')));
  t.ok(later.surprises.some((one) => one.includes('the upload /api/v1/files/none is lost (404)')));
});

t.test('[soak] a line detects missing, repeated and restarted events, and resumes where it was', async (t) => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  t.teardown(() => server.close());
  const met: { socket: WebSocket; query: string }[] = [];
  let wake = (): void => {};
  server.on('connection', (socket, { url = '' }) => {
    met.push({ socket, query: url });
    socket.send(JSON.stringify({ type: 'ready', seq: 7 }));
    wake();
  });
  const connections = async (count: number) => {
    while (met.length < count) await new Promise<void>((resolve) => (wake = resolve));
    return met[count - 1] ?? { socket: undefined, query: '' };
  };
  const address = server.address();
  const host: Place = { isUp: true, url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}` };
  const ledger = new Ledger();
  const line = new Line({ host, ledger, namespace: 'agent', token: 'x', seesEverything: true });
  const first = await connections(1);
  for (const seq of [8, 9]) first.socket?.send(JSON.stringify({ type: 'note.created', seq }));
  await line.reaches(9);
  t.same(ledger.surprises, []);
  first.socket?.terminate();
  const second = await connections(2);
  t.equal(second.query, '/agent?since=9');
  for (const seq of [10, 12, 12, 13]) second.socket?.send(JSON.stringify({ type: 'note.created', seq }));
  await line.reaches(13);
  t.same(ledger.surprises, ['event 12 arrived after 10, without those between', 'event 12 arrived after 12']);
  second.socket?.send(JSON.stringify({ type: 'resync', seq: 20 }));
  await line.reaches(20);
  t.match(ledger.surprises.at(-1), /was told to start over/);
  second.socket?.close(4401);
  await connections(3);
  t.match(ledger.surprises.at(-1), /closed with 4401/);
  line.close();
});

t.test('[soak] an answer outside of the rules is a surprise; a full disk is one only when there is room', async (t) => {
  let status = 500;
  const server = createServer((_, response) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end('{}'),
  );
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => void server.close());
  const address = server.address();
  const ledger = new Ledger();
  const desk = new Desk({
    host: { isUp: true, url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}` },
    ledger,
    thinkMs: 1,
  });
  const surprisesOf = async (answered: number): Promise<number> => {
    const before = ledger.of('surprises');
    status = answered;
    await desk.call('GET', '/me');
    return ledger.of('surprises') - before;
  };
  for (const answered of [400, 401, 404, 429, 500, 503]) t.equal(await surprisesOf(answered), 1, `${answered}`);
  for (const answered of [200, 403, 409, 422]) t.equal(await surprisesOf(answered), 0, `${answered}`);
  desk.expectTrouble();
  t.equal(await surprisesOf(503), 0);
  t.equal(await surprisesOf(500), 1, 'trouble excuses nothing else');
  server.closeAllConnections();
});

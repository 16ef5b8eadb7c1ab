import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { ManualClock } from '../support/manual-clock.ts';
import { randomFrom } from '../support/seeded.ts';
import { password, type Service, startService } from '../support/service.ts';
import type { Frame, TestSocket } from '../support/socket.ts';

const dayMs = 24 * 3600_000;
const seqs = (frames: readonly Frame[]): number[] => frames.map((frame) => frame.seq ?? -1);
const upTo = (last: number, first = 1): number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);

/** Reads up to the event with this number; later ones stay queued. */
async function readTo(socket: TestSocket, seq: number): Promise<Frame[]> {
  if (seq > 0)
    await socket.until((frame) => frame.type !== 'ready' && frame.type !== 'resync' && (frame.seq ?? 0) >= seq);
  return socket.numbered;
}

const newestSeq = (service: Service, workspaceId: string): number =>
  service.running.services.engine.workspace(workspaceId)?.publishedSeq ?? 0;

t.test('coming back with since', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const chat = await service.chat(owner);
  const say = (body: string) => service.post(`/conversations/${chat.id}/messages`, { body }, owner.token);
  const newest = () => newestSeq(service, owner.workspaceId);

  t.test("[6] since in the query, in the auth frame, or in both: the frame's counts", async (t) => {
    for (let count = 0; count < 5; count += 1) await say(String(count));
    const last = newest();
    const byQuery = await service.agentSocket(owner.token, { since: last - 3 });
    t.strictSame(seqs(await readTo(byQuery, last)), upTo(last, last - 2));
    t.equal(byQuery.frames[0]?.['seq'], last - 3, 'ready names the number after which events follow');
    const byFrame = async (query: string, since: unknown) => {
      const socket = service.socket('agent', { query });
      await socket.opened();
      socket.send({ type: 'auth', token: owner.token, since });
      await socket.next('ready');
      return socket;
    };
    t.strictSame(seqs(await readTo(await byFrame('', last - 2), last)), upTo(last, last - 1));
    t.strictSame(seqs(await readTo(await byFrame(`?since=${last - 4}`, undefined), last)), upTo(last, last - 3));
    t.strictSame(seqs(await readTo(await byFrame(`?since=${last - 4}`, last - 1), last)), [last]);
  });

  t.test('[6] without since only later events; with the newest, nothing twice', async (t) => {
    const fresh = await service.agentSocket(owner.token);
    const current = await service.agentSocket(owner.token, { since: newest() });
    t.equal(fresh.frames[0]?.['seq'], newest());
    await say('live');
    for (const socket of [fresh, current]) {
      await readTo(socket, newest());
      t.strictSame(seqs((await socket.flushed()).filter((frame) => frame.type === 'message.created')), [newest()]);
    }
  });

  t.test('[decisions] beyond the newest, or no number at all: resync, then live events', async (t) => {
    for (const since of [
      String(newest() + 1),
      '999999999999',
      '-1',
      '1.5',
      'x',
      '',
      '9'.repeat(30),
      '1e1',
      ' 1',
      '0x1',
    ]) {
      const socket = service.socket('agent', {
        query: `?since=${encodeURIComponent(since)}`,
        protocols: ['messaging.v1', `bearer.${owner.token}`],
      });
      t.strictSame(await socket.next('resync'), { type: 'resync', seq: newest() }, JSON.stringify(since));
      t.strictSame(socket.numbered, []);
      await say('after');
      t.strictSame(seqs(await readTo(socket, newest())), [newest()]);
      await socket.close();
    }
    for (const since of [newest() + 1, -1, 1.5, 'x', true, [1], {}]) {
      const socket = service.socket('agent');
      await socket.opened();
      socket.send({ type: 'auth', token: owner.token, since });
      t.strictSame(await socket.next('resync'), { type: 'resync', seq: newest() }, JSON.stringify(since));
      await socket.close();
    }
  });

  t.test('[6] more than a page of missed events, all of them and in order', async (t) => {
    const from = newest();
    await Promise.all(Array.from({ length: 650 }, (_, index) => say(String(index))));
    const last = newest();
    t.equal(last, from + 650);
    for (const since of [0, from, from + 1, from + 200, from + 449, from + 450]) {
      const socket = await service.agentSocket(owner.token, { since });
      t.strictSame(seqs(await readTo(socket, last)), upTo(last, since + 1), `since ${since}`);
      await socket.close();
    }
  });

  t.test('[6] while events are being written: no gap, none twice, in order', async (t) => {
    let isWriting = true;
    const writing = (async () => {
      for (let round = 0; isWriting; round += 1)
        await Promise.all(Array.from({ length: 20 }, (_, index) => say(`${round}.${index}`)));
    })();
    const sockets: TestSocket[] = [];
    for (let count = 0; count < 8; count += 1) {
      sockets.push(await service.agentSocket(owner.token, { since: 0 }));
      await say('between');
    }
    for (const socket of sockets) await readTo(socket, newest());
    isWriting = false;
    await writing;
    const last = newest();
    for (const socket of sockets) t.strictSame(seqs(await readTo(socket, last)), upTo(last));
    await Promise.all(sockets.map((socket) => socket.close()));
  });

  t.test('[6] property: a reconnecting client receives every event once, in order', async (t) => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const random = randomFrom(seed);
      const start = newest();
      let since = start;
      const seen: number[] = [];
      for (let round = 0; round < 12; round += 1) {
        const socket = await service.agentSocket(owner.token, { since });
        const writes = Array.from({ length: random.below(30) }, (_, index) =>
          random.below(4) === 0
            ? service.post(`/conversations/${chat.id}/notes`, { body: String(index) }, owner.token)
            : say(String(index)),
        );
        const wait = random.below(3);
        if (wait > 0) await Promise.all(writes);
        if (wait > 1) await readTo(socket, newest());
        if (random.below(2) === 0) socket.tear();
        else void socket.close();
        await socket.closed;
        seen.push(...seqs(socket.numbered));
        since = socket.lastSeq;
        await Promise.all(writes);
      }
      const socket = await service.agentSocket(owner.token, { since });
      if (newest() > since) seen.push(...seqs(await readTo(socket, newest())));
      t.strictSame(seen, upTo(newest(), start + 1), `seed ${seed}`);
      await socket.close();
    }
  });

  t.test('[6] long messages: a normal consumer does not count as slow, however much it missed', async (t) => {
    const from = newest();
    const long = '<'.repeat(10_000);
    for (let round = 0; round < 10; round += 1) await Promise.all(Array.from({ length: 20 }, () => say(long)));
    const socket = await service.agentSocket(owner.token, { since: from });
    const frames = await readTo(socket, from + 200);
    t.strictSame(seqs(frames), upTo(from + 200, from + 1));
    t.ok(JSON.stringify(frames).length > 8 * 1024 * 1024, 'eight times the backlog that is allowed');
  });

  t.test('[6] a customer gets what it missed of its own conversations, however much happened elsewhere', async (t) => {
    const mine = await service.chat(owner, 'mine');
    const first = await service.visitorSocket(mine.customer.token);
    await first.close();
    const tell = (body: string) => service.post(`/conversations/${mine.id}/messages`, { body }, owner.token);
    for (let round = 0; round < 3; round += 1) {
      await tell(`mine ${round}`);
      await Promise.all(Array.from({ length: 250 }, () => say('not mine')));
    }
    const back = await service.visitorSocket(mine.customer.token, { since: first.lastSeq });
    await back.until((frame) => frame.data?.message?.body === 'mine 2');
    await back.flushed();
    t.strictSame(
      back.numbered.map((frame) => frame.data.message.body),
      ['mine 0', 'mine 1', 'mine 2'],
    );
    await tell('live');
    t.equal((await back.until((frame) => frame.data?.message?.body === 'live')).type, 'message.created');
    const all = await service.visitorSocket(mine.customer.token, { since: 0 });
    await all.until((frame) => frame.data?.message?.body === 'live');
    t.strictSame(
      all.numbered.map((frame) => frame.data.message?.body),
      ['mine', 'mine 0', 'mine 1', 'mine 2', 'live'],
    );
    t.strictSame(
      await service
        .socket('visitor', {
          query: `?since=${newest() + 1}`,
          protocols: ['messaging.v1', `bearer.${mine.customer.token}`],
        })
        .next('resync'),
      { type: 'resync', seq: newest() },
    );
  });

  t.test('[6] missed events are those visible on reconnecting', async (t) => {
    const sales = (await service.post('/departments', { name: 'Sales' }, owner.token)).body.id;
    const inside = await service.agent(owner, { channels: ['chats'], groupIds: [sales] });
    const outside = await service.agent(owner, { channels: ['chats'], groupIds: [sales] });
    await service.post(`/conversations/${chat.id}/assign-to-department`, { departmentId: sales }, owner.token);
    const since = newest();
    await service.patch(`/agents/${outside.agentId}`, { groupIds: [] }, owner.token);
    await say('for Sales');
    const [seller, guest] = [
      await service.agentSocket(inside.token, { since }),
      await service.agentSocket(outside.token, { since }),
    ];
    await seller.until((frame) => frame.data?.message?.body === 'for Sales');
    await guest.flushed();
    await guest.flushed();
    t.notOk(guest.events.includes('message.created'));
    t.ok(guest.events.includes('agent.updated'), 'the rest it may see');
  });
});

t.test('[6] coming back after a restart of the service', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const clock = new ManualClock();
  const first = await startService(t, { dataDir, clock });
  const owner = await first.workspace();
  const chat = await first.chat(owner);
  const [agent, customer] = [await first.agentSocket(owner.token), await first.visitorSocket(chat.customer.token)];
  await first.post(`/conversations/${chat.id}/messages`, { body: 'before' }, owner.token);
  await agent.next('message.created');
  await customer.next('message.created');
  await customer.close();
  await first.post(`/conversations/${chat.id}/messages`, { body: 'missed by the customer' }, owner.token);
  await agent.next('message.created');
  await first.stop();
  t.match(await agent.closed, { code: 1012 });

  const second = await startService(t, { dataDir, clock });
  await second.post(`/conversations/${chat.id}/messages`, { body: 'missed by both' }, owner.token);
  const [agentBack, customerBack] = [
    await second.agentSocket(owner.token, { since: agent.lastSeq }),
    await second.visitorSocket(chat.customer.token, { since: customer.lastSeq }),
  ];
  await second.post(`/conversations/${chat.id}/messages`, { body: 'live' }, owner.token);
  await agentBack.until((frame) => frame.data?.message?.body === 'live');
  await customerBack.until((frame) => frame.data?.message?.body === 'live');
  t.strictSame(
    agentBack.numbered.map((frame) => [frame.seq, frame.data.message.body]),
    [
      [agent.lastSeq + 1, 'missed by both'],
      [agent.lastSeq + 2, 'live'],
    ],
  );
  t.strictSame(
    customerBack.numbered.map((frame) => frame.data.message.body),
    ['missed by the customer', 'missed by both', 'live'],
  );
});

t.test('[6] events older than seven days are no longer stored: resync', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const chat = await service.chat(owner);
  const old = newestSeq(service, owner.workspaceId);
  await service.pass(6 * dayMs);
  const { token } = (await service.post('/auth/login', { email: owner.email, password })).body;
  await service.post(`/conversations/${chat.id}/messages`, { body: 'young' }, token);
  const young = newestSeq(service, owner.workspaceId);
  const kept = await service.agentSocket(token, { since: 0 });
  t.strictSame(seqs(await readTo(kept, young)), upTo(young), 'six days are kept');
  await service.pass(2 * dayMs);
  for (const since of [0, old - 1]) {
    const socket = service.socket('agent', {
      query: `?since=${since}`,
      protocols: ['messaging.v1', `bearer.${token}`],
    });
    t.strictSame(await socket.next('resync'), { type: 'resync', seq: young }, `since ${since}`);
    await socket.flushed();
    t.strictSame(socket.numbered, []);
  }
  const socket = await service.agentSocket(token, { since: young - 1 });
  t.strictSame(seqs(await readTo(socket, young)), [young], 'newer ones are sent');
  await service.pass(25 * dayMs);
  const last = (await service.post('/auth/login', { email: owner.email, password })).body.token;
  await service.post(`/conversations/${chat.id}/messages`, { body: 'after a long silence' }, last);
  const after = await service.agentSocket(last, { since: young });
  t.strictSame(
    seqs(await readTo(after, young + 1)),
    [young + 1],
    'the count continues from the last number, however long ago',
  );
});

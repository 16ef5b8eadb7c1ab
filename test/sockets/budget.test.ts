// The costs of a socket besides its calls, which have their own budget. Limits are on.

import t from 'tap';
import { FrameBudget } from '../../http/limits/frame-budget.ts';
import { idOfCall } from '../../http/sockets/frames.ts';
import { startService } from '../support/service.ts';

const minute = 60_000;

t.test(
  'frames other than calls are counted: a socket that sends too many is closed with 4429, and can start again a minute later',
  async (t) => {
    const service = await startService(t);
    const owner = await service.workspace();
    const chat = await service.chat(owner);
    for (const open of [() => service.agentSocket(owner.token), () => service.visitorSocket(chat.customer.token)]) {
      const socket = await open();
      const pongs = (): number => socket.frames.filter(({ type }) => type === 'pong').length;
      for (let sent = 0; sent < 1200; sent += 1) socket.send({ type: 'ping' });
      await socket.until(() => pongs() === 1200);
      service.clock.advance(minute);
      for (let sent = 0; sent < 1300; sent += 1) socket.send({ type: 'ping' });
      t.match(await socket.closed, { code: 4429, reason: 'too many frames; reconnect later' });
      t.equal(pongs(), 2400);
      service.clock.advance(minute);
      await (await open()).flushed();
    }
  },
);

t.test('bytes are counted, too', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const socket = await service.agentSocket(owner.token);
  for (let sent = 0; sent < 257; sent += 1) socket.send(`{"type":"ping","x":"${'x'.repeat(64 * 1024 - 22)}"}`);
  t.match(await socket.closed, { code: 4429 });
  t.equal(socket.frames.filter(({ type }) => type === 'pong').length, 256, '16 MiB');
});

t.test('a client that keeps sending malformed frames is closed', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const socket = await service.agentSocket(owner.token);
  for (const frame of ['x', '[', '{}', '{"type":"call"}', Buffer.from('x')])
    for (let sent = 0; sent < 12; sent += 1) socket.send(frame);
  await socket.until(() => socket.frames.filter(({ type }) => type === 'error').length === 60);
  socket.send('x');
  t.match(await socket.closed, { code: 4429, reason: 'too many malformed frames' });
});

t.test('one with too many values counts as ten', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const socket = await service.agentSocket(owner.token);
  for (let sent = 0; sent < 6; sent += 1) socket.send('['.repeat(100));
  await socket.until(() => socket.frames.filter(({ type }) => type === 'error').length === 6);
  socket.send('x');
  t.match(await socket.closed, { code: 4429, reason: 'too many malformed frames' });
});

t.test('and so is the eleventh socket of a network that does, at its first', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  for (let opened = 0; opened < 10; opened += 1) {
    const socket = await service.agentSocket(owner.token);
    for (let sent = 0; sent < 60; sent += 1) socket.send('x');
    await socket.until(() => socket.frames.filter(({ type }) => type === 'error').length === 60);
    await socket.close();
  }
  const last = await service.agentSocket(owner.token);
  await last.flushed();
  last.send('x');
  t.match(await last.closed, { code: 4429 });
  service.clock.advance(minute);
  const later = await service.agentSocket(owner.token);
  later.send('x');
  await later.next('error');
  await later.flushed();
});

t.test('[8] a call over the limit is refused without being parsed, with its id if that is at the front', async (t) => {
  const service = await startService(t, { env: { RATE_LIMIT_PER_MINUTE: '3' } });
  const owner = await service.workspace();
  service.clock.advance(minute);
  const socket = await service.agentSocket(owner.token);
  const pad = 'x'.repeat(2000);
  // Not JSON after its beginning: only a server that does not parse it can answer with its id.
  const unsound = (id: string): string => `{"type":"call","id":${id},"method":"settings.read","params":{"pad":"${pad}`;
  for (let sent = 0; sent < 3; sent += 1) t.equal((await socket.call('businessHours.list')).status, 200);
  socket.send(unsound('"mine"'));
  t.match(await socket.until(({ id }) => id === 'mine'), {
    status: 429,
    body: { error: 'rate_limited', retryAfter: 60 },
  });
  socket.send(`{"params":{"id":7},${unsound('7').slice(1)}`);
  t.match(await socket.next('error'), { error: 'rate_limited' });
  t.match(await socket.call('businessHours.list', { pad }), { status: 429 });
  t.match(await socket.call('businessHours.list'), { status: 429 }, 'a short one is read and refused');
  service.clock.advance(minute);
  socket.send(unsound('8'));
  t.match(await socket.next('error'), { error: 'invalid_body' }, 'when there is something left it is read');
  t.match(await socket.call('businessHours.list', { pad }), { status: 200 });
});

t.test('only an id at the front counts as one', async (t) => {
  for (const [text, id] of [
    ['{"id":1,"type":"call"', 1],
    [' { "type" : "call" , "method":"a.b", "id" : "x-1" , "params"', 'x-1'],
    ['{"method":"a","type":"call","id":-5}', -5],
    ['{"params":{"id":1}', undefined],
    ['{"type":"call","params":{},"id":1}', undefined],
    ['{"type":"call","id":1.5,', undefined],
    ['{"type":"call","id":"a\\"b",', undefined],
    [`{"type":"call","id":"${'x'.repeat(101)}",`, undefined],
    [`${' '.repeat(500)}{"id":1,`, undefined],
    ['[{"id":1,', undefined],
  ] as const) {
    t.equal(idOfCall(Buffer.from(text)), id, text.slice(0, 40));
  }
});

t.test(
  'a network has a thousand sockets and opens six hundred in a minute; its spending does not end with its sockets',
  async (t) => {
    let nowMs = 0;
    const budget = new FrameBudget({ now: () => nowMs }, { isOn: true, callsPerMinute: 600, maxSockets: 1000 });
    const opened = Array.from({ length: 700 }, () => budget.open('a'));
    t.equal(opened.filter((one) => one !== undefined).length, 600);
    t.ok(budget.open('b'), 'another network has its own');
    for (const one of opened) if (one !== undefined) budget.close(one);
    t.equal(budget.open('a'), undefined, 'closing them gives nothing back');
    nowMs += minute;
    const again = Array.from({ length: 600 }, () => budget.open('a'));
    nowMs += minute;
    const more = Array.from({ length: 600 }, () => budget.open('a'));
    t.equal([...again, ...more].filter((one) => one !== undefined).length, 1000);

    const [one] = again;
    if (one === undefined) throw new Error('not opened');
    nowMs += minute;
    let taken = 0;
    for (const socket of again)
      for (let frame = 0; socket !== undefined && frame < 30; frame += 1) if (budget.take(socket, 1)) taken += 1;
    t.equal(taken, 12_000, 'all sockets of a network together');

    const free = new FrameBudget({ now: () => nowMs }, { isOn: false, callsPerMinute: 600, maxSockets: 1000 });
    t.equal(
      Array.from({ length: 2000 }, () => free.open('a')).filter((socket) => socket !== undefined).length,
      2000,
      'without limits',
    );
    const large = new FrameBudget({ now: () => nowMs }, { isOn: true, callsPerMinute: 60_000, maxSockets: 1000 });
    const socket = large.open('a');
    t.ok(
      socket !== undefined && Array.from({ length: 50_000 }, () => large.take(socket, 1)).every(Boolean),
      'callers with a higher limit can send more',
    );

    for (let index = 0; index < 20_000; index += 1) {
      const passing = budget.open(`n${index}`);
      if (passing !== undefined) budget.close(passing);
    }
    t.ok(budget.size <= 10_001);
  },
);

t.test('networks without sockets are forgotten, however many others stay', async (t) => {
  const budget = new FrameBudget({ now: () => 0 }, { isOn: true, callsPerMinute: 600, maxSockets: 1000 });
  for (let stays = 0; stays < 100; stays += 1) t.ok(budget.open(`stays ${stays}`));
  for (let comes = 0; comes < 12_000; comes += 1) {
    const one = budget.open(`comes ${comes}`);
    if (one === undefined) throw new Error('not opened');
    budget.close(one);
  }
  // The hundred before the first evictable one may take some rounds.
  t.ok(budget.size <= 10_010, `${budget.size} are remembered`);
  t.equal(budget.open('stays 0')?.network, 'stays 0');
});

import t from 'tap';
import { FairTurns } from '../../http/limits/fair-turns.ts';
import { HeldBytes, NetworkRoom } from '../../http/limits/held-bytes.ts';
import { headOf, type RawAnswer, RawClient } from '../support/raw-http.ts';
import { startService } from '../support/service.ts';

/** A loop whose turns the test runs, and a time that only work advances. */
function loop() {
  let nowMs = 0;
  const next: (() => void)[] = [];
  const done: string[] = [];
  const turns = new FairTurns({ now: () => nowMs, nextTurn: (call) => void next.push(call) });
  const come = (network: string, name: string, ms: number): void => {
    const work = (): void => {
      nowMs += ms;
      done.push(name);
    };
    if (turns.isFree(nowMs)) work();
    else turns.wait(network, work);
  };
  return {
    done,
    come,
    turn: (): void => next.splice(0).forEach((call) => call()),
    isOver: (): boolean => next.length === 0,
  };
}

t.test('while the turn is short, requests run immediately, in order', async (t) => {
  const { done, come, turn, isOver } = loop();
  for (const name of ['a1', 'b1', 'a2']) come(name.slice(0, 1), name, 3);
  t.same(done, ['a1', 'b1', 'a2']);
  turn();
  t.ok(isOver(), 'and no one is woken again in vain');
  come('a', 'a3', 3);
  t.same(done.at(-1), 'a3', 'the next turn is a short one again');
});

t.test('behind a long turn networks alternate, and the one that sends most waits longest', async (t) => {
  const { done, come, turn, isOver } = loop();
  for (let index = 1; index <= 20; index += 1) come('flood', `f${index}`, 4);
  t.same(done, ['f1', 'f2', 'f3'], 'twelve milliseconds of it');
  come('kim', 'k1', 1);
  come('kim', 'k2', 1);
  come('lee', 'l1', 1);
  turn();
  t.same(done.slice(3), ['f4', 'k1', 'l1', 'f5']);
  come('pat', 'p1', 1);
  t.notOk(done.includes('p1'), 'later ones do not overtake');
  turn();
  t.same(done.slice(7), ['k2', 'f6', 'p1', 'f7']);
  for (let rounds = 0; !isOver(); rounds += 1) t.ok(rounds < 20 && (turn(), true));
  t.same(
    done.filter((name) => name.startsWith('f')),
    Array.from({ length: 20 }, (_, index) => `f${index + 1}`),
    "everything is done, each network's in its order",
  );
});

t.test('a network can hold 32 MiB, all together 128, and released memory can be used again', async (t) => {
  const mebibyte = 1024 * 1024;
  const held = new HeldBytes();
  t.equal(held.reserve('a', 32 * mebibyte), true);
  t.equal(held.reserve('a', 1), false);
  for (const network of ['b', 'c', 'd']) t.equal(held.reserve(network, 32 * mebibyte), true);
  t.equal(held.reserve('e', 1), false, 'there is no room for anyone');
  held.release('a', 2);
  t.equal(held.reserve('e', 1), true);
  t.equal(held.reserve('a', 2), false);
  let asked = 0;
  const room = new NetworkRoom(held, () => `a${(asked += 1)}`.slice(0, 1));
  t.equal(room.reserve(1), true);
  t.equal(room.reserved, 1);
  room.releaseAll();
  room.releaseAll();
  t.equal(held.of('a'), 32 * mebibyte - 2);
  t.equal(asked, 1, 'the network is looked up once');
  for (const network of ['b', 'c', 'd']) held.release(network, 32 * mebibyte);
  held.release('a', 32 * mebibyte - 2);
  held.release('e', 1);
  t.equal(held.all, 0);
});

t.test('endless bodies: each network has a limited room for them, and further ones are told to wait', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const { port } = service.running;
  const Authorization = `Bearer ${owner.token}`;
  const most = 'x'.repeat(1024 * 1024 - 1);
  const clients = await Promise.all(Array.from({ length: 40 }, () => RawClient.open(t, port)));
  for (const client of clients)
    client.write(headOf('POST', '/api/v1/me/status', { Authorization, 'Content-Length': 1024 * 1024 }) + most);
  // Those that wait for the rest of their bodies get no answer yet.
  const refused: RawAnswer[] = [];
  await new Promise<void>((resolve) => {
    for (const client of clients) {
      client.answer().then(
        (answer) => refused.push(answer) === 8 && resolve(),
        () => undefined,
      );
    }
  });
  for (const answer of refused)
    t.match(answer, {
      status: 429,
      headers: { 'retry-after': '1', connection: 'close' },
      body: { error: 'rate_limited', retryAfter: 1 },
    });
  t.equal(
    (await service.post('/me/status', { status: 'away' }, owner.token)).status,
    200,
    'a short body needs no room',
  );
  for (const client of clients) client.destroy();
});

t.test('requests that wait for their turn are answered, each with its own', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const chat = await service.chat(owner);
  // A body takes a while to read, so the turn is over long before all have arrived.
  const padding = Array.from({ length: 9000 }, (_, index) => ({ [`field${index}`]: 1 }));
  const texts = Array.from({ length: 200 }, (_, index) => `text ${index}`);
  const answers = await Promise.all(
    texts.map((body) => service.post(`/conversations/${chat.id}/messages`, { body, padding }, owner.token)),
  );
  t.same(
    answers.map(({ status, body }) => `${status} ${body.body}`),
    texts.map((text) => `201 ${text}`),
  );
});

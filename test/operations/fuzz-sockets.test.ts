// Hostile socket sessions of a fixed seed, and by name those that once found a bug.

import t from 'tap';
import { fuzzSockets } from '../fuzz/sockets.ts';
import { encoded, Wire } from '../fuzz/wire.ts';
import { World } from '../fuzz/world.ts';
import { startService } from '../support/service.ts';

const seed = 20261121;

t.test('whatever a socket is sent, it answers as declared or is closed as declared', async (t) => {
  const world = await World.start(t, { seed });
  const { failure, sessions, replies } = await fuzzSockets(world, { seed, runs: 40 });
  t.equal(failure, undefined);
  t.equal(sessions, 40);
  t.ok(replies > 10, `${replies} replies`);
  t.same(await world.close(), []);
});

t.test('past findings', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();

  t.test(
    '[6] a call is named by a text or a whole number; by another number, which JSON may not give back, it is not done',
    async (t) => {
      const socket = await service.agentSocket(owner.token);
      for (const id of ['1.5', '1e999', '-1e999', 'null', '{}', '[1]', 'true']) {
        socket.send(`{"type":"call","id":${id},"method":"me.read"}`);
        t.match(await socket.next('error'), { error: 'invalid_body' }, id);
      }
      for (const id of ['1', '"x"', '""', '-1', '9007199254740992']) {
        socket.send(`{"type":"call","id":${id},"method":"me.read"}`);
        t.match(await socket.next('reply'), { id: JSON.parse(id), status: 200 }, id);
      }
    },
  );
});

t.test('the wire', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const signal = AbortSignal.timeout(20_000);
  const open = (): Promise<Wire> =>
    Wire.open(`${service.url}/agent`, { 'Sec-WebSocket-Protocol': `messaging.v1, bearer.${owner.token}` }, signal);

  t.test('a ping in two fragments is one', async (t) => {
    const wire = await open();
    await wire.until(() => wire.texts.some((text) => text.startsWith('{"type":"ready"')), signal);
    wire.write(encoded({ opcode: 1, payload: Buffer.from('{"type":'), isFinal: false }));
    wire.write(encoded({ opcode: 0, payload: Buffer.from('"ping"}') }));
    await wire.until(() => wire.texts.includes('{"type":"pong"}'), signal);
    t.equal(wire.closeCode, undefined);
    wire.end();
  });

  t.test('violations of RFC 6455 end the connection', async (t) => {
    for (const bytes of [
      encoded({ opcode: 3, payload: Buffer.from('x') }),
      encoded({ opcode: 1, payload: Buffer.from('x'), reserved: 4 }),
      encoded({ opcode: 1, payload: Uint8Array.of(0xff) }),
      encoded({ opcode: 9, payload: Buffer.alloc(126) }),
    ]) {
      const wire = await open();
      wire.write(bytes);
      await wire.until(() => false, signal);
      t.ok([1002, 1006, 1007].includes(wire.closeCode ?? 0), `closed with ${wire.closeCode}`);
    }
    await t.rejects(Wire.open(`${service.url}/nothing`, {}, signal), /not upgraded/);
  });
});

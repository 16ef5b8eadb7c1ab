// Concurrent connections, of one address and of all.

import { connect, type Socket } from 'node:net';
import t from 'tap';
import { forwardedAddress } from '../../http/edge/request-head.ts';
import { Connections, mayBeOpen, networksIn } from '../../http/limits/connections.ts';
import { tempFolder } from '../support/folder.ts';
import { ServiceProcess } from '../support/process.ts';
import { headOf } from '../support/raw-http.ts';
import { startService, type Teardown } from '../support/service.ts';

/** A connection from one of the loopback's addresses, which count as separate networks. */
function connectFrom(
  t: Teardown,
  port: number,
  localAddress: string,
): Promise<{ socket: Socket; closed: Promise<void> }> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    t.teardown(() => void socket.destroy());
    const closed = new Promise<void>((done) => socket.on('close', () => done()));
    socket.on('error', () => {
      // Reset by the service; the close event follows.
    });
    socket.on('connect', () => resolve({ socket, closed }));
  });
}

/** The status of a request over it; undefined if it is closed instead. */
function ask({ socket, closed }: { socket: Socket; closed: Promise<void> }): Promise<number | undefined> {
  socket.write(headOf('GET', '/healthz', {}));
  return Promise.race([
    new Promise<number>((resolve) => socket.once('data', (chunk) => resolve(Number(String(chunk).split(' ')[1])))),
    closed.then(() => undefined),
  ]);
}

t.test(
  'the connections of one address are limited; others are not affected, and a closed one makes room',
  { skip: process.platform !== 'linux' && 'the kernel does not say whose connections there are' },
  async (t) => {
    const service = await startService(t, { env: { MAX_CONNECTIONS_PER_NETWORK: '20' } });
    const { port } = service.running;
    const first = [];
    for (let index = 0; index < 20; index += 1) first.push(await connectFrom(t, port, '127.0.0.2'));
    for (const one of first) t.equal(await ask(one), 200);
    for (let index = 0; index < 10; index += 1) {
      const more = await connectFrom(t, port, '127.0.0.2');
      t.equal(await ask(more), undefined, 'the twenty-first');
    }
    t.equal(await ask(await connectFrom(t, port, '127.0.0.3')), 200, 'another address');
    t.equal((await service.get('//healthz')).status, 200);

    // Also closed by others, so that the number of closed connections alone does not show whose they were.
    const gone = first.slice(0, 5);
    for (const { socket } of gone) socket.end();
    await Promise.all(gone.map(({ closed }) => closed));
    let served = 0;
    // Until the kernel is asked again.
    while (served < 5) if ((await ask(await connectFrom(t, port, '127.0.0.2'))) === 200) served += 1;
    t.equal(served, 5);
  },
);

t.test('sockets count as the connections that they are, and give their place back', async (t) => {
  const service = await startService(t, { env: { MAX_CONNECTIONS_PER_NETWORK: '6' } });
  const owner = await service.workspace();
  for (let round = 0; round < 4; round += 1) {
    const sockets = [
      await service.agentSocket(owner.token),
      await service.agentSocket(owner.token),
      await service.agentSocket(owner.token),
    ];
    for (const socket of sockets) await socket.close();
  }
  t.equal((await service.get('/me', owner.token)).status, 200);
});

t.test(
  'all connections together leave descriptors for files: no one is refused for want of one',
  { skip: process.platform !== 'linux' && 'descriptors are limited otherwise' },
  async (t) => {
    const running = await ServiceProcess.serving(t, { DATA_DIR: tempFolder(t), RATE_LIMITS: 'off' }, [], {
      descriptors: 300,
    });
    const held = await Promise.all(
      Array.from({ length: 280 }, (_, index) => connectFrom(t, running.port, `127.0.1.${index % 10}`)),
    );
    const statuses = await Promise.all(held.map((one) => ask(one)));
    t.equal(statuses.filter((status) => status === 200).length, 150, 'half of the allowed amount');
    const register = JSON.stringify({
      email: 'owner@shop.example',
      password: 'correct horse battery staple',
      workspaceName: 'Shop',
    });
    const [kept] = held.filter((_, index) => statuses[index] === 200);
    if (kept === undefined) throw new Error('none was served');
    kept.socket.write(headOf('POST', '/api/v1/auth/register', { 'Content-Length': register.length }) + register);
    t.match(String(await new Promise((resolve) => kept.socket.once('data', resolve))), 'HTTP/1.1 201 Created');
    for (const { socket } of held) socket.destroy();
    while ((await ask(await connectFrom(t, running.port, '127.0.0.1'))) !== 200);
    t.pass('and there is room again');
  },
);

t.test('the network of a closed connection is unknown: none is refused for it until the kernel is asked', async (t) => {
  let nowMs = 0;
  let truth = new Map<string, number>();
  const asked: (() => void)[] = [];
  const connections = new Connections({
    maxOfNetwork: 3,
    maxOfAll: 100,
    maxNew: undefined,
    now: () => nowMs,
    count: () => new Promise((resolve) => asked.push(() => resolve(truth))),
  });
  const tell = async (): Promise<void> => {
    for (const call of asked.splice(0)) call();
    await new Promise((resolve) => setImmediate(resolve));
    nowMs += 1000;
  };
  for (let index = 0; index < 3; index += 1) t.ok(connections.opened('a'));
  t.equal(asked.length, 0, 'no queue while there is room');
  t.notOk(connections.opened('a'));
  connections.closed('a');
  t.equal(asked.length, 1);
  truth = new Map([['a', 3]]);
  await tell();
  for (let index = 0; index < 3; index += 1) connections.opened('b');
  for (let index = 0; index < 3; index += 1) connections.closed();
  t.ok(connections.opened('a'), 'those three may have been its own');
  truth = new Map([['a', 4]]);
  await tell();
  t.notOk(connections.opened('a'), 'they were not');
  connections.closed('a');
  truth = new Map([['b', 1]]);
  await tell();
  t.ok(connections.opened('a'), 'its own are gone');
  t.equal(connections.open, 5);

  const bounded = new Connections({
    maxOfNetwork: undefined,
    maxOfAll: 5,
    maxNew: undefined,
    now: () => nowMs,
    count: async () => undefined,
  });
  t.same(
    Array.from({ length: 7 }, () => bounded.opened('proxy')),
    [true, true, true, true, true, false, false],
    'behind a proxy only the total counts',
  );
  const quick = new Connections({
    maxOfNetwork: 100,
    maxOfAll: 1000,
    maxNew: 2,
    now: () => nowMs,
    count: async () => undefined,
  });
  t.same(
    [quick.opened('a'), quick.opened('a'), quick.opened('a'), quick.opened('b')],
    [true, true, false, true],
    'new ones within ten seconds',
  );
  nowMs += 10_000;
  t.ok(quick.opened('a'));
  for (let index = 0; index < 45_000; index += 1) {
    quick.opened(`n${index}`);
    quick.closed();
    if (index % 1000 === 0) {
      nowMs += 1000;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  t.ok(quick.size < 31_000, `${quick.size} networks are remembered`);
});

t.test("the kernel's list: addresses in its own order, of open connections to one port", async (t) => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1',
    '   1: 0100007F:1F90 0200007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 2 1',
    '   2: 0100007F:1F90 0201A8C0:C351 08 00000000:00000000 00:00000000 00000000  1000        0 3 1',
    '   3: 0100007F:1F90 0301A8C0:C352 06 00000000:00000000 00:00000000 00000000  1000        0 4 1',
    '   4: 0100007F:1F91 0401A8C0:C353 01 00000000:00000000 00:00000000 00000000  1000        0 5 1',
    '  10: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF00000501A8C0:C354 01 00000000:00000000 00:00000000 00000000  1000        0 6 1',
    ' 100: B80D0120020001000000000001000000:1F90 B80D0120040003000000000005000000:C355 01 00000000:00000000 00:00000000 00000000  1000        0 7 1',
  ].join('\n');
  t.same([...networksIn(table, 8080)], ['127.0.0.2', '192.168.1.2', '192.168.1.5', '2001:db8:3:4::/64']);
  t.equal(
    mayBeOpen('Limit  Soft Limit\nMax open files            300                  300                  files     \n'),
    150,
  );
  t.equal(mayBeOpen('Max open files            1048576              1048576              files'), 50_000);
  t.equal(mayBeOpen(''), 50_000);
});

t.test('behind proxies, the address written by the outermost one counts', async (t) => {
  const header = '6.6.6.6, 198.51.100.7, 10.0.0.2, 10.0.0.3';
  for (const [text, proxies, address] of [
    [header, 0, undefined],
    [header, 1, '10.0.0.3'],
    [header, 2, '10.0.0.2'],
    [header, 3, '198.51.100.7'],
    ['198.51.100.7', 3, '198.51.100.7'],
    [undefined, 1, undefined],
    ['unknown', 1, undefined],
    ['', 1, undefined],
    ['a, 198.51.100.7:50000', 1, '198.51.100.7'],
    ['[2001:db8::1]:443', 1, '2001:db8::1'],
    ['2001:db8::1', 1, '2001:db8::1'],
    ['1.2.3.4, <script>', 1, undefined],
  ] as const) {
    t.equal(forwardedAddress(text, proxies), address, `${text} behind ${proxies}`);
  }
});

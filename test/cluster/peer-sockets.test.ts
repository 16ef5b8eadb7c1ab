// Sockets whose workspace another node serves: what the client sees is what the other node says.

import { request } from 'node:http';
import t from 'tap';
import type { NodeRecord } from '../../engine/runtime/cluster/ports.ts';
import { theRoster } from '../../engine/workspace/roster.ts';
import { markOf } from '../../http/cluster/mark.ts';
import { KnownNodes } from '../../http/cluster/receiving.ts';
import { closeOf, type FromElsewhere, isAnswer } from '../../http/sockets/elsewhere.ts';
import { isCallInFront } from '../../http/sockets/frames.ts';
import { CutLink } from '../support/cut-link.ts';
import { tempFolder } from '../support/folder.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { nodeRecord } from '../support/node-record.ts';
import { clusterSecret, startSocketEntry } from '../support/peers.ts';
import { type Service, type StartOptions, startService, type Teardown } from '../support/service.ts';
import { TestSocket } from '../support/socket.ts';

/** A service that believes the marks of other nodes. */
function startNode(t: Teardown, { env, ...options }: StartOptions = {}): Promise<Service> {
  const clock = options.clock instanceof ManualClock ? options.clock : new ManualClock();
  const nodes = new KnownNodes({ secret: clusterSecret, clock });
  nodes.setAddresses(['127.0.0.1']);
  return startService(t, { env: { RATE_LIMITS: 'off', ...env }, ...options, clock, nodes });
}

function recordOf(service: Service): NodeRecord {
  return nodeRecord('owner', { url: service.url });
}

function socketAt(
  { url }: { readonly url: string },
  namespace: 'agent' | 'visitor',
  { token, since, headers = {} }: { token?: string; since?: number; headers?: Record<string, string> } = {},
): TestSocket {
  const query = since === undefined ? '' : `?since=${since}`;
  return new TestSocket(
    `${url.replace('http', 'ws')}/${namespace}${query}`,
    ['messaging.v1', ...(token === undefined ? [] : [`bearer.${token}`])],
    headers,
  );
}

async function readyAt(node: { readonly url: string }, token: string, since?: number): Promise<TestSocket> {
  const socket = socketAt(node, 'agent', { token, ...(since === undefined ? {} : { since }) });
  await socket.next('ready');
  return socket;
}

t.test('a socket whose workspace another node serves', async (t) => {
  const service = await startNode(t);
  const shop = await service.workspace();
  const entry = await startSocketEntry(t, service, { owner: () => recordOf(service) });
  const open = () => entry.requests.figures.sockets;

  t.test('frames both ways, for agents and customers', async (t) => {
    const chat = await service.chat(shop);
    const direct = await service.agentSocket(shop.token);
    const agent = socketAt(entry, 'agent', { token: shop.token });
    t.match(await agent.next('ready'), { agent: { id: shop.agentId, isOnline: true }, seq: Number });
    const visitor = socketAt(entry, 'visitor', { token: chat.customer.token });
    t.match(await visitor.next('ready'), { visitor: { id: chat.customer.visitorId } });
    t.equal(open(), 2);

    t.match(await agent.call('site.list'), { status: 200, body: { sites: [{ id: shop.siteId }] } });
    t.match(await agent.call('no.such', {}), { status: 404 });
    agent.send({ type: 'typing', conversationId: chat.id });
    t.match(await visitor.next('typing'), { conversationId: chat.id, data: { senderType: 'agent' } });
    const said = await visitor.call('widget.sendMessage', { conversationId: chat.id, body: 'Grüße 電話' });
    t.equal(said.status, 201);
    const isIt = (frame: { data?: any }) => frame.data?.message?.body === 'Grüße 電話';
    t.strictSame(await agent.until(isIt), await direct.until(isIt), 'the same event, to the byte of its text');
    agent.send(Buffer.from([1, 2, 3]));
    t.match(await agent.next('error'), { error: 'invalid_body' }, 'a binary frame stays one');

    await agent.close();
    await visitor.close();
    while (open() > 0) await service.get('//healthz');
    await direct.close();
  });

  t.test('the token and `since`, in the upgrade or the first frame', async (t) => {
    const chat = await service.chat(shop);
    const before = await service.agentSocket(shop.token);
    const since = before.frames[0]?.seq ?? 0;
    await service.post(`/conversations/${chat.id}/messages`, { body: 'missed' }, shop.token);
    await before.until((frame) => frame.data?.message?.body === 'missed');
    const byUpgrade = await readyAt(entry, shop.token, since);
    const byFrame = socketAt(entry, 'agent');
    await byFrame.opened();
    byFrame.send({ type: 'auth', token: shop.token, since });
    for (const socket of [byUpgrade, byFrame]) {
      await socket.until((frame) => frame.data?.message?.body === 'missed');
      t.strictSame(socket.numbered, before.numbered);
      await socket.close();
    }
    await before.close();
  });

  t.test('a burst of 1,000 events, in order and once', async (t) => {
    const chat = await service.chat(shop);
    const direct = await service.agentSocket(shop.token);
    const far = await readyAt(entry, shop.token);
    for (let left = 1000; left > 0; left -= 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          service.post(`/conversations/${chat.id}/messages`, { body: `${left - index}` }, shop.token),
        ),
      );
    await service.post(`/conversations/${chat.id}/messages`, { body: 'last' }, shop.token);
    for (const socket of [direct, far]) await socket.until((frame) => frame.data?.message?.body === 'last');
    t.ok(far.numbered.length > 1000);
    t.strictSame(far.numbered, direct.numbered);
    for (const socket of [direct, far]) await socket.close();
  });

  t.test("the other node's closes", async (t) => {
    const blocked = await service.chat(shop);
    const visitor = socketAt(entry, 'visitor', { token: blocked.customer.token });
    await visitor.next('ready');
    const { visitorId } = blocked.customer;
    service.running.services.dropVisitor(shop.workspaceId, visitorId);
    t.match(await visitor.closed, { code: 4403, reason: 'blocked' });

    const person = await service.agent(shop);
    const agent = await readyAt(entry, person.token);
    await service.delete(`/agents/${person.agentId}`, shop.token);
    t.match(await agent.closed, { code: 4401, reason: 'token_revoked' });
  });

  t.test('what needs no other node is answered by the first', async (t) => {
    const stranger = socketAt(entry, 'agent', { token: 'no.token.ofours' });
    t.match(await stranger.closed, { code: 4401 });
    const large = await readyAt(entry, shop.token);
    large.send(Buffer.alloc(65 * 1024, ' '));
    t.match(await large.closed, { code: 1009 });
    while (open() > 0) await service.get('//healthz');
  });
});

t.test('a client that does not keep up', async (t) => {
  const service = await startNode(t);
  const shop = await service.workspace();
  const entry = await startSocketEntry(t, service, { owner: () => recordOf(service) });
  const chat = await service.chat(shop);
  const long = '"'.repeat(10_000);
  const sockets = async () =>
    Number(/^switchboard_agent_sockets (\d+)$/m.exec((await service.call('GET', '//metrics')).body)?.[1]);
  const slow = await readyAt(entry, shop.token);
  const start = slow.frames[0]?.seq ?? 0;
  slow.pause();
  let count = 0;
  for (; (await sockets()) > 0; count += 25) {
    if (count > 3000) throw new Error('the other node did not notice');
    await Promise.all(
      Array.from({ length: 25 }, () => service.post(`/conversations/${chat.id}/messages`, { body: long }, shop.token)),
    );
  }
  slow.resume();
  t.match(await slow.closed, { code: 4408 }, 'is noticed by the node that serves it');
  const seen = slow.numbered.map(({ seq }) => seq);
  t.ok(seen.length > 0 && seen.length < count, `${seen.length} of ${count} came through`);
  const back = await readyAt(entry, shop.token, slow.lastSeq);
  await back.until((frame) => frame.seq === start + count);
  t.strictSame(
    [...seen, ...back.numbered.map(({ seq }) => seq)],
    Array.from({ length: count }, (_, index) => start + 1 + index),
    'and has lost nothing when it returns, and gets nothing twice',
  );
  await back.close();
});

t.test('a node that goes away: the client returns by `since`', async (t) => {
  const clock = new ManualClock();
  const dataDir = tempFolder(t);
  const service = await startNode(t, { clock, dataDir });
  const shop = await service.workspace();
  const chat = await service.chat(shop);
  const link = await CutLink.start(t, service.running.port);
  let owner = nodeRecord('owner', { url: `http://127.0.0.1:${link.port}` });
  const entry = await startSocketEntry(t, service, { owner: () => owner });

  const first = await readyAt(entry, shop.token);
  link.cut();
  t.match(await first.closed, { code: 1012, reason: 'restarting' }, 'without a word');
  t.match(await socketAt(entry, 'agent', { token: shop.token }).closed, { code: 1012 }, 'while nobody is there');
  await service.post(`/conversations/${chat.id}/messages`, { body: 'meanwhile' }, shop.token);
  link.mend();
  const second = await readyAt(entry, shop.token, first.lastSeq);
  await second.until((frame) => frame.data?.message?.body === 'meanwhile');

  entry.requests.keepOnly([nodeRecord('another', { url: 'http://127.0.0.1:9' })]);
  t.match(await second.closed, { code: 1012 }, 'a node that is no longer in the list');
  const third = await readyAt(entry, shop.token, second.lastSeq);
  const last = third.lastSeq;
  await service.stop();
  t.match(await third.closed, { code: 1012, reason: 'restarting' }, 'a node that stops');

  const again = await startNode(t, { clock, dataDir });
  owner = recordOf(again);
  const after = await startSocketEntry(t, again, { owner: () => owner });
  await again.post(`/conversations/${chat.id}/messages`, { body: 'after the restart' }, shop.token);
  const fourth = await readyAt(after, shop.token, last);
  await fourth.until((frame) => frame.data?.message?.body === 'after the restart');
  await fourth.close();
});

t.test('which node it is', async (t) => {
  const service = await startNode(t);
  const shop = await service.workspace();

  t.test('this one after all', async (t) => {
    let isHere = false;
    const entry = await startSocketEntry(t, service, {
      owner: () => recordOf(service),
      serves: () => isHere,
      elsewhere: {
        socketTo() {
          isHere = true;
          return Promise.resolve('here');
        },
      },
    });
    const socket = await readyAt(entry, shop.token);
    t.equal((await socket.call('site.list')).status, 200);
    await socket.close();
  });

  t.test('back and forth, or none: the client is asked to return', async (t) => {
    let asked = 0;
    const forth = await startSocketEntry(t, service, {
      owner: () => recordOf(service),
      elsewhere: {
        socketTo() {
          asked += 1;
          return Promise.resolve('here');
        },
      },
    });
    t.match(await socketAt(forth, 'agent', { token: shop.token }).closed, { code: 1012 });
    t.equal(asked, 3);
    const none = await startSocketEntry(t, service, {
      owner: () => recordOf(service),
      elsewhere: { socketTo: () => Promise.reject(new Error('none')) },
    });
    t.match(await socketAt(none, 'agent', { token: shop.token }).closed, { code: 1012 });
  });

  t.test('what a node sent on is not sent on again', async (t) => {
    const second = await startSocketEntry(t, service, { owner: () => recordOf(service) });
    const first = await startSocketEntry(t, service, { owner: () => second.record });
    t.match(await socketAt(first, 'agent', { token: shop.token }).closed, { code: 1012 });
    t.equal(second.requests.figures.sockets, 0);
  });
});

t.test('a mark that no node signed is refused with 401', async (t) => {
  const service = await startNode(t);
  const nowMs = service.clock.now();
  const facts = { ip: '192.0.2.1', host: '' };
  const upgrade = (mark: string) =>
    new Promise<{ status: number | undefined; said: unknown }>((resolve, reject) => {
      request(`${service.url}/agent`, {
        headers: {
          Connection: 'Upgrade',
          Upgrade: 'websocket',
          'Sec-WebSocket-Version': '13',
          'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
          'Switchboard-Node': mark,
        },
      })
        .on('response', ({ statusCode, headers }) => resolve({ status: statusCode, said: headers['switchboard-node'] }))
        .on('upgrade', (_, socket) => {
          socket.destroy();
          resolve({ status: 101, said: undefined });
        })
        .on('error', reject)
        .end();
    });
  const asked = { method: 'GET', target: '/agent' };
  t.match(await upgrade(markOf(asked, facts, { secret: clusterSecret, nowMs })), { status: 101 });
  for (const mark of [
    markOf(asked, facts, { secret: 'x'.repeat(32), nowMs }),
    markOf(asked, facts, { secret: clusterSecret, nowMs: nowMs - 60_001 }),
    markOf({ method: 'GET', target: '/visitor' }, facts, { secret: clusterSecret, nowMs }),
    'nonsense',
  ])
    t.strictSame(await upgrade(mark), { status: 401, said: 'refused' });
});

t.test('sockets and frames of a network are counted where it comes in', async (t) => {
  const service = await startNode(t, { env: { RATE_LIMITS: 'on', MAX_CONNECTIONS_PER_NETWORK: '3' } });
  const shop = await service.workspace();
  const many = await startSocketEntry(t, service, {
    owner: () => recordOf(service),
    config: { maxConnectionsPerNetwork: 100 },
  });
  const sockets = [];
  for (let index = 0; index < 8; index += 1) sockets.push(await readyAt(many, shop.token));
  for (const socket of sockets) await socket.close();

  const few = await startSocketEntry(t, service, { owner: () => recordOf(service) });
  const kept = [];
  for (let index = 0; index < 3; index += 1) kept.push(await readyAt(few, shop.token));
  t.match(await socketAt(few, 'agent', { token: shop.token }).closed, { code: 4429 });
  // More than a socket may send in a minute.
  const [flooding] = kept;
  for (let index = 0; index < 1300; index += 1) flooding?.send({ type: 'ping' });
  t.match(await flooding?.closed, { code: 4429 });
  for (const socket of kept.slice(1)) await socket.close();
});

t.test('the way between two ends', async (t) => {
  const service = await startNode(t);
  const shop = await service.workspace();
  const sent: string[] = [];
  let buffered = 0;
  let to: FromElsewhere | undefined;
  let isClosed = false;
  let isPaused = false;
  let opening = Promise.withResolvers<void>();
  const entry = await startSocketEntry(t, service, {
    owner: () => recordOf(service),
    elsewhere: {
      socketTo(_, _hello, from) {
        to = from;
        opening.resolve();
        return Promise.resolve({
          send: (bytes) => void sent.push(Buffer.from(bytes).toString()),
          bufferedBytes: () => buffered,
          pause: () => (isPaused = true),
          resume: () => (isPaused = false),
          close: () => (isClosed = true),
        });
      },
    },
  });
  const start = async () => {
    opening = Promise.withResolvers<void>();
    const socket = socketAt(entry, 'agent', { token: shop.token });
    await opening.promise;
    to?.message(Buffer.from('{"type":"pong"}'));
    await socket.next('pong');
    return socket;
  };

  t.test('a client that reads nothing: the other node is not read until it does', async (t) => {
    const socket = await start();
    socket.pause();
    const long = Buffer.from(`{"type":"pong"${' '.repeat(64 * 1024)}}`);
    let count = 1;
    for (; !isPaused && count < 2000; count += 1) to?.message(long);
    t.ok(isPaused, `after ${count} frames`);
    socket.resume();
    while (isPaused) await service.get('//healthz');
    while (socket.frames.length < count) await service.get('//healthz');
    await socket.close();
  });

  t.test('a node that takes nothing ends the socket', async (t) => {
    const socket = await start();
    socket.send({ type: 'ping' });
    while (sent.length === 0) await service.get('//healthz');
    buffered = 1024 * 1024;
    socket.send({ type: 'ping' });
    t.match(await socket.closed, { code: 4429 });
    t.strictSame(sent, ['{"type":"ping"}']);
    t.ok(isClosed);
    buffered = 0;
  });

  t.test('a stop waits for the answers of calls that the other node has', async (t) => {
    sent.length = 0;
    const socket = await start();
    socket.send({ type: 'call', id: 7, method: 'site.list', params: {} });
    while (sent.length === 0) await service.get('//healthz');
    let isQuiet = false;
    const quiet = entry.sockets.quiesced().then(() => (isQuiet = true));
    socket.send({ type: 'call', id: 8, method: 'site.list', params: {} });
    for (let index = 0; index < 20; index += 1) await service.get('//healthz');
    t.notOk(isQuiet);
    t.equal(sent.length, 1, 'no more calls');
    to?.message(Buffer.from('{"type":"reply","id":7,"status":200,"body":{}}'));
    await quiet;
    await socket.next('reply');
    await socket.close();
  });
});

t.test('frames and closes that have a meaning on the way', async (t) => {
  for (const [code, seen] of [
    [1000, 1000],
    [1005, 1012],
    [1006, 1012],
    [1012, 1012],
    [1015, 1012],
    [4408, 4408],
    [5000, 1012],
  ] as const)
    t.equal(closeOf(code, 'why').code, seen, `${code}`);
  t.equal(closeOf(4408, 'why').reason, 'why');
  const isCall = (text: string) => isCallInFront(Buffer.from(text));
  for (const text of ['{"type":"call","id":1,"method":"x"}', ' {"method":"x", "type": "call", "id":"a", "params":{}}'])
    t.ok(isCall(text), text);
  for (const text of ['{"type":"ping","id":1}', '{"type":"call","method":"x"}', 'call', ''])
    t.notOk(isCall(text), text);
  t.ok(isAnswer(Buffer.from('{"type":"reply","id":1}')));
  t.notOk(isAnswer(Buffer.from('{"seq":1,"type":"reply"}')));
  t.notOk(isAnswer(Buffer.from('{')));
});

t.test('a workspace that leaves this node', async (t) => {
  const service = await startNode(t);
  const shop = await service.workspace();
  const other = await service.workspace();
  const chat = await service.chat(shop);
  const { engine } = service.running.services;
  const isOnline = () => {
    const workspace = engine.workspace(shop.workspaceId);
    return workspace && theRoster(workspace.view({ kind: 'system' })).agents.get(shop.agentId)?.isOnline;
  };
  let isServed = true;
  const serves = (workspaceId: string) => workspaceId !== shop.workspaceId || isServed;
  const node = await startSocketEntry(t, service, { owner: () => recordOf(service), serves });
  const leave = () => {
    isServed = false;
    node.sockets.endWorkspace(shop.workspaceId);
  };
  // Looked at once by the sockets of the service itself, which shares the file.
  await service.pass(15_000);
  const come = (isMoved: boolean) => {
    isServed = true;
    node.sockets.reviewPresence(shop.workspaceId, { hasAgentsOnline: true, hasVisitorsOnline: true }, { isMoved });
  };

  const agent = await readyAt(node, shop.token);
  const visitor = socketAt(node, 'visitor', { token: chat.customer.token });
  await visitor.next('ready');
  const another = await readyAt(node, other.token);
  await service.settled();
  t.equal(isOnline(), true);
  isServed = false;
  agent.send({ type: 'call', id: 777, method: 'site.list', params: {} });
  t.match(await another.call('site.list'), { status: 200 }, 'frames are read');
  leave();
  for (const socket of [agent, visitor]) t.match(await socket.closed, { code: 1012, reason: 'restarting' });
  t.same(
    agent.frames.filter(({ id }) => id === 777),
    [],
    'no error for a call that its client makes again',
  );
  t.match(await another.call('site.list'), { status: 200 }, 'others stay');
  await service.pass(60_000);
  t.equal(isOnline(), true, 'nothing is written to a file that is no longer served');

  come(true);
  const back = await readyAt(node, shop.token);
  await service.pass(10_000);
  t.equal(isOnline(), true, 'whoever returned within ten seconds was never gone');
  leave();
  await back.closed;
  come(true);
  await service.pass(9_999);
  t.equal(isOnline(), true);
  await service.pass(1);
  t.equal(isOnline(), false, 'who did not return');

  const last = await readyAt(node, shop.token);
  await service.settled();
  leave();
  await last.closed;
  come(false);
  await service.settled();
  t.equal(isOnline(), false, 'after a crash nobody is waited for');
  await another.close();
});

// Calls from node to node over a real NATS server: an answer, a refusal, nobody there and no answer are told apart.

import t from 'tap';
import { type CallHandlers, CallRefused, CallTimedOut, NodeAway } from '../../engine/runtime/cluster/ports.ts';
import { CutLink } from '../support/cut-link.ts';
import { openStore, operator, skip, startNats } from '../support/nats.ts';

const patientMs = 60_000;
const maxUnderWay = 64;
const maxBytes = 512 * 1024;

t.test('[cluster] calls from node to node', { skip }, async (t) => {
  const server = await startNats(t);
  const asking = await openStore(t, server.url);
  const answering = await openStore(t, server.url, { node: 'node-2' });
  const link = await CutLink.start(t, server.port);
  const held = Promise.withResolvers<void>();
  let holding = 0;
  const handlers: CallHandlers = {
    echo: async (params) => params,
    nothing: async () => undefined,
    grow: async (params) => 'x'.repeat((params as { bytes: number }).bytes),
    fail: async () => {
      throw new Error('the disk is full');
    },
    refuse: async () => {
      throw new CallRefused('it is taken', { slug: 'conflict', detail: { number: 7 } });
    },
    refuseOddly: async () => {
      throw new CallRefused('it is odd', { big: 7n });
    },
    hold: async () => {
      holding += 1;
      await held.promise;
      return 'held';
    },
  };
  const ask = (name: string, params: unknown = {}, timeoutMs = patientMs): Promise<unknown> =>
    asking.calls.ask('node-2', name, params, timeoutMs);

  t.test('a node that does not answer calls is away, at once', async (t) => {
    await t.rejects(ask('echo'), NodeAway);
    await t.rejects(asking.calls.ask('unheard-of', 'echo', {}, patientMs), NodeAway);
  });

  t.test('a question is answered, by the node that it is for', async (t) => {
    answering.calls.answer(handlers);
    asking.calls.answer({ echo: async () => 'node-1' });
    t.throws(() => answering.calls.answer(handlers), /answers calls already/);
    // With this answer, the server has heard that node-2 listens.
    await answering.owners.of('w1');
    const params = { text: 'Grüße, 你好', list: [1, null, { deep: true }] };
    t.same(await ask('echo', params), params);
    t.equal(await ask('echo', null), null);
    t.equal(await ask('nothing'), undefined);
    t.equal(await answering.calls.ask('node-1', 'echo', {}, patientMs), 'node-1');
  });

  t.test('a refusal has its message, and its data if it was meant', async (t) => {
    await t.rejects(ask('fail'), { name: 'CallRefused', message: 'the disk is full', data: undefined });
    await t.rejects(ask('refuse'), {
      name: 'CallRefused',
      message: 'it is taken',
      data: { slug: 'conflict', detail: { number: 7 } },
    });
    await t.rejects(ask('refuseOddly'), { name: 'CallRefused', message: 'it is odd', data: undefined });
    await t.rejects(ask('unknown'), { name: 'CallRefused', message: 'the node node-2 knows no call unknown' });
    await t.rejects(ask('toString'), CallRefused, 'what every object has is no call');
  });

  t.test('what is no question is refused', async (t) => {
    const { connection } = await operator(t, server.url);
    for (const text of ['', 'not json', '7', 'null', '{"name":7}']) {
      const answer = await connection.request('test.node.node-2', text, { timeout: patientMs });
      t.type(answer.json<{ refused: { message: string } }>().refused.message, 'string', text);
    }
  });

  t.test('half a MiB is sent both ways, and not more', async (t) => {
    const head = JSON.stringify({ name: 'echo', params: '' }).length;
    const most = 'x'.repeat(maxBytes - head);
    t.equal(await ask('echo', most), most);
    await t.rejects(ask('echo', `${most}x`), { name: 'CallRefused', message: /larger than 524288 bytes/ });
    const room = maxBytes - JSON.stringify({ result: '' }).length;
    t.equal(String(await ask('grow', { bytes: room })).length, room);
    await t.rejects(ask('grow', { bytes: room + 1 }), { name: 'CallRefused', message: /larger than 524288 bytes/ });
  });

  t.test('a time limit ends the question, not what was asked', async (t) => {
    await t.rejects(ask('hold', {}, 20), CallTimedOut);
    await ask('echo');
    t.equal(holding, 1);
  });

  t.test('64 are under way at a time, on both sides', async (t) => {
    const third = await openStore(t, server.url, { node: 'node-3' });
    // One is under way since it timed out.
    const waiting = Array.from({ length: maxUnderWay }, () => ask('hold'));
    const full = Promise.allSettled(waiting);
    await t.rejects(ask('echo'), { name: 'NodeAway', message: '64 calls of this node are under way' });
    await t.rejects(Promise.race(waiting), { name: 'NodeAway', message: 'the node node-2 has 64 calls under way' });
    await t.rejects(third.calls.ask('node-2', 'echo', {}, patientMs), NodeAway);
    held.resolve();
    const outcomes = await full;
    t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, maxUnderWay - 1);
    t.equal(await ask('hold'), 'held');
  });

  t.test('without NATS a question is not kept for later', async (t) => {
    const cut = await openStore(t, link.url, { node: 'node-4' });
    link.cut();
    while (cut.isConnected) await new Promise((resolve) => setImmediate(resolve));
    const before = holding;
    await t.rejects(cut.calls.ask('node-2', 'hold', {}, 20), { name: 'NodeAway', message: 'NATS cannot be reached' });
    const late = cut.calls.ask('node-2', 'hold', {}, patientMs);
    link.mend();
    t.equal(await late, 'held', 'within its time, it is asked when NATS is back');
    t.equal(holding, before + 1);
  });

  t.test('a node that is closed is away', async (t) => {
    await answering.close();
    // The server hears of it a moment later. A question that it passed on before is lost.
    let outcome: unknown;
    do outcome = await ask('echo', {}, 500).catch((error: unknown) => error);
    while (outcome instanceof CallTimedOut);
    t.type(outcome, NodeAway);
  });
});

// Services as nodes of one cluster, over a real NATS server: every node answers for every workspace, and what one served
// another goes on with.

import t from 'tap';
import { startNode } from '../support/cluster-nodes.ts';
import { skip, startNats } from '../support/nats.ts';
import { password, type Service } from '../support/service.ts';

type Owner = Awaited<ReturnType<Service['workspace']>>;

/** Without what the test's service looks up in its own engine. */
const shopAt = (node: Service): Promise<Owner> => node.workspace({ available: true, assignOnReply: true });

/** Asks again while the workspace moves, as clients do, also on a slow machine. */
async function patiently<Answer extends { readonly status: number }>(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503) return answer;
  }
}

/** The same message however often it is sent. */
function send(node: Service, owner: Owner, { chatId, body }: { chatId: string; body: string }): Promise<unknown> {
  const message = { body, messageId: crypto.randomUUID() };
  return patiently(() => node.post(`/conversations/${chatId}/messages`, message, owner.token)).then(
    ({ status }) => status,
  );
}

async function textsOf(node: Service, owner: Owner, chatId: string): Promise<string[]> {
  const path = `/conversations/${chatId}/messages?limit=100`;
  const { body } = await patiently(() => node.get(path, owner.token));
  return body.messages.filter((one: { senderType: string }) => one.senderType === 'agent').map(bodyOf);
}

const bodyOf = ({ body }: { body: string }): string => body;

t.test('[cluster] every node answers for every workspace', { skip }, async (t) => {
  const nats = await startNats(t);
  const first = await startNode(t, nats, { node: 'first' });
  const second = await startNode(t, nats, { node: 'second' });
  const shops: { owner: Owner; chatId: string; sent: string[] }[] = [];
  // By the chance of one in eight, one node serves them all.
  for (let count = 0; count < 4; count += 1) {
    const owner = await shopAt(first);
    shops.push({ owner, chatId: (await first.chat(owner)).id, sent: [] });
  }
  for (let count = 0; count < 10; count += 1)
    for (const { owner, chatId, sent } of shops) {
      const body = `Message ${count}`;
      const node = count % 2 === 0 ? first : second;
      if ((await send(node, owner, { chatId, body })) === 201) sent.push(body);
    }
  for (const { owner, chatId, sent } of shops) {
    t.equal(sent.length, 10, 'both nodes take them');
    for (const node of [first, second]) {
      t.same(await textsOf(node, owner, chatId), sent, 'and both have all of them, in order');
      const { status } = await patiently(() => node.post('/auth/login', { email: owner.email, password }));
      t.equal(status, 200, 'and both let the owner in');
      t.equal((await node.get('/conversations/queue')).status, 401);
    }
  }
  const socket = first.socket('agent');
  await socket.opened();
  const [{ owner, chatId }] = shops as [(typeof shops)[0]];
  socket.send({ type: 'auth', token: owner.token });
  await socket.next('ready');
  await send(second, owner, { chatId, body: 'To whom it may concern' });
  t.equal((await socket.next('message.created')).data['message']?.body, 'To whom it may concern');
});

t.test('[cluster] what a node served, another goes on with when it stops', { skip }, async (t) => {
  const nats = await startNats(t);
  const first = await startNode(t, nats, { node: 'first' });
  const owner = await shopAt(first);
  const { id } = await first.chat(owner);
  for (const body of ['One', 'Two']) t.equal(await send(first, owner, { chatId: id, body }), 201);
  const second = await startNode(t, nats, { node: 'second' });
  await first.stop();
  t.same(await textsOf(second, owner, id), ['One', 'Two']);
  t.equal(await send(second, owner, { chatId: id, body: 'Three' }), 201);
  t.same(await textsOf(second, owner, id), ['One', 'Two', 'Three']);
});

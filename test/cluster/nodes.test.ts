// Services as nodes of one cluster, over a real NATS server: every node answers for every workspace, and what one served
// another goes on with.

import t from 'tap';
import { startNode } from '../support/cluster-nodes.ts';
import { skip, startNats } from '../support/nats.ts';
import { password, type Service } from '../support/service.ts';

type Owner = Awaited<ReturnType<Service['workspace']>>;

/** Without what the test's service looks up in its own engine. */
const shopAt = (node: Service): Promise<Owner> => node.workspace({ available: true, assignOnReply: true });

async function textsOf(node: Service, owner: Owner, chatId: string): Promise<string[]> {
  const { body } = await node.get(`/conversations/${chatId}/messages?limit=100`, owner.token);
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
      const { status } = await node.post(`/conversations/${chatId}/messages`, { body }, owner.token);
      if (status === 201) sent.push(body);
    }
  for (const { owner, chatId, sent } of shops) {
    t.equal(sent.length, 10, 'both nodes take them');
    for (const node of [first, second]) {
      t.same(await textsOf(node, owner, chatId), sent, 'and both have all of them, in order');
      const { status } = await node.post('/auth/login', { email: owner.email, password });
      t.equal(status, 200, 'and both let the owner in');
      t.equal((await node.get('/conversations/queue')).status, 401);
    }
  }
  const socket = first.socket('agent');
  await socket.opened();
  const [{ owner, chatId }] = shops as [(typeof shops)[0]];
  socket.send({ type: 'auth', token: owner.token });
  await socket.next('ready');
  await second.post(`/conversations/${chatId}/messages`, { body: 'To whom it may concern' }, owner.token);
  t.equal((await socket.next('message.created')).data['message']?.body, 'To whom it may concern');
});

t.test('[cluster] what a node served, another goes on with when it stops', { skip }, async (t) => {
  const nats = await startNats(t);
  const first = await startNode(t, nats, { node: 'first' });
  const owner = await shopAt(first);
  const { id } = await first.chat(owner);
  for (const body of ['One', 'Two'])
    t.equal((await first.post(`/conversations/${id}/messages`, { body }, owner.token)).status, 201);
  const second = await startNode(t, nats, { node: 'second' });
  await first.stop();
  t.same(await textsOf(second, owner, id), ['One', 'Two']);
  t.equal((await second.post(`/conversations/${id}/messages`, { body: 'Three' }, owner.token)).status, 201);
  t.same(await textsOf(second, owner, id), ['One', 'Two', 'Three']);
});

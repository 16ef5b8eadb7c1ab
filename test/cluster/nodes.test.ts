// Services as nodes of one cluster, over a real NATS server: every node answers for every workspace.

import t from 'tap';
import { silentLog } from '../../engine/runtime/log.ts';
import { startNode } from '../support/cluster-nodes.ts';
import { skip, startNats } from '../support/nats.ts';

const logged = { ...silentLog, warn: console.warn, error: console.error } as never;

t.test('[cluster] every node answers for every workspace', { skip }, async (t) => {
  const nats = await startNats(t);
  const first = await startNode(t, nats, { node: 'first', log: logged });
  const second = await startNode(t, nats, { node: 'second', log: logged });
  const shop = () => first.workspace({ available: true, assignOnReply: true });
  const shops = [await shop(), await shop(), await shop(), await shop()];
  for (const owner of shops) {
    const chat = await first.chat(owner);
    for (let count = 0; count < 10; count += 1) {
      const node = count % 2 === 0 ? first : second;
      const { status } = await node.post(
        `/conversations/${chat.id}/messages`,
        { body: `Message ${count}` },
        owner.token,
      );
      t.equal(status, 201);
    }
    for (const node of [first, second]) {
      const { body, status } = await node.get(`/conversations/${chat.id}/messages`, owner.token);
      t.equal(status, 200);
      t.equal(body.messages?.length, 11);
    }
    for (const node of [first, second])
      t.equal(
        (await node.post('/auth/login', { email: owner.email, password: 'correct horse battery staple' })).status,
        401,
      );
  }
});

// Compares the data of a service after a crash or a stop with what its clients were promised.

import type { Test } from 'tap';
import type { Api, Workspace } from './api.ts';
import type { Load } from './load.ts';
import type { Frame } from './socket.ts';

/** Every acknowledged message exists once, as acknowledged, in order, and there is no message that was not sent. */
export async function compareMessages(
  t: Test,
  options: { api: Api; owner: Workspace; load: Load; exactly: boolean },
): Promise<void> {
  const { api, owner, load } = options;
  for (const { conversationId, acknowledged } of load.places) {
    const held = (await api.messages(conversationId, owner.token)).filter(({ senderType }) => senderType !== 'system');
    const ids = held.map(({ id }) => id);
    t.equal(new Set(ids).size, ids.length, 'none twice');
    const byId = new Map(held.map((message) => [message.id, message]));
    t.ok(
      acknowledged.every(
        ({ id, body, createdAt }) => byId.get(id)?.body === body && byId.get(id)?.createdAt === createdAt,
      ),
      `all ${acknowledged.length} acknowledged ones are there as they were`,
    );
    t.ok(
      held.every(({ createdAt }, index) => index === 0 || createdAt > (held[index - 1]?.createdAt ?? '')),
      'each later than the one before',
    );
    t.ok(
      held.every(({ body }) => load.sent.has(body)),
      'nothing that was not sent',
    );
    t.equal(new Set(held.map(({ body }) => body)).size, held.length, 'nothing sent once is there twice');
    if (options.exactly) t.equal(held.length, acknowledged.length, 'and nothing that was not acknowledged');
  }
  for (const order of load.orders.values())
    t.ok(
      order.every(({ createdAt }, index) => index === 0 || createdAt > (order[index - 1]?.createdAt ?? '')),
      "each writer's own messages in the order it wrote them",
    );
}

/** Every event from the first on, by a socket that resumes from 0; events received before are repeated unchanged. */
export async function compareEvents(t: Test, options: { api: Api; owner: Workspace; load: Load }): Promise<void> {
  const { api, owner, load } = options;
  const live = await api.agentSocket(owner.token);
  const seq = live.frames[0]?.seq ?? 0;
  const socket = await api.agentSocket(owner.token, { since: 0 });
  const told = (): Frame[] => socket.frames.filter((frame) => frame.seq !== undefined && frame.type !== 'ready');
  while ((told().at(-1)?.seq ?? 0) < seq) await socket.flushed();
  const events = told();
  t.same(
    events.map((event) => event.seq),
    Array.from({ length: events.length }, (_, index) => index + 1),
    `${events.length} events without a gap`,
  );
  t.ok(
    load.told.length > 0 &&
      load.told.every((event) => JSON.stringify(event) === JSON.stringify(events[(event.seq ?? 0) - 1])),
    `the ${load.told.length} that were told stand as they were told`,
  );
  t.same(
    load.told.map((event) => event.seq),
    load.told.map((_, index) => index + 1),
    'and received in order, each once',
  );
  await Promise.all([live.close(), socket.close()]);
}

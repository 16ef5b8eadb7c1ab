import t from 'tap';
import { deactivateAgent } from '../../engine/team/agents.ts';
import { HeldDisk } from '../support/held-disk.ts';
import { type Service, startService } from '../support/service.ts';
import { turns } from '../support/toy.ts';

/** Fills the lane's batches in progress on the held disk, so that everything later is gathered in one batch. */
async function fillLane(disk: HeldDisk, write: () => Promise<unknown>): Promise<unknown[]> {
  disk.hold();
  const first = write();
  await disk.asked(1);
  const second = write();
  await disk.asked(2);
  return [first, second];
}

/** Resolves when this many commands wait for their batch. */
async function gathered(service: Service, count: number): Promise<void> {
  while (service.running.services.engine.figures.laneDepth < count) await turns(1);
}

t.test('nothing leaves before it is durable', async (t) => {
  const disk = new HeldDisk({ isHeld: false });
  const service = await startService(t, {
    syncToDisk: disk.sync,
    env: { RATE_LIMITS: 'off' },
    // Commands that wait together are one batch, however slow the machine is.
    sliceLengths: { turnMs: Number.POSITIVE_INFINITY, batchMs: Number.POSITIVE_INFINITY },
  });
  const owner = await service.workspace();

  t.test('reads that wait for one sync are written before it ends, each in its turn', async (t) => {
    const chat = await service.chat(owner);
    const agent = await service.agentSocket(owner.token);
    await service.settled();
    disk.hold();
    const sending = service.post(`/conversations/${chat.id}/messages`, { body: 'one' }, owner.token);
    await disk.asked();
    const readings = Array.from({ length: 5 }, () => service.get(`/conversations/${chat.id}/messages`, owner.token));
    for (let round = 0; round < 20; round += 1) await agent.flushed();
    const { stringify } = JSON;
    t.teardown(() => void (JSON.stringify = stringify));
    let written = 0;
    JSON.stringify = ((...given: Parameters<typeof stringify>) => {
      const text = stringify(...given);
      if (text?.startsWith('{"messages":[')) written += 1;
      return text;
    }) as typeof stringify;
    disk.letGo();
    for (const { body } of await Promise.all(readings)) t.equal(body.messages.at(-1).body, 'one');
    JSON.stringify = stringify;
    t.equal(written, 0, 'what is left is to send them');
    t.equal((await sending).status, 201);
    await agent.close();
  });

  t.test('[6] no event, reply or read of a change before the disk has it', async (t) => {
    const chat = await service.chat(owner);
    const [agent, customer] = [
      await service.agentSocket(owner.token),
      await service.visitorSocket(chat.customer.token),
    ];
    await agent.until((frame) => frame.type === 'visitor.online');
    const before = agent.events.length;
    disk.hold();
    const byHttp = service.post(`/conversations/${chat.id}/messages`, { body: 'by HTTP' }, owner.token);
    await disk.asked();
    const bySocket = agent.call('message.send', { conversationId: chat.id, body: 'by socket' });
    const reading = service.get(`/conversations/${chat.id}/messages`, owner.token);
    let isRead = false;
    void reading.then(() => (isRead = true));
    const listing = service.get('/contacts', owner.token);
    let isListed = false;
    void listing.then(() => (isListed = true));
    for (let round = 0; round < 20; round += 1) {
      await agent.flushed();
      await customer.flushed();
    }
    t.strictSame([agent.events.slice(before), customer.events], [[], []]);
    t.notOk(agent.frames.some((frame) => frame.type === 'reply'));
    t.equal(isRead, false, 'read data may still be lost, so the read waits as well');
    t.equal(isListed, false, 'also where another thread may be asked');
    const late = service.socket('agent', { query: '?since=0', protocols: ['messaging.v1', `bearer.${owner.token}`] });
    await late.opened();
    await agent.flushed();
    t.strictSame(late.frames, [], 'clients that connect meanwhile receive nothing either, not even a ready frame');

    disk.letGo();
    t.equal((await byHttp).status, 201);
    t.equal((await bySocket).status, 201);
    t.match(
      (await reading).body.messages.map((one: any) => one.body),
      ['Hello, is anybody there?', 'by HTTP'],
    );
    t.equal((await listing).status, 200);
    for (const socket of [agent, customer, late]) {
      await socket.until((frame) => frame.data?.message?.body === 'by socket');
      t.strictSame(
        socket.numbered.flatMap((frame) =>
          frame.data.message?.conversationId === chat.id && frame.data.message.senderType === 'agent'
            ? frame.data.message.body
            : [],
        ),
        ['by HTTP', 'by socket'],
        'once, in order',
      );
    }
  });

  t.test('[architecture] no file of a report before what it was read from is durable', async (t) => {
    const chat = await service.chat(owner);
    const { body } = await service.get('/reports/export?type=chats/total&format=json', owner.token);
    const address = body.url.replace('http://switchboard.test', service.url);
    const { total } = (await (await fetch(address)).json()) as { total: number };
    disk.hold();
    const writing = service.post(`/conversations/${chat.id}/messages`, { body: 'while it is read' }, owner.token);
    await disk.asked();
    let isSettled = false;
    const reading = fetch(address)
      .then((answer) => answer.json())
      .finally(() => (isSettled = true));
    const { reader } = service.running.services;
    while (reader.waiting === 0) await turns(1);
    while (reader.waiting > 0) await turns(1);
    for (let round = 0; round < 5; round += 1) await (await fetch(`${service.url}/readyz`)).text();
    t.equal(isSettled, false);
    disk.letGo();
    t.match(await reading, { total });
    t.equal((await writing).status, 201);
  });

  t.test('[architecture] a caller gets its reply before the events of its call', async (t) => {
    const chat = await service.chat(owner);
    const [agent, customer] = [
      await service.agentSocket(owner.token),
      await service.visitorSocket(chat.customer.token),
    ];
    for (let round = 0; round < 10; round += 1) {
      await agent.call('message.send', { conversationId: chat.id, body: `agent ${round}` });
      await customer.call('widget.sendMessage', { conversationId: chat.id, body: `customer ${round}` });
    }
    await agent.flushed();
    await customer.flushed();
    for (const [socket, who] of [
      [agent, 'agent'],
      [customer, 'customer'],
    ] as const) {
      const order = socket.frames.flatMap((frame) => {
        if (frame.type === 'reply') return [`reply ${frame['body'].body}`];
        return frame.type === 'message.created' && frame.data.message.body.startsWith(who)
          ? [`event ${frame.data.message.body}`]
          : [];
      });
      t.strictSame(
        order,
        Array.from({ length: 10 }, (_, round) => [`reply ${who} ${round}`, `event ${who} ${round}`]).flat(),
      );
    }
  });

  t.test('[architecture] of many at once: every reply of a batch, then its events in their order', async (t) => {
    const chat = await service.chat(owner);
    const agent = await service.agentSocket(owner.token);
    const before = await fillLane(disk, () => agent.call('message.send', { conversationId: chat.id, body: 'before' }));
    const rest = Array.from({ length: 30 }, (_, index) =>
      agent.call('message.send', { conversationId: chat.id, body: `rest ${index}` }),
    );
    await gathered(service, rest.length);
    disk.letGo();
    await Promise.all([...before, ...rest]);
    await agent.until((frame) => frame.type === 'message.created' && frame.data.message.body === 'rest 29');
    const order = agent.frames.flatMap((frame) =>
      frame.type === 'reply' ? 'reply' : frame.seq !== undefined && frame.type === 'message.created' ? 'event' : [],
    );
    // Within a batch, all replies come before all events.
    const runs = order.join(' ').match(/reply(?: reply)*|event(?: event)*/g) ?? [];
    const lengths = runs.map((run) => run.split(' ').length);
    t.strictSame(
      runs.map((run) => run.slice(0, 5)),
      lengths.map((_, index) => (index % 2 === 0 ? 'reply' : 'event')),
    );
    for (let index = 0; index < lengths.length; index += 2)
      t.equal(lengths[index], lengths[index + 1], 'as many events as replies');
    t.equal(order.length, 64);
    t.ok(Math.max(...lengths) >= 10, 'many were of one batch');
  });

  t.test('[4.12] a block is immediate: events committed together with it are not sent to the visitor', async (t) => {
    const chat = await service.chat(owner);
    const [agent, customer] = [
      await service.agentSocket(owner.token),
      await service.visitorSocket(chat.customer.token),
    ];
    const before = await fillLane(disk, () =>
      service.put(`/conversations/${chat.id}/tags`, { tags: ['x'] }, owner.token),
    );
    const together = [
      agent.call('message.send', { conversationId: chat.id, body: 'SECRET before it' }),
      agent.call('visitor.block', { visitorId: chat.customer.visitorId }),
      agent.call('message.send', { conversationId: chat.id, body: 'SECRET after it' }),
      agent.call('conversation.status', { conversationId: chat.id, status: 'pending' }),
    ];
    await gathered(service, together.length);
    disk.letGo();
    await Promise.all(before);
    t.strictSame(
      (await Promise.all(together)).map(({ status }) => status),
      [201, 200, 201, 200],
    );
    t.match(await customer.closed, { code: 4403 });
    t.strictSame(customer.numbered, []);
  });

  t.test('[6] a logout ends the sockets when it is durable, and events committed with it are not sent', async (t) => {
    const ann = await service.agent(owner);
    const chat = await service.chat(owner);
    const [hers, ours] = [await service.agentSocket(ann.token), await service.agentSocket(owner.token)];
    const before = await fillLane(disk, () =>
      service.put(`/conversations/${chat.id}/tags`, { tags: ['x'] }, owner.token),
    );
    // The route asks the directory first, which would put its command into a later batch.
    const deactivate = () =>
      service.running.services.engine.execute(deactivateAgent, {
        workspaceId: owner.workspaceId,
        caller: { kind: 'agent', agentId: owner.agentId },
        params: { agentId: ann.agentId },
      });
    const together = [ours.call('message.send', { conversationId: chat.id, body: 'SECRET' }), deactivate()];
    await gathered(service, together.length);
    disk.letGo();
    await Promise.all(before);
    await Promise.all(together);
    t.match(await hers.closed, { code: 4401 });
    t.notOk(JSON.stringify(hers.numbered).includes('SECRET'));
  });
});

t.test('a stop', async (t) => {
  t.test('[decisions] sockets are closed with 1012, signed in or not, in both namespaces', async (t) => {
    const service = await startService(t);
    const owner = await service.workspace();
    const sockets = [
      await service.agentSocket(owner.token),
      await service.visitorSocket((await service.customer(owner.embedId)).token),
      service.socket('agent'),
    ];
    await sockets[2]?.opened();
    sockets[2]?.send('x');
    await sockets[2]?.next('error');
    await service.stop();
    for (const socket of sockets) t.match(await socket.closed, { code: 1012 });
  });

  t.test(
    '[decisions] a call in progress is finished and answered first; a later one is neither done nor answered',
    async (t) => {
      const disk = new HeldDisk({ isHeld: false });
      const service = await startService(t, { syncToDisk: disk.sync });
      const owner = await service.workspace();
      const chat = await service.chat(owner);
      const socket = await service.agentSocket(owner.token);
      // That the agent is there is written, too.
      await service.settled();
      disk.hold();
      const underWay = socket.call('message.send', { conversationId: chat.id, body: 'under way' });
      await disk.asked();
      const stopping = service.stop();
      const late = socket.call('message.send', { conversationId: chat.id, body: 'late' });
      await socket.flushed();
      disk.letGo();
      t.equal((await underWay).status, 201);
      await t.rejects(late, /closed while waiting/);
      t.match(await socket.closed, { code: 1012 });
      await stopping;
      const again = await startService(t, { dataDir: service.dataDir });
      t.strictSame(
        (await again.get(`/conversations/${chat.id}/messages`, owner.token)).body.messages.map((one: any) => one.body),
        ['Hello, is anybody there?', 'under way'],
      );
    },
  );
});

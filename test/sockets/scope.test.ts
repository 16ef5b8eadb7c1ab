import t from 'tap';
import { type Person, startService } from '../support/service.ts';
import type { TestSocket } from '../support/socket.ts';

t.test('the events of an agent', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const department = async (name: string) =>
    (await service.post('/departments', { name }, owner.token)).body.id as string;
  const [sales, support] = [await department('Sales'), await department('Support')];

  t.test('[6] by role, channels, departments and assignment: a table', async (t) => {
    /**
     * Who receives a message in: a chat without a department, one of Sales, one of Sales assigned to them, one of Sales
     * offered to them.
     */
    const rows: [
      string,
      { role?: string; channels?: string[]; groupIds?: string[] },
      [boolean, boolean, boolean, boolean],
    ][] = [
      ['admin', { role: 'admin' }, [true, true, true, true]],
      ['admin of calls', { role: 'admin', channels: ['calls'] }, [true, true, true, true]],
      ['supervisor of Sales', { role: 'supervisor', groupIds: [sales] }, [true, true, true, true]],
      ['supervisor of Support', { role: 'supervisor', groupIds: [support] }, [true, false, true, true]],
      ['agent of Sales', { channels: ['chats'], groupIds: [sales] }, [true, true, true, true]],
      ['agent of both', { channels: ['chats'], groupIds: [support, sales] }, [true, true, true, true]],
      ['agent of Support', { channels: ['chats'], groupIds: [support] }, [true, false, true, true]],
      ['agent of none', { channels: ['chats'] }, [true, false, true, true]],
      [
        'agent of Sales without chats',
        { channels: ['tickets', 'calls'], groupIds: [sales] },
        [false, false, false, false],
      ],
      ['agent of none without chats', { channels: ['tickets'] }, [false, false, false, false]],
      [
        'supervisor of Sales without chats',
        { role: 'supervisor', channels: ['calls'], groupIds: [sales] },
        [false, false, false, false],
      ],
    ];
    for (const [who, options, expected] of rows) {
      const agent = await service.agent(owner, options);
      const worksInChats = expected[0];
      const chats = [
        await service.chat(owner),
        await service.chat(owner),
        await service.chat(owner),
        await service.chat(owner),
      ];
      for (const chat of chats.slice(1))
        await service.post(`/conversations/${chat.id}/assign-to-department`, { departmentId: sales }, owner.token);
      const give = async (id: string, force: boolean) =>
        service.post(
          `/conversations/${id}/assign-to-agent`,
          { agentId: agent.agentId, expectedVersion: (await service.conversation(id, owner.token)).version, force },
          owner.token,
        );
      if (worksInChats) {
        await give(chats[2]?.id ?? '', true);
        await give(chats[3]?.id ?? '', false);
      }
      const socket = await service.agentSocket(agent.token);
      const witness = await service.agentSocket(owner.token);
      for (const { id } of chats) await service.post(`/conversations/${id}/messages`, { body: 'x' }, owner.token);
      for (const { id } of chats) await service.post(`/conversations/${id}/notes`, { body: 'x' }, owner.token);
      await witness.flushed();
      await socket.flushed();
      for (const type of ['message.created', 'note.created']) {
        t.equal(witness.events.filter((one) => one === type).length, 4, 'the owner receives all');
        t.strictSame(
          chats.map(({ id }) => socket.numbered.some((frame) => frame.type === type && frame.conversationId === id)),
          expected,
          `${who}: ${type}`,
        );
      }
      await socket.close();
      await witness.close();
    }
  });

  t.test('[6] events without a conversation: visitors for the chats channel, agents for everyone', async (t) => {
    const chatter = await service.agentSocket(
      (await service.agent(owner, { channels: ['chats'], groupIds: [support] })).token,
    );
    const caller = await service.agentSocket((await service.agent(owner, { channels: ['calls'] })).token);
    await service.customer(owner.embedId);
    const changed = await service.agent(owner);
    await chatter.flushed();
    await caller.flushed();
    t.equal(chatter.events.filter((type) => type === 'visitor.online').length, 1);
    t.equal(caller.events.filter((type) => type === 'visitor.online').length, 0);
    for (const socket of [chatter, caller])
      t.ok(socket.numbered.some((frame) => frame.type === 'agent.updated' && frame.data.agent.id === changed.agentId));
  });

  t.test('[5] nothing of another workspace, in either namespace', async (t) => {
    const stranger = await service.workspace();
    const strangers = [
      await service.agentSocket(stranger.token),
      await service.visitorSocket((await service.customer(stranger.embedId)).token),
    ];
    const chat = await service.chat(owner);
    await service.post(`/conversations/${chat.id}/messages`, { body: 'x' }, owner.token);
    for (const socket of strangers) {
      await socket.flushed();
      t.strictSame(
        socket.events.filter((type) => type !== 'visitor.online'),
        [],
      );
    }
  });

  t.test(
    '[6] a change of scope takes effect with its commit: nothing before it comes late, nothing after it is missed',
    async (t) => {
      const agent = await service.agent(owner, { channels: ['chats'] });
      const chat = await service.chat(owner);
      await service.post(`/conversations/${chat.id}/assign-to-department`, { departmentId: sales }, owner.token);
      const socket = await service.agentSocket(agent.token);
      const say = (body: string) => service.post(`/conversations/${chat.id}/messages`, { body }, owner.token);
      const scope = (changes: object) => service.patch(`/agents/${agent.agentId}`, changes, owner.token);
      await say('outside');
      await scope({ groupIds: [sales] });
      await say('inside');
      await scope({ channels: ['tickets'] });
      await say('without the channel');
      await scope({ channels: ['chats'] });
      await say('inside again');
      await service.patch(`/departments/${sales}`, { memberIds: [] }, owner.token);
      await say('put out');
      await scope({ role: 'admin' });
      await say('as an admin');
      await socket.flushed();
      t.strictSame(
        socket.numbered.flatMap((frame) => frame.data.message?.body ?? []),
        ['inside', 'inside again', 'as an admin'],
      );
    },
  );

  t.test(
    'a conversation that leaves a department is sent once more to those who could see it, and never again',
    async (t) => {
      const people: Record<string, Person> = {
        seller: await service.agent(owner, { channels: ['chats'], groupIds: [sales] }),
        supporter: await service.agent(owner, { channels: ['chats'], groupIds: [support] }),
        guest: await service.agent(owner, { channels: ['chats'] }),
      };
      const sockets: Record<string, TestSocket> = {};
      const chat = await service.chat(owner);
      await service.post(`/conversations/${chat.id}/assign-to-department`, { departmentId: sales }, owner.token);
      const { version } = await service.conversation(chat.id, owner.token);
      await service.post(
        `/conversations/${chat.id}/assign-to-agent`,
        { agentId: people['guest']?.agentId, expectedVersion: version, force: true },
        owner.token,
      );
      for (const [who, { token }] of Object.entries(people)) sockets[who] = await service.agentSocket(token);
      await service.post(`/conversations/${chat.id}/assign-to-department`, { departmentId: support }, owner.token);
      await service.post(`/conversations/${chat.id}/messages`, { body: 'x' }, owner.token);
      const told = async (who: string) => {
        const socket = sockets[who] as TestSocket;
        await socket.flushed();
        return socket.numbered
          .filter((frame) => frame.conversationId === chat.id)
          .map((frame) => [frame.type, frame.data.conversation?.departmentId]);
      };
      t.strictSame(await told('seller'), [['conversation.updated', support]]);
      t.strictSame(await told('guest'), [['conversation.updated', support]], 'also the former assignee');
      t.strictSame(await told('supporter'), [
        ['conversation.updated', support],
        ['message.created', undefined],
        ['message.created', undefined],
      ]);
    },
  );

  t.test('an offer is sent to its recipient, and its end, whatever the department', async (t) => {
    const guest = await service.agent(owner, { channels: ['chats'] });
    const chat = await service.chat(owner);
    await service.post(`/conversations/${chat.id}/assign-to-department`, { departmentId: sales }, owner.token);
    const socket = await service.agentSocket(guest.token);
    const { version } = await service.conversation(chat.id, owner.token);
    await service.post(
      `/conversations/${chat.id}/assign-to-agent`,
      { agentId: guest.agentId, expectedVersion: version },
      owner.token,
    );
    t.equal((await socket.next('assignment.pending')).data.conversation.handshake.toAgentId, guest.agentId);
    await service.post(`/conversations/${chat.id}/messages`, { body: 'while it is offered' }, owner.token);
    await service.pass(30_000);
    t.equal((await socket.next('assignment.expired')).data.conversation.handshake, null);
    await service.post(`/conversations/${chat.id}/messages`, { body: 'after' }, owner.token);
    await socket.flushed();
    t.strictSame(
      socket.numbered.flatMap((frame) => (frame.data.message?.senderType === 'agent' ? frame.data.message.body : [])),
      ['while it is offered'],
    );
  });
});

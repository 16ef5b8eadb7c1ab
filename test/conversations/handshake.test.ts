import t from 'tap';
import { startService } from '../support/service.ts';

t.test('assignment handshake', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const ann = await service.agent(owner);
  const bob = await service.agent(owner);

  const offer = async (from = ann, to = bob) => {
    const chat = await service.chat(owner);
    await service.post(
      `/conversations/${chat.id}/assign-to-agent`,
      { agentId: from.agentId, expectedVersion: chat.version, force: true },
      owner.token,
    );
    const { version } = await service.conversation(chat.id, owner.token);
    const offered = await service.post(
      `/conversations/${chat.id}/assign-to-agent`,
      { agentId: to.agentId, expectedVersion: version, note: 'Can you take this?' },
      from.token,
    );
    return { id: chat.id, offered };
  };

  t.test('[3 handshake] assign-to-agent offers it for 30 seconds; the assignee stays', async (t) => {
    const { offered } = await offer();
    t.equal(offered.status, 200);
    const { conversation } = offered.body;
    t.equal(conversation.assignedAgentId, ann.agentId);
    t.match(conversation.handshake, {
      toAgentId: bob.agentId,
      initiatedByAgentId: ann.agentId,
      previousAgentId: ann.agentId,
      note: 'Can you take this?',
    });
    t.equal(Date.parse(conversation.handshake.expiresAt) - service.clock.now(), 30_000);
  });

  t.test('[3 handshake] 30 seconds pass: it reverts to the previous assignee', async (t) => {
    const { id, offered } = await offer();
    await service.pass(29_999);
    t.not((await service.conversation(id, owner.token)).handshake, null, 'a millisecond before, it is pending');
    await service.pass(1);
    const reverted = await service.conversation(id, owner.token);
    t.equal(reverted.handshake, null);
    t.equal(reverted.assignedAgentId, ann.agentId);
    t.equal(reverted.version, offered.body.conversation.version + 1, 'its expiry is a new version');
  });

  t.test('[3 handshake] accept completes it, decline and cancel revert it', async (t) => {
    const rows = [
      ['accept', bob, bob.agentId, 'assignment.accepted'],
      ['accept', owner, bob.agentId, 'assignment.accepted'],
      ['decline', bob, ann.agentId, 'assignment.declined'],
      ['cancel', ann, ann.agentId, 'assignment.cancelled'],
      ['cancel', owner, ann.agentId, 'assignment.cancelled'],
    ] as const;
    for (const [step, by, assignee, event] of rows) {
      const { id } = await offer();
      const socket = await service.agentSocket(owner.token);
      const { status, body } = await service.post(`/conversations/${id}/assignment/${step}`, undefined, by.token);
      t.equal(status, 200, step);
      t.match(body.conversation, { assignedAgentId: assignee, handshake: null });
      t.equal((await socket.next(event)).data.conversation.id, id, event);
      await socket.close();
    }
  });

  t.test('[3 handshake] offers to the caller have their own list', async (t) => {
    const { id } = await offer();
    const offeredTo = async (token: string) =>
      (await service.get('/conversations/queue?offered=true', token)).body.conversations.map(
        (one: { id: string }) => one.id,
      );
    t.same(await offeredTo(bob.token), [id]);
    t.same(await offeredTo(ann.token), [], 'the assignee is not offered it');
    t.same(await offeredTo(owner.token), [], 'nor is an agent who can answer for others');
    t.same((await service.get('/conversations/queue?offered=true&channel=call', bob.token)).body.conversations, []);
    t.ok(
      (await service.get('/conversations/queue?offered=false', bob.token)).body.conversations.length > 0,
      'false asks for everything',
    );
    await service.post(`/conversations/${id}/assignment/decline`, undefined, bob.token);
    t.same(await offeredTo(bob.token), []);
  });

  t.test('[3 handshake] no one else can answer or withdraw it', async (t) => {
    const cat = await service.agent(owner);
    const { id } = await offer();
    for (const [step, by] of [
      ['accept', cat],
      ['accept', ann],
      ['decline', cat],
      ['cancel', cat],
      ['cancel', bob],
    ] as const) {
      const { status, body } = await service.post(`/conversations/${id}/assignment/${step}`, undefined, by.token);
      t.equal(status, 403, step);
      t.equal(body.error, 'forbidden');
    }
    t.not((await service.conversation(id, owner.token)).handshake, null);
  });

  t.test('[4.5] no offer to answer: 409 no_pending_handshake', async (t) => {
    const chat = await service.chat(owner);
    for (const step of ['accept', 'decline', 'cancel'])
      t.match(await service.post(`/conversations/${chat.id}/assignment/${step}`, undefined, owner.token), {
        status: 409,
        body: { error: 'no_pending_handshake' },
      });
  });

  t.test('[3 handshake] in the moment it runs out it is over, whether its deadline was served or not', async (t) => {
    const { id } = await offer();
    service.clock.jump(30_000);
    for (const step of ['accept', 'decline', 'cancel'])
      t.match(
        await service.post(`/conversations/${id}/assignment/${step}`, undefined, owner.token),
        { status: 409, body: { error: 'no_pending_handshake' } },
        step,
      );
    await service.pass(30_000);
    t.match(await service.conversation(id, owner.token), { handshake: null, assignedAgentId: ann.agentId });
  });

  t.test('[3 handshake] force assigns immediately, leaves no handshake, and is audited', async (t) => {
    const chat = await service.chat(owner);
    for (const [by, to] of [
      [owner, ann],
      [await service.agent(owner, { role: 'supervisor' }), bob],
    ] as const) {
      const { version, assignedAgentId } = await service.conversation(chat.id, owner.token);
      const { status, body } = await service.post(
        `/conversations/${chat.id}/assign-to-agent`,
        { agentId: to.agentId, expectedVersion: version, force: true, note: 'Please, now.' },
        by.token,
      );
      t.equal(status, 200);
      t.match(body.conversation, { assignedAgentId: to.agentId, handshake: null, version: version + 1 });
      const [entry] = (await service.get('/workspace/audit-log?limit=1', owner.token)).body.entries;
      t.match(entry, {
        action: 'conversation.force_transferred',
        actorAgentId: by.agentId,
        targetKind: 'conversation',
        targetId: chat.id,
        before: { assignedAgentId },
        after: { assignedAgentId: to.agentId },
      });
      const { messages } = (await service.get(`/conversations/${chat.id}/messages`, owner.token)).body;
      t.match(
        messages.at(-1),
        { senderType: 'system', senderId: by.agentId, body: /: Please, now\.$/ },
        'its note stays readable',
      );
    }
  });

  t.test('[decisions] force needs an admin or a supervisor', async (t) => {
    const { id, version } = await service.chat(owner);
    t.match(
      await service.post(
        `/conversations/${id}/assign-to-agent`,
        { agentId: bob.agentId, expectedVersion: version, force: true },
        ann.token,
      ),
      { status: 403, body: { error: 'forbidden' } },
    );
    t.match(await service.conversation(id, owner.token), { version, assignedAgentId: null });
    t.equal(
      (
        await service.post(
          `/conversations/${id}/assign-to-agent`,
          { agentId: bob.agentId, expectedVersion: version, force: false },
          ann.token,
        )
      ).body.conversation.handshake.toAgentId,
      bob.agentId,
    );
  });

  t.test('[3 handshake] the note goes with the offer, and stays readable after it', async (t) => {
    const { id, offered } = await offer();
    t.equal(offered.body.conversation.handshake.note, 'Can you take this?');
    await service.post(`/conversations/${id}/assignment/accept`, { reason: 'Of course' }, bob.token);
    const lines = (await service.get(`/conversations/${id}/messages`, owner.token)).body.messages
      .filter((one: any) => one.senderType === 'system')
      .map((one: any) => one.body);
    t.ok(lines.some((line: string) => line.endsWith(': Can you take this?')));
    t.ok(lines.at(-1).endsWith(': Of course'), 'as does the reason of an answer');
  });

  t.test('[4.5] a new assignment during a handshake replaces it', async (t) => {
    const cat = await service.agent(owner);
    const socket = await service.agentSocket(owner.token);
    const { id, offered } = await offer();
    await service.pass(20_000);
    const again = await service.post(
      `/conversations/${id}/assign-to-agent`,
      { agentId: cat.agentId, expectedVersion: offered.body.conversation.version },
      ann.token,
    );
    t.match(again.body.conversation, {
      assignedAgentId: ann.agentId,
      handshake: { toAgentId: cat.agentId, previousAgentId: ann.agentId },
    });
    t.match((await socket.next('assignment.cancelled')).data.conversation, { id, handshake: null });
    t.equal((await socket.next('assignment.pending')).data.conversation.handshake.toAgentId, cat.agentId);
    t.match(
      await service.post(`/conversations/${id}/assignment/accept`, undefined, bob.token),
      { status: 403 },
      'the first recipient is no longer asked',
    );
    await service.pass(10_000);
    t.equal(
      (await service.conversation(id, owner.token)).handshake?.toAgentId,
      cat.agentId,
      'the new offer has 30 seconds of its own',
    );
    await service.pass(20_000);
    t.match(await service.conversation(id, owner.token), { assignedAgentId: ann.agentId, handshake: null });

    const second = await offer();
    const forced = await service.post(
      `/conversations/${second.id}/assign-to-agent`,
      { agentId: cat.agentId, expectedVersion: second.offered.body.conversation.version, force: true },
      owner.token,
    );
    t.match(forced.body.conversation, { assignedAgentId: cat.agentId, handshake: null });
    await service.pass(30_000);
    t.equal((await service.conversation(second.id, owner.token)).assignedAgentId, cat.agentId);
  });

  t.test('[3 handshake] an offer to oneself is an offer; to the assignee it has no effect', async (t) => {
    const { id, version } = await service.chat(owner);
    const own = await service.post(
      `/conversations/${id}/assign-to-agent`,
      { agentId: ann.agentId, expectedVersion: version },
      ann.token,
    );
    t.equal(own.body.conversation.handshake.toAgentId, ann.agentId);
    const { body } = await service.post(`/conversations/${id}/assignment/accept`, undefined, ann.token);
    const same = await service.post(
      `/conversations/${id}/assign-to-agent`,
      { agentId: ann.agentId, expectedVersion: body.conversation.version },
      bob.token,
    );
    t.strictSame(same.body.conversation, { ...body.conversation, updatedAt: same.body.conversation.updatedAt });
    t.match(
      (
        await service.post(
          `/conversations/${id}/assign-to-agent`,
          { agentId: ann.agentId, expectedVersion: body.conversation.version, force: true },
          owner.token,
        )
      ).body.conversation,
      { version: body.conversation.version, assignedAgentId: ann.agentId },
    );
  });

  t.test('[decisions] its recipient is deactivated: it reverts at once; its initiator: it stays', async (t) => {
    const cat = await service.agent(owner);
    const socket = await service.agentSocket(owner.token);
    const first = await offer(ann, cat);
    await service.delete(`/agents/${cat.agentId}`, owner.token);
    t.match(await service.conversation(first.id, owner.token), { assignedAgentId: ann.agentId, handshake: null });
    t.equal((await socket.next('assignment.expired')).conversationId, first.id);

    const eve = await service.agent(owner);
    const put = await service.chat(owner);
    await service.post(`/conversations/${put.id}/status`, { status: 'solved' }, owner.token);
    const { version } = await service.conversation(put.id, owner.token);
    await service.post(
      `/conversations/${put.id}/assign-to-agent`,
      { agentId: eve.agentId, expectedVersion: version },
      owner.token,
    );
    await service.delete(`/agents/${eve.agentId}`, owner.token);
    t.match(
      await service.conversation(put.id, owner.token),
      { status: 'solved', handshake: null },
      'of solved ones as well',
    );

    const dan = await service.agent(owner);
    const second = await offer(dan, bob);
    await service.delete(`/agents/${dan.agentId}`, owner.token);
    t.match(
      await service.conversation(second.id, owner.token),
      { assignedAgentId: null, handshake: { toAgentId: bob.agentId } },
      'the former assignee is gone, the offer is not',
    );
    t.match(
      (await service.post(`/conversations/${second.id}/assignment/accept`, undefined, bob.token)).body.conversation,
      { assignedAgentId: bob.agentId, handshake: null },
    );
  });

  t.test('[decisions] not to an agent who could not take it: 422 semantic_error', async (t) => {
    const gone = await service.agent(owner);
    await service.delete(`/agents/${gone.agentId}`, owner.token);
    const invited = (
      await service.post(
        '/agents/invite',
        { email: 'pending@example.com', name: 'Pending', role: 'agent' },
        owner.token,
      )
    ).body.id;
    const caller = await service.agent(owner, { channels: ['calls', 'tickets'] });
    const { id, version } = await service.chat(owner);
    for (const agentId of [gone.agentId, invited, caller.agentId]) {
      for (const force of [true, false])
        t.match(
          await service.post(
            `/conversations/${id}/assign-to-agent`,
            { agentId, expectedVersion: version, force },
            owner.token,
          ),
          { status: 422, body: { error: 'semantic_error' } },
        );
    }
    t.match(await service.conversation(id, owner.token), { version, assignedAgentId: null, handshake: null });
  });

  t.test(
    '[decisions] it can be offered to an agent who is away or offline; only routing requires availability',
    async (t) => {
      const cat = await service.agent(owner);
      for (const status of ['away', 'offline', 'available']) {
        await service.post('/me/status', { status }, cat.token);
        const { id, version } = await service.chat(owner);
        const { handshake } = (
          await service.post(
            `/conversations/${id}/assign-to-agent`,
            { agentId: cat.agentId, expectedVersion: version },
            owner.token,
          )
        ).body.conversation;
        if (status === 'available') t.equal(handshake, null, 'routed to it already');
        else t.equal(handshake.toAgentId, cat.agentId, status);
      }
      await service.post('/me/status', { status: 'away' }, cat.token);
    },
  );

  t.test('[3 handshake] a recipient that left the channel meanwhile cannot accept it: 422', async (t) => {
    const cat = await service.agent(owner, { channels: ['chats'] });
    const { id } = await offer(ann, cat);
    await service.patch(`/agents/${cat.agentId}`, { channels: ['tickets'] }, owner.token);
    t.match(await service.post(`/conversations/${id}/assignment/accept`, undefined, owner.token), {
      status: 422,
      body: { error: 'semantic_error' },
    });
    t.match(await service.post(`/conversations/${id}/assignment/decline`, undefined, owner.token), {
      status: 200,
      body: { conversation: { assignedAgentId: ann.agentId } },
    });
  });

  t.test('[7] unknown agents and departments are 404; malformed ids and versions are 400', async (t) => {
    const stranger = await service.workspace();
    const { id, version } = await service.chat(owner);
    const unknown = '019aa000-0000-7000-8000-000000000000';
    for (const agentId of [unknown, stranger.agentId])
      t.match(
        await service.post(`/conversations/${id}/assign-to-agent`, { agentId, expectedVersion: version }, owner.token),
        { status: 404, body: { error: 'not_found' } },
      );
    t.match(await service.post(`/conversations/${id}/assign-to-department`, { departmentId: unknown }, owner.token), {
      status: 404,
      body: { error: 'not_found' },
    });
    const rows: [string, object, string][] = [
      ['assign-to-agent', { agentId: bob.agentId }, 'expectedVersion'],
      ['assign-to-agent', { expectedVersion: version }, 'agentId'],
      ['assign-to-agent', { agentId: 'bob', expectedVersion: version }, 'agentId'],
      ['assign-to-agent', { agentId: bob.agentId, expectedVersion: String(version) }, 'expectedVersion'],
      ['assign-to-agent', { agentId: bob.agentId, expectedVersion: 1.5 }, 'expectedVersion'],
      ['assign-to-agent', { agentId: bob.agentId, expectedVersion: version, force: 'yes' }, 'force'],
      ['assign-to-agent', { agentId: bob.agentId, expectedVersion: version, note: 'n'.repeat(1001) }, 'note'],
      ['assign-to-department', {}, 'departmentId'],
      ['assign-to-department', { departmentId: 'sales' }, 'departmentId'],
      ['assignment/accept', { expectedVersion: 'x' }, 'expectedVersion'],
      ['assignment/decline', { reason: 7 }, 'reason'],
    ];
    for (const [path, body, field] of rows)
      t.match(
        await service.post(`/conversations/${id}/${path}`, body, owner.token),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { [field]: [String] } } } },
        `${path}: ${field}`,
      );
  });

  t.test('[3 handshake] to a department at once: unassigned, an offer ended, in its queue', async (t) => {
    const sales = (await service.post('/departments', { name: 'Sales' }, owner.token)).body.id;
    const socket = await service.agentSocket(owner.token);
    const { id, offered } = await offer();
    t.match(
      await service.post(
        `/conversations/${id}/assign-to-department`,
        { departmentId: sales, expectedVersion: offered.body.conversation.version - 1 },
        ann.token,
      ),
      { status: 409, body: { error: 'stale_version', detail: { currentVersion: offered.body.conversation.version } } },
    );
    const { status, body } = await service.post(
      `/conversations/${id}/assign-to-department`,
      { departmentId: sales, expectedVersion: offered.body.conversation.version },
      ann.token,
    );
    t.equal(status, 200);
    t.match(body.conversation, { departmentId: sales, assignedAgentId: null, handshake: null });
    t.equal((await socket.next('assignment.cancelled')).conversationId, id);
    t.match((await service.get(`/conversations/${id}/messages`, owner.token)).body.messages.at(-1), {
      senderType: 'system',
      senderId: ann.agentId,
      body: /to Sales/,
    });
    await service.pass(30_000);
    t.equal((await service.conversation(id, owner.token)).assignedAgentId, null);
  });

  t.test('[8] a stale expectedVersion is refused with the current one, and changes nothing', async (t) => {
    const { id, offered } = await offer();
    const { version } = offered.body.conversation;
    for (const path of ['accept', 'decline', 'cancel']) {
      const { status, body } = await service.post(
        `/conversations/${id}/assignment/${path}`,
        { expectedVersion: version - 1 },
        owner.token,
      );
      t.equal(status, 409);
      t.match(body, { error: 'stale_version', detail: { currentVersion: version } });
    }
    t.match(
      await service.post(
        `/conversations/${id}/assign-to-agent`,
        { agentId: ann.agentId, expectedVersion: version + 1 },
        owner.token,
      ),
      { status: 409, body: { error: 'stale_version' } },
    );
    t.equal((await service.conversation(id, owner.token)).version, version);
  });
});

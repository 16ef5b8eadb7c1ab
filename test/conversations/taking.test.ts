import t from 'tap';
import { claimLine, deliver, ringLine, timelineOf } from '../support/calls.ts';
import { type Person, startService, type Teardown } from '../support/service.ts';

/** A new workspace whose agents are away. */
async function start(t: Teardown) {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', TOKEN_TTL_DAYS: '300' } });
  const owner = await service.workspace({ assignOnReply: true });
  const ann = await service.agent(owner, { name: 'Ann' });
  const bob = await service.agent(owner, { name: 'Bob' });
  const sue = await service.agent(owner, { name: 'Sue', role: 'supervisor' });
  const act = (id: string, path: string, by: Person, body?: object) =>
    service.post(`/conversations/${id}/${path}`, body, by.token);
  const record = async (id: string) => (await service.get(`/conversations/${id}`, owner.token)).body.conversation;
  const linesOf = async (id: string) =>
    (await service.get(`/conversations/${id}/messages`, owner.token)).body.messages.filter(
      (one: any) => one.senderType === 'system',
    );
  const offer = async (id: string, to: Person, by: Person = owner) =>
    act(id, 'assign-to-agent', by, { agentId: to.agentId, expectedVersion: (await record(id)).version });
  const ticket = async () =>
    (
      await service.post(
        '/tickets',
        { customerEmail: 'kim@example.org', subject: 'Broken', body: 'We will look.' },
        owner.token,
      )
    ).body;
  const status = (person: Person, value: string) => service.post('/me/status', { status: value }, person.token);
  return { service, owner, ann, bob, sue, act, record, linesOf, offer, ticket, status };
}

t.test('whose a conversation is', async (t) => {
  const { service, owner, ann, bob, sue, act, record, linesOf, offer, ticket } = await start(t);

  t.test('[decisions, taking] take: immediate, with a line and an event, and a new version', async (t) => {
    const chat = await service.chat(owner);
    const socket = await service.agentSocket(owner.token);
    const { status, body } = await act(chat.id, 'take', ann);
    t.equal(status, 200);
    t.match(body.conversation, { assignedAgentId: ann.agentId, version: chat.version + 1, handshake: null });
    t.equal((await socket.next('conversation.updated')).data.conversation.assignedAgentId, ann.agentId);
    t.match((await linesOf(chat.id)).at(-1), { senderId: ann.agentId, body: 'Ann took this.' });
    t.match(
      await act(chat.id, 'take', ann),
      { status: 200, body: { conversation: { assignedAgentId: ann.agentId, version: chat.version + 1 } } },
      'the assignee keeps it',
    );
    t.match(
      await socket.call('conversation.take', { conversationId: chat.id }),
      { status: 409 },
      'over a socket as well',
    );
    await socket.close();
  });

  t.test(
    "[decisions, taking] another agent's: 409 already_assigned, which names the assignee, for an admin too",
    async (t) => {
      const { id } = await service.chat(owner);
      await act(id, 'take', ann);
      for (const by of [bob, sue, owner])
        t.match(await act(id, 'take', by), {
          status: 409,
          body: { error: 'already_assigned', detail: { assignedAgentId: ann.agentId } },
        });
      t.equal((await record(id)).assignedAgentId, ann.agentId);
    },
  );

  t.test('[decisions, taking] of many who take concurrently, one succeeds', async (t) => {
    const { id } = await service.chat(owner);
    const answers = await Promise.all([ann, bob, sue, owner].map((by) => act(id, 'take', by)));
    t.same(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
    t.equal((await record(id)).version, 2);
  });

  t.test(
    '[decisions, taking] spam and closed ones: 409 illegal_status_transition; pending and solved ones can be taken',
    async (t) => {
      for (const [status, isTaken] of [
        ['spam', false],
        ['pending', true],
        ['solved', true],
        ['closed', false],
      ] as const) {
        const { id } = await service.chat(owner);
        await act(id, 'status', owner, { status: status === 'closed' ? 'solved' : status });
        if (status === 'closed') await service.pass(7 * 24 * 3600_000);
        t.match(
          await act(id, 'take', ann),
          isTaken
            ? { status: 200, body: { conversation: { status, assignedAgentId: ann.agentId } } }
            : { status: 409, body: { error: 'illegal_status_transition' } },
          status,
        );
      }
    },
  );

  t.test(
    '[decisions, taking] a pending offer ends: accepted if its recipient takes, otherwise cancelled',
    async (t) => {
      const socket = await service.agentSocket(owner.token);
      for (const [to, event] of [
        [ann, 'assignment.accepted'],
        [bob, 'assignment.cancelled'],
      ] as const) {
        const { id } = await service.chat(owner);
        await offer(id, to);
        t.match((await act(id, 'take', ann)).body.conversation, { assignedAgentId: ann.agentId, handshake: null });
        t.match((await socket.next(event)).data.conversation, { id, assignedAgentId: ann.agentId });
        t.match(await act(id, 'assignment/accept', to), { status: 409, body: { error: 'no_pending_handshake' } });
        await service.pass(30_000);
        t.equal((await record(id)).assignedAgentId, ann.agentId, 'its time is over and changes nothing');
      }
      const { id } = await service.chat(owner);
      await act(id, 'take', ann);
      await offer(id, bob, ann);
      t.match(
        (await act(id, 'take', ann)).body.conversation,
        { assignedAgentId: ann.agentId, handshake: null },
        'the agent who offered it keeps it after all',
      );
      await socket.close();
    },
  );

  t.test('[5] only with access', async (t) => {
    const sales = (await service.post('/departments', { name: 'Sales' }, owner.token)).body.id;
    const { id } = await service.chat(owner);
    await act(id, 'assign-to-department', owner, { departmentId: sales });
    const caller = await service.agent(owner, { channels: ['calls'] });
    const stranger = await service.workspace();
    for (const path of ['take', 'unassign', 'unread']) {
      t.match(await act(id, path, ann), { status: 403, body: { error: 'forbidden' } }, `${path}: another department`);
      t.match(await act(id, path, caller), { status: 403, body: { error: 'forbidden' } }, `${path}: another channel`);
      t.match(
        await act(id, path, stranger),
        { status: 404, body: { error: 'not_found' } },
        `${path}: another workspace`,
      );
    }
    await service.delete(`/departments/${sales}`, owner.token);
  });

  t.test(
    '[decisions, taking] answering an unassigned conversation assigns it: in the same command, with a new version',
    async (t) => {
      const chat = await service.chat(owner);
      const { id: ticketId } = await ticket();
      t.match(
        await record(ticketId),
        { assignedAgentId: null, version: 1 },
        'the message that opens a ticket takes nothing',
      );
      for (const id of [chat.id, ticketId]) {
        await act(id, 'messages', ann, { body: 'Let me look.' });
        t.match(await record(id), { assignedAgentId: ann.agentId, version: 2 });
        t.match((await linesOf(id)).at(-1), { senderId: ann.agentId, body: 'Ann took this by answering.' });
        await act(id, 'messages', bob, { body: 'Me too.' });
        await act(id, 'messages', ann, { body: 'And on.' });
        t.match(
          await record(id),
          { assignedAgentId: ann.agentId, version: 2 },
          'an assigned one stays theirs, and a message does not change the version',
        );
      }
      await service.post(`/conversations/${chat.id}/notes`, { body: 'Order 1042' }, bob.token);
    },
  );

  t.test('[decisions, taking] a pending offer also ends by an answer', async (t) => {
    const { id } = await service.chat(owner);
    await offer(id, bob);
    await act(id, 'messages', ann, { body: 'I am here.' });
    t.match(await record(id), { assignedAgentId: ann.agentId, handshake: null });
  });

  t.test('[decisions, taking] a note, a call and a workspace without assignOnReply take nothing', async (t) => {
    const { id } = await service.chat(owner);
    await act(id, 'notes', ann, { body: 'Hm.' });
    t.equal((await record(id)).assignedAgentId, null, 'a note');
    const line = await claimLine(service, owner);
    const missed = await ringLine(service, line);
    await deliver(service, line, { type: 'ended', callId: missed.callId });
    await act(missed.id, 'messages', ann, { body: 'Will call back.' });
    t.equal((await record(missed.id)).assignedAgentId, null, 'a call');
    await service.patch(`/workspaces/${owner.workspaceId}`, { assignOnReply: false }, owner.token);
    await act(id, 'messages', ann, { body: 'Let me look.' });
    t.match(await record(id), { assignedAgentId: null, version: 1 }, 'the setting');
    await service.patch(`/workspaces/${owner.workspaceId}`, { assignOnReply: true }, owner.token);
    await act(id, 'messages', bob, { body: 'I look.' });
    t.equal((await record(id)).assignedAgentId, bob.agentId, 'holds from then on');
  });

  t.test('[decisions] agentId null gives back as well, of the version that was seen', async (t) => {
    const { id } = await service.chat(owner);
    await act(id, 'take', ann);
    const { version } = await record(id);
    t.match(await act(id, 'assign-to-agent', ann, { agentId: null, expectedVersion: version - 1 }), {
      status: 409,
      body: { error: 'stale_version' },
    });
    t.match(await act(id, 'assign-to-agent', bob, { agentId: null, expectedVersion: version }), {
      status: 403,
      body: { error: 'forbidden' },
    });
    t.match(await act(id, 'assign-to-agent', ann, { agentId: null, expectedVersion: version }), {
      status: 200,
      body: { conversation: { assignedAgentId: null } },
    });
    t.match(await act(id, 'assign-to-agent', ann, { agentId: null, expectedVersion: version + 1 }), {
      status: 409,
      body: { error: 'not_assigned' },
    });
  });

  t.test('[decisions, taking] unassign: by its assignee, an admin or a supervisor; with a line', async (t) => {
    for (const [by, line] of [
      [ann, 'Ann returned this to the queue.'],
      [sue, 'Sue took this from Ann; it is back in the queue.'],
      [owner, /took this from Ann/],
    ] as const) {
      const { id } = await service.chat(owner);
      await act(id, 'take', ann);
      const { version } = await record(id);
      t.match(await act(id, 'unassign', bob), { status: 403, body: { error: 'forbidden' } }, 'no one else');
      t.match(await act(id, 'unassign', by), {
        status: 200,
        body: { conversation: { assignedAgentId: null, version: version + 1, status: 'open' } },
      });
      t.match((await linesOf(id)).at(-1), { senderId: by.agentId, body: line });
      t.match(await act(id, 'unassign', by), { status: 409, body: { error: 'not_assigned' } }, 'it is unassigned');
    }
  });

  t.test('[decisions, taking] returning a conversation ends its offer', async (t) => {
    const { id } = await service.chat(owner);
    await act(id, 'take', ann);
    await offer(id, bob, ann);
    t.match((await act(id, 'unassign', ann)).body.conversation, { assignedAgentId: null, handshake: null });
  });

  t.test(
    "[decisions, seen] only the assignee marks the customer's messages as seen; while it is unassigned, anyone",
    async (t) => {
      const chat = await service.chat(owner, 'one');
      const read = async () =>
        (await service.get(`/conversations/${chat.id}/messages`, owner.token)).body.messages
          .filter((one: any) => one.senderType === 'visitor')
          .map((one: any) => one.readAt !== null);
      const socket = await service.agentSocket(owner.token);
      t.equal((await act(chat.id, 'read', bob)).status, 200);
      t.same(await read(), [true], 'it is unassigned');
      await act(chat.id, 'take', ann);
      await service.post(`/widget/conversations/${chat.id}/messages`, { body: 'two' }, chat.customer.token);
      const before = await record(chat.id);
      for (const by of [bob, sue, owner])
        t.same((await act(chat.id, 'read', by)).body, { conversation: before }, 'of others it changes nothing');
      await socket.flushed();
      t.equal(socket.events.filter((type) => type === 'message.read').length, 1, 'and tells nothing');
      t.same(await read(), [true, false]);
      await act(chat.id, 'read', ann);
      t.same(await read(), [true, true]);
      await socket.close();
    },
  );

  t.test("[decisions, seen] unread takes the mark back from the customer's last message on", async (t) => {
    const chat = await service.chat(owner, 'one');
    await act(chat.id, 'messages', ann, { body: 'answer' });
    await service.post(`/widget/conversations/${chat.id}/messages`, { body: 'two' }, chat.customer.token);
    t.match(await act(chat.id, 'unread', bob), { status: 409, body: { error: 'not_assigned' } });
    const unread = await act(chat.id, 'unread', ann);
    t.same(unread.body.conversation, await record(chat.id), 'unread ones stay so');
    await act(chat.id, 'read', ann);
    const read = await record(chat.id);
    const socket = await service.agentSocket(bob.token);
    const { status, body } = await act(chat.id, 'unread', ann);
    t.equal(status, 200);
    t.equal(body.conversation.version, read.version, 'it is no new version');
    t.ok(body.conversation.agentsReadUpTo < body.conversation.lastCustomerMessageAt);
    t.match((await socket.next('conversation.updated')).data.conversation, {
      id: chat.id,
      agentsReadUpTo: body.conversation.agentsReadUpTo,
    });
    const messages = (await service.get(`/conversations/${chat.id}/messages`, owner.token)).body.messages.filter(
      (one: any) => one.senderType === 'visitor',
    );
    t.same(
      messages.map((one: any) => one.readAt !== null),
      [true, false],
      'the one before stays read',
    );
    await act(chat.id, 'read', ann);
    t.equal((await record(chat.id)).agentsReadUpTo >= messages[1].createdAt, true, 'and it can be read again');
    await socket.close();
  });
});

t.test('its effects on routing', async (t) => {
  const { service, owner, ann, bob, sue, act, record, linesOf, ticket, status } = await start(t);

  t.test('[decisions, taking] an answered chat is not routed to another agent afterwards', async (t) => {
    const { id } = await service.chat(owner);
    await act(id, 'messages', ann, { body: 'Hello!' });
    await status(bob, 'available');
    t.equal((await record(id)).assignedAgentId, ann.agentId);
    await status(bob, 'away');
  });

  t.test('[decisions, taking] a returned chat is routed, but not to the agent who returned it or had it', async (t) => {
    await status(ann, 'available');
    const { id } = await service.chat(owner);
    t.equal((await record(id)).assignedAgentId, ann.agentId);
    t.match(
      (await act(id, 'unassign', ann)).body.conversation,
      { assignedAgentId: null },
      'if no one else is available it waits',
    );
    await status(ann, 'away');
    await status(ann, 'available');
    t.equal((await record(id)).assignedAgentId, null, 'also when she becomes available again');
    await status(bob, 'available');
    t.equal((await record(id)).assignedAgentId, bob.agentId);
    await act(id, 'unassign', bob);
    t.equal((await record(id)).assignedAgentId, ann.agentId, 'an agent who returned it once can get it from another');
    await status(bob, 'away');
    await status(sue, 'available');
    await status(owner, 'away');
    t.match(
      (await act(id, 'unassign', sue)).body.conversation,
      { assignedAgentId: null },
      'a supervisor takes it from her: to neither',
    );
    t.match((await act(id, 'take', ann)).body.conversation, { assignedAgentId: ann.agentId }, 'by hand she may');
    for (const person of [ann, bob, sue]) await status(person, 'away');
    await act(id, 'unassign', ann);
    const { id: ticketId } = await ticket();
    await act(ticketId, 'take', ann);
    await status(bob, 'available');
    t.match(
      (await act(ticketId, 'unassign', ann)).body.conversation,
      { assignedAgentId: null },
      'a ticket waits for an agent who takes it',
    );
    await status(bob, 'away');
  });

  t.test('[7 calls] a call is taken by answering it, and if returned it rings the others', async (t) => {
    const line = await claimLine(service, owner);
    await status(ann, 'available');
    await status(bob, 'available');
    const { id, callId } = await ringLine(service, line);
    t.match(await act(id, 'take', bob), { status: 409, body: { error: 'conflict' } }, 'it rings');
    await service.post(`/calls/${id}/answer`, undefined, ann.token);
    t.match(await act(id, 'take', bob), { status: 409, body: { error: 'already_assigned' } }, 'it is answered');
    t.match(
      await act(id, 'unassign', sue),
      { status: 403, body: { error: 'not_assigned' } },
      "it is its agent's, not a supervisor's",
    );
    t.match((await act(id, 'unassign', ann)).body.conversation, { assignedAgentId: null });
    const call = (await service.get(`/calls/${id}`, owner.token)).body;
    t.match(call, { state: 'ringing', ringingAgentIds: [bob.agentId] });
    t.same(timelineOf(call), ['ringing', 'answered', 'transferred']);
    await service.pass(30_000);
    t.match(
      await act(id, 'take', bob),
      { status: 403, body: { error: 'not_assigned' } },
      'its caller leaves a voicemail',
    );
    await deliver(service, line, { type: 'voicemail_left', callId });
    await deliver(service, line, { type: 'ended', callId });
    t.match(
      (await act(id, 'take', bob)).body.conversation,
      { assignedAgentId: bob.agentId, status: 'open' },
      'once over, anyone can call back',
    );
    for (const person of [ann, bob]) await status(person, 'away');
  });

  t.test(
    "[decisions, reopening] a customer's message reopens a pending conversation, with a line; an unassigned one is routed then",
    async (t) => {
      const chat = await service.chat(owner);
      await act(chat.id, 'status', owner, { status: 'pending' });
      await status(ann, 'available');
      t.match(
        await record(chat.id),
        { status: 'pending', assignedAgentId: null },
        'while it waits for the customer no one is assigned',
      );
      await service.post(
        `/widget/conversations/${chat.id}/messages`,
        { body: 'Here is the number.' },
        chat.customer.token,
      );
      t.match(await record(chat.id), { status: 'open', assignedAgentId: ann.agentId });
      t.ok((await linesOf(chat.id)).some((one: any) => one.senderId === null && /pending became open/.test(one.body)));
      await status(ann, 'away');
    },
  );
});

import t from 'tap';
import { startService } from '../support/service.ts';

t.test('departments', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const stranger = await service.workspace();
  const ann = await service.agent(owner);
  const bob = await service.agent(owner);
  const create = async (name: string, fields: object = {}) =>
    (await service.post('/departments', { name, ...fields }, owner.token)).body;
  const list = async (token = owner.token) => (await service.get('/departments', token)).body.departments;

  t.test('[4.10] a workspace starts without', async (t) => {
    t.same((await service.get('/departments', owner.token)).body, { departments: [] });
  });

  t.test('[4.10] create, list, rename, delete', async (t) => {
    const { status, body } = await service.post(
      '/departments',
      { name: 'Sales', memberIds: [ann.agentId] },
      owner.token,
    );
    t.equal(status, 201);
    t.same(body, { id: body.id, name: 'Sales', memberIds: [ann.agentId], isDefault: false, createdAt: body.createdAt });
    t.same(await list(), [body]);
    t.same(await list(bob.token), [body], 'every agent may read them');
    t.same((await service.patch(`/departments/${body.id}`, { name: 'Selling' }, owner.token)).body, {
      ...body,
      name: 'Selling',
    });
    t.match((await service.get(`/agents/${ann.agentId}`, owner.token)).body, {
      groups: [{ id: body.id, name: 'Selling' }],
      groupIds: [body.id],
    });
    t.equal((await service.delete(`/departments/${body.id}`, owner.token)).status, 204);
    t.same(await list(), []);
    t.match((await service.get(`/agents/${ann.agentId}`, owner.token)).body, { groups: [], groupIds: [] });
    t.match(await service.delete(`/departments/${body.id}`, owner.token), {
      status: 404,
      body: { error: 'not_found' },
    });
    t.match(await service.patch(`/departments/${body.id}`, { name: 'x' }, owner.token), { status: 404 });
  });

  t.test('[4.10] members are agents of this workspace', async (t) => {
    const { id } = await create('Members');
    const set = (memberIds: unknown) => service.patch(`/departments/${id}`, { memberIds }, owner.token);
    t.match((await set([ann.agentId, bob.agentId, ann.agentId])).body.memberIds, [ann.agentId, bob.agentId]);
    t.same((await set([bob.agentId])).body.memberIds, [bob.agentId]);
    t.same((await set([])).body.memberIds, []);
    t.match(await set([ann.agentId, stranger.agentId]), {
      status: 400,
      body: { error: 'invalid_body', detail: { fieldErrors: { 'memberIds.1': [String] } } },
    });
    t.same(
      (await list()).find((one: { id: string }) => one.id === id).memberIds,
      [],
      'a refused change leaves nothing',
    );
    t.match(await service.post('/departments', { name: 'Foreign', memberIds: [stranger.agentId] }, owner.token), {
      status: 400,
    });
    t.equal(
      (await list()).some((one: { name: string }) => one.name === 'Foreign'),
      false,
    );
  });

  t.test('[7] conflict: names are unique, ignoring case', async (t) => {
    const { id } = await create('Billing');
    for (const name of ['Billing', 'BILLING'])
      t.match(await service.post('/departments', { name }, owner.token), { status: 409, body: { error: 'conflict' } });
    const second = await create('Legal');
    t.match(await service.patch(`/departments/${second.id}`, { name: 'billing' }, owner.token), {
      status: 409,
      body: { error: 'conflict' },
    });
    t.equal(
      (await service.patch(`/departments/${id}`, { name: 'billing' }, owner.token)).status,
      200,
      'its own in another case',
    );
    t.equal(
      (await service.post('/departments', { name: 'Billing' }, stranger.token)).status,
      201,
      'another workspace has its own names',
    );
  });

  t.test('at most 200, and an agent can be in all of them', async (t) => {
    const rich = await service.workspace();
    const create = (name: string) => service.post('/departments', { name }, rich.token);
    const ids = [];
    for (let number = 1; number <= 200; number += 1) ids.push((await create(`Department ${number}`)).body.id);
    t.match(await create('One more'), {
      status: 422,
      body: { error: 'semantic_error', detail: { maxDepartments: 200 } },
    });
    t.match(await service.patch(`/agents/${rich.agentId}`, { groupIds: ids }, rich.token), {
      status: 200,
      body: { groupIds: { length: 200 } },
    });
    await service.delete(`/departments/${ids[0]}`, rich.token);
    t.equal((await create('One more')).status, 201);
  });

  t.test('[4.10] one may be the default: new chats start there', async (t) => {
    const [first, second] = [await create('First', { isDefault: true }), await create('Second')];
    const settings = async () => (await service.get('/workspace/settings', owner.token)).body.defaultDepartmentId;
    t.equal(first.isDefault, true);
    t.equal(await settings(), first.id);
    t.match((await service.patch(`/departments/${second.id}`, { isDefault: true }, owner.token)).body, {
      isDefault: true,
    });
    t.match(
      (await list()).find((one: { id: string }) => one.id === first.id),
      { isDefault: false },
      'only one at a time',
    );
    const { id } = await service.chat(owner);
    t.equal((await service.conversation(id, owner.token)).departmentId, second.id);
    await service.patch(`/departments/${first.id}`, { isDefault: false }, owner.token);
    t.equal(await settings(), second.id, 'the default cannot stop being it');
    await service.delete(`/departments/${second.id}`, owner.token);
    t.equal(await settings(), null);
  });

  t.test(
    '[decisions] after a deletion its conversations have no department, and everyone with the channel sees them',
    async (t) => {
      const { id } = await create('Closing', { memberIds: [bob.agentId] });
      const chat = await service.chat(owner);
      await service.post(`/conversations/${chat.id}/assign-to-department`, { departmentId: id }, owner.token);
      const solved = await service.chat(owner);
      await service.post(`/conversations/${solved.id}/assign-to-department`, { departmentId: id }, owner.token);
      await service.post(`/conversations/${solved.id}/status`, { status: 'solved' }, owner.token);
      t.equal(await service.conversation(chat.id, ann.token), undefined, 'not a member');
      const spam = await service.chat(owner);
      await service.post(`/conversations/${spam.id}/assign-to-department`, { departmentId: id }, owner.token);
      await service.post(`/conversations/${spam.id}/spam`, undefined, owner.token);
      const socket = await service.agentSocket(owner.token);
      await service.delete(`/departments/${id}`, owner.token);
      t.match(await service.conversation(chat.id, ann.token), { departmentId: null });
      t.match(await service.conversation(solved.id, ann.token), { departmentId: null, status: 'solved' });
      await socket.flushed();
      for (const one of [chat, solved, spam]) {
        const { version } = (await service.get(`/conversations/${one.id}`, owner.token)).body.conversation;
        t.ok(
          socket.frames.some(
            (frame) =>
              frame.type === 'conversation.updated' &&
              frame.data.conversation.id === one.id &&
              frame.data.conversation.version === version &&
              frame.data.conversation.departmentId === null,
          ),
          'each change is sent',
        );
        t.match(
          (await service.get(`/conversations/${one.id}/messages`, owner.token)).body.messages.at(-1),
          { senderType: 'system', senderId: null, body: /department was deleted/ },
          'with a line',
        );
      }
      await socket.close();
    },
  );

  t.test('[6] its members receive its new name', async (t) => {
    const { id } = await create('Before', { memberIds: [ann.agentId] });
    const socket = await service.agentSocket(owner.token);
    await service.patch(`/departments/${id}`, { name: 'After' }, owner.token);
    const { agent } = (await socket.next('agent.updated')).data;
    t.equal(agent.id, ann.agentId);
    t.ok(agent.groups.some((group: { id: string; name: string }) => group.id === id && group.name === 'After'));
    await socket.flushed();
    t.equal(socket.frames.filter(({ type }) => type === 'agent.updated').length, 1, 'and to no other');
    await socket.close();
    await service.delete(`/departments/${id}`, owner.token);
  });

  t.test('[decisions] a large one is cleared page by page', async (t) => {
    const { id } = await create('Large', { isDefault: true });
    const customer = await service.customer(owner.embedId);
    for (let count = 0; count < 205; count += 1)
      await service.post('/widget/conversations', { body: `Chat ${count}` }, customer.token);
    service.clock.advance(60_000);
    t.equal(
      (await service.get(`/conversations/queue?departmentId=${id}&limit=200`, owner.token)).body.conversations.length,
      200,
    );
    await service.delete(`/departments/${id}`, owner.token);
    await service.pass(1);
    t.same((await service.get(`/conversations/queue?departmentId=${id}`, owner.token)).body.conversations, []);
  });

  t.test('[decisions] unassigned conversations are cleared page by page, too, and delay no others', async (t) => {
    const { id } = await create('Archive', { isDefault: true });
    const customer = await service.customer(owner.embedId);
    for (let count = 0; count < 405; count += 1) {
      const { body } = await service.post('/widget/conversations', { body: `Chat ${count}` }, customer.token);
      await service.post(`/conversations/${body.conversation.id}/status`, { status: 'solved' }, owner.token);
      service.clock.advance(1000);
    }
    const db = service.running.services.engine.workspace(owner.workspaceId)?.db;
    const left = () =>
      db?.get<{ count: number }>('SELECT count(*) AS count FROM conversation WHERE departmentId = ?', [id])?.count;
    await service.delete(`/departments/${id}`, owner.token);
    t.equal(left(), 205);
    await service.pass(999);
    t.equal(left(), 205, 'a page a second');
    await service.pass(1);
    t.equal(left(), 5);
    await service.pass(1000);
    t.equal(left(), 0);
  });

  t.test('[7] wrong fields are named; a change of nothing is refused', async (t) => {
    const { id } = await create('Wrong');
    t.match(await service.post('/departments', { name: ' ', memberIds: ['x'], isDefault: 1 }, owner.token), {
      status: 400,
      body: {
        error: 'invalid_body',
        detail: { fieldErrors: { name: [String], 'memberIds.0': [String], isDefault: ['must be boolean'] } },
      },
    });
    t.match(await service.post('/departments', { name: 'x'.repeat(121) }, owner.token), { status: 400 });
    t.equal((await service.post('/departments', { name: 'x'.repeat(120) }, owner.token)).status, 201);
    for (const body of [{}, { unknown: 1 }])
      t.match(await service.patch(`/departments/${id}`, body, owner.token), {
        status: 400,
        body: { error: 'invalid_body' },
      });
  });
});

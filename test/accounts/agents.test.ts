import t from 'tap';
import { plans } from '../../engine/workspace/entitlements.ts';
import { claimLine, deliver, ringLine } from '../support/calls.ts';
import { addThread } from '../support/conversations.ts';
import { type Person, password, startService } from '../support/service.ts';

t.test('agents', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const stranger = await service.workspace();
  const admin = await service.agent(owner, { role: 'admin' });
  const department = async (name: string, memberIds: string[] = []): Promise<string> =>
    (await service.post('/departments', { name, memberIds }, owner.token)).body.id;
  const read = async (agentId: string) => (await service.get(`/agents/${agentId}`, owner.token)).body;
  const invite = (fields: object, token = owner.token) =>
    service.post('/agents/invite', { name: 'Somebody', role: 'agent', ...fields }, token);

  t.test('[2] an agent has the fields of the contract, and nothing secret', async (t) => {
    const sales = await department('Fields', [admin.agentId]);
    t.same(await read(admin.agentId), {
      id: admin.agentId,
      email: admin.email,
      name: (await read(admin.agentId)).name,
      role: 'admin',
      status: 'away',
      publicName: null,
      statusSource: 'chosen',
      isOnline: false,
      channels: ['chats', 'tickets', 'calls'],
      groups: [{ id: sales, name: 'Fields' }],
      groupIds: [sales],
      avatarUrl: null,
      hasPassword: true,
      inviteStatus: 'joined',
      canTransfer: false,
      createdAt: (await read(admin.agentId)).createdAt,
    });
    await service.delete(`/departments/${sales}`, owner.token);
  });

  t.test('[4.7] invite: channels default to all three for admins, chats for others', async (t) => {
    const rows: [object, string[]][] = [
      [{ role: 'admin' }, ['chats', 'tickets', 'calls']],
      [{ role: 'admin', channels: ['calls'] }, ['chats', 'tickets', 'calls']],
      [{ role: 'supervisor' }, ['chats']],
      [{ role: 'agent' }, ['chats']],
      [{ role: 'agent', channels: ['tickets', 'calls', 'tickets'] }, ['tickets', 'calls']],
    ];
    for (const [index, [fields, channels]] of rows.entries()) {
      const { status, body } = await invite({ email: `channels${index}@example.com`, ...fields });
      t.equal(status, 201, JSON.stringify(fields));
      t.match(body, {
        ...fields,
        channels,
        hasPassword: false,
        inviteStatus: 'pending',
        status: 'offline',
        canTransfer: false,
        avatarUrl: null,
        groupIds: [],
      });
    }
  });

  t.test('[4.7] invite: into departments of this workspace', async (t) => {
    const sales = await department('Invited');
    const { body } = await invite({ email: 'grouped@example.com', groupIds: [sales, sales] });
    t.match(body, { groupIds: [sales], groups: [{ id: sales, name: 'Invited' }] });
    const theirs = (await service.post('/departments', { name: 'Theirs' }, stranger.token)).body.id;
    t.match(await invite({ email: 'nogroup@example.com', groupIds: [sales, theirs] }), {
      status: 400,
      body: { error: 'invalid_body', detail: { fieldErrors: { 'groupIds.1': [String] } } },
    });
    t.equal((await invite({ email: 'nogroup@example.com' })).status, 201, 'a refused invitation leaves its email free');
  });

  t.test('[7] email_already_exists: emails are unique over the whole service, without case', async (t) => {
    for (const email of [owner.email, stranger.email.toUpperCase(), 'Grouped@example.com'])
      t.match(
        await invite({ email }),
        { status: 409, body: { statusCode: 409, error: 'email_already_exists' } },
        email,
      );
    t.match(await service.patch(`/agents/${admin.agentId}`, { email: stranger.email }, owner.token), {
      status: 409,
      body: { error: 'email_already_exists' },
    });
    t.equal((await read(admin.agentId)).email, admin.email);
  });

  t.test('[7] invite: every wrong field is named', async (t) => {
    t.match(
      await service.post(
        '/agents/invite',
        { email: 'x', name: ' ', role: 'owner', channels: ['chats', 'fax'], groupIds: ['1'] },
        owner.token,
      ),
      {
        status: 400,
        body: {
          error: 'invalid_body',
          detail: {
            fieldErrors: {
              email: [String],
              name: [String],
              role: ['must be one of admin, supervisor, agent'],
              'channels.1': ['must be one of chats, tickets, calls'],
              'groupIds.0': [String],
            },
          },
        },
      },
    );
    t.match(
      await invite({ email: 'idle@example.com', role: 'agent', channels: [] }),
      { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { channels: [String] } } } },
      'an agent without departments could do nothing',
    );
    t.match(await service.post('/agents/invite', {}, owner.token), {
      body: { detail: { fieldErrors: { email: ['is required'], name: ['is required'], role: ['is required'] } } },
    });
  });

  t.test('[4.7] list: filters, newest first, departments of another workspace have no members', async (t) => {
    const shop = await service.workspace();
    const [sup, ann] = [
      await service.agent(shop, { role: 'supervisor' }),
      await service.agent(shop, { available: true }),
    ];
    const team = (await service.post('/departments', { name: 'Team', memberIds: [ann.agentId] }, shop.token)).body.id;
    const ids = async (query: string, token = shop.token) =>
      (await service.get(`/agents${query}`, token)).body.agents.map(({ id }: { id: string }) => id);
    t.same(await ids(''), [ann.agentId, sup.agentId, shop.agentId]);
    t.same(await ids('?role=supervisor'), [sup.agentId]);
    t.same(await ids('?status=available'), [ann.agentId]);
    t.same(await ids('?status=away'), [sup.agentId, shop.agentId]);
    t.same(await ids(`?departmentId=${team}`), [ann.agentId]);
    const { id: invited } = (
      await service.post('/agents/invite', { email: 'late@example.com', name: 'Late', role: 'agent' }, shop.token)
    ).body;
    const left = await service.agent(shop);
    await service.delete(`/agents/${left.agentId}`, shop.token);
    t.same(await ids('?inviteStatus=joined'), [ann.agentId, sup.agentId, shop.agentId]);
    t.same(await ids('?inviteStatus=pending'), [invited]);
    t.same(await ids('?inviteStatus=deactivated'), [left.agentId]);
    t.same(await ids(`?departmentId=${team}&role=supervisor`), []);
    t.same(await ids(`?departmentId=${team}`, stranger.token), []);
    t.same(
      await ids('?inviteStatus=joined', ann.token),
      [ann.agentId, sup.agentId, shop.agentId],
      'every agent may read the list',
    );
    t.match(await service.get('/agents?role=owner&status=busy&departmentId=1&inviteStatus=gone', shop.token), {
      status: 400,
      body: {
        error: 'invalid_query',
        detail: { fieldErrors: { role: [String], status: [String], departmentId: [String], inviteStatus: [String] } },
      },
    });
  });

  t.test('[3 agent] own status: available, away, offline, and no other', async (t) => {
    for (const status of ['available', 'offline', 'away'])
      t.match(await service.post('/me/status', { status }, admin.token), {
        status: 200,
        body: { id: admin.agentId, status },
      });
    for (const body of [{ status: 'busy' }, {}, { status: null }])
      t.match(await service.post('/me/status', body, admin.token), {
        status: 400,
        body: { error: 'invalid_body', detail: { fieldErrors: { status: [String] } } },
      });
  });

  t.test('[2] a change of an agent is sent on the socket', async (t) => {
    const socket = await service.agentSocket(owner.token);
    await service.post('/me/status', { status: 'offline' }, admin.token);
    t.match((await socket.next('agent.updated')).data.agent, { id: admin.agentId, status: 'offline' });
    await socket.close();
  });

  t.test('[4.7] admins change anything of anyone', async (t) => {
    const agent = await service.agent(owner);
    const sales = await department('Changed');
    const changes = {
      name: 'Renamed',
      avatarUrl: 'https://img.example/a.png',
      role: 'supervisor',
      channels: ['tickets'],
      groupIds: [sales],
      canTransfer: true,
      email: 'Renamed@Example.com',
    };
    const { status, body } = await service.patch(`/agents/${agent.agentId}`, changes, admin.token);
    t.equal(status, 200);
    t.match(body, { ...changes, email: 'renamed@example.com', groups: [{ id: sales, name: 'Changed' }] });
    t.same(await read(agent.agentId), body);
    t.match(
      await service.patch(`/agents/${agent.agentId}`, { departments: [], avatar: null }, admin.token),
      { status: 200, body: { groupIds: [], avatarUrl: null, name: 'Renamed' } },
      'by their other names too',
    );
    t.same(
      (await service.patch(`/agents/${agent.agentId}`, { channels: ['calls', 'chats', 'calls'] }, admin.token)).body
        .channels,
      ['calls', 'chats'],
      'each channel once',
    );
    t.match(await service.patch(`/agents/${owner.agentId}`, { name: 'The owner' }, admin.token), {
      status: 200,
      body: { name: 'The owner', role: 'admin' },
    });
    t.match(
      await service.patch(`/agents/${agent.agentId}`, { role: 'admin', channels: ['calls'] }, admin.token),
      { body: { role: 'admin', channels: ['chats', 'tickets', 'calls'] } },
      'an admin has every channel',
    );
  });

  t.test('[4.7] a changed email is the login, the former one is not', async (t) => {
    const agent = await service.agent(owner);
    t.equal(
      (await service.patch(`/agents/${agent.agentId}`, { email: 'New.Login@example.com' }, owner.token)).status,
      200,
    );
    t.match(await service.post('/auth/login', { email: 'new.login@example.com', password }), {
      status: 200,
      body: { agent: { id: agent.agentId, email: 'new.login@example.com' } },
    });
    t.match(await service.post('/auth/login', { email: agent.email, password }), {
      status: 401,
      body: { error: 'invalid_credentials' },
    });
    t.equal((await invite({ email: agent.email })).status, 201, 'the former one is free');
    t.equal(
      (await service.patch(`/agents/${agent.agentId}`, { email: 'NEW.login@example.com' }, owner.token)).status,
      200,
      "one's own in another case is no conflict",
    );
  });

  t.test('[4.7] supervisors change name, avatar, channels and groups of members of their departments', async (t) => {
    const [sales, support] = [await department('Sup sales'), await department('Sup support')];
    const sup = await service.agent(owner, { role: 'supervisor', groupIds: [sales] });
    const member = await service.agent(owner, { groupIds: [sales, support] });
    const outsider = await service.agent(owner, { groupIds: [support] });
    const patch = (who: Person, changes: object) => service.patch(`/agents/${who.agentId}`, changes, sup.token);
    t.match(await patch(member, { name: 'By sup', avatarUrl: 'https://img.example/b.png', channels: ['chats'] }), {
      status: 200,
      body: { name: 'By sup', channels: ['chats'], avatarUrl: 'https://img.example/b.png' },
    });
    t.match(await patch(sup, { name: 'Myself', channels: ['chats', 'tickets'] }), { status: 200 }, 'themselves too');
    const refused = { status: 403, body: { error: 'admin_required' } };
    for (const changes of [
      { role: 'admin' },
      { canTransfer: true },
      { email: 'x@example.com' },
      { name: 'x', role: 'agent' },
    ])
      t.match(await patch(member, changes), refused, JSON.stringify(changes));
    t.match(await patch(outsider, { name: 'x' }), refused, 'not of their department');
    t.match(await patch(member, { groupIds: [sales] }), refused, 'out of a department that is not theirs');
    t.match(
      await patch(member, { groupIds: [support] }),
      { status: 200, body: { groupIds: [support] } },
      'out of their own',
    );
    t.match(await patch(member, { groupIds: [support, sales] }), refused, 'and it is a member no longer');
    const boss = await service.agent(owner, { role: 'admin', groupIds: [sales] });
    for (const changes of [{ name: 'Renamed' }, { avatarUrl: null }, { channels: ['chats'] }, { groupIds: [] }])
      t.match(await patch(boss, changes), refused, `an admin: ${JSON.stringify(changes)}`);
    t.match(await patch(sup, { channels: ['chats'] }), { status: 200 }, 'a channel may be given up');
    for (const channels of [['chats', 'tickets'], ['calls']])
      t.match(await patch(sup, { channels }), refused, 'but not taken');
    t.match(await patch(sup, { groupIds: [sales, support] }), refused, 'nor a department');
  });

  t.test('[4.7] agents change their own name and avatar, and nothing else of anyone', async (t) => {
    const sales = await department('Own');
    const agent = await service.agent(owner, { groupIds: [sales] });
    const colleague = await service.agent(owner, { groupIds: [sales] });
    t.match(
      await service.patch(
        `/agents/${agent.agentId}`,
        { name: 'Me', avatar: 'https://img.example/me.png', unknown: 1 },
        agent.token,
      ),
      { status: 200, body: { name: 'Me', avatarUrl: 'https://img.example/me.png' } },
      'an unknown field does not make it larger',
    );
    const refused = { status: 403, body: { error: 'admin_required' } };
    for (const changes of [
      { role: 'admin' },
      { channels: ['chats'] },
      { groupIds: [] },
      { canTransfer: true },
      { email: 'me@example.com' },
    ])
      t.match(await service.patch(`/agents/${agent.agentId}`, changes, agent.token), refused, JSON.stringify(changes));
    t.match(await service.patch(`/agents/${colleague.agentId}`, { name: 'x' }, agent.token), refused);
    t.match(await service.patch(`/agents/${owner.agentId}`, { email: 'mine@example.com' }, agent.token), refused);
    t.equal(
      (await service.post('/auth/login', { email: owner.email, password })).status,
      200,
      "and the owner's email is untouched",
    );
  });

  t.test('[7] an empty or an invalid change', async (t) => {
    for (const body of [{}, { unknown: 1 }, undefined])
      t.match(await service.patch(`/agents/${admin.agentId}`, body, owner.token), {
        status: 400,
        body: { error: 'invalid_body' },
      });
    t.match(
      await service.patch(
        `/agents/${admin.agentId}`,
        {
          name: '',
          avatarUrl: 'javascript:alert(1)',
          role: 'x',
          channels: 'chats',
          groupIds: [7],
          canTransfer: 'yes',
          email: 'x',
        },
        owner.token,
      ),
      {
        status: 400,
        body: {
          detail: {
            fieldErrors: {
              name: [String],
              avatarUrl: [String],
              role: [String],
              channels: [String],
              'groupIds.0': [String],
              canTransfer: [String],
              email: [String],
            },
          },
        },
      },
    );
    t.match(await service.patch(`/agents/${admin.agentId}`, { groupIds: [owner.siteId] }, owner.token), {
      status: 400,
      body: { detail: { fieldErrors: { 'groupIds.0': [String] } } },
    });
    const byOtherName = await service.patch(`/agents/${admin.agentId}`, { departments: [owner.siteId] }, owner.token);
    t.same(Object.keys(byOtherName.body.detail.fieldErrors), ['departments.0'], 'by the name that it was sent under');
  });

  t.test('[7] the owner, the oldest admin, stays one; so does the last', async (t) => {
    const alone = await service.workspace();
    t.match(await service.patch(`/agents/${alone.agentId}`, { role: 'agent' }, alone.token), {
      status: 400,
      body: { error: 'last_admin' },
    });
    t.match(await service.delete(`/agents/${alone.agentId}`, alone.token), {
      status: 400,
      body: { error: 'cannot_deactivate_self' },
    });
    const second = await service.agent(alone, { role: 'admin' });
    for (const by of [alone, second])
      t.match(await service.patch(`/agents/${alone.agentId}`, { role: 'supervisor' }, by.token), {
        status: 400,
        body: { error: 'cannot_demote_owner' },
      });
    t.match(await service.delete(`/agents/${alone.agentId}`, second.token), {
      status: 400,
      body: { error: 'cannot_deactivate_owner' },
    });
    t.match(await service.delete(`/agents/${second.agentId}`, second.token), {
      status: 400,
      body: { error: 'cannot_deactivate_self' },
    });
    t.match(
      await service.patch(`/agents/${second.agentId}`, { role: 'supervisor' }, second.token),
      { status: 200, body: { role: 'supervisor' } },
      'another admin may step down',
    );
    t.match(
      await service.patch(`/agents/${alone.agentId}`, { role: 'agent' }, alone.token),
      { status: 400, body: { error: 'last_admin' } },
      'the owner is the only one again',
    );
    await service.delete(`/agents/${second.agentId}`, alone.token);
    await service.patch(`/agents/${second.agentId}`, { role: 'admin' }, alone.token);
    t.match(
      await service.patch(`/agents/${alone.agentId}`, { role: 'agent' }, alone.token),
      { status: 400, body: { error: 'last_admin' } },
      'a deactivated admin is not one',
    );
    t.match(
      await service.patch(`/agents/${alone.agentId}`, { role: 'admin' }, alone.token),
      { status: 200 },
      'keeping the same role is not a demotion',
    );
  });

  t.test('[3 agent] deactivate: signed out at once, and its conversations return to the queue', async (t) => {
    const shop = await service.workspace();
    const sales = (await service.post('/departments', { name: 'Sales' }, shop.token)).body.id;
    const [ann, bob] = [
      await service.agent(shop, { groupIds: [sales] }),
      await service.agent(shop, { groupIds: [sales] }),
    ];
    const assign = async (to: Person, force: boolean) => {
      const chat = await service.chat(shop);
      const { body } = await service.post(
        `/conversations/${chat.id}/assign-to-agent`,
        { agentId: to.agentId, expectedVersion: chat.version, force },
        shop.token,
      );
      return { ...chat, version: body.conversation.version as number };
    };
    const held = await assign(ann, true);
    const offered = await assign(ann, false);
    const solved = await assign(ann, true);
    await service.post(`/conversations/${solved.id}/status`, { status: 'solved' }, shop.token);
    const inSales = await assign(ann, true);
    const moved = await service.post(
      `/conversations/${inSales.id}/assign-to-department`,
      { departmentId: sales },
      shop.token,
    );
    await service.post(
      `/conversations/${inSales.id}/assign-to-agent`,
      { agentId: ann.agentId, expectedVersion: moved.body.conversation.version, force: true },
      shop.token,
    );
    const fromAnn = await assign(bob, true);
    const socket = await service.agentSocket(ann.token);

    t.equal((await service.delete(`/agents/${ann.agentId}`, shop.token)).status, 204);
    t.equal((await socket.closed).code, 4401, 'its socket is closed');
    t.match(await service.get('/me', ann.token), { status: 401, body: { error: 'token_revoked' } });
    t.match((await service.get(`/agents/${ann.agentId}`, shop.token)).body, {
      status: 'offline',
      role: 'agent',
      hasPassword: false,
      inviteStatus: 'deactivated',
      canTransfer: false,
    });
    t.match(await service.conversation(held.id, shop.token), {
      assignedAgentId: null,
      status: 'open',
      departmentId: null,
    });
    t.match(await service.conversation(offered.id, shop.token), { assignedAgentId: null, handshake: null });
    t.match(await service.conversation(inSales.id, shop.token), { assignedAgentId: null, departmentId: sales });
    t.match(await service.conversation(fromAnn.id, shop.token), { assignedAgentId: bob.agentId });
    t.match(
      await service.conversation(solved.id, shop.token),
      { status: 'solved', assignedAgentId: ann.agentId },
      'the agent who solved something stays named',
    );
    t.match(
      await service.post(
        `/conversations/${held.id}/assign-to-agent`,
        { agentId: ann.agentId, expectedVersion: (await service.conversation(held.id, shop.token)).version },
        shop.token,
      ),
      { status: 422, body: { error: 'semantic_error' } },
    );
    t.equal((await service.delete(`/agents/${ann.agentId}`, shop.token)).status, 204, 'again changes nothing');
  });

  t.test(
    '[decisions, After the audit] a deactivated agent: its name and email can be changed, and it is in no department',
    async (t) => {
      const shop = await service.workspace();
      const sales = (await service.post('/departments', { name: 'Sales' }, shop.token)).body;
      const gone = await service.agent(shop, { role: 'supervisor', groupIds: [sales.id] });
      await service.delete(`/agents/${gone.agentId}`, shop.token);
      const patch = (changes: object) => service.patch(`/agents/${gone.agentId}`, changes, shop.token);
      const before = (await service.get(`/agents/${gone.agentId}`, shop.token)).body;
      t.match(before, { groupIds: [], groups: [], role: 'agent' });
      t.same((await service.get('/departments', shop.token)).body.departments[0].memberIds, []);
      t.same((await service.get(`/agents?departmentId=${sales.id}`, shop.token)).body.agents, []);
      for (const changes of [
        { role: 'admin' },
        { role: 'agent' },
        { channels: ['chats'] },
        { groupIds: [sales.id] },
        { departments: [] },
        { canTransfer: true },
        { avatarUrl: null },
        { name: 'x', role: 'admin' },
      ])
        t.match(await patch(changes), { status: 409, body: { error: 'conflict' } }, JSON.stringify(changes));
      t.same((await service.get(`/agents/${gone.agentId}`, shop.token)).body, before, 'and nothing of it has changed');
      t.match(await patch({ name: 'Married', email: 'married@example.com' }), {
        status: 200,
        body: { name: 'Married', email: 'married@example.com', inviteStatus: 'deactivated' },
      });
      for (const [method, path] of [
        ['PATCH', `/departments/${sales.id}`],
        ['POST', '/departments'],
      ] as const) {
        t.match(
          await service.call(method, path, { body: { name: 'Other', memberIds: [gone.agentId] }, token: shop.token }),
          { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { 'memberIds.0': [String] } } } },
        );
      }
      await service.post(`/agents/${gone.agentId}/resend-invite`, undefined, shop.token);
      t.match(
        await patch({ role: 'supervisor', groupIds: [sales.id] }),
        { status: 200, body: { role: 'supervisor', groupIds: [sales.id], inviteStatus: 'pending' } },
        'until it is invited again',
      );
    },
  );

  t.test('[3 agent] deactivate: however many it had, all go back, a page at a time', async (t) => {
    const owner = await service.workspace();
    const [leaver, other] = [await service.agent(owner), await service.agent(owner)];
    const offered = {
      toAgentId: leaver.agentId,
      initiatedByAgentId: owner.agentId,
      previousAgentId: other.agentId,
      note: null,
      expiresAt: '2099-01-01T00:00:00.000Z',
    };
    await Promise.all(
      Array.from({ length: 450 }, (_, number) =>
        addThread(service, owner.workspaceId, {
          channel: 'ticket',
          ...(number % 9 === 0
            ? { assignedAgentId: other.agentId, handshake: offered }
            : { assignedAgentId: leaver.agentId }),
        }),
      ),
    );
    t.equal((await service.delete(`/agents/${leaver.agentId}`, owner.token)).status, 204);
    await service.settled();
    const queue = [];
    for (let cursor = ''; cursor !== 'null'; ) {
      const { body } = await service.get(
        `/conversations/queue?limit=200${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        owner.token,
      );
      queue.push(...body.conversations);
      cursor = String(body.nextCursor);
    }
    t.equal(queue.length, 450);
    t.equal(queue.filter((one) => one.assignedAgentId === null).length, 400);
    t.equal(
      queue.filter((one) => one.assignedAgentId === other.agentId && one.handshake === null).length,
      50,
      'its offers stay with the assignee',
    );
  });

  t.test("[3 agent] a deactivated agent's chat goes to an available agent", async (t) => {
    const shop = await service.workspace();
    const ann = await service.agent(shop, { available: true });
    const chat = await service.chat(shop);
    t.equal((await service.conversation(chat.id, shop.token)).assignedAgentId, ann.agentId);
    const bob = await service.agent(shop, { available: true });
    await service.delete(`/agents/${ann.agentId}`, shop.token);
    t.equal((await service.conversation(chat.id, shop.token)).assignedAgentId, bob.agentId);
  });

  t.test(
    '[4.7] an agent that becomes available, or gets a channel or a department, is assigned what waits',
    async (t) => {
      const shop = await service.workspace();
      const sales = (await service.post('/departments', { name: 'Sales', isDefault: true }, shop.token)).body.id;
      const ann = await service.agent(shop, { channels: ['tickets'], available: true });
      const chat = await service.chat(shop);
      const assignee = async () => (await service.conversation(chat.id, shop.token)).assignedAgentId;
      await service.patch(`/agents/${ann.agentId}`, { channels: ['chats'] }, shop.token);
      t.equal(await assignee(), null, 'the channel alone is not enough');
      await service.patch(`/agents/${ann.agentId}`, { groupIds: [sales] }, shop.token);
      t.equal(await assignee(), ann.agentId);
    },
  );
});

t.test('seats', async (t) => {
  const service = await startService(t);
  const limits = Object.entries(plans).map(([plan, { seats }]) => [plan, seats]);
  t.same(
    limits,
    [
      ['chat', 5],
      ['support', 15],
      ['business', 50],
      ['enterprise', null],
    ],
    '[decisions] the table of plans',
  );

  for (const [plan, seats] of [
    ['chat', 5],
    ['support', 15],
    ['business', 50],
  ] as const) {
    t.test(`[8] ${plan}: ${seats} seats, pending invitations among them`, async (t) => {
      const owner = await service.workspace();
      await service.plan(owner.workspaceId, plan);
      const invite = (index: number) =>
        service.post('/agents/invite', { email: `${plan}${index}@example.com`, name: 'x', role: 'agent' }, owner.token);
      const statuses = [];
      for (let index = 1; index < seats; index += 1) statuses.push((await invite(index)).status);
      t.same(new Set(statuses), new Set([201]), `${seats - 1} beside the owner`);
      const refused = await invite(seats);
      t.match(refused, { status: 402, body: { statusCode: 402, error: 'seat_limit_reached', detail: { seats } } });
      const { agents } = (await service.get('/agents?limit=200', owner.token)).body;
      t.equal(agents.length, seats);
      await service.delete(`/agents/${agents[0].id}`, owner.token);
      t.equal((await invite(seats)).status, 201, 'a deactivated agent holds none, and the refused email is free');
      t.match(
        await service.post(`/agents/${agents[0].id}/resend-invite`, undefined, owner.token),
        { status: 402, body: { error: 'seat_limit_reached' } },
        'to come back it needs one',
      );
      t.equal(
        (await service.post(`/agents/${agents[1].id}/resend-invite`, undefined, owner.token)).status,
        200,
        'a pending one has its seat already',
      );
    });
  }

  t.test('[8] enterprise: no limit', async (t) => {
    const owner = await service.workspace();
    await service.plan(owner.workspaceId, 'enterprise');
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        service.post(
          '/agents/invite',
          { email: `enterprise${index}@example.com`, name: 'x', role: 'agent' },
          owner.token,
        ),
      ),
    );
    t.same(new Set(answers.map(({ status }) => status)), new Set([201]));
  });
});

t.test('removed channels', async (t) => {
  const service = await startService(t);

  t.test("[4.7] removing an agent's channel returns its conversations there, as deactivating does", async (t) => {
    const shop = await service.workspace();
    const dan = await service.agent(shop, { name: 'Dan' });
    const eve = await service.agent(shop, { name: 'Eve' });
    const take = async (id: string, by = dan) =>
      (await service.post(`/conversations/${id}/take`, undefined, by.token)).status;
    const record = async (id: string) => (await service.get(`/conversations/${id}`, shop.token)).body.conversation;
    const [open, pending, solved] = [await service.chat(shop), await service.chat(shop), await service.chat(shop)];
    for (const { id } of [open, pending, solved]) t.equal(await take(id), 200);
    await service.post(`/conversations/${pending.id}/status`, { status: 'pending' }, dan.token);
    await service.post(`/conversations/${solved.id}/status`, { status: 'solved' }, dan.token);
    const ticket = (
      await service.post(
        '/tickets',
        { customerEmail: 'kim@example.org', subject: 'Broken', body: 'We look.' },
        shop.token,
      )
    ).body;
    t.equal(await take(ticket.id), 200);
    await service.post('/me/status', { status: 'available' }, eve.token);
    const socket = await service.agentSocket(shop.token);
    await service.patch(`/agents/${dan.agentId}`, { channels: ['tickets'] }, shop.token);
    t.match(await record(open.id), { assignedAgentId: eve.agentId }, 'an open chat goes to an available agent');
    t.match(
      await record(pending.id),
      { assignedAgentId: null, status: 'pending' },
      'a pending one waits for its customer',
    );
    t.match(
      await record(solved.id),
      { assignedAgentId: dan.agentId },
      'the agent who solved one keeps it while it is finished',
    );
    t.match(await record(ticket.id), { assignedAgentId: dan.agentId }, 'conversations of its other channels stay');
    t.equal(
      (await socket.next('conversation.updated')).data.conversation.assignedAgentId,
      null,
      'and all are notified',
    );
    const { messages } = (await service.get(`/conversations/${open.id}/messages`, shop.token)).body;
    t.ok(
      messages.some(
        (one: any) =>
          one.senderId === shop.agentId && one.body === 'Dan no longer takes chats; this is back in the queue.',
      ),
    );
    await socket.close();
  });

  t.test('[4.7] a caller stays with an agent who loses the channel, and that agent can hang up', async (t) => {
    const shop = await service.workspace();
    const dan = await service.agent(shop, { name: 'Dan', available: true });
    const line = await claimLine(service, shop);
    const missed = await ringLine(service, line);
    await deliver(service, line, { type: 'ended', callId: missed.callId });
    await service.post(`/conversations/${missed.id}/take`, undefined, dan.token);
    const { id } = await ringLine(service, line);
    await service.post(`/calls/${id}/answer`, undefined, dan.token);
    await service.patch(`/agents/${dan.agentId}`, { channels: ['chats'] }, shop.token);
    t.equal(
      (await service.get(`/calls/${missed.id}`, shop.token)).body.assignedAgentId,
      null,
      'finished ones are returned',
    );
    t.match((await service.get(`/calls/${id}`, dan.token)).body, { state: 'answered', assignedAgentId: dan.agentId });
    t.equal((await service.post(`/calls/${id}/hold`, undefined, dan.token)).status, 200);
    t.match((await service.post(`/calls/${id}/hangup`, undefined, dan.token)).body, {
      state: 'ended',
      status: 'solved',
    });
    t.match(
      await service.get(`/calls/${id}`, dan.token),
      { status: 403, body: { error: 'forbidden' } },
      'over, it is out of reach',
    );
  });
});

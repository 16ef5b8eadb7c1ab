import t from 'tap';
import { startService } from '../support/service.ts';

t.test('workspaces', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace({ assignOnReply: true });
  const stranger = await service.workspace();
  const supervisor = await service.agent(owner, { role: 'supervisor' });
  const agent = await service.agent(owner);
  const path = `/workspaces/${owner.workspaceId}`;

  t.test("[4.10] GET /workspaces/:id is only for one's own", async (t) => {
    const { status, body } = await service.get(path, agent.token);
    t.equal(status, 200);
    t.same(body, {
      workspace: {
        id: owner.workspaceId,
        name: body.workspace.name,
        timezone: 'UTC',
        locale: 'en',
        emailDomainId: null,
        emailDomainStatus: null,
        awayAfterMinutes: 5,
        unseenMailMinutes: 3,
        assignOnReply: true,
        requireSecondFactor: false,
      },
    });
    t.match(await service.get(path, stranger.token), { status: 404, body: { error: 'not_found' } });
    t.match(await service.get('/workspaces/me', owner.token), { status: 404 }, 'there is no /workspaces/me');
    t.match(
      await service.delete(path, owner.token),
      { status: 405, body: { error: 'method_not_allowed' } },
      'and no deleting',
    );
  });

  t.test('[4.10] GET /me/workspace: the workspace and whether it is open', async (t) => {
    const { body } = await service.get('/me/workspace', agent.token);
    t.same(body, {
      workspace: {
        id: owner.workspaceId,
        name: body.workspace.name,
        timezone: 'UTC',
        locale: 'en',
        subdomainSlug: 'shop-1',
        emailDomainStatus: null,
      },
      workspaceState: { officeHoursOpen: true, nextChange: null, notifications: null },
    });
  });

  t.test('[4.10] PATCH changes only the given fields', async (t) => {
    const changes = {
      name: 'Renamed',
      timezone: 'America/Argentina/Buenos_Aires',
      locale: 'pt-BR',
      awayAfterMinutes: 0.5,
      unseenMailMinutes: 1.5,
      assignOnReply: false,
    };
    const { status, body } = await service.patch(path, changes, owner.token);
    t.equal(status, 200);
    t.same(body, {
      workspace: {
        id: owner.workspaceId,
        ...changes,
        emailDomainId: null,
        emailDomainStatus: null,
        requireSecondFactor: false,
      },
    });
    t.match((await service.patch(path, { locale: 'de', unknown: 1 }, owner.token)).body.workspace, {
      ...changes,
      locale: 'de',
    });
    const { awayAfterMinutes: _, assignOnReply: __, unseenMailMinutes: ___, ...named } = changes;
    t.match(
      (await service.get('/me/workspace', agent.token)).body.workspace,
      { ...named, locale: 'de', subdomainSlug: 'shop-1' },
      'the subdomain stays',
    );
  });

  t.test('[7] admin_required, not_found, no_changes, invalid_body', async (t) => {
    for (const { token } of [supervisor, agent])
      t.match(await service.patch(path, { name: 'x' }, token), { status: 403, body: { error: 'admin_required' } });
    t.match(await service.patch(`/workspaces/${stranger.workspaceId}`, { name: 'x' }, owner.token), {
      status: 404,
      body: { error: 'not_found' },
    });
    for (const body of [{}, { unknown: 1 }, undefined])
      t.match(await service.patch(path, body, owner.token), {
        status: 400,
        body: { statusCode: 400, error: 'no_changes' },
      });
    const rows: [object, string][] = [
      [{ name: '' }, 'name'],
      [{ name: '\t ' }, 'name'],
      [{ name: 'x'.repeat(121) }, 'name'],
      [{ name: null }, 'name'],
      [{ timezone: '' }, 'timezone'],
      [{ timezone: 'Mars/Olympus' }, 'timezone'],
      [{ timezone: '+02:00' }, 'timezone'],
      [{ timezone: 'x'.repeat(65) }, 'timezone'],
      [{ awayAfterMinutes: -1 }, 'awayAfterMinutes'],
      [{ awayAfterMinutes: 240.5 }, 'awayAfterMinutes'],
      [{ unseenMailMinutes: -0.1 }, 'unseenMailMinutes'],
      [{ unseenMailMinutes: 1440.5 }, 'unseenMailMinutes'],
      [{ assignOnReply: 'yes' }, 'assignOnReply'],
      [{ locale: 'e' }, 'locale'],
      [{ locale: 'english language' }, 'locale'],
      [{ locale: 'en-'.padEnd(17, 'x') }, 'locale'],
    ];
    for (const [body, field] of rows)
      t.match(
        await service.patch(path, body, owner.token),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { [field]: [String] } } } },
        JSON.stringify(body),
      );
    for (const body of [
      { name: 'x'.repeat(120) },
      { name: 'x' },
      { locale: 'en' },
      { locale: 'zh-Hant-TW' },
      { timezone: 'UTC' },
    ])
      t.equal((await service.patch(path, body, owner.token)).status, 200, JSON.stringify(body).slice(0, 40));
  });

  t.test('[4.10] GET /me: the agent, its workspace, its rights', async (t) => {
    const permissions = async (token: string): Promise<string[]> => (await service.get('/me', token)).body.permissions;
    const { body } = await service.get('/me', agent.token);
    t.same(Object.keys(body), ['agent', 'workspace', 'permissions']);
    t.same((await service.get('/me/providers', agent.token)).body.providers, {
      assistant: false,
      mail: 'outbox',
      carrier: 'simulated',
      billing: 'local',
      shop: null,
    });
    t.strictSame(
      (await service.get('/me?providers=true', agent.token)).body.providers,
      (await service.get('/me/providers', agent.token)).body.providers,
    );
    t.equal(body.agent.id, agent.agentId);
    t.equal(body.workspace.id, owner.workspaceId);
    const [ofAgent, ofSupervisor, ofAdmin] = [
      await permissions(agent.token),
      await permissions(supervisor.token),
      await permissions(owner.token),
    ];
    t.same(
      ofAgent.filter((one) => !ofSupervisor.includes(one)),
      [],
      "a supervisor has an agent's rights",
    );
    t.same(
      ofSupervisor.filter((one) => !ofAdmin.includes(one)),
      [],
      "an admin has a supervisor's rights",
    );
    t.equal(ofAgent.includes('messages:send'), true);
    for (const one of ['conversations:force_assign', 'tickets:write', 'audit:read', 'agents:write'])
      t.equal(ofAgent.includes(one), false, one);
    t.equal(ofSupervisor.includes('conversations:force_assign'), true);
    t.equal(ofSupervisor.includes('audit:read'), false);
    t.equal(ofAdmin.includes('audit:read'), true);
    await service.patch(`/agents/${agent.agentId}`, { canTransfer: true }, owner.token);
    t.equal(
      (await permissions(agent.token)).includes('tickets:write'),
      true,
      'canTransfer lets an agent write tickets',
    );
    t.equal(ofAdmin.includes('phone_numbers:write'), true);
    await service.plan(owner.workspaceId, 'chat');
    for (const one of ['phone_numbers:write', 'tickets:write', 'knowledge_base:write'])
      t.equal((await permissions(owner.token)).includes(one), false, `${one} is not in the plan`);
    await service.plan(owner.workspaceId, 'business');
  });
});

t.test('settings', async (t) => {
  const service = await startService(t, { env: { AUTO_CLOSE_DAYS: '2.5' } });
  const owner = await service.workspace();
  const agent = await service.agent(owner);
  const read = async () => (await service.get('/workspace/settings', agent.token)).body;
  const change = (body: unknown, token = owner.token) => service.put('/workspace/settings', body, token);
  const first = {
    routing: { mode: 'auto', maxOpenChatsPerAgent: 5 },
    autoCloseDays: 2.5,
    csatEnabled: true,
    defaultDepartmentId: null,
  };

  t.test('[decisions] a workspace starts with the defaults, and AUTO_CLOSE_DAYS of the service', async (t) => {
    t.same(await read(), first);
  });

  t.test('[4.10] PUT changes the given fields and keeps the rest', async (t) => {
    const { id } = (await service.post('/departments', { name: 'Sales' }, owner.token)).body;
    t.match(await change({ csatEnabled: false }), { status: 200, body: { ...first, csatEnabled: false } });
    t.match((await change({ routing: { maxOpenChatsPerAgent: 3 } })).body, {
      routing: { mode: 'auto', maxOpenChatsPerAgent: 3 },
      csatEnabled: false,
    });
    t.match((await change({ autoCloseDays: 0.5, defaultDepartmentId: id })).body, {
      autoCloseDays: 0.5,
      defaultDepartmentId: id,
    });
    const all = { ...first, autoCloseDays: 7 };
    t.same((await change(all)).body, all);
    t.same(await read(), all);
    t.same((await change({})).body, all, 'nothing named, nothing changed');
  });

  t.test('[7] admin_required, and every wrong field', async (t) => {
    t.match(await change({ csatEnabled: false }, agent.token), { status: 403, body: { error: 'admin_required' } });
    t.match(
      await change({
        routing: { mode: 'fair', maxOpenChatsPerAgent: 0 },
        autoCloseDays: -1,
        csatEnabled: 'no',
        defaultDepartmentId: 'x',
      }),
      {
        status: 400,
        body: {
          error: 'invalid_body',
          detail: {
            fieldErrors: {
              'routing.mode': [String],
              'routing.maxOpenChatsPerAgent': [String],
              autoCloseDays: [String],
              csatEnabled: [String],
              defaultDepartmentId: [String],
            },
          },
        },
      },
    );
    t.match(await change({ defaultDepartmentId: owner.siteId }), {
      status: 400,
      body: { detail: { fieldErrors: { defaultDepartmentId: [String] } } },
    });
    for (const max of [0, 1001, 2.5])
      t.equal((await change({ routing: { maxOpenChatsPerAgent: max } })).status, 400, String(max));
    for (const max of [1, 1000])
      t.equal((await change({ routing: { maxOpenChatsPerAgent: max } })).status, 200, String(max));
    t.equal((await change({ autoCloseDays: 3650.5 })).status, 400);
    t.equal((await change({ autoCloseDays: 3650 })).status, 200);
  });

  t.test('[4.5 routing] waiting chats are assigned when the settings make room', async (t) => {
    const shop = await service.workspace();
    const ann = await service.agent(shop, { available: true });
    await service.post('/me/status', { status: 'available' }, ann.token);
    const put = (body: unknown) => service.put('/workspace/settings', body, shop.token);
    await put({ routing: { maxOpenChatsPerAgent: 1 } });
    const [one, two] = [await service.chat(shop), await service.chat(shop)];
    const assignee = async (id: string) => (await service.conversation(id, shop.token)).assignedAgentId;
    t.same([await assignee(one.id), await assignee(two.id)], [ann.agentId, null]);
    await put({ routing: { maxOpenChatsPerAgent: 2 } });
    t.equal(await assignee(two.id), ann.agentId, 'a higher limit');
    await put({ routing: { mode: 'manual', maxOpenChatsPerAgent: 5 } });
    const three = await service.chat(shop);
    t.equal(await assignee(three.id), null, 'manual routing assigns nothing');
    await put({ routing: { mode: 'auto' } });
    t.equal(await assignee(three.id), ann.agentId, 'routing where there was none');
  });
});

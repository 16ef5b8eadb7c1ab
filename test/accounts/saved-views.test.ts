import { randomUUID } from 'node:crypto';
import t from 'tap';
import { makeKey } from '../support/keys.ts';
import { startService } from '../support/service.ts';

t.test('views of the queue', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', ALLOW_PRIVATE_WEBHOOKS: '1' } });
  const owner = await service.workspace();
  const supervisor = await service.agent(owner, { role: 'supervisor' });
  const ann = await service.agent(owner);
  const bob = await service.agent(owner);
  const stranger = await service.workspace();
  const create = (fields: object = {}, token = ann.token) =>
    service.post('/views', { name: 'A view', ...fields }, token);
  const list = async (token: string): Promise<any[]> => (await service.get('/views', token)).body.views;
  const names = async (token: string) => (await list(token)).map(({ name }) => name);
  const forget = async (token: string) => {
    for (const { id } of await list(token)) await service.delete(`/views/${id}`, token);
  };

  t.test('a view keeps a filter and an order; what is left out has a default', async (t) => {
    const filter = { tag: 'vip', siteId: owner.siteId, channel: 'chat', assigneeId: 'me' };
    const { status, body } = await create({ name: '  Late  VIPs ', filter, sort: 'longest_waiting' });
    t.equal(status, 201);
    t.strictSame(body, {
      id: body.id,
      name: 'Late VIPs',
      scope: 'own',
      filter,
      sort: 'longest_waiting',
      createdByAgentId: ann.agentId,
      createdAt: body.createdAt,
      updatedAt: body.createdAt,
    });
    t.match((await create()).body, { scope: 'own', filter: {}, sort: 'newest' });
    t.strictSame(await names(ann.token), ['Late VIPs', 'A view'], 'oldest first');
    service.clock.advance(1000);
    const changed = await service.patch(`/views/${body.id}`, { filter: { tag: 'x' } }, ann.token);
    t.match(changed, { status: 200, body: { name: 'Late VIPs', sort: 'longest_waiting', createdAt: body.createdAt } });
    t.strictSame(changed.body.filter, { tag: 'x' }, 'a new filter replaces the whole');
    t.ok(changed.body.updatedAt > body.updatedAt);
    t.match((await service.patch(`/views/${body.id}`, { name: 'VIPs', sort: 'oldest' }, ann.token)).body, {
      name: 'VIPs',
      sort: 'oldest',
      filter: { tag: 'x' },
    });
    t.equal((await service.delete(`/views/${body.id}`, ann.token)).status, 204);
    t.equal((await service.delete(`/views/${body.id}`, ann.token)).status, 404);
    await forget(ann.token);
  });

  t.test('what is not a filter, an order or a name is refused by its field', async (t) => {
    const { id } = (await create()).body;
    const bad: [object, string][] = [
      [{ name: '' }, 'name'],
      [{ name: 'x'.repeat(61) }, 'name'],
      [{ sort: 'name' }, 'sort'],
      [{ filter: { channel: 'mail' } }, 'filter.channel'],
      [{ filter: { siteId: 'x' } }, 'filter.siteId'],
      [{ filter: { tag: '' } }, 'filter.tag'],
      [{ filter: { assigneeId: 'you' } }, 'filter.assigneeId'],
    ];
    for (const [fields, field] of bad)
      for (const answer of [await create(fields), await service.patch(`/views/${id}`, fields, ann.token)])
        t.match(
          answer,
          { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { [field]: [String] } } } },
          field,
        );
    t.strictSame(
      (await create({ filter: { colour: 'red', tag: 'x' } })).body.filter,
      { tag: 'x' },
      'unknown ones are dropped',
    );
    t.match(await create({ scope: 'workspace' }), { status: 400, body: { error: 'invalid_body' } });
    t.match(await service.patch(`/views/${id}`, {}, ann.token), { status: 400, body: { error: 'invalid_body' } });
    await forget(ann.token);
  });

  t.test("an agent's own are its own; the team's are made and changed by admins and supervisors", async (t) => {
    const own = (await create({ name: 'Own' })).body;
    const team = (await create({ name: 'Team', scope: 'team' }, supervisor.token)).body;
    t.match(await create({ scope: 'team' }, ann.token), { status: 403, body: { error: 'forbidden' } });
    t.strictSame(await names(ann.token), ['Team', 'Own']);
    t.strictSame(await names(bob.token), ['Team']);
    t.strictSame(await names(owner.token), ['Team']);
    t.strictSame(await names(stranger.token), []);
    for (const { token } of [bob, owner, stranger]) {
      t.match(await service.patch(`/views/${own.id}`, { name: 'x' }, token), { status: 404 });
      t.match(await service.delete(`/views/${own.id}`, token), { status: 404 });
    }
    t.match(await service.patch(`/views/${team.id}`, { name: 'x' }, stranger.token), { status: 404 });
    t.match(await service.patch(`/views/${team.id}`, { name: 'x' }, ann.token), { status: 403 });
    t.match(await service.delete(`/views/${team.id}`, ann.token), { status: 403 });
    t.match(await service.patch(`/views/${team.id}`, { name: 'Ours' }, owner.token), { body: { name: 'Ours' } });
    t.equal((await service.delete(`/views/${team.id}`, owner.token)).status, 204);
    await forget(ann.token);
  });

  t.test('at most 50 of the team, and 50 of each agent', async (t) => {
    for (let count = 0; count < 50; count += 1) {
      await create({}, ann.token);
      await create({ scope: 'team' }, owner.token);
    }
    t.match(await create({}, ann.token), { status: 422, body: { error: 'semantic_error', detail: { maxViews: 50 } } });
    t.match(await create({ scope: 'team' }, supervisor.token), { status: 422 });
    t.equal((await create({}, supervisor.token)).status, 201);
    t.equal((await list(ann.token)).length, 100);
    for (const { token } of [owner, supervisor]) await forget(token);
    await forget(ann.token);
  });

  t.test('sockets: the team hears of its views, an agent of its own', async (t) => {
    const { body: webhook } = await service.post(
      '/webhooks',
      { url: 'http://127.0.0.1:9/', events: ['view.created', 'view.deleted'] },
      owner.token,
    );
    const [anns, bobs] = [await service.agentSocket(ann.token), await service.agentSocket(bob.token)];
    const own = (await create({ name: 'Own' })).body;
    const team = (await create({ name: 'Team', scope: 'team' }, owner.token)).body;
    t.strictSame((await anns.next('view.created')).data, { view: own });
    t.strictSame((await anns.next('view.created')).data, { view: team });
    t.strictSame((await bobs.next('view.created')).data, { view: team }, "not another agent's own");
    await service.patch(`/views/${team.id}`, { name: 'Ours' }, owner.token);
    await service.delete(`/views/${team.id}`, owner.token);
    for (const socket of [anns, bobs]) {
      t.match((await socket.next('view.updated')).data, { view: { id: team.id, name: 'Ours' } });
      t.match((await socket.next('view.deleted')).data, { view: { id: team.id } });
    }
    const { deliveries } = (await service.get(`/webhooks/${webhook.id}/deliveries`, owner.token)).body;
    t.strictSame(
      deliveries.map(({ event }: { event: string }) => event).sort(),
      ['view.created', 'view.deleted'],
      "an agent's own are told to no webhook",
    );
    const late = await service.agentSocket(bob.token, { since: 0 });
    for (let id: string | undefined; id !== team.id; ) {
      const { view } = (await late.next('view.created')).data as any;
      t.equal(view.scope, 'team', 'nor are they sent later');
      id = view.id;
    }
    await forget(ann.token);
  });

  t.test("the audit log has the team's", async (t) => {
    const { body } = await create({ name: 'Late', scope: 'team', filter: { tag: 'vip' } }, owner.token);
    await service.patch(`/views/${body.id}`, { name: 'Later' }, owner.token);
    await service.patch(`/views/${body.id}`, { name: 'Later' }, owner.token);
    await service.delete(`/views/${body.id}`, owner.token);
    await create({ name: 'Own' }, owner.token);
    const { entries } = (await service.get('/workspace/audit-log?limit=3', owner.token)).body;
    t.match(entries, [
      { action: 'view.deleted', targetId: body.id, before: { name: 'Later' } },
      { action: 'view.updated', before: { name: 'Late' }, after: { name: 'Later', filter: { tag: 'vip' } } },
      { action: 'view.created', targetKind: 'view', actorAgentId: owner.agentId },
    ]);
    await forget(owner.token);
  });

  t.test('what a filter names may go; the view stays and finds nothing', async (t) => {
    const { body: department } = await service.post('/departments', { name: 'Sales' }, owner.token);
    const gone = await service.agent(owner);
    const filter = { departmentId: department.id, assigneeId: gone.agentId, siteId: randomUUID(), tag: 'gone' };
    const { body: view } = await create({ filter });
    const left = (await create({ name: 'Own' }, gone.token)).body;
    const ours = (await create({ name: 'Team', scope: 'team' }, owner.token)).body;
    await service.delete(`/departments/${department.id}`, owner.token);
    await service.delete(`/agents/${gone.agentId}`, owner.token);
    t.match(
      (await list(ann.token)).find(({ id }) => id === view.id),
      { filter },
    );
    const query = new URLSearchParams(filter);
    t.match(await service.get(`/conversations/queue?${query}`, ann.token), {
      status: 200,
      body: { conversations: [] },
    });
    t.match(await service.patch(`/views/${view.id}`, { name: 'Still' }, ann.token), { status: 200, body: { filter } });
    const workspace = service.running.services.engine.workspace(owner.workspaceId);
    const kept = workspace?.db.all<{ id: string }>('SELECT id FROM savedView', []).map(({ id }) => id);
    t.notOk(kept?.includes(left.id), "a deactivated agent's own are deleted");
    t.ok(kept?.includes(ours.id));
    await forget(owner.token);
  });

  t.test('keys need conversations:read and conversations:write', async (t) => {
    const [reads, writes, other] = [
      await makeKey(service, owner, { scopes: ['conversations:read'] }),
      await makeKey(service, owner, { scopes: ['conversations:write'] }),
      await makeKey(service, owner, { scopes: ['reports:read'] }),
    ];
    const { status, body } = await create({}, writes);
    t.equal(status, 201);
    t.equal((await service.get('/views', reads)).status, 200);
    for (const [key, answer] of [
      [other, await service.get('/views', other)],
      [reads, await create({}, reads)],
      [reads, await service.patch(`/views/${body.id}`, { name: 'x' }, reads)],
      [reads, await service.delete(`/views/${body.id}`, reads)],
    ] as const)
      t.match(answer, { status: 403, body: { error: 'insufficient_scope' } }, key.slice(0, 8));
    t.equal((await service.delete(`/views/${body.id}`, writes)).status, 204);
  });
});

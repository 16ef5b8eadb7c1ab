import t from 'tap';
import { startService } from '../support/service.ts';

t.test('saved replies', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const supervisor = await service.agent(owner, { role: 'supervisor' });
  const ann = await service.agent(owner);
  const bob = await service.agent(owner);
  const stranger = await service.workspace();
  let count = 0;
  const create = (fields: object = {}, token = owner.token) => {
    count += 1;
    return service.post(
      '/saved-replies',
      { shortcut: `/reply${count}`, title: `Reply ${count}`, body: 'Hello {{visitor.name}}', ...fields },
      token,
    );
  };
  const list = async (token: string, query = '') =>
    (await service.get(`/saved-replies${query}`, token)).body.savedReplies;
  const patch = (id: string, body: object, token = owner.token) => service.patch(`/saved-replies/${id}`, body, token);

  t.test("[4.17] create: the contract's fields; channels default to both", async (t) => {
    const { status, body } = await create({
      shortcut: '/hi',
      title: 'Hi',
      body: 'Hello {{visitor.firstName}}, {{whatever}}',
    });
    t.equal(status, 201);
    t.same(body, {
      id: body.id,
      version: 1,
      shortcut: '/hi',
      title: 'Hi',
      body: 'Hello {{visitor.firstName}}, {{whatever}}',
      channels: ['chat', 'ticket'],
      scope: 'workspace',
      createdByAgentId: owner.agentId,
      createdAt: body.createdAt,
    });
    t.match((await create({ channels: ['ticket', 'ticket'] })).body.channels, ['ticket']);
    t.equal((await create({ channels: ['ticket', 'ticket'] })).body.channels.length, 1);
  });

  t.test('[decisions] scope: workspace by default for admins only; written by admins and supervisors', async (t) => {
    t.equal((await create({}, owner.token)).body.scope, 'workspace');
    t.equal((await create({}, supervisor.token)).body.scope, 'personal');
    t.equal((await create({}, ann.token)).body.scope, 'personal');
    t.equal((await create({ scope: 'personal' }, owner.token)).body.scope, 'personal');
    t.match(await create({ scope: 'workspace' }, supervisor.token), { status: 201, body: { scope: 'workspace' } });
    t.match(await create({ scope: 'workspace' }, ann.token), {
      status: 403,
      body: { statusCode: 403, error: 'forbidden' },
    });
  });

  t.test('[decisions] personal ones are visible to and edited by their author only', async (t) => {
    const mine = (await create({ shortcut: '/mine', scope: 'personal' }, ann.token)).body;
    const ids = async (token: string) => (await list(token, '?limit=200')).map(({ id }: { id: string }) => id);
    t.equal((await ids(ann.token)).includes(mine.id), true);
    for (const { token } of [owner, supervisor, bob, stranger]) {
      t.equal((await ids(token)).includes(mine.id), false);
      t.match(await patch(mine.id, { expectedVersion: 1, title: 'x' }, token), {
        status: 404,
        body: { error: 'not_found' },
      });
      t.match(await service.delete(`/saved-replies/${mine.id}`, token), { status: 404 });
    }
    t.match(await patch(mine.id, { expectedVersion: 1, title: 'Better' }, ann.token), {
      status: 200,
      body: { title: 'Better', version: 2 },
    });
    t.equal((await service.delete(`/saved-replies/${mine.id}`, ann.token)).status, 204);
  });

  t.test("[7] forbidden: an agent changes nothing of the workspace's", async (t) => {
    const { id } = (await create()).body;
    t.match(await patch(id, { expectedVersion: 1, title: 'x' }, ann.token), {
      status: 403,
      body: { error: 'forbidden' },
    });
    t.match(await service.delete(`/saved-replies/${id}`, ann.token), { status: 403, body: { error: 'forbidden' } });
    const own = (await create({}, ann.token)).body;
    t.match(await patch(own.id, { expectedVersion: 1, scope: 'workspace' }, ann.token), {
      status: 403,
      body: { error: 'forbidden' },
    });
    t.equal((await patch(id, { expectedVersion: 1, title: 'By sup' }, supervisor.token)).status, 200);
    t.equal((await service.delete(`/saved-replies/${id}`, supervisor.token)).status, 204);
    t.match(await service.delete(`/saved-replies/${id}`, supervisor.token), { status: 404 });
  });

  t.test("[decisions] a change of scope: to the workspace's by a senior, back to personal by its author", async (t) => {
    const { id } = (await create({}, supervisor.token)).body;
    t.match(await patch(id, { expectedVersion: 1, scope: 'workspace' }, supervisor.token), {
      status: 200,
      body: { scope: 'workspace' },
    });
    t.match(
      await patch(id, { expectedVersion: 2, scope: 'personal' }, owner.token),
      { status: 403, body: { error: 'forbidden' } },
      'its user would lose it',
    );
    t.match(await patch(id, { expectedVersion: 2, scope: 'personal' }, supervisor.token), {
      status: 200,
      body: { scope: 'personal', version: 3 },
    });
  });

  t.test('[7] conflict: a shortcut is unique in its scope, ignoring case', async (t) => {
    await create({ shortcut: '/once' });
    t.match(await create({ shortcut: '/ONCE' }, supervisor.token), { status: 201 }, 'personal ones are another scope');
    t.match(await create({ shortcut: '/ONCE', scope: 'workspace' }, supervisor.token), {
      status: 409,
      body: { statusCode: 409, error: 'conflict' },
    });
    t.equal((await create({ shortcut: '/own' }, ann.token)).status, 201);
    t.equal((await create({ shortcut: '/own' }, bob.token)).status, 201, 'each author has its own');
    t.match(await create({ shortcut: '/Own' }, ann.token), { status: 409, body: { error: 'conflict' } });
    const other = (await create()).body;
    t.match(await patch(other.id, { expectedVersion: 1, shortcut: '/once' }), {
      status: 409,
      body: { error: 'conflict' },
    });
    t.equal(
      (await patch(other.id, { expectedVersion: 1, shortcut: other.shortcut.toUpperCase() })).status,
      200,
      'its own in another case',
    );
    const moving = (await create({ shortcut: '/once' }, owner.token)).status;
    t.equal(moving, 409);
    const mine = (await create({ shortcut: '/once', scope: 'personal' }, owner.token)).body;
    t.match(
      await patch(mine.id, { expectedVersion: 1, scope: 'workspace' }),
      { status: 409, body: { error: 'conflict' } },
      'also by moving there',
    );
    t.equal((await create({ shortcut: '/once' }, stranger.token)).status, 201);
  });

  t.test('[8] update needs the version', async (t) => {
    const { id } = (await create()).body;
    t.match(await patch(id, { title: 'x' }), {
      status: 400,
      body: { error: 'invalid_body', detail: { fieldErrors: { expectedVersion: ['is required'] } } },
    });
    t.match(
      await patch(id, { expectedVersion: 1, title: 'Two', body: 'Other', channels: ['chat'], shortcut: '/changed' }),
      { status: 200, body: { version: 2, title: 'Two', body: 'Other', channels: ['chat'], shortcut: '/changed' } },
    );
    for (const expectedVersion of [1, 3])
      t.match(await patch(id, { expectedVersion, title: 'x' }), {
        status: 409,
        body: { error: 'stale_version', detail: { currentVersion: 2 } },
      });
    for (const body of [{ expectedVersion: 2 }, { expectedVersion: 2, unknown: 1 }])
      t.match(await patch(id, body), { status: 400, body: { error: 'invalid_body' } });
  });

  t.test('[4.17] list: scope, channel, q', async (t) => {
    const shop = await service.workspace();
    const agent = await service.agent(shop);
    const add = async (fields: object, token = shop.token) => (await create(fields, token)).body.shortcut;
    const refund = await add({ shortcut: '/refund', title: 'Money back', body: 'We send it.', channels: ['ticket'] });
    const hello = await add({ shortcut: '/hello', title: 'Greeting', body: 'Grüß Gott', channels: ['chat'] });
    const own = await add({ shortcut: '/own', title: 'Own', body: '50% off_today' }, agent.token);
    const found = async (query: string) =>
      (await list(agent.token, query)).map(({ shortcut }: { shortcut: string }) => shortcut);
    const rows: [string, string[]][] = [
      ['', [own, hello, refund]],
      ['?scope=workspace', [hello, refund]],
      ['?scope=personal', [own]],
      ['?channel=ticket', [own, refund]],
      ['?channel=chat', [own, hello]],
      ['?q=MONEY', [refund]],
      ['?q=%2Fhello', [hello]],
      ['?q=send%20it', [refund]],
      ['?q=GR%C3%9C%C3%9F', [hello]],
      ['?q=GRU', [hello]],
      ['?q=50%25', [own]],
      ['?q=_', [own]],
      ['?q=%25', [own]],
      ['?q=nothing', []],
      ['?scope=workspace&channel=chat&q=greet', [hello]],
    ];
    for (const [query, shortcuts] of rows) t.same(await found(query), shortcuts, query || 'all');
    t.match(await service.get('/saved-replies?scope=team&channel=call', agent.token), {
      status: 400,
      body: { error: 'invalid_query', detail: { fieldErrors: { scope: [String], channel: [String] } } },
    });
  });

  t.test('[7] bad shortcuts, bodies, titles', async (t) => {
    const rows: [object, string][] = [
      ...['hi', '/', 'x', '//', '/a b', '/a/b', ` /a`, `/${'a'.repeat(32)}`, 7].map((shortcut): [object, string] => [
        { shortcut },
        'shortcut',
      ]),
      [{ body: '' }, 'body'],
      [{ body: ' \n ' }, 'body'],
      [{ body: 'x'.repeat(10_001) }, 'body'],
      [{ title: '' }, 'title'],
      [{ title: 'x'.repeat(201) }, 'title'],
      [{ channels: [] }, 'channels'],
      [{ channels: ['call'] }, 'channels.0'],
      [{ scope: 'team' }, 'scope'],
    ];
    for (const [fields, path] of rows)
      t.match(
        await create(fields),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { [path]: [String] } } } },
        JSON.stringify(fields).slice(0, 60),
      );
    t.match(await service.post('/saved-replies', {}, owner.token), {
      body: { detail: { fieldErrors: { shortcut: ['is required'], title: ['is required'], body: ['is required'] } } },
    });
    const { id } = (await create()).body;
    t.match(await patch(id, { expectedVersion: 1, body: ' ' }), { status: 400 });
    for (const fields of [
      { shortcut: '/a' },
      { shortcut: `/${'b'.repeat(31)}` },
      { body: 'x'.repeat(10_000) },
      { title: 'x'.repeat(200) },
    ])
      t.equal((await create(fields)).status, 201, JSON.stringify(fields).slice(0, 60));
  });
});

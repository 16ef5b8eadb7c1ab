// Rows of lists that can be shown without another request, and the numbers of all lists in one.

import t from 'tap';
import { claimLine, ringLine } from '../support/calls.ts';
import { makeKey } from '../support/keys.ts';
import { insertOpenConversations } from '../support/open-conversations.ts';
import { startService } from '../support/service.ts';

t.test('rows and numbers of the queue', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace({ assignOnReply: true });
  const ann = await service.agent(owner, { name: 'Ann', channels: ['chats'] });
  const stranger = await service.workspace();
  const begin = async (name: string | undefined, email?: string) => {
    service.clock.advance(1000);
    const customer = await service.customer(owner.embedId, { ...(name && { name }), ...(email && { email }) });
    const { body } = await service.post('/widget/conversations', { body: 'Hello' }, customer.token);
    return { id: body.conversation.id as string, customer };
  };
  const rowsOf = async (path: string, token = owner.token): Promise<any[]> =>
    (await service.get(path, token)).body.conversations;
  const counts = async (token: string) => (await service.get('/conversations/counts', token)).body;

  const kim = await begin('Kim');
  const known = await begin(undefined, 'lee@customer.example');
  const nameless = await begin(undefined);
  const line = await claimLine(service, owner);
  const call = await ringLine(service, line);

  t.test("a row has its customer's name: the visitor's, its contact's, an address or a number, or none", async (t) => {
    const nameIn = async (path: string, id: string): Promise<unknown> =>
      (await rowsOf(path)).find((row) => row.id === id)?.customerName;
    t.equal(await nameIn('/conversations/queue', kim.id), 'Kim');
    t.equal(await nameIn('/conversations/queue', nameless.id), null);
    t.equal(await nameIn('/conversations/queue', known.id), 'lee@customer.example');
    const { contactId } = await service.conversation(known.id, owner.token);
    await service.patch(`/contacts/${contactId}`, { name: 'Lee' }, owner.token);
    t.equal(await nameIn('/conversations/queue', known.id), 'Lee', "the contact's");
    t.match(await nameIn('/conversations/queue', call.id), /^\+1/, 'a number');
    await service.post(`/conversations/${kim.id}/status`, { status: 'solved' }, owner.token);
    t.equal(await nameIn('/conversations/recently-closed', kim.id), 'Kim');
    await service.post(`/conversations/${nameless.id}/spam`, undefined, owner.token);
    t.equal(await nameIn('/conversations/spam', nameless.id), null);
    await service.post(`/conversations/${kim.id}/status`, { status: 'open' }, owner.token);
  });

  t.test('[decisions, After the audit] what names a customer needs visitors:read', async (t) => {
    const narrow = await makeKey(service, owner, { scopes: ['conversations:read'] });
    const wide = await makeKey(service, owner, { scopes: ['conversations:read', 'visitors:read'] });
    for (const row of await rowsOf('/conversations/queue', narrow)) t.notOk('customerName' in row);
    t.ok((await rowsOf('/conversations/queue', wide)).some(({ customerName }) => customerName === 'Kim'));
    t.match(await service.get('/conversations/counts?withOffers=true', narrow), { status: 200, body: { offers: [] } });
    const none = await makeKey(service, owner, { scopes: ['agents:read'] });
    t.match(await service.get('/conversations/counts', none), { status: 403, body: { error: 'insufficient_scope' } });
    t.equal((await service.get('/conversations/counts')).status, 401);
  });

  t.test('the numbers are those of the lists that the agent has, and no one else’s', async (t) => {
    const { body: department } = await service.post('/departments', { name: 'Billing' }, owner.token);
    const { body: view } = await service.post(
      '/views',
      { name: 'Refunds', filter: { tag: 'Refund', assigneeId: 'none' }, scope: 'team' },
      owner.token,
    );
    const { body: mine } = await service.post('/views', { name: 'Mine', filter: { assigneeId: 'me' } }, ann.token);
    await service.put(`/conversations/${kim.id}/tags`, { tags: ['refund'] }, owner.token);
    await service.post(`/conversations/${known.id}/messages`, { body: 'Hello.' }, ann.token);
    const own = await counts(owner.token);
    t.strictSame(own, {
      mine: 0,
      unassigned: 2,
      all: 3,
      unread: 0,
      waiting: 1,
      waitingCalls: 1,
      offered: 0,
      channels: [
        { channel: 'chat', count: 2 },
        { channel: 'ticket', count: 0 },
        { channel: 'call', count: 1 },
      ],
      departments: [{ departmentId: department.id, count: 0 }],
      views: [{ viewId: view.id, count: 1 }],
      offers: null,
    });
    await service.post(`/widget/conversations/${known.id}/messages`, { body: 'And?' }, known.customer.token);
    const anns = await counts(ann.token);
    t.match(anns, { mine: 1, unassigned: 1, all: 2, unread: 1, waiting: 1, waitingCalls: 0, offered: 0 });
    t.strictSame(anns.channels, [{ channel: 'chat', count: 2 }]);
    t.strictSame(anns.departments, [], 'she is in none');
    t.strictSame(
      anns.views,
      [
        { viewId: view.id, count: 1 },
        { viewId: mine.id, count: 1 },
      ],
      'me is whoever looks',
    );
    t.match(await counts(stranger.token), { all: 0, views: [] }, 'another workspace');

    const { version } = await service.conversation(kim.id, owner.token);
    await service.post(
      `/conversations/${kim.id}/assign-to-agent`,
      { agentId: ann.agentId, expectedVersion: version },
      owner.token,
    );
    t.match(await counts(ann.token), { mine: 2, offered: 1, unassigned: 1 });
    const offersTo = async (token: string) => (await service.get('/conversations/counts?withOffers=true', token)).body;
    t.match(await offersTo(ann.token), {
      offered: 1,
      offers: [{ id: kim.id, customerName: 'Kim', handshake: { toAgentId: ann.agentId } }],
    });
    t.match(await offersTo(owner.token), { offered: 0, offers: [] }, 'by the caller, not to it');
    t.match(await offersTo(stranger.token), { offered: 0, offers: [] }, 'another workspace');
    t.strictSame(
      (await rowsOf(`/conversations/queue?assigneeId=${ann.agentId}&withOffered=true&sort=activity`, ann.token)).map(
        ({ id }) => id,
      ),
      [known.id, kim.id],
    );
    await service.post(`/conversations/${kim.id}/assignment/decline`, {}, ann.token);

    await service.post(`/conversations/${kim.id}/assign-to-department`, { departmentId: department.id }, owner.token);
    t.match(
      await counts(ann.token),
      { all: 1, unassigned: 0, views: [{ count: 0 }, { count: 1 }] },
      'out of her reach',
    );
    t.strictSame((await counts(owner.token)).departments, [{ departmentId: department.id, count: 1 }]);
    await service.post(`/conversations/${kim.id}/take`, {}, owner.token);
    const taken = await service.conversation(kim.id, owner.token);
    await service.post(
      `/conversations/${kim.id}/assign-to-agent`,
      { agentId: ann.agentId, expectedVersion: taken.version },
      owner.token,
    );
    for (const withOffered of ['', '&withOffered=true'])
      t.strictSame(
        (await rowsOf(`/conversations/queue?assigneeId=${owner.agentId}&sort=activity${withOffered}`, ann.token)).map(
          ({ id }) => id,
        ),
        [kim.id],
        "a colleague's, beyond her reach, and offered to her",
      );
    await service.post(`/conversations/${kim.id}/assignment/decline`, {}, ann.token);
    await service.post(`/conversations/${kim.id}/unassign`, {}, owner.token);
    await service.delete(`/views/${view.id}`, owner.token);
  });

  t.test('sort goes by the last message in both directions', async (t) => {
    const ids = async (sort: string) =>
      (await rowsOf(`/conversations/queue?channel=chat&sort=${sort}`)).map(({ id }) => id);
    t.strictSame(await ids('activity'), [known.id, kim.id]);
    t.strictSame(await ids('oldest_activity'), [kim.id, known.id]);
    t.match(await service.get('/conversations/queue?sort=quiet', owner.token), { status: 400 });
  });

  t.test('a thousand stands for more; a view that would take too long to count has no number', async (t) => {
    const db = service.running.services.engine.workspace(owner.workspaceId)?.db;
    if (db === undefined) throw new Error('the workspace is not open');
    insertOpenConversations(db, {
      count: 12_000,
      startMs: service.clock.now() - 12_000,
      stepMs: 1,
      siteId: owner.siteId,
      clock: service.clock,
      fields: () => ({ tags: ['order'] }),
    });
    const { body: rare } = await service.post('/views', { name: 'Rare', filter: { tag: 'rare' } }, owner.token);
    const { body: whole } = await service.post(
      '/views',
      { name: 'Site', filter: { siteId: owner.siteId } },
      owner.token,
    );
    const { body: last } = await service.post('/views', { name: 'All', filter: { channel: 'chat' } }, owner.token);
    const { all, unassigned, waiting, waitingCalls, views } = await counts(owner.token);
    t.strictSame([all, unassigned, waiting, waitingCalls], [1000, 1000, 1000, 1]);
    t.strictSame(views, [
      { viewId: rare.id, count: null },
      { viewId: whole.id, count: null },
      { viewId: last.id, count: 1000 },
    ]);
    await service.delete(`/views/${rare.id}`, owner.token);
    t.strictSame((await counts(owner.token)).views[0], { viewId: whole.id, count: 1000 });
  });

  t.test('200 departments and 100 views are counted with few statements, the last views not at all', async (t) => {
    const busy = await service.workspace();
    const agent = await service.agent(busy, { channels: ['chats', 'tickets'] });
    const db = service.running.services.engine.workspace(busy.workspaceId)?.db;
    if (db === undefined) throw new Error('the workspace is not open');
    const made = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const name = `Department ${index}`;
        return (await service.post('/departments', { name, memberIds: [agent.agentId] }, busy.token)).body.id as string;
      }),
    );
    const filters = [
      { channel: 'chat' },
      { departmentId: made[3] },
      { assigneeId: 'none' },
      { assigneeId: busy.agentId },
    ];
    for (const token of [busy.token, agent.token])
      for (let index = 0; index < 50; index += 1) {
        const scope = token === busy.token ? 'team' : 'own';
        const filter = filters[index % filters.length];
        const { status } = await service.post('/views', { name: `View ${index}`, filter, scope }, token);
        t.equal(status, 201);
      }
    insertOpenConversations(db, {
      count: 60,
      startMs: service.clock.now(),
      stepMs: 1,
      siteId: busy.siteId,
      clock: service.clock,
      fields: (index) => ({
        departmentId: made[index % 20] ?? null,
        assignedAgentId: index < 30 ? busy.agentId : null,
      }),
    });
    let statements = 0;
    const { all, get } = db;
    const counting =
      (method: typeof all | typeof get) =>
      (sql: string, values: never): never => {
        if (sql.includes('INDEXED BY')) statements += 1;
        return method.call(db, sql, values) as never;
      };
    Object.assign(db, { all: counting(all), get: counting(get) });
    t.teardown(() => Object.assign(db, { all, get }));
    for (const token of [busy.token, agent.token]) {
      statements = 0;
      const asked = await counts(token);
      t.match(asked, { all: 60, unassigned: 30 });
      t.comment(`${statements} statements`);
      t.ok(statements < 250, `${statements} statements`);
      const byId = new Map(asked.departments.map((one: any) => [one.departmentId, one.count]));
      t.strictSame(
        made.map((id) => byId.get(id)),
        made.map((_, index) => (index < 20 ? 3 : 0)),
      );
    }
    const { views } = await counts(agent.token);
    t.strictSame(
      views.slice(0, 4).map(({ count }: any) => count),
      [60, 3, 30, 30],
    );
    t.equal(views.length, 100);
    t.equal(views[96].count, null, 'beyond the budget');
  });
});

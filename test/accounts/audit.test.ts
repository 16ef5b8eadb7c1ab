import t from 'tap';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { command } from '../../engine/runtime/command.ts';
import { registerApp, tokensOf } from '../support/oauth.ts';
import { password, type Service, startService } from '../support/service.ts';

interface Entry {
  readonly id: string;
  readonly actorAgentId: string | null;
  readonly action: string;
  readonly targetKind: string;
  readonly targetId: string | null;
  readonly before: any;
  readonly after: any;
  readonly context: any;
  readonly createdAt: string;
}

async function entries(service: Service, token: string): Promise<Entry[]> {
  return (await service.get('/workspace/audit-log?limit=200', token)).body.entries;
}

t.test('what is audited', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const sales = (await service.post('/departments', { name: 'First' }, owner.token)).body.id;
  const agent = await service.agent(owner);
  let seen = new Set((await entries(service, owner.token)).map(({ id }) => id));

  /** Entries since the last call, oldest first. */
  const news = async (): Promise<Entry[]> => {
    const all = await entries(service, owner.token);
    const fresh = all.filter(({ id }) => !seen.has(id)).reverse();
    seen = new Set(all.map(({ id }) => id));
    return fresh;
  };

  t.test('[4.11] an entry has the fields of the contract', async (t) => {
    await service.patch(`/workspaces/${owner.workspaceId}`, { locale: 'de' }, owner.token);
    const [entry] = await news();
    t.same(entry, {
      id: entry?.id,
      actorAgentId: owner.agentId,
      action: 'workspace.updated',
      targetKind: 'workspace',
      targetId: owner.workspaceId,
      before: { ...entry?.before, locale: 'en' },
      after: { ...entry?.before, locale: 'de' },
      context: null,
      createdAt: new Date(service.clock.now()).toISOString(),
    });
  });

  t.test('[6] every action that the service has', async (t) => {
    const invited = (
      await service.post(
        '/agents/invite',
        { email: 'audited@example.com', name: 'A', role: 'agent', groupIds: [sales] },
        owner.token,
      )
    ).body;
    t.match(await news(), [
      {
        action: 'department.members_changed',
        targetKind: 'department',
        targetId: sales,
        before: { memberIds: [] },
        after: { memberIds: [invited.id] },
      },
      {
        action: 'agent.invited',
        targetKind: 'agent',
        targetId: invited.id,
        before: null,
        after: { email: 'audited@example.com', role: 'agent' },
        context: null,
      },
    ]);
    await service.post(`/agents/${invited.id}/resend-invite`, undefined, owner.token);
    t.match(await news(), [{ action: 'agent.invited', targetId: invited.id, context: { resent: true } }]);

    await service.patch(`/agents/${agent.agentId}`, { role: 'supervisor' }, owner.token);
    t.match(await news(), [
      {
        action: 'agent.role_changed',
        targetKind: 'agent',
        targetId: agent.agentId,
        before: { role: 'agent' },
        after: { role: 'supervisor' },
      },
    ]);
    await service.patch(
      `/agents/${agent.agentId}`,
      { role: 'agent', name: 'New', groupIds: [sales], canTransfer: true },
      owner.token,
    );
    t.match(await news(), [
      {
        action: 'department.members_changed',
        targetId: sales,
        before: { memberIds: [invited.id] },
        after: { memberIds: [agent.agentId, invited.id] },
      },
      { action: 'agent.role_changed', before: { role: 'supervisor' }, after: { role: 'agent' } },
      {
        action: 'agent.updated',
        targetId: agent.agentId,
        before: { canTransfer: false },
        after: { name: 'New', canTransfer: true },
      },
    ]);
    await service.patch(`/agents/${agent.agentId}`, { name: 'New', groupIds: [sales] }, owner.token);
    t.same(await news(), [], 'an unchanged one sends no event');
    await service.patch(`/agents/${agent.agentId}`, { name: 'Mine' }, agent.token);
    t.match(
      await news(),
      [{ action: 'agent.updated', actorAgentId: agent.agentId, before: { name: 'New' }, after: { name: 'Mine' } }],
      'the actor is the caller',
    );

    const department = (
      await service.post('/departments', { name: 'Audited', memberIds: [agent.agentId] }, owner.token)
    ).body;
    t.match(await news(), [
      {
        action: 'department.created',
        targetKind: 'department',
        targetId: department.id,
        before: null,
        after: department,
      },
    ]);
    await service.patch(
      `/departments/${department.id}`,
      { name: 'Renamed', isDefault: true, memberIds: [] },
      owner.token,
    );
    t.match(await news(), [
      {
        action: 'department.members_changed',
        targetId: department.id,
        before: { memberIds: [agent.agentId] },
        after: { memberIds: [] },
      },
      {
        action: 'department.updated',
        targetId: department.id,
        before: { name: 'Audited', isDefault: false },
        after: { name: 'Renamed', isDefault: true },
      },
    ]);

    const rule = (
      await service.post('/business-hours', { name: 'Hours', days: [], departmentId: department.id }, owner.token)
    ).body;
    t.match(await news(), [
      {
        action: 'business_hours_rule.created',
        targetKind: 'business_hours_rule',
        targetId: rule.id,
        before: null,
        after: rule,
      },
    ]);
    await service.patch(`/business-hours/${rule.id}`, { name: 'Hours', days: [] }, owner.token);
    t.same(await news(), [], 'unchanged hours send no event either');
    await service.patch(`/business-hours/${rule.id}`, { name: 'Other' }, owner.token);
    t.match(await news(), [
      { action: 'business_hours_rule.updated', targetId: rule.id, before: { name: 'Hours' }, after: { name: 'Other' } },
    ]);
    await service.delete(`/departments/${department.id}`, owner.token);
    t.match(await news(), [
      { action: 'business_hours_rule.deleted', targetId: rule.id, before: { name: 'Other' }, after: null },
      { action: 'department.deleted', targetId: department.id, before: { name: 'Renamed' }, after: null },
    ]);
    const second = (await service.post('/business-hours', { name: 'Second', days: [] }, owner.token)).body;
    await service.delete(`/business-hours/${second.id}`, owner.token);
    t.match(await news(), [
      { action: 'business_hours_rule.created' },
      { action: 'business_hours_rule.deleted', targetId: second.id },
    ]);

    await service.put('/workspace/settings', { csatEnabled: false }, owner.token);
    t.match(await news(), [
      {
        action: 'workspace.updated',
        targetId: owner.workspaceId,
        before: { settings: { csatEnabled: true } },
        after: { settings: { csatEnabled: false } },
      },
    ]);

    await service.put('/workspace/settings', { csatEnabled: false, routing: {} }, owner.token);
    await service.put('/workspace/settings', {}, owner.token);
    await service.patch(`/workspaces/${owner.workspaceId}`, { locale: 'de' }, owner.token);
    const app = (
      await service.post(
        '/oauth-apps',
        { name: 'App', redirectUris: ['https://app.example/'], scopes: ['agents:read'] },
        owner.token,
      )
    ).body;
    await service.patch(`/oauth-apps/${app.id}`, { name: 'App' }, owner.token);
    t.match(
      (await news()).map(({ action }) => action),
      ['oauth_app.created'],
      'nor are settings, the workspace, or an app',
    );

    const chat = await service.chat(owner);
    await service.post(
      `/conversations/${chat.id}/assign-to-agent`,
      { agentId: agent.agentId, expectedVersion: chat.version, force: true },
      owner.token,
    );
    t.match(await news(), [
      {
        action: 'conversation.force_transferred',
        targetKind: 'conversation',
        targetId: chat.id,
        before: { assignedAgentId: null },
        after: { assignedAgentId: agent.agentId },
      },
    ]);

    service.clock.advance(60_000);
    await service.post('/auth/forgot-password', { email: agent.email });
    const token = /token=(\S+)/.exec((await service.mail(agent.email)).text)?.[1];
    await service.post('/auth/reset-password', { token, newPassword: 'another long and quiet sentence' });
    t.match(await news(), [
      { action: 'agent.reset_password', targetKind: 'agent', targetId: agent.agentId, actorAgentId: agent.agentId },
    ]);

    await service.delete(`/agents/${agent.agentId}`, owner.token);
    t.match(await news(), [
      {
        action: 'agent.deleted',
        targetId: agent.agentId,
        before: { inviteStatus: 'joined', role: 'agent', groupIds: [sales] },
        after: { inviteStatus: 'deactivated', groupIds: [] },
      },
    ]);
  });

  t.test('[6] what a review needs: who joined, who was removed, what was exported', async (t) => {
    const joiner = await service.agent(owner);
    t.match(await news(), [
      { action: 'agent.invited' },
      { action: 'agent.joined', actorAgentId: joiner.agentId, targetKind: 'agent', targetId: joiner.agentId },
    ]);

    for (const said of [password, 'wrong']) await service.post('/auth/login', { email: joiner.email, password: said });
    t.match(await news(), [
      {
        action: 'agent.signed_in',
        actorAgentId: joiner.agentId,
        targetKind: 'agent',
        targetId: joiner.agentId,
        context: { device: 'node', address: '127.0.0.1', isNew: false },
      },
    ]);

    const site = (await service.post('/sites', { name: 'Shop', domain: 'audited.example' }, owner.token)).body;
    await service.patch(
      `/sites/${site.id}`,
      { expectedVersion: 1, allowedOrigins: ['*.audited.example'] },
      owner.token,
    );
    await service.patch(`/sites/${site.id}`, { expectedVersion: 2, name: 'Shop' }, owner.token);
    t.match(await news(), [
      {
        action: 'site.created',
        actorAgentId: owner.agentId,
        targetKind: 'site',
        targetId: site.id,
        before: null,
        after: { name: 'Shop', domain: 'audited.example' },
      },
      {
        action: 'site.updated',
        targetId: site.id,
        before: { allowedOrigins: site.allowedOrigins },
        after: { allowedOrigins: ['*.audited.example'] },
      },
    ]);

    const chat = await service.chat(owner);
    const { visitorId } = chat.customer;
    for (const step of ['block', 'block', 'unblock', 'unblock'])
      await service.post(`/visitors/${visitorId}/${step}`, undefined, joiner.token);
    t.match(await news(), [
      { action: 'visitor.blocked', actorAgentId: joiner.agentId, targetKind: 'visitor', targetId: visitorId },
      { action: 'visitor.unblocked', actorAgentId: joiner.agentId, targetKind: 'visitor', targetId: visitorId },
    ]);

    await service.get(`/conversations/${chat.id}/export`, joiner.token);
    await service.get(`/conversations/${chat.id}/export?format=xml`, joiner.token);
    await service.post(
      `/conversations/${chat.id}/email-transcript`,
      { to: 'elsewhere@example.com', subject: 'x' },
      joiner.token,
    );
    await service.get('/reports/export?type=tickets/total&format=csv&range=7d', owner.token);
    await service.get('/reports/export?type=tickets/total&format=csv&range=custom', owner.token);
    t.match(await news(), [
      { action: 'conversation.exported', actorAgentId: joiner.agentId, targetKind: 'conversation', targetId: chat.id },
      {
        action: 'conversation.transcript_mailed',
        actorAgentId: joiner.agentId,
        targetKind: 'conversation',
        targetId: chat.id,
        context: { to: 'elsewhere@example.com' },
      },
      {
        action: 'report.exported',
        actorAgentId: owner.agentId,
        targetKind: 'report',
        targetId: null,
        context: { type: 'tickets/total', format: 'csv', from: String, to: String },
      },
    ]);

    const shop = { url: 'https://shop.example/customers', secret: 'a secret of sixteen', source: 'shop' };
    await service.put('/workspace/commerce', shop, owner.token);
    t.match(await news(), [{ action: 'workspace.updated', after: { commerce: { url: shop.url, source: 'shop' } } }]);
    t.notMatch(JSON.stringify(await entries(service, owner.token)), shop.secret);
  });

  t.test('[6] an action by a key or an app names it, beside the admin', async (t) => {
    const { id, key } = (await service.post('/api-keys', { name: 'Importer', scopes: ['*'] }, owner.token)).body;
    await news();
    await service.post('/departments', { name: 'By a key' }, key);
    const chat = await service.chat(owner);
    await service.post(
      `/conversations/${chat.id}/email-transcript`,
      { to: 'elsewhere@example.com', subject: 'x' },
      key,
    );
    const apiKey = { id, name: 'Importer' };
    t.match(await news(), [
      { action: 'department.created', actorAgentId: owner.agentId, context: { apiKey } },
      { action: 'conversation.transcript_mailed', context: { to: 'elsewhere@example.com', apiKey } },
    ]);
    const app = await registerApp(service, owner, { name: 'Desk', scopes: ['visitors:write'] });
    const { access_token: token } = await tokensOf(service, app, owner, { scope: 'visitors:write' });
    await news();
    await service.post(`/visitors/${chat.customer.visitorId}/block`, undefined, token);
    t.match(await news(), [
      {
        action: 'visitor.blocked',
        actorAgentId: owner.agentId,
        context: { app: { clientId: app.clientId, name: 'Desk' } },
      },
    ]);
  });

  t.test('[6] automatic actions have no actor', async (t) => {
    const act = command('test.audit', (ctx, _: object): void =>
      ctx.audit({ action: 'email.dropped', targetKind: 'email', targetId: null, context: { reason: 'bulk' } }),
    );
    await service.running.services.engine.execute(act, {
      workspaceId: owner.workspaceId,
      caller: systemCaller,
      params: {},
    });
    t.match(await news(), [
      {
        actorAgentId: null,
        action: 'email.dropped',
        targetId: null,
        before: null,
        after: null,
        context: { reason: 'bulk' },
      },
    ]);
  });

  t.test('[4.11] refused actions are not logged, and secrets never are', async (t) => {
    await service.patch(`/agents/${owner.agentId}`, { role: 'agent', name: 'Half' }, owner.token);
    await service.post('/departments', { name: 'First' }, owner.token);
    await service.patch(`/workspaces/${owner.workspaceId}`, { timezone: 'Mars' }, owner.token);
    t.same(await news(), []);
    t.notMatch(JSON.stringify(await entries(service, owner.token)), /argon2|passwordHash|tokenVersion/);
  });
});

t.test('reading it', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const stranger = await service.workspace();
  const supervisor = await service.agent(owner, { role: 'supervisor' });
  const change = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        service.patch(`/workspaces/${owner.workspaceId}`, { name: `Name ${index}` }, owner.token),
      ),
    );
  const page = async (query: string) =>
    (await service.get(`/workspace/audit-log${query}`, owner.token)).body as {
      entries: Entry[];
      nextCursor: string | null;
    };

  t.test('[7] only admins; a bad limit or cursor is invalid_query', async (t) => {
    t.match(await service.get('/workspace/audit-log', supervisor.token), {
      status: 403,
      body: { error: 'admin_required' },
    });
    t.match(await service.get('/workspace/audit-log?limit=0&cursor=x', owner.token), {
      status: 400,
      body: { error: 'invalid_query', detail: { fieldErrors: { limit: [String] } } },
    });
  });

  t.test('[4.11] newest first, page by page, each entry once, whatever is added meanwhile', async (t) => {
    // All at one moment of the clock, so that only their ids give their order.
    await change(120);
    const whole = await entries(service, owner.token);
    t.equal((await page('')).entries.length, 50, '50 by default');
    const read: Entry[] = [];
    let cursor: string | null = null;
    do {
      const { entries, nextCursor }: { entries: Entry[]; nextCursor: string | null } = await page(
        `?limit=7${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      read.push(...entries);
      cursor = nextCursor;
      await change(1);
    } while (cursor !== null);
    t.same(
      read.map(({ id }) => id),
      whole.map(({ id }) => id),
    );
    const sorted = [...read].sort((a, b) =>
      a.createdAt === b.createdAt ? (a.id < b.id ? 1 : -1) : a.createdAt < b.createdAt ? 1 : -1,
    );
    t.same(
      read.map(({ id }) => id),
      sorted.map(({ id }) => id),
    );
  });

  t.test("[5] another workspace's log is its own", async (t) => {
    t.same((await service.get('/workspace/audit-log', stranger.token)).body, { entries: [], nextCursor: null });
  });
});

t.test('how long it is kept', async (t) => {
  const service = await startService(t);
  const dayMs = 24 * 3600_000;
  const [usual, enterprise] = [await service.workspace(), await service.workspace()];
  await service.plan(enterprise.workspaceId, 'enterprise');
  for (const { workspaceId, token } of [usual, enterprise])
    await service.patch(`/workspaces/${workspaceId}`, { name: 'Kept' }, token);

  /** Time passes, and the next look at the clock runs what is due. */
  const pass = async (days: number) => {
    service.clock.jump(days * dayMs - 60_000);
    await service.pass(60_000);
  };
  const visible = async (person: typeof usual) => {
    const { body } = await service.post('/auth/login', { email: person.email, password });
    return (await entries(service, body.token)).filter(({ action }) => action === 'workspace.updated').length;
  };
  const stored = (person: typeof usual) =>
    service.running.services.engine
      .workspace(person.workspaceId)
      ?.db.all(`SELECT id FROM audit WHERE action = 'workspace.updated'`).length;

  await pass(364);
  t.equal(await visible(usual), 1, '[8] on day 364 it exists');
  await pass(2);
  t.equal(await visible(usual), 0, '[8] after 365 days it is not shown');
  t.equal(stored(usual), 1, '[8] but kept as a tombstone');
  t.equal(await visible(enterprise), 1, '[8] on enterprise plans it stays');
  await pass(29);
  t.equal(stored(usual), 1, '[8] for thirty days');
  await pass(3);
  t.equal(stored(usual), 0, '[8] then it is gone');
  await pass(2000);
  t.equal(await visible(enterprise), 1);
});

// Events of departments, settings, sites and saved replies, so that clients need not poll. Decisions 6.

import t from 'tap';
import { startService } from '../support/service.ts';

t.test('events of other changes in a workspace', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const ann = await service.agent(owner);
  const socket = await service.agentSocket(ann.token);
  t.teardown(() => socket.close());
  /** The events since the last call, without the agents' identities. */
  const told = async () => {
    await socket.flushed();
    return socket.frames.splice(0).filter(({ seq, type }) => seq !== undefined && type !== 'agent.updated');
  };
  await told();

  t.test('[6] departments: made, renamed, joined, made the default, deleted', async (t) => {
    const { body: made } = await service.post('/departments', { name: 'Sales' }, owner.token);
    t.match(await told(), [{ type: 'department.created', data: { department: made } }]);
    const { body: renamed } = await service.patch(`/departments/${made.id}`, { name: 'Shop' }, owner.token);
    t.match(await told(), [{ type: 'department.updated', data: { department: renamed } }]);
    await service.patch(`/agents/${ann.agentId}`, { groupIds: [made.id] }, owner.token);
    t.match(await told(), [
      { type: 'department.updated', data: { department: { ...renamed, memberIds: [ann.agentId] } } },
    ]);
    await service.patch(`/departments/${made.id}`, { isDefault: true }, owner.token);
    t.match(await told(), [
      { type: 'settings.updated', data: { settings: { defaultDepartmentId: made.id } } },
      { type: 'department.updated', data: { department: { isDefault: true } } },
    ]);
    await service.patch(`/departments/${made.id}`, { name: 'Shop' }, owner.token);
    t.same(await told(), [], 'an unchanged one notifies no one');
    await service.delete(`/departments/${made.id}`, owner.token);
    t.match(
      (await told()).map(({ type }) => type),
      ['settings.updated', 'department.deleted'],
    );
  });

  t.test('[6] settings and sites', async (t) => {
    const { body: settings } = await service.put('/workspace/settings', { csatEnabled: false }, owner.token);
    t.match(await told(), [{ type: 'settings.updated', data: { settings } }]);
    await service.put('/workspace/settings', { csatEnabled: false }, owner.token);
    t.same(await told(), []);
    const { body: site } = await service.post('/sites', { name: 'Second', domain: 'second.example' }, owner.token);
    t.match(await told(), [{ type: 'site.created', data: { site: { id: site.id } } }]);
    await service.patch(`/sites/${site.id}`, { expectedVersion: 1, name: 'Renamed' }, owner.token);
    t.match(await told(), [{ type: 'site.updated', data: { site: { id: site.id, name: 'Renamed', version: 2 } } }]);
  });

  t.test('[6] the workspace itself: its record, to everyone in it', async (t) => {
    const path = `/workspaces/${owner.workspaceId}`;
    const { body } = await service.patch(
      path,
      { name: 'Bean & Leaf', timezone: 'Asia/Tokyo', awayAfterMinutes: 9 },
      owner.token,
    );
    t.match(await told(), [{ type: 'workspace.updated', data: body }]);
    t.match(body, {
      workspace: { id: owner.workspaceId, name: 'Bean & Leaf', timezone: 'Asia/Tokyo', awayAfterMinutes: 9 },
    });
    await service.patch(path, { name: 'Bean & Leaf' }, owner.token);
    t.equal((await service.patch(path, { name: 'Mine' }, ann.token)).status, 403);
    t.equal((await service.patch(path, { timezone: 'Europe/Nowhere' }, owner.token)).status, 400);
    t.same(await told(), [], 'unchanged and refused ones notify no one');
    const stranger = await service.workspace();
    await service.patch(`/workspaces/${stranger.workspaceId}`, { name: 'Another' }, stranger.token);
    t.same(await told(), [], "another workspace's");
  });

  t.test('[6] saved replies of the workspace; personal ones only to their author', async (t) => {
    const { body: reply } = await service.post(
      '/saved-replies',
      { shortcut: '/hello', title: 'Hello', body: 'Hello!', scope: 'workspace' },
      owner.token,
    );
    t.match(await told(), [{ type: 'saved_reply.created', data: { savedReply: { id: reply.id } } }]);
    await service.patch(`/saved-replies/${reply.id}`, { expectedVersion: 1, title: 'Hi' }, owner.token);
    t.match(await told(), [{ type: 'saved_reply.updated', data: { savedReply: { title: 'Hi' } } }]);
    await service.patch(
      `/saved-replies/${reply.id}`,
      { expectedVersion: 2, scope: 'personal', body: 'Secret' },
      owner.token,
    );
    const [gone, ...more] = await told();
    t.match(
      [gone, more],
      [{ type: 'saved_reply.deleted', data: { savedReply: { body: 'Hello!' } } }, []],
      'as it was while everyone saw it',
    );
    await service.delete(`/saved-replies/${reply.id}`, owner.token);
    t.same(await told(), []);
  });
});

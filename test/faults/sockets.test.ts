import { copyFileSync, cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { HeldDisk } from '../support/held-disk.ts';
import { startService } from '../support/service.ts';
import { TestSocket } from '../support/socket.ts';

t.test('[decisions 6] a welcome reports a state, so it waits until that is durable', async (t) => {
  const disk = new HeldDisk({ isHeld: false });
  const service = await startService(t, { syncToDisk: disk.sync });
  t.teardown(() => disk.letGo());
  const owner = await service.workspace();
  const socket = await service.agentSocket(owner.token);
  await service.settled();
  disk.hold();
  const change = service.post('/me/status', { status: 'offline' }, owner.token);
  await disk.asked();
  const late = new TestSocket(`${service.url.replace('http', 'ws')}/agent`, ['messaging.v1', `bearer.${owner.token}`]);
  await late.opened();
  await socket.flushed();
  await socket.flushed();
  t.same(late.frames, []);
  await disk.completeNext();
  disk.letGo();
  t.equal((await change).status, 200);
  t.match(await late.next('ready'), { agent: { id: owner.agentId, status: 'offline' } });
});

t.test('[decisions 6] a sign-in that ends while its socket waits for the welcome gets none', async (t) => {
  const disk = new HeldDisk({ isHeld: false });
  const service = await startService(t, { syncToDisk: disk.sync });
  t.teardown(() => disk.letGo());
  const owner = await service.workspace();
  const ann = await service.agent(owner);
  await service.settled();
  disk.hold();
  const change = service.post('/me/status', { status: 'offline' }, owner.token);
  await disk.asked();
  const late = new TestSocket(`${service.url.replace('http', 'ws')}/agent`, ['messaging.v1', `bearer.${ann.token}`]);
  await late.opened();
  const logout = service.post('/auth/logout', undefined, ann.token);
  await disk.asked(2);
  await disk.completeNext();
  t.match(await late.closed, { code: 4401 });
  t.same(late.frames, []);
  disk.letGo();
  t.equal((await change).status, 200);
  t.equal((await logout).status, 204);
});

t.test('[architecture] a refusal reports the state it saw, so it waits for that state, too', async (t) => {
  const disk = new HeldDisk({ isHeld: false });
  const service = await startService(t, { syncToDisk: disk.sync });
  t.teardown(() => disk.letGo());
  const owner = await service.workspace();
  const chat = await service.chat(owner);
  const ann = await service.agent(owner, { channels: ['tickets'] });
  disk.hold();
  const logout = service.post('/auth/logout', undefined, ann.token);
  await disk.asked();
  const answers: string[] = [];
  const note =
    (name: string) =>
    ({ status }: { status: number }): void =>
      void answers.push(`${name} ${status}`);
  const waiting = [
    service.get('/me', ann.token).then(note('revoked')),
    service.get(`/conversations/${chat.id}/messages`, ann.token).then(note('out of scope')),
    service.get('/conversations/00000000-0000-7000-8000-000000000000/messages', owner.token).then(note('unknown')),
  ];
  await service.call('GET', '//healthz');
  await service.call('GET', '//healthz');
  t.same(answers, []);
  await disk.completeNext();
  disk.letGo();
  t.equal((await logout).status, 204);
  await Promise.all(waiting);
  t.same(answers.sort(), ['out of scope 401', 'revoked 401', 'unknown 404']);
});

t.test(
  '[decisions] a workspace whose file is damaged: its sockets are told to retry later, the others continue, and so does the process',
  async (t) => {
    const first = await startService(t);
    const bad = await first.workspace();
    const good = await first.workspace();
    const dataDir = first.dataDir;
    await first.stop();
    const copy = `${dataDir}-damaged`;
    cpSync(dataDir, copy, { recursive: true });
    t.teardown(() => rmSync(copy, { recursive: true, force: true }));
    writeFileSync(join(copy, 'workspaces', `${bad.workspaceId}.db`), Buffer.alloc(100_000, 'no database'));
    const service = await startService(t, { dataDir: copy, clock: first.clock });
    const refused = new TestSocket(`${service.url.replace('http', 'ws')}/agent`, [
      'messaging.v1',
      `bearer.${bad.token}`,
    ]);
    t.equal((await refused.closed).code, 1013);
    const socket = await service.agentSocket(good.token);
    await service.chat(good);
    t.equal((await socket.next('conversation.created')).type, 'conversation.created');
    t.match(await service.get('/me', bad.token), { status: 503, body: { error: 'service_unavailable' } });
    copyFileSync(
      join(dataDir, 'workspaces', `${bad.workspaceId}.db`),
      join(copy, 'workspaces', `${bad.workspaceId}.db`),
    );
    service.clock.advance(10_000);
    t.equal((await service.get('/me', bad.token)).status, 200, 'mended, it is served again');
  },
);

import { join } from 'node:path';
import t from 'tap';
import { Database } from '../../store/database.ts';
import { Api, password } from '../support/api.ts';
import { compareEvents, compareMessages } from '../support/comparison.ts';
import { Load } from '../support/load.ts';
import { ServiceProcess } from '../support/process.ts';
import { mountSmallDisk, noSmallDisk } from '../support/small-disk.ts';

const skip = noSmallDisk();

t.test(
  '[decisions] a full disk: 503 service_unavailable, nothing half done, service resumes when there is room',
  { skip },
  async (t) => {
    const disk = mountSmallDisk(t, { bytes: 24 * 1024 * 1024 });
    const dataDir = join(disk.path, 'data');
    const env = { DATA_DIR: dataDir, RATE_LIMITS: 'off', DISK_RESERVE_BYTES: '0' };
    const first = await ServiceProcess.serving(t, env);
    const api = new Api(first.url);
    const owner = await api.workspace('shop');
    const load = new Load(api, owner);
    await load.open({ places: 3 });

    disk.fill({ leaveBytes: 256 * 1024 });
    await load.start();
    await load.refuses(50);
    load.stop();
    await load.ended();
    await load.writesUntilRefused();
    t.same([...new Set(load.otherAnswers)], [503]);
    t.ok(load.acknowledged > 3, 'some were taken while there was room');

    const [place] = load.places;
    const id = place?.conversationId ?? '';
    const standing = async () =>
      (await api.get('/conversations/queue', owner.token)).body.conversations.find(
        (one: { id: string }) => one.id === id,
      );
    const { status, version, assignedAgentId } = await standing();
    const refusals = await Promise.all([
      api.post(`/conversations/${id}/messages`, { body: 'No room for this.' }, owner.token),
      api.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token),
      api.post(
        `/conversations/${id}/assign-to-agent`,
        { agentId: owner.agentId, expectedVersion: version, force: true },
        owner.token,
      ),
      api.post('/agents/invite', { email: 'ann@example.com', name: 'Ann', role: 'agent' }, owner.token),
      api.post('/auth/register', { email: 'owner@other.example', password, workspaceName: 'Other' }),
    ]);
    for (const { status, body } of refusals)
      t.match({ status, body }, { status: 503, body: { statusCode: 503, error: 'service_unavailable' } });
    t.equal((await api.get('/me', owner.token)).status, 200, 'reads are served');
    t.match(await standing(), { status, version, assignedAgentId });
    await compareMessages(t, { api, owner, load, exactly: true });

    disk.empty();
    t.equal(
      (await api.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token)).status,
      200,
      'room again, service again',
    );
    t.equal((await api.post(`/conversations/${id}/status`, { status: 'open' }, owner.token)).status, 200);
    t.equal(
      (await api.post('/agents/invite', { email: 'ann@example.com', name: 'Ann', role: 'agent' }, owner.token)).status,
      201,
      'the address was not left taken',
    );
    t.equal(
      (await api.post('/auth/register', { email: 'owner@other.example', password, workspaceName: 'Other' })).status,
      201,
    );
    const more = new Load(api, owner);
    await more.open({ places: 1 });
    await more.start();
    await more.reaches(50);
    more.stop();
    await more.ended();
    t.same(more.otherAnswers, []);
    await compareEvents(t, { api, owner, load });

    t.same(await first.kill('SIGKILL'), { code: null, signal: 'SIGKILL' });
    const second = await ServiceProcess.serving(t, env);
    api.url = second.url;
    await compareMessages(t, { api, owner, load, exactly: true });
    await compareMessages(t, { api, owner, load: more, exactly: true });
    await compareEvents(t, { api, owner, load: more });
    await second.kill('SIGTERM');
    const db = Database.openReader(join(dataDir, 'workspaces', `${owner.workspaceId}.db`));
    t.same(db.all('PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
    db.close();
  },
);

t.test('a disk that is full from the start: one line that says so, and exit 1', { skip }, async (t) => {
  const disk = mountSmallDisk(t, { bytes: 1024 * 1024 });
  disk.fill({ leaveBytes: 0 });
  const env = { DATA_DIR: join(disk.path, 'data'), DISK_RESERVE_BYTES: '0' };
  const service = ServiceProcess.start(t, env);
  t.equal((await service.ended).code, 1);
  t.match(service.stderr, /^switchboard: .*(disk is full|ENOSPC|no space|cannot be used)/);
  t.equal(service.stderr.trim().split('\n').length, 1);
  disk.empty();
  const again = await ServiceProcess.serving(t, env);
  t.same(await again.kill('SIGTERM'), { code: 0, signal: null });
});

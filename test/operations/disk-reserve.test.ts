// Disk space reserved for existing workspaces, while large writes are refused.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Api, password } from '../support/api.ts';
import { tempFolder } from '../support/folder.ts';
import { runCommand, ServiceProcess } from '../support/process.ts';
import { startService } from '../support/service.ts';
import { mountSmallDisk, noSmallDisk } from '../support/small-disk.ts';

const unavailable = {
  status: 503,
  body: { statusCode: 503, error: 'service_unavailable', message: /disk is nearly full/ },
};
/** More than any disk has. */
const everything = { DISK_RESERVE_BYTES: String(Number.MAX_SAFE_INTEGER) };
const file = { filename: 'note.txt', contentType: 'text/plain', size: 5 };

t.test('[disk] below the reserve messages continue, and large writes are refused', async (t) => {
  const dataDir = tempFolder(t);
  const roomy = await startService(t, { dataDir });
  const owner = await roomy.workspace();
  const { id, customer } = await roomy.chat(owner);
  const { uploadUrl } = (await roomy.post('/uploads/presigned', file, owner.token)).body;
  await roomy.stop();

  const service = await startService(t, { dataDir, clock: roomy.clock, env: everything });
  const put = async (): Promise<{ status: number; body: unknown }> => {
    const response = await fetch(uploadUrl.replace('http://switchboard.test', service.url), {
      method: 'PUT',
      body: 'hello',
      headers: { 'Content-Type': 'text/plain' },
    });
    return { status: response.status, body: await response.json() };
  };
  t.match(
    await service.post('/auth/register', { email: 'other@example.com', password, workspaceName: 'Other' }),
    unavailable,
  );
  t.match(await service.post('/uploads/presigned', file, owner.token), unavailable);
  t.match(await service.post('/widget/uploads/presigned', file, customer.token), unavailable);
  t.match(
    await service.post('/uploads/import-from-url', { url: 'https://shop.example/logo.png' }, owner.token),
    unavailable,
  );
  t.match(await service.post('/kb/ingest/url', { url: 'https://shop.example/' }, owner.token), unavailable);
  t.match(await put(), unavailable);
  t.equal((await service.post(`/conversations/${id}/messages`, { body: 'We are there.' }, owner.token)).status, 201);
  t.equal((await service.post(`/widget/conversations/${id}/messages`, { body: 'Good.' }, customer.token)).status, 201);
  t.equal(
    (await service.post('/agents/invite', { email: 'ann@example.com', name: 'Ann', role: 'agent' }, owner.token))
      .status,
    201,
  );
  const figures = await (await fetch(`${service.url}/metrics`)).text();
  t.match(figures, /^switchboard_disk_reserve_reached 1$/m);
  t.match(figures, /^switchboard_disk_free_bytes [1-9]\d+$/m);
  const copy = join(tempFolder(t), 'copy');
  await service.stop();

  t.match(await runCommand(['backup', copy], { DATA_DIR: dataDir, ...everything }), {
    code: 1,
    stderr: /free: the backup may take .* stay free for the service \(DISK_RESERVE_BYTES\)/,
  });
  t.notOk(existsSync(copy) || existsSync(`${copy}.part`));
  t.match(await runCommand(['backup', copy], { DATA_DIR: dataDir }), { code: 0 });
});

t.test('[disk] files in a bucket are still accepted', async (t) => {
  const bucket = {
    STORAGE_PROVIDER: 's3',
    S3_ENDPOINT: 'http://127.0.0.1:9',
    S3_BUCKET: 'files',
    S3_ACCESS_KEY: 'key',
    S3_SECRET_KEY: 'secret',
  };
  const dataDir = tempFolder(t);
  const roomy = await startService(t, { dataDir, env: bucket });
  const owner = await roomy.workspace();
  await roomy.stop();
  const service = await startService(t, { dataDir, clock: roomy.clock, env: { ...bucket, ...everything } });
  t.equal((await service.post('/uploads/presigned', file, owner.token)).status, 200);
});

t.test(
  '[disk] refusals are logged, and writes accepted when there is room again',
  { skip: noSmallDisk() },
  async (t) => {
    const disk = mountSmallDisk(t, { bytes: 24 * 1024 ** 2 });
    const service = await ServiceProcess.serving(t, {
      DATA_DIR: join(disk.path, 'data'),
      RATE_LIMITS: 'off',
      DISK_RESERVE_BYTES: String(8 * 1024 ** 2),
    });
    const api = new Api(service.url);
    const owner = await api.workspace('shop');
    const { conversationId } = await api.chat(owner.embedId, 'Is there room?');
    const register = () =>
      api.post('/auth/register', { email: 'owner@other.example', password, workspaceName: 'Other' });
    disk.fill({ leaveBytes: 7 * 1024 ** 2 });
    await service.line(/the disk has reached its reserve/);
    t.match(await register(), unavailable);
    t.equal(
      (await api.post(`/conversations/${conversationId}/messages`, { body: 'For this, yes.' }, owner.token)).status,
      201,
    );
    disk.empty();
    await service.line(/the disk has enough space again/);
    t.equal((await register()).status, 201);
  },
);

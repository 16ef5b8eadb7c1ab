// The same rules with the files in a bucket, on a server of the S3 protocol. Decisions, "Providers".

import { existsSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { type Log, silentLog } from '../../engine/runtime/log.ts';
import { s3Objects } from '../../workers/providers/objects-s3.ts';
import { S3Bucket } from '../../workers/providers/s3-bucket.ts';
import { accessKey, bucket, secretKey, startBucket } from '../support/bucket.ts';
import { type Service, startService, type Teardown } from '../support/service.ts';

const mb = 1024 * 1024;
async function start(t: Teardown, given: Record<string, string> = {}, silenceMs?: number) {
  const env = {
    STORAGE_PROVIDER: 's3',
    S3_ENDPOINT: given['S3_ENDPOINT'] ?? (await startBucket(t)),
    S3_BUCKET: bucket,
    S3_ACCESS_KEY: accessKey,
    S3_SECRET_KEY: secretKey,
    ...given,
  };
  const service = await startService(t, { env, ...(silenceMs === undefined ? {} : { storageSilenceMs: silenceMs }) });
  return { service, owner: await service.workspace() };
}

const local = (service: Service, url: string): string => url.replace('http://switchboard.test', service.url);

async function put(service: Service, url: string, bytes: Uint8Array | string, contentType = 'text/plain') {
  const response = await fetch(local(service, url), {
    method: 'PUT',
    body: bytes,
    headers: { 'Content-Type': contentType },
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
}

const presign = async (service: Service, token: string, about: object) =>
  (
    await service.post(
      '/uploads/presigned',
      { filename: 'note.txt', contentType: 'text/plain', size: 100, ...about },
      token,
    )
  ).body;

t.test('[storage s3] a file goes into the bucket and is read whole and in part', async (t) => {
  const { service, owner } = await start(t);
  const bytes = Buffer.alloc(25 * mb, 'a bucket of text, ');
  const { uploadUrl, publicUrl } = await presign(service, owner.token, { size: bytes.length });
  t.equal((await fetch(local(service, publicUrl))).status, 404);
  t.equal((await put(service, uploadUrl, bytes)).status, 200);
  const whole = await fetch(local(service, publicUrl));
  t.equal(whole.headers.get('content-type'), 'text/plain; charset=utf-8');
  t.equal(whole.headers.get('content-security-policy'), "default-src 'none'; sandbox");
  t.ok(Buffer.from(await whole.arrayBuffer()).equals(bytes));
  const part = await fetch(local(service, publicUrl), { headers: { Range: 'bytes=10000000-10000099' } });
  t.same([part.status, part.headers.get('content-range')], [206, `bytes 10000000-10000099/${bytes.length}`]);
  t.ok(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(10_000_000, 10_000_100)));
  t.equal((await put(service, uploadUrl, 'again')).status, 409);
});

t.test('[storage s3] a refused upload leaves nothing in the bucket', async (t) => {
  const { service, owner } = await start(t);
  const { uploadUrl, publicUrl } = await presign(service, owner.token, { size: 1000 });
  const elf = Buffer.concat([Buffer.from([0x7f]), Buffer.from('ELF'), Buffer.from([2, 1, 1]), Buffer.alloc(200)]);
  t.equal((await put(service, uploadUrl, 'a'.repeat(1001))).body.error, 'file_too_large');
  t.equal((await put(service, uploadUrl, 'hello', 'image/png')).body.error, 'content_type_not_allowed');
  t.equal((await put(service, uploadUrl, elf)).body.error, 'content_type_not_allowed');
  t.equal((await put(service, uploadUrl.replace('size=1000', 'size=1001'), 'hello')).body.error, 'forbidden');
  t.equal((await fetch(local(service, publicUrl))).status, 404);
  t.equal((await put(service, uploadUrl, 'hello')).status, 200);
  t.equal(await (await fetch(local(service, publicUrl))).text(), 'hello');
});

t.test(
  '[storage s3] a bucket that is not there, refuses the key or does not answer is 503, never a hang',
  async (t) => {
    const endpoint = await startBucket(t);
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    t.teardown(() => void silent.close());
    const address = silent.address();
    const settings: [string, Record<string, string>][] = [
      ['no such bucket', { S3_ENDPOINT: endpoint, S3_BUCKET: 'nowhere' }],
      ['an unknown key', { S3_ENDPOINT: endpoint, S3_ACCESS_KEY: 'unknown' }],
      ['nobody there', { S3_ENDPOINT: 'http://127.0.0.1:1' }],
      ['silence', { S3_ENDPOINT: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}` }],
    ];
    for (const [name, env] of settings) {
      const { service, owner } = await start(t, env, name === 'silence' ? 200 : undefined);
      const { uploadUrl, publicUrl } = await presign(service, owner.token, {});
      const answer = await put(service, uploadUrl, 'hello');
      t.same([answer.status, answer.body.error], [503, 'service_unavailable'], name);
      if (name !== 'no such bucket') t.equal((await fetch(local(service, publicUrl))).status, 503, name);
    }
  },
);

t.test('[storage s3] files of the time before the bucket are served, and removed, from the disk', async (t) => {
  const before = await startService(t);
  const owner = await before.workspace();
  const { uploadUrl, publicUrl, key } = await presign(before, owner.token, {});
  t.equal((await put(before, uploadUrl, 'from the disk')).status, 200);
  await before.stop();
  const endpoint = await startBucket(t);
  const after = await startService(t, {
    dataDir: before.dataDir,
    clock: before.clock,
    env: {
      STORAGE_PROVIDER: 's3',
      S3_ENDPOINT: endpoint,
      S3_BUCKET: bucket,
      S3_ACCESS_KEY: accessKey,
      S3_SECRET_KEY: secretKey,
    },
  });
  t.equal(await (await fetch(local(after, publicUrl))).text(), 'from the disk');
  const another = await presign(after, owner.token, {});
  t.equal((await put(after, another.uploadUrl, 'from the bucket')).status, 200);
  t.equal(await (await fetch(local(after, another.publicUrl))).text(), 'from the bucket');
  t.notOk(existsSync(join(after.dataDir, 'storage', another.key)), 'new ones go into the bucket');
  await after.running.services.objects?.remove(key);
  t.equal((await fetch(local(after, publicUrl))).status, 404);
});

t.test('[storage s3] no client can read, write or remove what a cluster keeps in the bucket', async (t) => {
  const { service, owner } = await start(t);
  const { storage } = service.running.services.config;
  if (storage.provider !== 's3') throw new Error('there is no bucket');
  const files = new S3Bucket(storage);
  const { objects } = service.running.services;
  if (objects === undefined) throw new Error('there is no storage');
  const workspaceKey = `switchboard-snapshots/switchboard-20261128/${owner.workspaceId}/7-5e1f`;
  async function* content(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('all of it');
  }
  const about = { contentType: 'text/plain', size: 9 };
  await files.put(workspaceKey, about, content());
  for (const key of [
    workspaceKey,
    `${owner.workspaceId}/../${workspaceKey}`,
    `/${workspaceKey}`,
    `./${workspaceKey}`,
  ]) {
    t.equal(await objects.find(key), undefined, key);
    await t.rejects(async () => {
      for await (const _ of objects.read(key, { start: 0, end: 8 })) t.fail('it is read');
    }, /not the key of an object/);
    await t.rejects(objects.put(key, about, content()), /not the key of an object/);
    await objects.remove(key);
    const response = await fetch(`${service.url}/storage/${key.replaceAll('..', '%2e%2e')}`);
    t.equal(response.status, 404, key);
    t.notMatch(await response.text(), /all of it/);
  }
  for (const filename of ['../../../switchboard-snapshots/x', 'switchboard-snapshots/a/b/7-x']) {
    const { key } = await presign(service, owner.token, { filename });
    if (key !== undefined) t.ok(key.startsWith(`${owner.workspaceId}/`), key);
  }
  const { uploadUrl, key } = await presign(service, owner.token, {});
  const forged = uploadUrl.replace(key, workspaceKey);
  t.not(forged, uploadUrl);
  t.equal((await put(service, forged, 'other')).body.error, 'forbidden');
  t.equal(await files.sizeOf(workspaceKey), 9);
});

t.test('[storage s3] an unusable bucket is reported at the start', async (t) => {
  const objects = (given: { bucket?: string; endpoint: string }) =>
    s3Objects({ bucket, accessKey, secretKey, region: 'us-east-1', ...given });
  const endpoint = await startBucket(t);
  await objects({ endpoint }).check?.();
  await t.rejects(objects({ endpoint, bucket: 'nowhere' }).check?.() ?? Promise.resolve(), {
    name: 'StorageUnavailable',
    message: /the bucket nowhere, named by S3_BUCKET, does not exist/,
  });
  await t.rejects(objects({ endpoint: 'http://127.0.0.1:1' }).check?.() ?? Promise.resolve(), {
    name: 'StorageUnavailable',
    message: /could not be reached/,
  });
});

t.test('[storage s3] the loss and the return of a bucket are reported by /readyz and once in the log', async (t) => {
  const bucketPort = Number(new URL(await startBucket(t)).port);
  let isUp = false;
  const way = createServer((socket) => {
    if (!isUp) return void socket.destroy();
    const beyond = connect(bucketPort, '127.0.0.1');
    socket.pipe(beyond).pipe(socket);
    for (const [one, other] of [
      [socket, beyond],
      [beyond, socket],
    ] as const)
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
  });
  await new Promise<void>((resolve) => way.listen(0, '127.0.0.1', resolve));
  t.teardown(() => way.close());
  const logged: string[] = [];
  const log: Log = {
    ...silentLog,
    error: (_, text) => void logged.push(text),
    info: (_, text) => void logged.push(text),
  };
  const env = {
    STORAGE_PROVIDER: 's3',
    S3_ENDPOINT: `http://127.0.0.1:${(way.address() as AddressInfo).port}`,
    S3_BUCKET: bucket,
    S3_ACCESS_KEY: accessKey,
    S3_SECRET_KEY: secretKey,
  };
  const service = await startService(t, { env, log });
  const told = () => logged.filter((text) => text.startsWith('files '));
  const until = async (count: number) => {
    while (told().length < count) await new Promise((resolve) => setImmediate(resolve));
    return (await (await fetch(`${service.url}/readyz`)).json()) as object;
  };
  t.match(await until(1), { status: 'ready', faults: [/^Files cannot be stored/] });
  await service.pass(60_000);
  isUp = true;
  // The next check is a minute after one that may be in progress.
  while (told().length < 2) await service.pass(60_000);
  t.same(await until(2), { status: 'ready' });
  t.same(told(), ['files cannot be stored; uploads return 503', 'files can be stored again']);
});

// Snapshots whose content is in a bucket, on a real server of the S3 protocol, and whose records are in a real NATS
// server: whole or not at all, only the newest, and beside those that are in JetStream.

import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import type { Snapshot } from '../../engine/runtime/cluster/ports.ts';
import { S3Bucket, type S3Settings } from '../../workers/providers/s3-bucket.ts';
import { breakingLine } from '../support/broken-line.ts';
import { accessKey, bucket, secretKey, startBucket } from '../support/bucket.ts';
import { CutLink } from '../support/cut-link.ts';
import { tempFolder } from '../support/folder.ts';
import { openStore, operator, skip, startNats } from '../support/nats.ts';
import { nodeRecord } from '../support/node-record.ts';
import type { Teardown } from '../support/service.ts';

const prefix = 'switchboard-snapshots/';
const half = 3_000_000;
const unreachable = { name: 'SnapshotsUnreachable', message: /^the bucket files \(S3_BUCKET\), where snapshots are/ };

const snapshotOf = (sequence: number): Snapshot => ({
  sequence,
  sha256: `${sequence}`.padStart(64, '0'),
  bytes: 8_000_000,
  version: 74,
  link: '0123456789abcdef',
});

const settingsAt = (endpoint: string, silenceMs?: number): S3Settings => ({
  endpoint,
  bucket,
  accessKey,
  secretKey,
  region: 'us-east-1',
  ...(silenceMs === undefined ? {} : { silenceMs }),
});

/** A key that may not delete. */
async function withoutDeletes(t: Teardown, endpoint: string): Promise<string> {
  const { port: target } = new URL(endpoint);
  const server = createServer((asked, answer) => {
    if (asked.method === 'DELETE') {
      answer.writeHead(403, { 'content-type': 'application/xml' });
      answer.end('<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>');
      return;
    }
    const { method, url: path, headers } = asked;
    const sent = request({ host: '127.0.0.1', port: target, method, path, headers }, (got: IncomingMessage) => {
      answer.writeHead(got.statusCode ?? 500, got.headers);
      got.pipe(answer);
    });
    asked.pipe(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test('[cluster] snapshots in a bucket', { skip }, async (t) => {
  const folder = tempFolder(t);
  const natsFolder = tempFolder(t);
  const server = await startNats(t, { folder: natsFolder });
  const endpoint = await startBucket(t);
  const port = Number(new URL(endpoint).port);
  const store = await openStore(t, server.url, { bucket: settingsAt(endpoint) });
  const { snapshots } = store;
  const { jsm } = await operator(t, server.url);
  const files = new S3Bucket(settingsAt(endpoint));
  const target = join(folder, 'fetched');
  const write = (content: Buffer | string): string => {
    const path = join(folder, 'packed');
    writeFileSync(path, content);
    return path;
  };
  const inNats = async (workspaceId: string): Promise<string[]> => {
    const filter = `$O.test-snapshots.C.${workspaceId}.*`;
    const { state } = await jsm.streams.info('OBJ_test-snapshots', { subjects_filter: filter });
    return Object.keys(state.subjects ?? {});
  };
  const inBucket = async (workspaceId: string): Promise<string[]> =>
    (await files.keys(prefix, 1000)).filter((key) => key.includes(`/${workspaceId}/`));

  await t.test('a file comes back as it was, and nothing of it is in NATS', async (t) => {
    t.equal(await snapshots.newest('w1'), undefined);
    for (const [sequence, size] of [
      [5, 6_000_001],
      [9, 512 * 1024],
      [12, 1],
      [13, 0],
      [14, 2_000_000],
    ] as const) {
      const bytes = randomBytes(size);
      await snapshots.put('w1', snapshotOf(sequence), write(bytes));
      t.same(await snapshots.newest('w1'), snapshotOf(sequence));
      await snapshots.get('w1', snapshotOf(sequence), target);
      t.ok(bytes.equals(readFileSync(target)), `${size} bytes`);
      t.equal((await inBucket('w1')).length, 1, 'older ones are removed');
      t.same(await inNats('w1'), []);
    }
    await t.rejects(snapshots.get('w1', snapshotOf(5), target), /no longer there/);
  });

  await t.test('a late one does not replace a newer, and of several at once the newest is there', async (t) => {
    await snapshots.put('w2', snapshotOf(20), write('newer'));
    await snapshots.put('w2', snapshotOf(10), write('older'));
    await snapshots.put('w2', snapshotOf(20), write('again'));
    await snapshots.get('w2', snapshotOf(20), target);
    t.equal(readFileSync(target, 'utf8'), 'newer');
    await Promise.all(
      [3, 1, 4, 2, 4].map((sequence, index) => {
        const path = join(folder, `at-once-${index}`);
        writeFileSync(path, `${sequence}`.repeat(700_000));
        return snapshots.put('w3', snapshotOf(sequence), path);
      }),
    );
    t.same(await snapshots.newest('w3'), snapshotOf(4));
    await snapshots.get('w3', snapshotOf(4), target);
    t.equal(readFileSync(target, 'utf8'), '4'.repeat(700_000));
    t.equal((await inBucket('w3')).length, 1);
  });

  await t.test('what breaks off half way is not there, and the one before is', async (t) => {
    await snapshots.put('w4', snapshotOf(1), write('before'));
    const way = await breakingLine(t, port, { direction: 'to the server', bytes: half });
    const broken = await openStore(t, server.url, { bucket: settingsAt(`http://127.0.0.1:${way}`) });
    await t.rejects(broken.snapshots.put('w4', snapshotOf(2), write(randomBytes(2 * half))), unreachable);
    t.same(await snapshots.newest('w4'), snapshotOf(1));
    await snapshots.get('w4', snapshotOf(1), target);
    t.equal(readFileSync(target, 'utf8'), 'before');
    await t.rejects(store.snapshots.put('w4', snapshotOf(3), join(folder, 'missing')), { code: 'ENOENT' });
    await snapshots.put('w4', snapshotOf(4), write('after'));
    await snapshots.get('w4', snapshotOf(4), target);
    t.equal(readFileSync(target, 'utf8'), 'after');
    t.equal((await inBucket('w4')).length, 1, 'some servers keep the half, which is removed then');
  });

  await t.test('what a process left that died is removed by the next, and what a later one wrote is not', async (t) => {
    await snapshots.put('w5', snapshotOf(5), write('first'));
    const [key = ''] = await inBucket('w5');
    const place = key.slice(0, key.lastIndexOf('/') + 1);
    async function* dead(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('dead');
    }
    for (const id of ['7-died', '9-under-way'])
      await files.put(`${place}${id}`, { contentType: 'text/plain', size: 4 }, dead());
    await snapshots.put('w5', snapshotOf(8), write('whole'));
    const left = (await inBucket('w5')).map((one) => one.slice(place.length));
    t.match(left.sort(), [/^8-/, '9-under-way']);
  });

  await t.test('a file that is read half, or changed, is not given out', async (t) => {
    await snapshots.put('w6', snapshotOf(1), write(randomBytes(2 * half)));
    const missing = join(folder, 'not-whole');
    const way = await breakingLine(t, port, { direction: 'to the client', bytes: half });
    const broken = await openStore(t, server.url, { bucket: settingsAt(`http://127.0.0.1:${way}`) });
    await t.rejects(broken.snapshots.get('w6', snapshotOf(1), missing), unreachable);
    const [key = ''] = await inBucket('w6');
    async function* other(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
      yield bytes;
    }
    for (const size of [2 * half, 2 * half + 1, 2 * half - 1]) {
      await files.put(key, { contentType: 'text/plain', size }, other(randomBytes(size)));
      await t.rejects(
        snapshots.get('w6', snapshotOf(1), missing),
        /the snapshot of w6 in the bucket files was removed while it was read, or is damaged/,
      );
    }
    await files.remove(key);
    await t.rejects(snapshots.get('w6', snapshotOf(1), missing), /was removed while it was read, or is damaged/);
    t.notOk(existsSync(missing));
    t.same(
      readdirSync(folder).filter((name) => name.endsWith('.part')),
      [],
    );
  });

  await t.test(
    'a bucket that is cut off, silent or refuses fails in words, and is left alone for a moment',
    async (t) => {
      await snapshots.put('w7', snapshotOf(1), write('there'));
      const link = await CutLink.start(t, port);
      const away = await openStore(t, server.url, { bucket: settingsAt(`http://127.0.0.1:${link.port}`) });
      link.cut();
      await t.rejects(away.snapshots.put('w7', snapshotOf(2), write('later')), unreachable);
      await t.rejects(away.snapshots.get('w7', snapshotOf(1), target), unreachable);
      t.same(await away.snapshots.newest('w7'), snapshotOf(1), 'the record is in NATS');
      link.mend();
      await t.rejects(away.snapshots.get('w7', snapshotOf(1), target), unreachable, 'nobody asks so soon');
      const silent = createTcpServer(() => undefined);
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      t.teardown(() => void silent.close());
      const quiet = settingsAt(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`, 200);
      for (const settings of [
        quiet,
        { ...settingsAt(endpoint), accessKey: 'unknown' },
        // Its name is not the one that the record has.
        { ...settingsAt(endpoint), bucket: 'nowhere' },
      ]) {
        const broken = await openStore(t, server.url, { bucket: settings });
        await t.rejects(broken.snapshots.put('w7', snapshotOf(2), write('later')), { name: 'SnapshotsUnreachable' });
      }
      t.same(await snapshots.newest('w7'), snapshotOf(1));
    },
  );

  await t.test('what may not be removed does not keep a snapshot from counting', async (t) => {
    const notices: string[] = [];
    const kept = await openStore(t, server.url, {
      bucket: settingsAt(await withoutDeletes(t, endpoint)),
      notice: (_, text) => void notices.push(text),
    });
    for (const sequence of [1, 2]) await kept.snapshots.put('w8', snapshotOf(sequence), write(`${sequence}`));
    t.same(await snapshots.newest('w8'), snapshotOf(2));
    t.match(notices, [
      /could not be removed from the bucket files.*S3_ACCESS_KEY must be allowed to list and to delete/,
    ]);
    t.equal((await inBucket('w8')).length, 2);
    await snapshots.put('w8', snapshotOf(3), write('3'));
    t.equal((await inBucket('w8')).length, 1);
  });

  await t.test('one in JetStream is read with a bucket, and the next is in the bucket', async (t) => {
    const without = await openStore(t, server.url);
    await without.snapshots.put('w9', snapshotOf(1), write('in JetStream'));
    t.same([(await inNats('w9')).length, (await inBucket('w9')).length], [1, 0]);
    await snapshots.get('w9', snapshotOf(1), target);
    t.equal(readFileSync(target, 'utf8'), 'in JetStream');
    await snapshots.put('w9', snapshotOf(2), write('in the bucket'));
    t.same([(await inNats('w9')).length, (await inBucket('w9')).length], [0, 1]);
    t.same(await without.snapshots.newest('w9'), snapshotOf(2));
    await t.rejects(without.snapshots.get('w9', snapshotOf(2), target), {
      name: 'SnapshotsUnreachable',
      message: /in the bucket files, and there is no bucket here: set STORAGE_PROVIDER=s3, S3_BUCKET=files/,
    });
    await without.snapshots.put('w9', snapshotOf(3), write('in JetStream again'));
    await snapshots.get('w9', snapshotOf(3), target);
    t.equal(readFileSync(target, 'utf8'), 'in JetStream again');
    await snapshots.put('w9', snapshotOf(4), write('in the bucket'));
    t.same([(await inNats('w9')).length, (await inBucket('w9')).length], [0, 1], 'nothing is left in either');
  });

  await t.test('while a node is there that does not read the bucket, content goes into NATS', async (t) => {
    const notices: string[] = [];
    const told = await openStore(t, server.url, {
      bucket: settingsAt(endpoint),
      notice: (_, text) => void notices.push(text),
    });
    const older = nodeRecord('older');
    const newer = nodeRecord('newer', { snapshotBucket: bucket });
    const other = nodeRecord('other', { snapshotBucket: 'another' });
    const rows = [
      [newer, 1, 0],
      [older, 0, 1],
      [other, 0, 1],
    ] as const;
    for (const [index, [record, objects, messages]] of rows.entries()) {
      await store.nodes.renew(newer);
      await store.nodes.renew(record);
      await told.snapshots.put('w10', snapshotOf(index + 1), write('content'));
      t.same([(await inBucket('w10')).length, (await inNats('w10')).length], [objects, messages], record.node);
      await snapshots.get('w10', snapshotOf(index + 1), target);
      await store.nodes.leave(record);
      if (record !== newer) await store.nodes.leave(newer);
    }
    t.match(notices, [/goes into NATS.*because older cannot read it/, /because other cannot read it/]);
  });

  await t.test('a cluster of the same name with another NATS removes nothing of this one', async (t) => {
    await snapshots.put('directory', snapshotOf(5), write('of this one'));
    const elsewhere = await startNats(t);
    const copy = await openStore(t, elsewhere.url, { bucket: settingsAt(endpoint) });
    for (const sequence of [6, 7]) await copy.snapshots.put('directory', snapshotOf(sequence), write('of the copy'));
    await snapshots.get('directory', snapshotOf(5), target);
    t.equal(readFileSync(target, 'utf8'), 'of this one');
    t.equal((await inBucket('directory')).length, 2);
  });

  await t.test('after a restart of NATS, it goes on where it was', async (t) => {
    await snapshots.put('w11', snapshotOf(1), write('before'));
    await server.kill();
    await server.begin();
    const after = await openStore(t, server.url, { bucket: settingsAt(endpoint) });
    await after.snapshots.get('w11', snapshotOf(1), target);
    await after.snapshots.put('w11', snapshotOf(2), write('after'));
    t.equal((await inBucket('w11')).length, 1);
  });
});

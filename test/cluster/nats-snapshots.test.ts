// Snapshots in the object store of a real NATS server: whole or not at all, and only the newest.

import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Snapshot } from '../../engine/runtime/cluster/ports.ts';
import { CutLink } from '../support/cut-link.ts';
import { tempFolder } from '../support/folder.ts';
import { openStore, operator, skip, startNats } from '../support/nats.ts';

const snapshotOf = (sequence: number): Snapshot => ({
  sequence,
  sha256: `${sequence}`.padStart(64, '0'),
  bytes: 8_000_000,
  version: 74,
  link: '0123456789abcdef',
});

t.test('[cluster] snapshots', { skip }, async (t) => {
  const server = await startNats(t);
  const { snapshots } = await openStore(t, server.url);
  const { jsm } = await operator(t, server.url);
  const folder = tempFolder(t);
  const target = join(folder, 'fetched');
  const write = (bytes: Buffer): string => {
    const path = join(folder, 'packed');
    writeFileSync(path, bytes);
    return path;
  };
  const contents = async (workspaceId: string): Promise<string[]> => {
    const filter = `$O.test-snapshots.C.${workspaceId}.*`;
    const { state } = await jsm.streams.info('OBJ_test-snapshots', { subjects_filter: filter });
    return Object.keys(state.subjects ?? {});
  };

  t.test('a file comes back as it was', async (t) => {
    t.equal(await snapshots.newest('w1'), undefined);
    for (const [sequence, size] of [
      [5, 6_000_001],
      [9, 512 * 1024],
      [12, 1],
      [13, 0],
    ] as const) {
      const bytes = randomBytes(size);
      await snapshots.put('w1', snapshotOf(sequence), write(bytes));
      t.same(await snapshots.newest('w1'), snapshotOf(sequence));
      await snapshots.get('w1', snapshotOf(sequence), target);
      t.ok(bytes.equals(readFileSync(target)), `${size} bytes`);
      t.equal((await contents('w1')).length, size === 0 ? 0 : 1, 'older ones are removed');
    }
    await t.rejects(snapshots.get('w1', snapshotOf(5), target), /no longer there/);
  });

  t.test('a late one does not replace a newer', async (t) => {
    const newer = randomBytes(100_000);
    await snapshots.put('w2', snapshotOf(20), write(newer));
    await snapshots.put('w2', snapshotOf(10), write(randomBytes(100_000)));
    await snapshots.put('w2', snapshotOf(20), write(randomBytes(100_000)));
    t.same(await snapshots.newest('w2'), snapshotOf(20));
    await snapshots.get('w2', snapshotOf(20), target);
    t.ok(newer.equals(readFileSync(target)));
  });

  t.test('of several at once, the newest is there, and nothing else', async (t) => {
    const sequences = [3, 1, 4, 2, 4];
    await Promise.all(
      sequences.map((sequence, index) => {
        const path = join(folder, `at-once-${index}`);
        writeFileSync(path, `${sequence}`.repeat(700_000));
        return snapshots.put('w3', snapshotOf(sequence), path);
      }),
    );
    t.same(await snapshots.newest('w3'), snapshotOf(4));
    await snapshots.get('w3', snapshotOf(4), target);
    t.equal(readFileSync(target, 'utf8'), '4'.repeat(700_000));
    t.equal((await contents('w3')).length, 1);
  });

  t.test('what broke off is removed by the next', async (t) => {
    const link = await CutLink.start(t, server.port);
    const broken = await openStore(t, link.url);
    await t.rejects(broken.snapshots.put('w4', snapshotOf(1), join(folder, 'missing')), { code: 'ENOENT' });
    const { connection } = await operator(t, server.url);
    await connection.request('$O.test-snapshots.C.w4.7-broken', 'half', { timeout: 30_000 });
    await broken.snapshots.put('w4', snapshotOf(8), write(Buffer.from('whole')));
    t.equal((await contents('w4')).length, 1);
    await snapshots.get('w4', snapshotOf(8), target);
    t.equal(readFileSync(target, 'utf8'), 'whole');
  });

  t.test('one that an operator deleted is gone, and the next is there', async (t) => {
    await snapshots.put('w6', snapshotOf(1), write(Buffer.from('first')));
    const { connection } = await operator(t, server.url);
    const subject = `$O.test-snapshots.M.${Buffer.from('w6').toString('base64')}`;
    const { message } = (
      await connection.request('$JS.API.STREAM.MSG.GET.OBJ_test-snapshots', JSON.stringify({ last_by_subj: subject }))
    ).json<{ message: { data: string } }>();
    const record = JSON.parse(Buffer.from(message.data, 'base64').toString()) as object;
    await connection.request(subject, JSON.stringify({ ...record, deleted: true, size: 0, chunks: 0, digest: '' }));
    t.equal(await snapshots.newest('w6'), undefined);
    await t.rejects(snapshots.get('w6', snapshotOf(1), target), /no longer there/);
    await snapshots.put('w6', snapshotOf(2), write(Buffer.from('second')));
    await snapshots.get('w6', snapshotOf(2), target);
    t.equal(readFileSync(target, 'utf8'), 'second');
  });

  t.test('a file that is not whole is not given out', async (t) => {
    await snapshots.put('w5', snapshotOf(1), write(randomBytes(2_000_000)));
    const [subject = ''] = await contents('w5');
    await jsm.streams.purge('OBJ_test-snapshots', { filter: subject, keep: 2 });
    const missing = join(folder, 'not-whole');
    await t.rejects(snapshots.get('w5', snapshotOf(1), missing), /removed while it was read, or is damaged/);
    t.notOk(existsSync(missing));
    t.same(
      readdirSync(folder).filter((name) => name.endsWith('.part')),
      [],
    );
  });
});

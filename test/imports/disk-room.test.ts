// The files of imports leave room on the disk for everything else.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Api, type Workspace } from '../support/api.ts';
import { tempFolder } from '../support/folder.ts';
import { ServiceProcess } from '../support/process.ts';
import { startService } from '../support/service.ts';
import { mountSmallDisk, noSmallDisk } from '../support/small-disk.ts';

const mib = 1024 * 1024;

t.test(
  'files of imports take at most half of the disk, whichever workspaces send them',
  { skip: noSmallDisk() },
  async (t) => {
    const disk = mountSmallDisk(t, { bytes: 64 * mib });
    const service = await ServiceProcess.serving(t, {
      DATA_DIR: join(disk.path, 'data'),
      RATE_LIMITS: 'off',
      DISK_RESERVE_BYTES: '0',
    });
    const api = new Api(service.url);
    const [first, second, third] = [
      await api.workspace('first'),
      await api.workspace('second'),
      await api.workspace('third'),
    ];
    const create = (owner: Workspace, bytes: number) =>
      api.post('/imports', { kind: 'mbox', name: 'archive.mbox', bytes }, owner.token);
    const send = async (owner: Workspace, importId: string, part: { offset: number; bytes: number }) => {
      const url = `${service.url}/api/v1/imports/${importId}/file?offset=${part.offset}`;
      const headers = { authorization: `Bearer ${owner.token}` };
      return fetch(url, { method: 'PUT', headers, body: Buffer.alloc(part.bytes, 'x') });
    };

    const tooLong = await create(first, 40 * mib);
    t.equal(tooLong.status, 422);
    t.match(tooLong.body, { message: 'The disk of this server has no room for the file.' });
    t.ok(tooLong.body.detail.maxBytes < 16 * mib, 'and how long one may be: half of the room, for others to come');

    // The disk is looked at once a second.
    let longest: Awaited<ReturnType<typeof create>>;
    let bytes: number = tooLong.body.detail.maxBytes;
    for (;;) {
      longest = await create(first, bytes);
      if (longest.status === 201) break;
      bytes = longest.body.detail.maxBytes;
    }
    const more = await create(first, mib);
    t.match(more, { status: 422 }, 'what its own files will take counts');
    t.ok(more.body.detail.maxBytes < mib);
    const { id: firstId } = longest.body;
    const { id: secondId } = (await create(second, 14 * mib)).body;
    const { id: thirdId } = (await create(third, 14 * mib)).body;
    for (let offset = 0; offset < bytes; offset += 8 * mib)
      t.equal((await send(first, firstId, { offset, bytes: Math.min(8 * mib, bytes - offset) })).status, 204);
    t.match(
      (await api.get(`/imports/${firstId}`, first.token)).body,
      { receivedBytes: bytes },
      'the longest file that is admitted is received whole',
    );
    t.equal((await send(second, secondId, { offset: 0, bytes: 8 * mib })).status, 204);
    t.equal((await send(second, secondId, { offset: 8 * mib, bytes: 6 * mib })).status, 204);
    let answer: Response;
    do answer = await send(third, thirdId, { offset: 0, bytes: 0 });
    while (answer.status === 204);
    t.equal(answer.status, 503);
    t.match(await answer.json(), { message: /no room for more files of imports/ });
    t.match((await api.get(`/imports/${thirdId}`, third.token)).body, { status: 'receiving', receivedBytes: 0 });

    const gone = await fetch(`${service.url}/api/v1/imports/${firstId}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${first.token}` },
    });
    t.equal(gone.status, 204);
    do answer = await send(third, thirdId, { offset: 0, bytes: mib });
    while (answer.status === 503);
    t.equal(answer.status, 204, 'a file that is gone makes room');
    t.same(await service.kill('SIGTERM'), { code: 0, signal: null });
  },
);

t.test('a file without its job takes no room', async (t) => {
  const dataDir = tempFolder(t);
  const service = await startService({ teardown: () => undefined }, { dataDir, env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const { imports } = service.running.services;
  const [first, second] = ['a'.repeat(100), 'b'.repeat(100)];
  const create = async () => {
    const { body } = await service.post('/imports', { kind: 'mbox', name: 'a.mbox', bytes: 200 }, owner.token);
    return { id: body.id as string, path: imports.pathOf(owner.workspaceId, body.id) };
  };
  const put = async (importId: string, body: string) => {
    const headers = { authorization: `Bearer ${owner.token}` };
    return (await fetch(`${service.url}/api/v1/imports/${importId}/file`, { method: 'PUT', headers, body })).status;
  };
  /** Holds each look at the room until it is let go. */
  const held = () => {
    const looks = [Promise.withResolvers<number>(), Promise.withResolvers<number>()] as const;
    const arrivals = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    let count = 0;
    imports.heldBytes = () => {
      const index = count === 0 ? 0 : 1;
      count += 1;
      arrivals[index].resolve();
      return looks[index].promise;
    };
    return { arrived: (index: 0 | 1) => arrivals[index].promise, letGo: (index: 0 | 1) => looks[index].resolve(0) };
  };

  const { id, path } = await create();
  let room = held();
  const one = put(id, first);
  await room.arrived(0);
  const other = put(id, second);
  await Promise.race([other, room.arrived(1)]);
  room.letGo(1);
  t.equal(await other, 409, 'a repeated part is refused while the first is received');
  room.letGo(0);
  t.equal(await one, 204);
  t.equal(readFileSync(path, 'utf8'), first);

  const { id: deletedId, path: pathOfDeleted } = await create();
  room = held();
  const late = put(deletedId, first);
  await room.arrived(0);
  t.equal((await service.delete(`/imports/${deletedId}`, owner.token)).status, 204);
  await service.settled();
  room.letGo(0);
  t.equal(await late, 404);
  t.notOk(existsSync(pathOfDeleted), 'a part that comes after its import was deleted leaves no file');

  // As an end of the process between the two would.
  writeFileSync(pathOfDeleted, first);
  await service.stop();
  const again = await startService(t, { dataDir, clock: service.clock, env: { RATE_LIMITS: 'off' } });
  await again.running.services.imports.sweep();
  t.notOk(existsSync(pathOfDeleted), 'a file without a job is deleted at the next start');
  t.equal(readFileSync(path, 'utf8'), first, 'one with a job stays');
});

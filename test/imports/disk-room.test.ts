// The files of imports leave room on the disk for everything else.

import { join } from 'node:path';
import t from 'tap';
import { Api, type Workspace } from '../support/api.ts';
import { ServiceProcess } from '../support/process.ts';
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
    const [first, second] = [await api.workspace('first'), await api.workspace('second')];
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
    t.ok(tooLong.body.detail.maxBytes < 32 * mib, 'and how long one may be');

    const { id: firstId } = (await create(first, 24 * mib)).body;
    const { id: secondId } = (await create(second, 16 * mib)).body;
    for (const offset of [0, 8 * mib]) t.equal((await send(first, firstId, { offset, bytes: 8 * mib })).status, 204);
    t.equal((await send(second, secondId, { offset: 0, bytes: 8 * mib })).status, 204);
    // Both the disk and the files are looked at once a second.
    let answer: Response;
    do answer = await send(second, secondId, { offset: 8 * mib, bytes: 0 });
    while (answer.status === 204);
    t.equal(answer.status, 503);
    t.match(await answer.json(), { message: /no room for more files of imports/ });
    t.match((await api.get(`/imports/${secondId}`, second.token)).body, {
      status: 'receiving',
      receivedBytes: 8 * mib,
    });

    const gone = await fetch(`${service.url}/api/v1/imports/${firstId}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${first.token}` },
    });
    t.equal(gone.status, 204);
    do answer = await send(second, secondId, { offset: 8 * mib, bytes: mib });
    while (answer.status === 503);
    t.equal(answer.status, 204, 'a file that is gone makes room');
    t.same(await service.kill('SIGTERM'), { code: 0, signal: null });
  },
);

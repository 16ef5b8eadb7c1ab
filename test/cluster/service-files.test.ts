// The page log of a real workspace's file, while the service writes to it.

import { join } from 'node:path';
import t from 'tap';
import { tempFolder } from '../support/folder.ts';
import { Copy, Shipper, WatchedFile } from '../support/page-copy.ts';
import { type Service, startService } from '../support/service.ts';

const databaseOf = (service: Service, workspaceId: string) => {
  const found = [...service.running.services.engine.openWorkspaces()].find((one) => one.workspaceId === workspaceId);
  if (found === undefined) throw new Error('the workspace is not open');
  return found.db;
};

t.test('a workspace of the service is followed byte for byte, whatever is done in it', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const db = databaseOf(service, owner.workspaceId);
  const file = new WatchedFile(t, db.path);
  const copy = new Copy(join(tempFolder(t), 'copy.db'), { bytes: file.bytes() });
  const shipper = new Shipper(db);
  const follow = async (): Promise<number> => {
    await service.settled();
    const pieces = shipper.ship();
    if (pieces.length > 0) await copy.apply(pieces);
    return pieces.reduce((sum, piece) => sum + piece.length, 0);
  };
  t.ok((await follow()) > 0, 'its log as it was found');
  const agent = await service.agent(owner);
  const chat = await service.chat(owner);
  await follow();
  const sizes: number[] = [];
  for (let count = 0; count < 30; count += 1) {
    const body = { body: `Message ${count}: ${'how is it going? '.repeat(count % 7)}` };
    const { status } = await service.post(`/conversations/${chat.id}/messages`, body, agent.token);
    if (status !== 201) t.fail(`message ${count} was answered ${status}`);
    sizes.push(await follow());
    if (count === 15) db.checkpoint();
  }
  t.ok(copy.bytes().equals(file.bytesWithLog()), 'the same bytes');
  const median = sizes.toSorted((a, b) => a - b)[15] ?? 0;
  t.ok(median > 0 && median < 4096, `a message takes less than a page: ${median} bytes`);
  t.equal((await service.post(`/conversations/${chat.id}/notes`, { body: 'A note' }, owner.token)).status, 201);
  await service.pass(24 * 3600_000);
  await follow();
  t.ok(copy.bytes().equals(file.bytesWithLog()), 'the same bytes after a note and a day');
});

// A small `npm run bench -- --only million`: every figure is there, and messages that are missing are noticed.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { bringIn, requireMessages } from '../../bench/million.ts';
import { tempFolder } from '../support/folder.ts';
import { startService } from '../support/service.ts';

// Starts a process and three commands.
t.setTimeout(300_000);

t.test('[million] messages through the API, then verify, backup and restore: every figure, nothing left', async (t) => {
  const folder = tempFolder(t);
  process.env['BENCH_DIR'] = folder;
  t.teardown(() => delete process.env['BENCH_DIR']);
  // The last chat is shorter than the others.
  const rows = await bringIn({ messages: 330, connections: 4 });
  t.same(
    rows.map(({ name, unit, reference }) => [name.replace('330 messages: ', ''), unit, reference?.name]),
    [
      ['through the API', '/s', undefined],
      ['send p50 in the last tenth', 'ms', 'in the second'],
      ['send p99 in the last tenth', 'ms', 'in the second'],
      ['CPU for each in the last tenth', 'µs', 'in the second'],
      ['resident memory in the last tenth', 'MB', 'in the second'],
      ['most resident memory', 'MB', undefined],
      ['search index complete, after the last', 's', undefined],
      ['verify', 's', undefined],
      ['backup', 's', undefined],
      ['restore', 's', undefined],
      ['workspace file, each', 'B', undefined],
      ['search index, each', 'B', undefined],
    ],
  );
  for (const { name, unit, value, reference } of rows) {
    // The kernel counts CPU time in steps of 10 ms, and a tenth may take less.
    const isFigure = (one: number): boolean => Number.isFinite(one) && (one > 0 || (unit === 'µs' && one === 0));
    t.ok(isFigure(value), name);
    if (reference !== null) t.ok(isFigure(reference.value), `${name}, beside it`);
  }
  t.same(
    rows.flatMap(({ target }) => target ?? []),
    [{ below: 1.5 }, { below: 1.1 }, { below: 1060 }],
  );
  t.same(readdirSync(folder), []);
});

t.test('[million] a message too few or too many is noticed', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const chat = await service.chat(owner);
  t.equal((await service.post(`/conversations/${chat.id}/messages`, { body: 'Hello' }, owner.token)).status, 201);
  const path = join(service.dataDir, 'workspaces', `${owner.workspaceId}.db`);
  requireMessages(path, 2);
  for (const other of [1, 3])
    t.throws(() => requireMessages(path, other), { message: `${path} has 2 of ${other} messages` });
});

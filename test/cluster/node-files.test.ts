// The files of a node that ends serving many workspaces at once.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { silentLog } from '../../engine/runtime/log.ts';
import type { Placement } from '../../engine/runtime/placement.ts';
import { NodeFiles, type NodeFilesOptions } from '../../http/cluster/node-files.ts';
import type { Teardown } from '../support/service.ts';
import { setDeadline, startToy, type Toy } from '../support/toy.ts';

const count = 40;

/** Serves these workspaces, each of which has a log beside its file. */
async function servingMany(t: Teardown): Promise<{ toy: Toy; files: NodeFiles; ids: string[]; ended: string[] }> {
  const served = new Set<string>();
  const ended: string[] = [];
  const placement = {
    takes: (id: string) => served.has(id),
    epochServed: (id: string) => (served.has(id) ? 1 : undefined),
    hasOwner: () => true,
    mayExist: () => true,
  } as Partial<Placement> as Placement;
  const toy = startToy(t, { placement });
  const files = new NodeFiles({
    dataDir: toy.dataDir,
    engine: toy.engine,
    log: silentLog,
    closeReaders: () => Promise.resolve(),
    onServed: (id) => served.add(id),
    onEnded: (id) => {
      served.delete(id);
      ended.push(id);
    },
  } as Partial<NodeFilesOptions> as NodeFilesOptions);
  const ids = Array.from({ length: count }, () => crypto.randomUUID());
  for (const id of ids) {
    await files.open(id);
    files.serve(id, { pass: ({ sync }, done) => sync(done), break() {} });
    served.add(id);
  }
  const write = (workspaceId: string): Promise<void> =>
    toy.engine.execute(setDeadline, {
      workspaceId,
      caller: systemCaller,
      params: { kind: 'none', subjectId: 'one', afterMs: 3600_000 },
    });
  await Promise.all(ids.map(write));
  return { toy, files, ids, ended };
}

t.test('[cluster files] many are served no more at once, and closed one after the other', async (t) => {
  const { toy, files, ids, ended } = await servingMany(t);
  const logOf = (id: string): string => join(toy.dataDir, 'workspaces', `${id}.db-wal`);
  const [first = '', second = '', third = ''] = ids;
  const waiting = toy.engine.execute(setDeadline, {
    workspaceId: first,
    caller: systemCaller,
    params: { kind: 'none', subjectId: 'two', afterMs: 1 },
  });
  waiting.catch(() => undefined);
  for (const id of ids) files.release(id, 7);
  t.same(ended, ids);
  t.equal(toy.engine.figures.openWorkspaces, 0, 'nothing is served any more');
  t.ok(
    ids.every((id) => existsSync(logOf(id))),
    'and nothing closed yet',
  );
  t.same(files.copies(), {});
  t.equal(files.sequence(first), 7, 'one that is needed sooner is closed then');
  t.notOk(existsSync(logOf(first)));
  files.remove(second);
  t.notOk(existsSync(join(toy.dataDir, 'workspaces', `${second}.db`)));
  await files.open(third);
  await files.closed();
  t.same(
    ids.slice(3).filter((id) => existsSync(logOf(id))),
    [],
    'all are closed',
  );
  t.same(
    files.copies(),
    Object.fromEntries(ids.filter((id) => id !== second && id !== third).map((id) => [id, 7])),
    'and are copies, but for what was removed or is served again',
  );
  await t.rejects(waiting, { name: 'Voided' });
  files.release(third, undefined);
  await files.closed();
  t.equal(files.sequence(third), 0);
});

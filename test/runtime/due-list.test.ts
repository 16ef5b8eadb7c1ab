// The order in which a start checks workspaces.

import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t from 'tap';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { command } from '../../engine/runtime/command.ts';
import { glanceAt } from '../../store/glance.ts';
import type { Teardown } from '../support/service.ts';
import { setDeadline, startToy, type Toy, type ToyOptions } from '../support/toy.ts';

const deadlines = { ring: command('ring', (): void => {}) };
const listOf = (toy: Toy): string => join(toy.dataDir, 'due-next');
const start = (t: Teardown, options: ToyOptions = {}): Toy => startToy(t, { deadlines, ...options });

async function set(toy: Toy, workspaceId: string, afterMs: number): Promise<void> {
  await toy.engine.execute(setDeadline, {
    workspaceId,
    caller: systemCaller,
    params: { kind: 'ring', subjectId: 'a', afterMs },
  });
  await toy.settled();
}

/** This many workspaces, the first of which was written to last. */
async function leave(
  t: Teardown,
  count: number,
  use: (toy: Toy, ids: readonly string[]) => Promise<void>,
): Promise<{ dataDir: string; ids: string[] }> {
  const toy = start(t);
  const ids = Array.from({ length: count }, () => toy.workspace().workspaceId);
  await use(toy, ids);
  await toy.engine.stop();
  for (const [index, id] of ids.entries()) utimesSync(join(toy.dataDir, 'workspaces', `${id}.db`), 1000, 2000 - index);
  return { dataDir: toy.dataDir, ids };
}

/** The workspaces that a start checks, in order. */
async function lookedInto(t: Teardown, dataDir: string): Promise<string[]> {
  const looked: string[] = [];
  const toy = start(t, {
    dataDir,
    glance: async (path) => (looked.push(basename(path, '.db')), glanceAt({ path, model: undefined })),
  });
  await toy.engine.wakeAll();
  return looked;
}

t.test(
  'a start looks first into the workspaces that were due soonest when the last process ended, then into those written to last',
  async (t) => {
    const { dataDir, ids } = await leave(t, 5, async (toy, [, , far = '', later = '', soon = '']) => {
      await set(toy, far, 3600_000);
      await set(toy, later, 60_000);
      await set(toy, soon, 30_000);
      await toy.pass(5000);
    });
    const [newest, newer, far, later, soon] = ids;
    t.same(await lookedInto(t, dataDir), [soon, later, far, newest, newer]);
  },
);

t.test('every workspace is checked once, whatever the list says', async (t) => {
  const { dataDir, ids } = await leave(t, 3, async () => {});
  const [newest, newer, oldest = ''] = ids;
  const gone = '00000000-0000-7000-8000-000000000000';
  for (const [text, order] of [
    ['', [newest, newer, oldest]],
    [`${gone}\n${oldest}\n${oldest}\n../directory\nnonsense\n\n${(newest ?? '').slice(0, 9)}`, [oldest, newest, newer]],
  ] as const) {
    writeFileSync(join(dataDir, 'due-next'), text);
    t.same(await lookedInto(t, dataDir), order);
  }
});

t.test('the list is written in a while, once for all that was set until then, and a stop leaves it', async (t) => {
  const toy = start(t);
  const ids = Array.from({ length: 3 }, () => toy.workspace().workspaceId);
  for (const [index, id] of ids.entries()) await set(toy, id, 30_000 - index);
  await toy.pass(4999);
  t.notOk(existsSync(listOf(toy)));
  await toy.pass(1);
  await toy.engine.rest();
  await toy.engine.stop();
  t.equal(readFileSync(listOf(toy), 'utf8'), ids.toReversed().join('\n'));
  t.notOk(existsSync(`${listOf(toy)}.part`));
});

t.test('a list that cannot be written holds up nothing', async (t) => {
  const toy = start(t);
  mkdirSync(`${listOf(toy)}.part`);
  const { workspaceId } = toy.workspace();
  await set(toy, workspaceId, 30_000);
  await toy.pass(5000);
  t.equal(await toy.add(workspaceId, 'a'), 1);
  await toy.engine.stop();
  t.notOk(existsSync(listOf(toy)));
  t.same(toy.log, []);
});

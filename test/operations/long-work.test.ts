// Outside work that takes minutes does not delay other work.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { Checkpoints } from '../../engine/runtime/checkpoints.ts';
import { command } from '../../engine/runtime/command.ts';
import { Engine } from '../../engine/runtime/engine.ts';
import { createIds } from '../../engine/runtime/ids.ts';
import { outboxKind } from '../../engine/runtime/kinds.ts';
import { silentLog } from '../../engine/runtime/log.ts';
import type { OutboxItem, OutboxJobs } from '../../engine/runtime/outbox.ts';
import { ManualClock } from '../support/manual-clock.ts';
import type { Teardown } from '../support/service.ts';

const ask = command('test.ask', (ctx, params: { kind: string; target: string }) =>
  ctx.enqueue(outboxKind<object>(params.kind, { retryDelaysMs: [] }), { target: params.target, payload: {} }),
);

/** Outside calls that a test completes by hand. */
class Deeds {
  readonly started: OutboxItem[] = [];
  readonly #ends = new Map<string, { resolve: (answer: string) => void; reject: (error: Error) => void }>();
  #wake: (() => void)[] = [];

  readonly deliver = (item: OutboxItem): Promise<string> => {
    this.started.push(item);
    const deed = new Promise<string>((resolve, reject) => this.#ends.set(item.id, { resolve, reject }));
    for (const call of this.#wake) call();
    this.#wake = [];
    return deed;
  };

  async untilStarted(count: number): Promise<void> {
    while (this.started.length < count) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  end(index: number): void {
    this.#ends.get(this.started[index]?.id ?? '')?.resolve('done');
  }

  fail(index: number): void {
    this.#ends.get(this.started[index]?.id ?? '')?.reject(new Error('not now'));
  }
}

async function startEngine(t: Teardown) {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-'));
  const clock = new ManualClock();
  const ids = createIds(clock);
  const long = new Deeds();
  const quick = new Deeds();
  const kinds: OutboxJobs = {
    long: { deliver: long.deliver, retryDelaysMs: [], maxUnderWay: 1 },
    quick: { deliver: quick.deliver, retryDelaysMs: [60_000] },
  };
  const engine = new Engine({
    dataDir,
    clock,
    ids,
    log: silentLog,
    deadlines: {},
    outbox: kinds,
    settings: { baseUrl: 'http://localhost', mailHost: 'localhost' },
    random: () => 0,
    checkpoints: new Checkpoints({
      checkpoint: async () => ({ logFrames: 0, copiedFrames: 0 }),
      log: silentLog,
      random: () => 0,
    }),
    onSyncFailed: (error) => {
      throw error;
    },
  });
  t.teardown(async () => {
    await engine.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const workspaceId = async (): Promise<string> => {
    const id = ids.uuid();
    await engine.create(id);
    return id;
  };
  const enqueue = (workspace: string, kind: string, target = kind): Promise<string> =>
    engine.execute(ask, { workspaceId: workspace, caller: systemCaller, params: { kind, target } });
  const settled = async (count: number): Promise<void> => {
    while (engine.figures.outboxUnderWay !== count) await new Promise((resolve) => setImmediate(resolve));
  };
  return { engine, clock, long, quick, workspaceId, enqueue, settled };
}

t.test('[outbox] long work has its own budget over all workspaces', async (t) => {
  const { long, quick, workspaceId, enqueue, settled } = await startEngine(t);
  const [a, b, c] = [await workspaceId(), await workspaceId(), await workspaceId()];
  await enqueue(a, 'long');
  await long.untilStarted(1);
  await enqueue(b, 'long');
  await enqueue(c, 'long');
  await enqueue(b, 'quick');
  await quick.untilStarted(1);
  t.equal(long.started.length, 1, 'the others wait');
  quick.end(0);
  await settled(1);
  t.equal(long.started.length, 1, 'a place that another budget gives back is not theirs');
  long.end(0);
  await long.untilStarted(2);
  long.end(1);
  await long.untilStarted(3);
  t.same(
    long.started.map((item) => item.workspaceId),
    [a, b, c],
    'each has its turn, in the order they came',
  );
  long.end(2);
  await settled(0);
});

t.test('[outbox] quick work of the same workspace neither waits for long work nor counts it', async (t) => {
  const { long, quick, workspaceId, enqueue, settled } = await startEngine(t);
  const a = await workspaceId();
  await enqueue(a, 'long');
  await long.untilStarted(1);
  for (let index = 0; index < 9; index += 1) await enqueue(a, 'quick', `quick ${index}`);
  await quick.untilStarted(8);
  await settled(9);
  t.equal(quick.started.length, 8, 'eight at once');
  quick.end(0);
  await quick.untilStarted(9);
  for (let index = 1; index < 9; index += 1) quick.end(index);
  long.end(0);
  await settled(0);
});

t.test('[outbox] a retry is on time although long work is in progress', async (t) => {
  const { clock, long, quick, workspaceId, enqueue, settled } = await startEngine(t);
  const a = await workspaceId();
  await enqueue(a, 'long');
  await long.untilStarted(1);
  await enqueue(a, 'quick');
  await quick.untilStarted(1);
  quick.fail(0);
  await settled(1);
  clock.advance(59_999);
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(quick.started.length, 1);
  clock.advance(1);
  await quick.untilStarted(2);
  quick.end(1);
  long.end(0);
  await settled(0);
});

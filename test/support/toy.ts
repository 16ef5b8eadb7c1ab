// An engine with toy rules: counters, and deadlines and outside jobs that the test controls. For the tests of the
// runtime, which knows no rule of the specification.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { type Checkpoint, Checkpoints } from '../../engine/runtime/checkpoints.ts';
import { command } from '../../engine/runtime/command.ts';
import { Engine, type EngineOptions } from '../../engine/runtime/engine.ts';
import { createIds } from '../../engine/runtime/ids.ts';
import { deadline, outboxKind } from '../../engine/runtime/kinds.ts';
import { silentLog } from '../../engine/runtime/log.ts';
import type { PublishedEvent } from '../../engine/runtime/published-event.ts';
import type { ActorKind } from '../../engine/runtime/registry.ts';
import type { Workspace } from '../../engine/runtime/workspace.ts';
import { Database } from '../../store/database.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { tempFolder } from './folder.ts';
import { ManualClock } from './manual-clock.ts';
import type { Teardown } from './service.ts';

/** In a table of the test's own, since the service's tables do not matter here. */
const tallies = 'CREATE TABLE IF NOT EXISTS toyTally (id TEXT PRIMARY KEY, value INTEGER NOT NULL)';

export const tallyKind: ActorKind<{ readonly value: number }> = {
  name: 'tally',
  load: (db, id) => db.get<{ value: number }>('SELECT value FROM toyTally WHERE id = ?', [id]),
};

/** Adds to a counter and emits an event; throws after that if asked to. */
export const add = command('tally.add', (ctx, params: { id: string; by: number; fail?: unknown }): number => {
  const value = (ctx.state(tallyKind, params.id)?.value ?? 0) + params.by;
  ctx.db.run('INSERT INTO toyTally (id, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value', [
    params.id,
    value,
  ]);
  ctx.setState(tallyKind, params.id, { value });
  ctx.emit({ type: 'tally', audience: {}, data: { id: params.id, value } });
  if (params.fail !== undefined) throw params.fail;
  return value;
});

export const setDeadline = command(
  'toy.setDeadline',
  (ctx, params: { kind: string; subjectId: string; afterMs: number }): void => {
    ctx.setDeadline(deadline(params.kind), params.subjectId, ctx.nowMs + params.afterMs);
  },
);

export const clearDeadline = command('toy.clearDeadline', (ctx, params: { kind: string; subjectId: string }): void => {
  ctx.clearDeadline(deadline(params.kind), params.subjectId);
});

export const enqueue = command(
  'toy.enqueue',
  (ctx, params: { kind: string; target: string; payload?: object; delayMs?: number }): string => {
    const { kind, target, payload = {}, delayMs = 0 } = params;
    return ctx.enqueue(outboxKind<object>(kind, { retryDelaysMs: [] }), { target, payload, delayMs });
  },
);

export interface ToyOptions extends Partial<Omit<EngineOptions, 'checkpoints' | 'dataDir'>> {
  readonly dataDir?: string;
  readonly frameLimit?: number;
  readonly checkpoint?: Checkpoint;
}

export class Toy {
  readonly engine: Engine;
  readonly clock: ManualClock;
  readonly dataDir: string;
  readonly published: { workspaceId: string; events: readonly PublishedEvent[] }[] = [];
  readonly syncErrors: Error[] = [];
  readonly batches: number[] = [];
  readonly log: { level: string; text: string }[] = [];

  constructor(dataDir: string, options: ToyOptions) {
    this.dataDir = dataDir;
    this.clock = options.clock instanceof ManualClock ? options.clock : new ManualClock();
    const note =
      (level: string) =>
      (_: object, text: string): void =>
        void this.log.push({ level, text });
    const log = options.log ?? { ...silentLog, warn: note('warn'), error: note('error') };
    const { frameLimit, checkpoint = inThisThread, dataDir: _, ...rest } = options;
    this.engine = new Engine({
      dataDir,
      clock: this.clock,
      ids: createIds(this.clock),
      log,
      checkpoints: new Checkpoints({
        checkpoint,
        log,
        random: options.random ?? Math.random,
        ...(frameLimit === undefined ? {} : { frameLimit }),
      }),
      deadlines: {},
      outbox: {},
      settings: { baseUrl: 'http://localhost', mailHost: 'localhost' },
      onSyncFailed: (error) => void this.syncErrors.push(error),
      onBatch: (figures) => void this.batches.push(figures.jobs),
      ...rest,
    });
    this.engine.onPublish((workspaceId, events) => void this.published.push({ workspaceId, events }));
  }

  /** A new workspace with the toy table. */
  workspace(): Workspace {
    const workspaceId = createIds(this.clock).uuid();
    const db = Database.openWriter(join(this.dataDir, 'workspaces', `${workspaceId}.db`), workspaceMigrations);
    db.run(tallies);
    db.close();
    const workspace = this.engine.workspace(workspaceId);
    if (workspace === undefined) throw new Error('its file was made a moment ago');
    return workspace;
  }

  add(workspaceId: string, id: string, options: { by?: number; fail?: unknown } = {}): Promise<number> {
    return this.engine.execute(add, { workspaceId, caller: systemCaller, params: { id, by: 1, ...options } });
  }

  /** Moves the time, and waits until everything due is done and durable. */
  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await this.settled();
  }

  /** Resolves when nothing is in progress except what waits for the clock or an outside party. */
  async settled(): Promise<void> {
    for (let quiet = 0; quiet < 5; quiet += 1) {
      if ([...this.engine.openWorkspaces()].some(({ isBusy }) => isBusy)) quiet = 0;
      await this.engine.drained();
      await turns(1);
    }
  }

  /** Sequence numbers as they were published. */
  seqs(workspaceId: string): number[] {
    return this.published
      .filter((one) => one.workspaceId === workspaceId)
      .flatMap(({ events }) => events.map(({ seq }) => seq));
  }

  /** The file's rows as another process would see them. */
  read<Row>(workspaceId: string, sql: string): Row[] {
    const db = Database.openReader(join(this.dataDir, 'workspaces', `${workspaceId}.db`));
    try {
      return db.all<Row>(sql);
    } finally {
      db.close();
    }
  }
}

export function startToy(t: Teardown, options: ToyOptions = {}): Toy {
  const dataDir = options.dataDir ?? tempFolder(t);
  mkdirSync(dataDir, { recursive: true });
  const toy = new Toy(dataDir, options);
  t.teardown(() => toy.engine.stop());
  return toy;
}

async function inThisThread(path: string): Promise<{ logFrames: number; copiedFrames: number }> {
  const db = Database.openCheckpointer(path);
  try {
    return db.checkpoint();
  } finally {
    db.close();
  }
}

/** Runs everything that needs neither clock nor disk. */
export async function turns(count = 10): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** For what must not happen. */
export function never(): void {
  throw new Error('this must not be called');
}

// When a snapshot is made, and when one that could not be stored is tried again.

import t from 'tap';
import type { Ownerships } from '../../engine/runtime/cluster/ownership.ts';
import { type Files, type Snapshot, SnapshotsUnreachable } from '../../engine/runtime/cluster/ports.ts';
import type { Restorer } from '../../engine/runtime/cluster/restore.ts';
import { isSnapshotDue, SnapshotMaker } from '../../engine/runtime/cluster/snapshots.ts';
import { ManualClock } from '../support/manual-clock.ts';

const mib = 1024 * 1024;

t.test('[cluster snapshots] one is due when the log is longer than the file, and than 8 MiB', async (t) => {
  const due = (logBytes: number, fileBytes: number): boolean => isSnapshotDue({ logBytes, fileBytes });
  t.notOk(due(8 * mib, mib));
  t.ok(due(8 * mib + 1, mib));
  t.notOk(due(50 * mib, 50 * mib), 'a large file is not packed for each 8 MiB');
  t.ok(due(50 * mib + 1, 50 * mib));
});

/** Workspaces whose snapshots are due until they are stored, and what is asked for them. */
function maker(...workspaceIds: string[]) {
  const clock = new ManualClock();
  const told: string[] = [];
  const due = new Set(workspaceIds);
  const state: { failureOf: (workspaceId: string) => Error | undefined } = { failureOf: () => undefined };
  const gate = { sequence: 7 };
  const held = { state: 'serving', gate };
  const snapshot: Snapshot = { sequence: 7, sha256: '', bytes: 1, version: 1, link: '' };
  const unused = (): never => {
    throw new Error('nobody asks');
  };
  const log = { debug: unused, info: unused, error: unused, fatal: unused };
  const snapshots = new SnapshotMaker({
    clock,
    // What the maker asks of them.
    ownerships: { held: () => workspaceIds.map((id) => [id, held]), holding: () => held } as unknown as Ownerships,
    restorer: {
      logBytes: (id: string) => (due.has(id) ? 9 * mib : 0),
      noteSnapshot: (id: string) => due.delete(id),
    } as unknown as Restorer,
    files: {
      bytes: () => 1,
      pack: async () => {
        told.push('packed');
        return { snapshot, path: 'packed', discard: () => told.push('discarded') };
      },
    } as unknown as Files,
    logs: { append: unused, read: unused, follow: unused, purge: async (_, upTo) => void told.push(`purged ${upTo}`) },
    snapshots: {
      newest: unused,
      get: unused,
      put: async (workspaceId) => {
        const failure = state.failureOf(workspaceId);
        if (failure !== undefined) throw failure;
        told.push(`stored ${workspaceId}`);
      },
    },
    log: { ...log, warn: (fields) => void told.push((fields as { err: Error }).err.message) },
  });
  return {
    clock,
    state,
    /** What was asked after one look. */
    async look(): Promise<string[]> {
      snapshots.look();
      await new Promise((resolve) => setImmediate(resolve));
      return told.splice(0);
    },
  };
}

t.test('[cluster snapshots] one that cannot be stored purges nothing, and is tried again', async (t) => {
  const { clock, state, look } = maker('w');
  state.failureOf = () => new Error('broken');
  t.same(await look(), ['packed', 'discarded', 'broken']);
  t.same(await look(), ['packed', 'discarded', 'broken'], 'at the next look');
  state.failureOf = () => new SnapshotsUnreachable('the bucket is away');
  t.same(await look(), ['packed', 'discarded', 'the bucket is away']);
  clock.advance(29_999);
  t.same(await look(), [], 'nothing is packed for a bucket that is away');
  clock.advance(1);
  t.same(await look(), ['packed', 'discarded', 'the bucket is away']);
  state.failureOf = () => undefined;
  clock.advance(30_000);
  t.same(await look(), ['packed', 'stored w', 'discarded', 'purged 6']);
  t.same(await look(), []);
});

t.test('[cluster snapshots] one that always fails does not keep the others waiting', async (t) => {
  const { clock, state, look } = maker('large', 'other', 'third');
  state.failureOf = (id) => (id === 'large' ? new SnapshotsUnreachable('it took too long') : undefined);
  t.same(await look(), ['packed', 'discarded', 'it took too long']);
  clock.advance(30_000);
  const stored = (await look()).filter((one) => one.startsWith('stored'));
  t.same(stored, ['stored other', 'stored third']);
});

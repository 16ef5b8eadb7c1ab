// How a copy becomes the newest: by the log behind it, or by the newest snapshot where the log does not reach back.

import t from 'tap';
import { CopyBusy, type LogEntry, LogUnreachable, type Snapshot } from '../../engine/runtime/cluster/ports.ts';
import { LogHole, Restorer } from '../../engine/runtime/cluster/restore.ts';

const snapshotAt = (sequence: number): Snapshot => ({ sequence, sha256: '', bytes: 0, version: 1, link: '' });

/** A node whose copies are numbers, and a log of which entries up to `purged` are gone. */
function cluster({ newest, purged = 0, snapshot }: { newest: number; purged?: number; snapshot?: number }) {
  const copies = new Map<string, number>();
  const told: string[] = [];
  const loads = { underWay: 0, most: 0 };
  const state = { isReachable: true, isBusy: false };
  async function* entries(after: number): AsyncGenerator<LogEntry, void, void> {
    if (!state.isReachable) throw new LogUnreachable('nobody answers');
    for (let sequence = Math.max(after, purged) + 1; sequence <= newest; sequence += 1)
      yield { sequence, previous: sequence - 1, bytes: new Uint8Array() };
  }
  const restorer = new Restorer({
    logs: {
      append: () => Promise.reject(new Error('nobody appends')),
      purge: () => Promise.reject(new Error('nobody purges')),
      follow: (_, after) => entries(after),
      read: (_, after) => entries(after),
    },
    snapshots: {
      newest: async () => {
        told.push('asked for the snapshot');
        if (!state.isReachable) throw new LogUnreachable('nobody answers');
        return snapshot === undefined ? undefined : snapshotAt(snapshot);
      },
      put: () => Promise.reject(new Error('nobody puts')),
      get: () => Promise.reject(new Error('nobody gets')),
    },
    files: {
      sequence: (workspaceId) => copies.get(workspaceId) ?? 0,
      load: async (workspaceId, { sequence }) => {
        loads.underWay += 1;
        loads.most = Math.max(loads.most, loads.underWay);
        await new Promise((resolve) => setImmediate(resolve));
        loads.underWay -= 1;
        told.push('loaded');
        copies.set(workspaceId, sequence);
      },
      apply: async (workspaceId, applied) => {
        if (state.isBusy) throw new CopyBusy('the node stops');
        copies.set(workspaceId, applied.at(-1)?.sequence ?? 0);
      },
    },
  });
  return { restorer, copies, told, loads, state };
}

t.test('[cluster] a copy that the log reaches back to needs no snapshot', async (t) => {
  const { restorer, copies, told } = cluster({ newest: 7, purged: 3, snapshot: 4 });
  copies.set('w', 5);
  t.equal(await restorer.restore('w'), 7);
  copies.set('w', 7);
  t.equal(await restorer.restore('w'), 7, 'nor one that is the newest');
  t.same(told, []);
});

t.test('[cluster] a copy behind what was purged, and none, begin with the snapshot', async (t) => {
  const { restorer, copies, told } = cluster({ newest: 7, purged: 3, snapshot: 4 });
  copies.set('w', 2);
  t.equal(await restorer.restore('w'), 7);
  t.equal(await restorer.restore('new'), 7);
  t.same(told, ['asked for the snapshot', 'loaded', 'asked for the snapshot', 'loaded']);
});

t.test('[cluster] a hole that no snapshot covers is never read over', async (t) => {
  const { restorer, copies, told } = cluster({ newest: 7, purged: 3 });
  copies.set('w', 2);
  await t.rejects(restorer.restore('w'), LogHole);
  t.equal(copies.get('w'), 2);
  t.equal(told.length, 3, 'three attempts');
});

t.test('[cluster] where the log does not answer, nothing is asked again', async (t) => {
  const { restorer, copies, told, state } = cluster({ newest: 7, snapshot: 4 });
  state.isReachable = false;
  await t.rejects(restorer.restore('new'), LogUnreachable);
  t.same(told, ['asked for the snapshot']);
  copies.set('w', 5);
  await t.rejects(restorer.restore('w'), LogUnreachable);
  t.same(told, ['asked for the snapshot']);
});

t.test('[cluster] a copy that is not written to now is left as it is', async (t) => {
  const { restorer, copies, told, state } = cluster({ newest: 7, snapshot: 6 });
  state.isBusy = true;
  copies.set('w', 5);
  await t.rejects(restorer.restore('w'), CopyBusy);
  t.equal(copies.get('w'), 5);
  t.same(told, [], 'no snapshot is asked for');
});

t.test('[cluster] four snapshots are loaded at once', async (t) => {
  const { restorer, loads } = cluster({ newest: 7, purged: 3, snapshot: 4 });
  const ids = Array.from({ length: 20 }, (_, index) => `w${index}`);
  t.same(await Promise.all(ids.map((id) => restorer.restore(id))), Array(20).fill(7));
  t.equal(loads.most, 4);
});

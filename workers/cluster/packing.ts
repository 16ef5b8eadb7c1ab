// The main thread's side of the thread that packs and unpacks snapshots.

import { randomUUID } from 'node:crypto';
import { createThread } from '../thread.ts';
import type { methods, PackedFile } from './packing-thread.ts';

export interface Packing {
  /** Resolves when the thread runs. */
  ready(): Promise<void>;
  /**
   * Holds the state that the file at `path` has when this resolves; pack() writes it, packed, to a path, once, and drop()
   * lets go of it.
   */
  hold(path: string): Promise<{ pack(to: string): Promise<PackedFile>; drop(): Promise<void> }>;
  /** Writes the file that was packed at `from` to `to`. Rejects unless it is of this length and checksum. */
  unpack(file: { from: string; to: string; sha256: string; bytes: number }): Promise<void>;
  stop(): Promise<void>;
}

/** A few nodes join at once; each workspace is read by one call. */
const maxWaiting = 1000;
/** A gigabyte on a slow disk. */
const timeoutMs = 300_000;
const idleMs = 60_000;

export function createPacking(): Packing {
  const options = { file: 'workers/cluster/packing-thread.ts', maxWaiting, timeoutMs, idleMs };
  const thread = createThread<typeof methods>({ ...options, title: 'packing' });
  // A lane is held while the other takes a state: it must not wait for files that are unpacked.
  const unpacking = createThread<typeof methods>({ ...options, title: 'unpacking' });
  return {
    ready: () => thread.call('ready', undefined),
    async hold(path) {
      const id = randomUUID();
      await thread.call('hold', { id, path });
      return {
        pack: (to) => thread.call('pack', { id, to }),
        // If the thread ended, it holds nothing.
        drop: () => thread.call('drop', { id }).catch(() => undefined),
      };
    },
    unpack: (file) => unpacking.call('unpack', file),
    stop: async () => void (await Promise.all([thread.stop(), unpacking.stop()])),
  };
}

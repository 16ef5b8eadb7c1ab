// The main thread's side of the thread that writes what a log holds onto copies of files.

import { CopyBusy } from '../../engine/runtime/cluster/ports.ts';
import { createThread } from '../thread.ts';
import type { Copy } from './copy-note.ts';
import type { CopyUpdate, methods } from './copy-writer-thread.ts';

export interface CopyWriter {
  /**
   * Writes the entries onto the copy and notes what it equals then, which is what this resolves to. One call at a time for
   * each copy. Rejects with CopyBusy, and nothing was written; after any other error the copy may be half written.
   */
  apply(update: CopyUpdate): Promise<Copy>;
  /** Resolves when what was begun is written. Nothing is begun any more. */
  stop(): Promise<void>;
}

/** Each copy is written to by one call; a node follows some thousands. */
const maxWaiting = 20_000;
/** From the call on: some thousand are written within seconds, or the disk is stuck. */
const timeoutMs = 300_000;
/** What a hand-over or a take-over waits for: it does not wait for others that read a whole log. */
const fewBytes = 64 * 1024;

export function createCopyWriter(): CopyWriter {
  // It is not stopped while it is idle: a hand-over would wait for it to start.
  const thread = createThread<typeof methods>({
    file: 'workers/cluster/copy-writer-thread.ts',
    title: 'copies',
    maxWaiting,
    timeoutMs,
    first: { names: ['applyFew'], maxWaiting },
  });
  const begun = new Set<Promise<Copy>>();
  let isStopping = false;
  return {
    async apply({ entries, ...update }) {
      if (isStopping || begun.size >= maxWaiting)
        throw new CopyBusy(isStopping ? 'the node stops' : `${maxWaiting} copies wait to be written to already`);
      // NATS hands out parts of what it received, and the whole of that would be sent along.
      const own = entries.map(({ sequence, bytes }) => ({ sequence, bytes: new Uint8Array(bytes) }));
      const name = own.reduce((sum, { bytes }) => sum + bytes.length, 0) <= fewBytes ? 'applyFew' : 'apply';
      const buffers = own.map(({ bytes }) => bytes.buffer);
      const applied = thread.call(name, { ...update, entries: own }, buffers);
      begun.add(applied);
      try {
        return await applied;
      } finally {
        begun.delete(applied);
      }
    },
    async stop() {
      isStopping = true;
      await Promise.allSettled(begun);
      await thread.stop();
    },
  };
}

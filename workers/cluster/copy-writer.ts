// The main thread's side of the thread that writes what a log holds onto copies of files.

import { createThread } from '../thread.ts';
import type { Copy, methods, Onto } from './copy-writer-thread.ts';

export type { Copy } from './copy-writer-thread.ts';

export interface CopyWriter {
  /**
   * Writes the entries onto the copy and notes what it equals then, which is what this resolves to. One call at a time for
   * each copy. After ThreadBusy nothing was written; after any other error the copy may be half written.
   */
  apply(onto: Onto): Promise<Copy>;
  /** Resolves when what was begun is written. */
  stop(): Promise<void>;
}

/** Each copy is written to by one call; a node follows some thousands. */
const maxWaiting = 20_000;
/** From the call on: some thousand are written within seconds, or the disk is stuck. */
const timeoutMs = 300_000;

export function createCopyWriter(): CopyWriter {
  // It is not stopped while it is idle: a hand-over would wait for it to start.
  const file = 'workers/cluster/copy-writer-thread.ts';
  const thread = createThread<typeof methods>({ file, title: 'copies', maxWaiting, timeoutMs });
  const begun = new Set<Promise<unknown>>();
  return {
    apply({ entries, ...onto }) {
      // NATS hands out parts of what it received, and the whole of that would be sent along.
      const own = entries.map(({ sequence, bytes }) => ({ sequence, bytes: new Uint8Array(bytes) }));
      const applied = thread.call('apply', { ...onto, entries: own });
      begun.add(applied);
      const end = (): void => void begun.delete(applied);
      applied.then(end, end);
      return applied;
    },
    async stop() {
      await Promise.allSettled(begun);
      await thread.stop();
    },
  };
}

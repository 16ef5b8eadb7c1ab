// The main thread's side of the thread that handles logs, and files that are not open.

import type { Glance, GlanceQuestion } from '../store/glance.ts';
import type { methods } from './checkpointer-thread.ts';
import { createThread } from './thread.ts';

export interface Checkpointer {
  /**
   * Copies back whatever it can without waiting; all, and removes the log, unless the file `isOpen` here. Rejects if it
   * cannot be read or the thread failed.
   */
  checkpoint(path: string, isOpen: boolean): Promise<{ logFrames: number; copiedFrames: number }>;
  /** Reads a workspace's file without changing it. Rejects if it cannot be read or the thread failed. */
  glance(question: GlanceQuestion): Promise<Glance>;
  stop(): Promise<void>;
}

/** At most one per open workspace. */
const maxWaiting = 1000;
/** A slow disk may need long for 16 MiB; a stuck one fails. */
const timeoutMs = 120_000;
/** It holds nothing in memory that would be missed. */
const idleMs = 60_000;

export function createCheckpointer(): Checkpointer {
  const thread = createThread<typeof methods>({
    file: 'workers/checkpointer-thread.ts',
    title: 'checkpoint',
    maxWaiting,
    timeoutMs,
    idleMs,
  });
  return {
    checkpoint: (path, isOpen) => thread.call('checkpoint', { path, isOpen }),
    glance: (question) => thread.call('glance', question),
    stop: () => thread.stop(),
  };
}

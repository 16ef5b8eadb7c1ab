// The main thread's side of the thread that handles files which nobody serves at the moment, and logs.

import type { Glance, GlanceQuestion } from '../store/glance.ts';
import type { questions } from './checkpointer-thread.ts';
import { createThread } from './thread.ts';

export interface Checkpointer {
  /**
   * Copies what can be copied without waiting for anybody. Rejects when the file cannot be read or the thread failed.
   */
  checkpoint(path: string): Promise<{ logFrames: number; copiedFrames: number }>;
  /** Looks into a workspace's file, and leaves it as it was. Rejects when it cannot be read or the thread failed. */
  glance(question: GlanceQuestion): Promise<Glance>;
  stop(): Promise<void>;
}

/** One per open workspace at the most. */
const maxWaiting = 1000;
/** A slow disk may need long for 16 MiB; a stuck one is given up on. */
const timeoutMs = 120_000;
/** It has nothing in memory that would be missed. */
const idleMs = 60_000;

export function createCheckpointer(): Checkpointer {
  const thread = createThread<typeof questions>({
    file: new URL('./checkpointer-thread.ts', import.meta.url),
    title: 'checkpoint',
    maxWaiting,
    timeoutMs,
    idleMs,
  });
  return {
    checkpoint: (path) => thread.ask('checkpoint', path),
    glance: (question) => thread.ask('glance', question),
    stop: () => thread.stop(),
  };
}

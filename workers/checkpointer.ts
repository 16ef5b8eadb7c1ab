// The main thread's side of the checkpoint thread.

import type { questions } from './checkpointer-thread.ts';
import { createThread } from './thread.ts';

export interface Checkpointer {
  /** Copies what can be copied without waiting for anybody. Rejects when the file cannot be read or the thread failed. */
  checkpoint(path: string): Promise<{ logFrames: number; copiedFrames: number }>;
  stop(): Promise<void>;
}

/** One per open workspace at the most. */
const maxWaiting = 1000;
/** A slow disk may need long for 16 MiB; a stuck one is given up on. */
const timeoutMs = 120_000;

export function createCheckpointer(): Checkpointer {
  const thread = createThread<typeof questions>({ file: new URL('./checkpointer-thread.ts', import.meta.url), title: 'checkpoint', maxWaiting, timeoutMs });
  return { checkpoint: (path) => thread.ask('checkpoint', path), stop: () => thread.stop() };
}

// The main thread's side of the checkpoint thread, which is started by the first request and again if it dies.

import { Worker } from 'node:worker_threads';

export interface CheckpointFrames {
  readonly logFrames: number;
  readonly copiedFrames: number;
}

export interface Checkpointer {
  /** Copies what can be copied without waiting for anybody. Rejects when the file cannot be read or the thread died. */
  checkpoint(path: string): Promise<CheckpointFrames>;
  stop(): Promise<void>;
}

interface Answer {
  readonly id: number;
  readonly frames?: CheckpointFrames;
  readonly error?: string;
}

interface Waiting {
  resolve(frames: CheckpointFrames): void;
  reject(error: Error): void;
}

export function createCheckpointer(): Checkpointer {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let lastId = 0;

  function start(): Worker {
    const started = new Worker(new URL('./checkpointer-thread.ts', import.meta.url));
    started.unref();
    started.on('message', ({ id, frames, error }: Answer) => {
      const one = waiting.get(id);
      waiting.delete(id);
      if (frames !== undefined) one?.resolve(frames);
      else one?.reject(new Error(error ?? 'the checkpoint thread gave no answer'));
    });
    const died = (error: Error): void => {
      if (worker === started) worker = undefined;
      for (const one of waiting.values()) one.reject(error);
      waiting.clear();
    };
    started.on('error', died);
    started.on('exit', () => died(new Error('the checkpoint thread ended')));
    return started;
  }

  return {
    checkpoint(path) {
      worker ??= start();
      lastId += 1;
      const id = lastId;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        worker?.postMessage({ id, path });
      });
    },
    async stop() {
      await worker?.terminate();
    },
  };
}

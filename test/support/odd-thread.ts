// A thread for tests of workers/thread.ts that answers, throws, dies, waits, hangs or takes all memory on request.

import { threadId, workerData } from 'node:worker_threads';
import { answerCalls, emit, ThreadUnavailable } from '../../workers/thread.ts';

export const methods = {
  echo: (text: string): string => text,
  emit: (text: string): void => emit(text),
  later: async (text: string): Promise<string> => text,
  self: (): { threadId: number; data: unknown } => ({ threadId, data: workerData }),
  unsendable: (): object => ({ call: () => {} }),
  fail: (message: string): never => {
    throw new RangeError(message);
  },
  unavailable: (message: string): never => {
    throw new ThreadUnavailable(message);
  },
  known: (message: string): never => {
    throw new TypeError(message);
  },
  /** Dies of an error outside of any call. */
  burst: (message: string): Promise<never> => {
    setImmediate(() => {
      throw new Error(message);
    });
    return new Promise(() => {});
  },
  die: (): never => process.exit(3),
  hoard: (): never => {
    for (const kept: string[] = []; ; ) kept.push(`${kept.length}`.repeat(1000));
  },
  /** Emits that it has begun, and waits until the caller sets the first number. */
  hold: (released: Int32Array): void => {
    emit('held');
    Atomics.wait(released, 0, 0);
  },
  hang: (): never => {
    for (;;);
  },
};

answerCalls(methods, (error) => error instanceof ThreadUnavailable || error instanceof TypeError);

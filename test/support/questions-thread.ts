// A thread for the tests of workers/thread.ts: answers, fails, hangs and dies when it is asked to.

import { threadId, workerData } from 'node:worker_threads';
import { answerQuestions } from '../../workers/thread.ts';

export const questions = {
  double: (value: number): number => value * 2,
  later: async (value: number): Promise<number> => value + 1,
  refuse(message: string): never {
    throw new RangeError(message);
  },
  hang(): never {
    for (;;);
  },
  die(code: number): never {
    process.exit(code);
  },
  burst(message: string): Promise<never> {
    setImmediate(() => {
      throw new Error(message);
    });
    return new Promise(() => {});
  },
  unsendable: (): object => ({ call: () => {} }),
  thread: (): { threadId: number; data: unknown } => ({ threadId, data: workerData }),
};

answerQuestions(questions);

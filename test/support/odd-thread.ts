// A thread for tests of workers/thread.ts: it answers, throws, dies, hangs or takes all memory, as it is asked.

import { answerQuestions, ThreadUnavailable } from '../../workers/thread.ts';

export const questions = {
  echo: (text: string): string => text,
  fail: (message: string): never => {
    throw new RangeError(message);
  },
  unavailable: (message: string): never => {
    throw new ThreadUnavailable(message);
  },
  known: (message: string): never => {
    throw new TypeError(message);
  },
  die: (): never => process.exit(3),
  hoard: (): never => {
    for (const kept: string[] = []; ; ) kept.push(`${kept.length}`.repeat(1000));
  },
  hang: (): never => {
    for (;;);
  },
};

answerQuestions(questions, (error) => error instanceof ThreadUnavailable || error instanceof TypeError);

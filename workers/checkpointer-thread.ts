// The thread that copies write-ahead logs back into their files, each on a connection of its own.

import { Database } from '../store/database.ts';
import { answerQuestions } from './thread.ts';

export const questions = {
  checkpoint(path: string): { logFrames: number; copiedFrames: number } {
    const db = Database.openCheckpointer(path);
    try {
      return db.checkpoint();
    } finally {
      db.close();
    }
  },
};

answerQuestions(questions);

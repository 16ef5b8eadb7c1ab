// The thread that copies write-ahead logs back into their files and reads files that are not open, on connections of
// its own.

import { Database } from '../store/database.ts';
import { type Glance, type GlanceQuestion, glanceAt } from '../store/glance.ts';
import { answerCalls } from './thread.ts';

export const methods = {
  checkpoint(path: string): { logFrames: number; copiedFrames: number } {
    if (Database.removeLog(path)) return { logFrames: 0, copiedFrames: 0 };
    const db = Database.openCheckpointer(path);
    try {
      return db.checkpoint();
    } finally {
      db.close();
    }
  },

  glance: (question: GlanceQuestion): Glance => glanceAt(question),
};

answerCalls(methods);

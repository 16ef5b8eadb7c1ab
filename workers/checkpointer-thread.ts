// The thread that copies write-ahead logs back into their files and reads files that are not open, on connections of
// its own.

import { Database } from '../store/database.ts';
import { type Glance, type GlanceQuestion, glanceAt } from '../store/glance.ts';
import { answerCalls } from './thread.ts';

export const methods = {
  /** `isOpen`: the file is open elsewhere, so that its log stays. */
  checkpoint({ path, isOpen }: { path: string; isOpen: boolean }): { logFrames: number; copiedFrames: number } {
    if (!isOpen && Database.removeLog(path)) return { logFrames: 0, copiedFrames: 0 };
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

// The thread that copies write-ahead logs back into their files. One request at a time, each on a connection of its own.

import { parentPort } from 'node:worker_threads';
import { Database } from '../store/database.ts';

interface Request {
  readonly id: number;
  readonly path: string;
}

parentPort?.on('message', ({ id, path }: Request) => {
  try {
    const db = Database.openCheckpointer(path);
    const frames = db.checkpoint();
    db.close();
    parentPort?.postMessage({ id, frames });
  } catch (error) {
    parentPort?.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
});

// The thread that searches chunks, with a read connection and an in-memory index for each recently searched workspace.

import { Database, type Seen } from '../../store/database.ts';
import { findKbBase } from '../../store/knowledge/chunks.ts';
import { type KbMatch, nearestChunks, openKbIndex, refreshKbIndex } from '../../store/knowledge/index.ts';
import { answerCalls } from '../thread.ts';

interface OpenIndex {
  readonly db: Database;
  readonly dimensions: number;
  model: string;
  revision: number;
}

export interface Search {
  /** Of the workspace's file. */
  readonly path: string;
  /** Of the question, and the model that embedded it. */
  readonly model: string;
  readonly vector: Uint8Array;
  readonly topK: number;
}

/** Indexes in memory. One of 100,000 chunks takes 13 MiB, a typical one less than one. */
const maxOpen = 20;
const neverRead = -1;
/** In order of last use. */
const open = new Map<string, OpenIndex>();

export const methods = {
  /** Undefined if the base's model is not the question's. */
  search({ path, model, vector, topK }: Search): Seen<KbMatch[] | undefined> {
    const index = indexFor(path, vector.length);
    const { db } = index;
    return db.readTogether(() => {
      const base = findKbBase(db);
      if (base?.model !== model) return undefined;
      if (index.revision !== base.revision || index.model !== model) {
        index.revision = neverRead;
        refreshKbIndex(db, model);
        index.model = model;
        index.revision = base.revision;
      }
      return nearestChunks(db, { vector, topK });
    });
  },
};

function indexFor(path: string, dimensions: number): OpenIndex {
  let index = open.get(path);
  open.delete(path);
  if (index !== undefined && index.dimensions !== dimensions) {
    index.db.close();
    index = undefined;
  }
  if (index === undefined) {
    const db = Database.openReader(path);
    openKbIndex(db, dimensions);
    index = { db, dimensions, model: '', revision: neverRead };
  }
  open.set(path, index);
  const [oldest] = open;
  if (open.size > maxOpen && oldest !== undefined) {
    oldest[1].db.close();
    open.delete(oldest[0]);
  }
  return index;
}

answerCalls(methods);

// The files that a reader thread has open: each workspace's own, to read, and its search index, or a copy of that. A
// bounded number, evicted by least recent use, and all of them when idle.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Database, removeDatabase } from '../../store/database.ts';
import { SearchIndex } from '../search/search-index.ts';

interface OpenFile {
  readonly db: Database;
  index: SearchIndex | undefined;
  /** Of a copy, the number of the index's file when it was opened, which no other file has while it is open. */
  copiedFile: number | undefined;
  usedAtMs: number;
}

/** One workspace with 200,000 searchable messages takes about 15 MB. */
const maxOpen = 8;
const idleMs = 5 * 60_000;

export class OpenFiles {
  readonly #dataDir: string;
  /** In order of last use. */
  readonly #open = new Map<string, OpenFile>();

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
    setInterval(() => this.#closeIdle(), idleMs / 5).unref();
  }

  /** The workspace's own file. Throws DatabaseUnusable. */
  workspace(workspaceId: string): Database {
    return this.#use(workspaceId).db;
  }

  /** Opens the index, and starts over if it is unusable. Throws DatabaseUnusable. */
  searchIndex(workspaceId: string): SearchIndex {
    const file = this.#use(workspaceId);
    file.index ??= SearchIndex.open(file.db, this.#indexPath(workspaceId));
    return file.index;
  }

  /** Opens a copy of the index that the other thread writes; undefined if there is none yet. Throws DatabaseUnusable. */
  searchCopy(workspaceId: string): SearchIndex | undefined {
    const open = this.openSearchCopy(workspaceId);
    if (open !== undefined) return open;
    const file = this.#use(workspaceId);
    file.copiedFile = this.#indexFile(workspaceId);
    file.index = SearchIndex.openCopy(file.db, this.#indexPath(workspaceId));
    return file.index;
  }

  /** The copy, if it is open. One whose index was removed or replaced is closed. */
  openSearchCopy(workspaceId: string): SearchIndex | undefined {
    const open = this.#open.get(workspaceId);
    if (open?.index === undefined) return undefined;
    if (open.copiedFile === this.#indexFile(workspaceId)) return this.#use(workspaceId).index;
    this.close(workspaceId);
    return undefined;
  }

  /** The search index, if it is open. */
  openSearchIndex(workspaceId: string): SearchIndex | undefined {
    return this.#open.get(workspaceId)?.index;
  }

  /** Closes both; the next call reopens them. */
  close(workspaceId: string): void {
    const file = this.#open.get(workspaceId);
    this.#open.delete(workspaceId);
    file?.index?.close();
    file?.db.close();
  }

  /** Closes both and deletes the index, which is then rebuilt from the workspace's file. */
  removeSearchIndex(workspaceId: string): void {
    this.close(workspaceId);
    removeDatabase(this.#indexPath(workspaceId));
  }

  #use(workspaceId: string): OpenFile {
    let file = this.#open.get(workspaceId);
    if (file === undefined) {
      this.#closeBeyond(maxOpen - 1);
      file = {
        db: Database.openReader(join(this.#dataDir, 'workspaces', `${workspaceId}.db`)),
        index: undefined,
        copiedFile: undefined,
        usedAtMs: 0,
      };
    }
    file.usedAtMs = performance.now();
    this.#open.delete(workspaceId);
    this.#open.set(workspaceId, file);
    return file;
  }

  #closeIdle(): void {
    const beforeMs = performance.now() - idleMs;
    for (const [workspaceId, { usedAtMs }] of this.#open) if (usedAtMs < beforeMs) this.close(workspaceId);
  }

  #closeBeyond(count: number): void {
    for (const workspaceId of this.#open.keys()) {
      if (this.#open.size <= count) return;
      this.close(workspaceId);
    }
  }

  #indexFile(workspaceId: string): number | undefined {
    return statSync(this.#indexPath(workspaceId), { throwIfNoEntry: false })?.ino;
  }

  #indexPath(workspaceId: string): string {
    return join(this.#dataDir, 'index', `${workspaceId}.db`);
  }
}

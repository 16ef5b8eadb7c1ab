// The files that the reader thread has open: each workspace's own, to read, and its search index. A few at a time, the
// least recently used closed first, all of them closed when nobody asked for a while.

import { join } from 'node:path';
import { Database, removeDatabase } from '../../store/database.ts';
import { ReportMemory } from '../../store/reports/memory.ts';
import type { ReportSource } from '../../store/reports/reads.ts';
import { SearchIndex } from '../search/search-index.ts';

interface OpenFile extends ReportSource {
  index: SearchIndex | undefined;
  usedAtMs: number;
}

/** Workspaces at once. One of 200,000 messages that is searched takes about 15 MB. */
const maxOpen = 8;
const idleMs = 5 * 60_000;

export class OpenFiles {
  readonly #dataDir: string;
  /** In the order of their last use. */
  readonly #open = new Map<string, OpenFile>();

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
    setInterval(() => this.#closeIdle(), idleMs / 5).unref();
  }

  /** The workspace's own file with what is remembered of it. Throws DatabaseUnusable. */
  workspace(workspaceId: string): ReportSource {
    return this.#use(workspaceId);
  }

  /** Opened, and begun anew if need be. Throws DatabaseUnusable. */
  searchIndex(workspaceId: string): SearchIndex {
    const file = this.#use(workspaceId);
    file.index ??= SearchIndex.open(file.db, this.#indexPath(workspaceId));
    return file.index;
  }

  /** The search index, if it is open. */
  openSearchIndex(workspaceId: string): SearchIndex | undefined {
    return this.#open.get(workspaceId)?.index;
  }

  /** Closes both; the next to ask opens them again. */
  close(workspaceId: string): void {
    const file = this.#open.get(workspaceId);
    this.#open.delete(workspaceId);
    file?.index?.close();
    file?.db.close();
  }

  /** Closes both and removes the index: the next one is made from the workspace's file. */
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
        memory: new ReportMemory(),
        index: undefined,
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

  #indexPath(workspaceId: string): string {
    return join(this.#dataDir, 'index', `${workspaceId}.db`);
  }
}

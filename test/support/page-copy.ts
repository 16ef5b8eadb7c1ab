// A database file and its copy, which is kept by the pieces of its page log.

import { closeSync, fstatSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { Database } from '../../store/database.ts';
import { AddedFrames } from '../../store/page-log/added-frames.ts';
import { applyPieces } from '../../store/page-log/apply.ts';
import { encodeChange } from '../../store/page-log/encode.ts';
import { firstLink, type Link } from '../../store/page-log/pieces.ts';
import type { Teardown } from './service.ts';

/** Reads a database file that is open in SQLite: closing it would drop SQLite's locks, so that is done last. */
export class WatchedFile {
  readonly path: string;
  readonly #descriptor: number;

  constructor(t: Teardown, path: string) {
    this.path = path;
    this.#descriptor = openSync(path, 'r');
    t.teardown(() => closeSync(this.#descriptor));
  }

  /** Without its log. */
  bytes(): Buffer {
    const bytes = Buffer.alloc(fstatSync(this.#descriptor).size);
    readSync(this.#descriptor, bytes, 0, bytes.length, 0);
    return bytes;
  }

  /** Once its log is copied back, which is done to a copy. */
  bytesWithLog(): Buffer {
    const path = `${this.path}.whole`;
    writeFileSync(path, this.bytes());
    writeFileSync(`${path}-wal`, readFileSync(`${this.path}-wal`, { flag: 'a+' }));
    const db = Database.openCheckpointer(path);
    db.checkpoint();
    db.close();
    const bytes = readFileSync(path);
    rmSync(path);
    return bytes;
  }
}

/** Makes a writer's commits into pieces. */
export class Shipper {
  db: Database;
  added: AddedFrames;
  link: Link;

  constructor(db: Database, link: Link = firstLink) {
    this.db = db;
    this.added = new AddedFrames(db);
    this.link = link;
  }

  /** The pieces of everything committed since the last call. */
  ship(): Buffer[] {
    const change = this.added.next();
    if (change === undefined) return [];
    const { pieces, link } = encodeChange(change, { read: (into, at) => this.db.readLog(into, at), link: this.link });
    this.link = link;
    return pieces;
  }
}

export class Copy {
  readonly path: string;
  link: Link;

  constructor(path: string, start: { bytes: Buffer; link?: Link }) {
    this.path = path;
    this.link = start.link ?? firstLink;
    writeFileSync(path, start.bytes);
  }

  async apply(pieces: readonly Buffer[]): Promise<void> {
    ({ link: this.link } = await applyPieces(this, pieces));
  }

  bytes(): Buffer {
    return readFileSync(this.path);
  }
}

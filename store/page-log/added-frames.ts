// Reads which pages a file's commits changed from the frames that they added to its write-ahead log
// (https://www.sqlite.org/fileformat2.html#walformat). Called in the writer's thread after each COMMIT, before anything
// else may write: frames that it has not seen when the log restarts are lost. It reads the log and never writes.

import type { Database } from '../database.ts';
import { FrameMemory, type Taken } from './frame-memory.ts';

/** A place between two frames of a log. `salts`, 16 hex digits, change each time the log restarts. */
export interface LogPosition {
  readonly salts: string;
  readonly frames: number;
}

/** A page's new content, at byte `at` of the log. */
export interface ChangedPage {
  /** From 1. */
  readonly page: number;
  readonly at: number;
  /**
   * The version that was delivered last. Undefined if this log has none or the file was shorter since, so that no base
   * can be in doubt.
   */
  readonly baseAt: number | undefined;
}

/** The changes of one or more commits. Its places are valid until the log restarts. */
export interface Change {
  readonly pageBytes: number;
  /** The file's size after it. */
  readonly sizePages: number;
  readonly commits: number;
  /** The schema's `user_version` after it. */
  readonly schemaVersion: number;
  /** Ascending, each once, in its last version. */
  readonly pages: readonly ChangedPage[];
  /** Parts of the log that need not be read again while they are intact: this change's and those of the last few. */
  readonly kept: readonly KeptFrames[];
}

/** The log from byte `at`. For this thread only. */
export interface KeptFrames extends Taken {
  readonly at: number;
}

/** The log does not go on from the position: it restarted, or ends before it. What changed since is unknown. */
export class PositionLost extends Error {
  override readonly name = 'PositionLost';
}

/** The log is not as its file's connection says it is. */
export class LogUnreadable extends Error {
  override readonly name = 'LogUnreadable';
}

const headerBytes = 32;
const frameHeaderBytes = 24;
const saltBytes = 8;
/** The lowest bit is the byte order of its checksums. */
const magic = 0x377f0682;
/** The header's way to write 65,536, which does not fit the database's own header. */
const largestPageBytes = 65_536;
/** Of frames that are read at once. A message's commit has 6 to 8 of 4 KiB, that of 64 messages some 100. */
const windowBytes = 1024 * 1024;
/** The pages of 64 busy conversations come again within these. */
const keptChanges = 8;
/** In page 1. */
const schemaVersionOffset = 60;
/** Shared by all files: a busy one has its last changes in it, and an idle one costs nothing. */
const memory = new FrameMemory(8 * 1024 * 1024);

interface LogHeader {
  readonly pageBytes: number;
  readonly salts: Buffer;
}

/** Frames that have been read. */
interface Scan {
  /** Where the last version of each page begins. */
  readonly at: Map<number, number>;
  sizePages: number;
  commits: number;
  kept: KeptFrames | undefined;
}

export class AddedFrames {
  readonly #db: Database;
  #salts = '';
  #frames = 0;
  #schemaVersion: number;
  /** Where this log's last delivered version of each page begins. */
  readonly #delivered = new Map<number, number>();
  /** Of the last changes: most pages of a busy file change again and again. */
  #lastKept: readonly KeptFrames[] = [];

  /**
   * `db` is the file's writer, outside a transaction. The first change begins at `since`, by default at the log's
   * beginning: it holds everything that the file without its log does not have, migrations too. Throws PositionLost.
   */
  constructor(db: Database, since?: LogPosition) {
    this.#db = db;
    this.#schemaVersion = db.version;
    if (since === undefined) return;
    const { logFrames } = db.logLength();
    if (logFrames < since.frames) throw new PositionLost(`the log has ${logFrames} frames, not ${since.frames}`);
    const salts = logFrames === 0 ? '' : this.#readHeader().salts.toString('hex');
    if (salts !== since.salts) throw new PositionLost('the log restarted since the position');
    this.#salts = salts;
    this.#frames = since.frames;
  }

  /** Behind the last change. */
  get position(): LogPosition {
    return { salts: this.#salts, frames: this.#frames };
  }

  /** Everything committed since the last call; undefined if that is nothing. Throws LogUnreadable, PositionLost. */
  next(): Change | undefined {
    const { logFrames } = this.#db.logLength();
    // A new log, or one that was removed, gets its header with its first frame.
    if (logFrames === 0) return undefined;
    const header = this.#readHeader();
    const salts = header.salts.toString('hex');
    const isRestarted = salts !== this.#salts;
    const first = isRestarted ? 0 : this.#frames;
    if (logFrames < first) throw new PositionLost(`the log has ${logFrames} frames, not ${first}`);
    if (logFrames === first) return undefined;
    const scan = this.#scan(header, first, logFrames);
    const schemaVersion = this.#schemaVersionIn(scan);
    if (isRestarted) {
      this.#delivered.clear();
      this.#lastKept = [];
    }
    const before = this.#lastKept.filter((one) => one.isIntact());
    this.#salts = salts;
    this.#frames = logFrames;
    this.#schemaVersion = schemaVersion;
    const { pageBytes } = header;
    const { sizePages, commits, kept } = scan;
    const known = kept === undefined ? before : [kept, ...before];
    this.#lastKept = known.slice(0, keptChanges);
    return {
      pageBytes,
      sizePages,
      commits,
      schemaVersion,
      pages: this.#deliver(scan),
      kept: known,
    };
  }

  #readHeader(): LogHeader {
    const header = Buffer.allocUnsafe(headerBytes);
    this.#read(header, 0);
    if ((header.readUInt32BE(0) & ~1) !== magic) throw new LogUnreadable('the log has no header');
    const pageBytes = header.readUInt32BE(8);
    return { pageBytes: pageBytes === 1 ? largestPageBytes : pageBytes, salts: header.subarray(16, 16 + saltBytes) };
  }

  /** Reads frames `first` up to `end`. SQLite says where its last commit ends: what rolled back lies behind. */
  #scan(header: LogHeader, first: number, end: number): Scan {
    const frameBytes = frameHeaderBytes + header.pageBytes;
    const scan: Scan = { at: new Map(), sizePages: 0, commits: 0, kept: undefined };
    const windowFrames = Math.floor(windowBytes / frameBytes);
    const kept = memory.take(Math.min(end - first, windowFrames) * frameBytes);
    let isCommit = false;
    for (let frame = first; frame < end; frame += windowFrames) {
      const frames = kept.bytes.subarray(0, Math.min(end - frame, windowFrames) * frameBytes);
      const at = headerBytes + frame * frameBytes;
      this.#read(frames, at);
      for (let offset = 0; offset < frames.length; offset += frameBytes) {
        if (frames.compare(header.salts, 0, saltBytes, offset + 8, offset + 8 + saltBytes) !== 0)
          throw new LogUnreadable('a frame is of an earlier log');
        scan.at.set(frames.readUInt32BE(offset), at + offset + frameHeaderBytes);
        const sizePages = frames.readUInt32BE(offset + 4);
        isCommit = sizePages !== 0;
        if (!isCommit) continue;
        scan.sizePages = sizePages;
        scan.commits += 1;
      }
      if (end - first <= windowFrames) scan.kept = { ...kept, at };
    }
    if (!isCommit) throw new LogUnreadable('the log does not end with a commit');
    return scan;
  }

  #schemaVersionIn({ at, kept }: Scan): number {
    const pageAt = at.get(1);
    if (pageAt === undefined) return this.#schemaVersion;
    if (kept !== undefined) return kept.bytes.readInt32BE(pageAt - kept.at + schemaVersionOffset);
    const bytes = Buffer.allocUnsafe(4);
    this.#read(bytes, pageAt + schemaVersionOffset);
    return bytes.readInt32BE(0);
  }

  #deliver({ at: found, sizePages }: Scan): ChangedPage[] {
    const pages: ChangedPage[] = [];
    for (const [page, at] of found) {
      // Written before the file became shorter.
      if (page > sizePages) continue;
      pages.push({ page, at, baseAt: this.#delivered.get(page) });
      this.#delivered.set(page, at);
    }
    // A copy cuts off such a page, so its next version has no base.
    for (const page of this.#delivered.keys()) if (page > sizePages) this.#delivered.delete(page);
    return pages.sort((a, b) => a.page - b.page);
  }

  #read(into: Buffer, atByte: number): void {
    if (this.#db.readLog(into, atByte) < into.length) throw new LogUnreadable('the log is shorter than its frames');
  }
}

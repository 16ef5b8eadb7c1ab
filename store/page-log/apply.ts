// Writes changes onto a copy of their file. Everything is checked before the first byte is written. A crash in the
// middle leaves a mix of old and new pages, which the same pieces make whole when they are applied again: ranges are
// bytes at places, not differences. So the caller records a link when it got it, and after a crash goes on from the last
// one it recorded, at least as far as it may have come before (to the end of what there is) before it opens the copy.

import { closeSync, fdatasync, ftruncateSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { readRecords } from './page-records.ts';
import { type Link, maxPieces, type OpenedPiece, openPiece, type PieceHead, PiecesRefused } from './pieces.ts';

export interface Applied {
  /** The copy contains everything up to it. Durable. */
  readonly link: Link;
  readonly sizePages: number;
  readonly schemaVersion: number;
  readonly commits: number;
}

/** A page in its new version, and what its last record says of it. */
interface NewPage {
  readonly bytes: Buffer;
  checksum: number;
}

interface Plan {
  readonly pages: ReadonlyMap<number, NewPage>;
  readonly applied: Applied;
}

/** Where the size of a page is in a database's header (SQLite's file format 1.3.2), and its way to write 65,536. */
const pageBytesOffset = 16;
const largestPageBytes = 65_536;
const maxPagesTogether = 64;

const syncData = promisify(fdatasync);

/**
 * Applies the pieces of one or more whole changes to the copy at `path`, and syncs it. The copy must exist, be open
 * nowhere, have no log and be written to by one call at a time. `link`: that of the last change that the copy contains.
 * At most 256 pieces, which are unpacked in memory twice, 1 MB each. Reads and writes at once, and waits for the sync
 * alone: for threads and commands. Rejects with PiecesRefused, with nothing written; after any other error, from the
 * disk, the pieces can be applied again.
 */
export async function applyPieces(copy: { path: string; link: Link }, pieces: readonly Buffer[]): Promise<Applied> {
  const opened = openAll(copy.link, pieces);
  const log = statSync(`${copy.path}-wal`, { throwIfNoEntry: false });
  if (log !== undefined && log.size > 0) throw new PiecesRefused('log', 'the copy has a log of its own');
  const file = openSync(copy.path, 'r+');
  try {
    const plan = planOf(file, opened);
    write(file, plan, opened.pageBytes);
    await syncData(file);
    return plan.applied;
  } finally {
    closeSync(file);
  }
}

interface Opened {
  readonly pieces: readonly OpenedPiece[];
  readonly last: PieceHead;
  readonly link: Link;
  readonly pageBytes: number;
}

function openAll(from: Link, pieces: readonly Buffer[]): Opened {
  if (pieces.length > maxPieces) throw new PiecesRefused('too large', `${pieces.length} pieces at once are too many`);
  const opened: OpenedPiece[] = [];
  let link = from;
  for (const piece of pieces) {
    const one = openPiece(piece, link);
    ({ link } = one);
    opened.push(one);
  }
  const last = opened.at(-1)?.head;
  if (last?.isLast !== true) throw new PiecesRefused('incomplete', 'the last piece of a change is missing');
  if (opened.some(({ head }) => head.pageBytes !== last.pageBytes))
    throw new PiecesRefused('page size', 'the pieces have pages of different sizes');
  return { pieces: opened, last, link, pageBytes: last.pageBytes };
}

function planOf(file: number, { pieces, last, link, pageBytes }: Opened): Plan {
  requirePageSize(file, pageBytes);
  const pages = new Map<number, NewPage>();
  const memory = new Slabs(pageBytes);
  let commits = 0;
  for (const { head, body } of pieces) {
    for (const { page, checksum, isWhole, patch } of readRecords(body, pageBytes)) {
      let known = pages.get(page);
      if (known === undefined) {
        known = { bytes: memory.take(), checksum };
        // Zeros behind the end.
        if (!isWhole) readSync(file, known.bytes, 0, pageBytes, (page - 1) * pageBytes);
        pages.set(page, known);
      }
      patch(known.bytes);
      known.checksum = checksum;
    }
    if (!head.isLast) continue;
    commits += head.commits;
    // Cut off. A copy that was left half done may not have them any more, so they cannot be checked.
    for (const page of pages.keys()) if (page > head.sizePages) pages.delete(page);
  }
  for (const [page, { bytes, checksum }] of pages)
    if (crc32(bytes) !== checksum) throw new PiecesRefused('page', `the copy has another version of page ${page}`);
  const { sizePages, schemaVersion } = last;
  return { pages, applied: { link, sizePages, schemaVersion, commits } };
}

/** An empty copy takes any. */
function requirePageSize(file: number, pageBytes: number): void {
  const size = Buffer.alloc(2);
  if (readSync(file, size, 0, 2, pageBytesOffset) === 0) return;
  const said = size.readUInt16BE(0);
  const own = said === 1 ? largestPageBytes : said;
  if (own !== pageBytes) throw new PiecesRefused('page size', `the copy has pages of ${own} bytes, not ${pageBytes}`);
}

/** Pages in a few large pieces of memory: thousands of small ones outside the heap keep the garbage collector busy. */
class Slabs {
  readonly #pageBytes: number;
  #free = Buffer.alloc(0);
  /** Of the last piece: few for a small change. */
  #pages = 4;

  constructor(pageBytes: number) {
    this.#pageBytes = pageBytes;
  }

  /** Zeros. */
  take(): Buffer {
    if (this.#free.length === 0) {
      this.#pages = Math.min(2 * this.#pages, maxPagesTogether);
      this.#free = Buffer.alloc(this.#pageBytes * this.#pages);
    }
    const page = this.#free.subarray(0, this.#pageBytes);
    this.#free = this.#free.subarray(this.#pageBytes);
    return page;
  }
}

function write(file: number, { pages, applied }: Plan, pageBytes: number): void {
  for (const [page, { bytes }] of pages) {
    const bytesWritten = writeSync(file, bytes, 0, pageBytes, (page - 1) * pageBytes);
    // As much as fits on a disk that is almost full.
    if (bytesWritten < pageBytes) throw new Error(`only ${bytesWritten} bytes of page ${page} could be written`);
  }
  // Shorter, or longer than its last page if SQLite leaves that out (at 1 GiB, for its locks).
  ftruncateSync(file, applied.sizePages * pageBytes);
}

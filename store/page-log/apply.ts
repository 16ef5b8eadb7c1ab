// Writes changes onto a copy of their file. Everything is checked before the first byte is written. A crash in the
// middle leaves a mix of old and new pages, which the same pieces make whole when they are applied again: ranges are
// bytes at places, not differences. So the caller records a link when it got it, and after a crash goes on from the last
// one it recorded, at least as far as it may have come before (to the end of what there is) before it opens the copy.

import { type FileHandle, open, stat } from 'node:fs/promises';
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

/**
 * Applies the pieces of one or more whole changes to the copy at `path`, and syncs it. The copy must exist, be open
 * nowhere, have no log and be written to by one call at a time. `link`: that of the last change that the copy contains.
 * At most 256 pieces, which are unpacked in memory twice, 1 MB each: in a thread if they are many and full. Throws
 * PiecesRefused, with nothing written; after any other error, from the disk, the pieces can be applied again.
 */
export async function applyPieces(copy: { path: string; link: Link }, pieces: readonly Buffer[]): Promise<Applied> {
  const opened = openAll(copy.link, pieces);
  // A file that cannot be read here cannot be opened below.
  const log = await stat(`${copy.path}-wal`).catch(() => undefined);
  if (log !== undefined && log.size > 0) throw new PiecesRefused('log', 'the copy has a log of its own');
  const file = await open(copy.path, 'r+');
  try {
    const plan = await planOf(file, opened);
    await write(file, plan, opened.pageBytes);
    return plan.applied;
  } finally {
    await file.close();
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

async function planOf(file: FileHandle, { pieces, last, link, pageBytes }: Opened): Promise<Plan> {
  await requirePageSize(file, pageBytes);
  const pages = new Map<number, NewPage>();
  const memory = new Slabs(pageBytes);
  let commits = 0;
  for (const { head, body } of pieces) {
    for (const { page, checksum, isWhole, patch } of readRecords(body, pageBytes)) {
      let known = pages.get(page);
      if (known === undefined) {
        known = { bytes: memory.take(), checksum };
        // Zeros behind the end.
        if (!isWhole) await file.read(known.bytes, 0, pageBytes, (page - 1) * pageBytes);
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
async function requirePageSize(file: FileHandle, pageBytes: number): Promise<void> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(2), 0, 2, pageBytesOffset);
  if (bytesRead === 0) return;
  const said = buffer.readUInt16BE(0);
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

async function write(file: FileHandle, { pages, applied }: Plan, pageBytes: number): Promise<void> {
  for (const [page, { bytes }] of pages) {
    const { bytesWritten } = await file.write(bytes, 0, pageBytes, (page - 1) * pageBytes);
    // As much as fits on a disk that is almost full.
    if (bytesWritten < pageBytes) throw new Error(`only ${bytesWritten} bytes of page ${page} could be written`);
  }
  // Shorter, or longer than its last page if SQLite leaves that out (at 1 GiB, for its locks).
  await file.truncate(applied.sizePages * pageBytes);
  await file.datasync();
}

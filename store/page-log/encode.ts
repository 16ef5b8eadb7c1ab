// Turns a change into pieces that another machine can apply to its copy of the file. Takes some 10 µs of CPU a page: runs
// in the writer's thread for a few pages, and for many in any other that can read the log.

import { type Change, LogUnreadable } from './added-frames.ts';
import { maxRecordBytes, writeRecord } from './page-records.ts';
import { type Link, maxBodyBytes, maxPieces, sealPiece } from './pieces.ts';

/** Reads bytes of the log at an offset and returns how many there were. The writer's is Database.readLog(). */
export type ReadLog = (into: Buffer, atByte: number) => number;

/** The records of a piece before they are packed, at most 1 MB. Made once, not for each change. */
let scratch = Buffer.alloc(0);

/** Too large for a log of changes: the file has to be copied instead. */
export class ChangeTooLarge extends Error {
  override readonly name = 'ChangeTooLarge';
}

/**
 * The pieces of a change, each at most 1 MiB and to be applied together, and the link that the next change goes on from.
 * `link`: that of the change before it. Throws ChangeTooLarge beyond 256 pieces, LogUnreadable.
 */
export function encodeChange(change: Change, log: { read: ReadLog; link: Link }): { pieces: Buffer[]; link: Link } {
  const { pageBytes } = change;
  const perPiece = Math.floor(maxBodyBytes / maxRecordBytes(pageBytes));
  if (change.pages.length > perPiece * maxPieces)
    throw new ChangeTooLarge(`a change of ${change.pages.length} pages is too large for a log`);
  const body = scratchOf(Math.min(perPiece, change.pages.length) * maxRecordBytes(pageBytes));
  const pieces: Buffer[] = [];
  let { link } = log;
  for (let next = 0; next < change.pages.length || pieces.length === 0; next += perPiece) {
    const pages = change.pages.slice(next, next + perPiece);
    let end = 0;
    for (const { page, at, baseAt } of pages) {
      const after = pageAt(change, log.read, at);
      const before = baseAt === undefined ? undefined : pageAt(change, log.read, baseAt);
      end = writeRecord(body, end, { page, before, after });
    }
    const sealed = sealPiece(
      { ...headOf(change), isLast: next + perPiece >= change.pages.length },
      body.subarray(0, end),
      link,
    );
    pieces.push(sealed.piece);
    ({ link } = sealed);
  }
  return { pieces, link };
}

function headOf({ pageBytes, sizePages, commits, schemaVersion }: Change): Omit<Change, 'pages' | 'kept'> {
  return { pageBytes, sizePages, commits, schemaVersion };
}

function pageAt({ kept, pageBytes }: Change, read: ReadLog, at: number): Buffer {
  const frames = kept.find((one) => at >= one.at && at < one.at + one.bytes.length && one.isIntact());
  if (frames !== undefined) return frames.bytes.subarray(at - frames.at, at - frames.at + pageBytes);
  const page = Buffer.allocUnsafe(pageBytes);
  if (read(page, at) < pageBytes) throw new LogUnreadable('the log is shorter than its frames');
  return page;
}

function scratchOf(bytes: number): Buffer {
  if (scratch.length < bytes) scratch = Buffer.allocUnsafeSlow(bytes);
  return scratch;
}

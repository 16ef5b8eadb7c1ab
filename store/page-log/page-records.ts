// The pages within a piece, one record each, little-endian: page (4 bytes) | CRC-32 of the page after it (4) | ranges
// (2) | for each range: equal bytes before it (2), its length (2), its bytes. A record without ranges has the whole page.

import { crc32 } from 'node:zlib';
import { changedRanges } from './byte-ranges.ts';
import { PiecesRefused } from './pieces.ts';

/** A page's change. */
export interface PageRecord {
  readonly page: number;
  readonly checksum: number;
  readonly isWhole: boolean;
  /** Writes it into the version before it. Doing so again changes nothing. */
  patch(version: Buffer): void;
}

const recordHeadBytes = 10;
const rangeHeadBytes = 4;

/** The largest record of a page of `pageBytes`. */
export function maxRecordBytes(pageBytes: number): number {
  return recordHeadBytes + pageBytes;
}

/** Writes a record at byte `at`, whole if that is shorter or `before` is undefined, and returns where it ends. */
export function writeRecord(
  body: Buffer,
  at: number,
  { page, before, after }: { page: number; before: Buffer | undefined; after: Buffer },
): number {
  const ranges = before === undefined ? undefined : changedRanges(before, after);
  const length = ranges?.reduce((sum, { start, end }) => sum + rangeHeadBytes + end - start, 0) ?? after.length;
  const isWhole = ranges === undefined || length >= after.length;
  body.writeUInt32LE(page, at);
  body.writeUInt32LE(crc32(after), at + 4);
  body.writeUInt16LE(isWhole ? 0 : Math.max(1, ranges.length), at + 8);
  let to = at + recordHeadBytes;
  if (isWhole) return to + after.copy(body, to);
  let equalFrom = 0;
  // A page that was written without a change has one empty range.
  for (const { start, end } of ranges.length === 0 ? [{ start: 0, end: 0 }] : ranges) {
    body.writeUInt16LE(start - equalFrom, to);
    body.writeUInt16LE(end - start, to + 2);
    to += rangeHeadBytes;
    to += after.copy(body, to, start, end);
    equalFrom = end;
  }
  return to;
}

/** The records of a body. Throws PiecesRefused if it is malformed. */
export function* readRecords(body: Buffer, pageBytes: number): Generator<PageRecord> {
  for (let at = 0; at < body.length; ) {
    requireBytes(body, at + recordHeadBytes);
    const head = at;
    const page = body.readUInt32LE(head);
    if (page === 0) throw new PiecesRefused('damaged', 'a record has no page');
    const count = body.readUInt16LE(head + 8);
    const ranges: { start: number; bytes: Buffer }[] = [];
    at += recordHeadBytes;
    if (count === 0) {
      ranges.push({ start: 0, bytes: requireBytes(body, at + pageBytes).subarray(at, at + pageBytes) });
      at += pageBytes;
    }
    for (let equalFrom = 0; ranges.length < count; ) {
      requireBytes(body, at + rangeHeadBytes);
      const start = equalFrom + body.readUInt16LE(at);
      const end = start + body.readUInt16LE(at + 2);
      at += rangeHeadBytes;
      if (end > pageBytes) throw new PiecesRefused('damaged', 'a range is longer than its page');
      ranges.push({ start, bytes: requireBytes(body, at + end - start).subarray(at, at + end - start) });
      at += end - start;
      equalFrom = end;
    }
    yield {
      page,
      checksum: body.readUInt32LE(head + 4),
      isWhole: count === 0,
      patch(version) {
        for (const { start, bytes } of ranges) bytes.copy(version, start);
      },
    };
  }
}

function requireBytes(body: Buffer, length: number): Buffer {
  if (body.length < length) throw new PiecesRefused('damaged', 'a record is cut off');
  return body;
}

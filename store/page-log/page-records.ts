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
  const isWhole = ranges === undefined || lengthOf(ranges) >= after.length;
  body.writeUInt32LE(page, at);
  body.writeUInt32LE(crc32(after), at + 4);
  body.writeUInt16LE(isWhole ? 0 : Math.max(1, ranges.length / 2), at + 8);
  let to = at + recordHeadBytes;
  if (isWhole) return to + after.copy(body, to);
  let equalFrom = 0;
  // A page that was written without a change has one empty range.
  for (let index = 0; index < Math.max(2, ranges.length); index += 2) {
    const start = ranges[index] ?? 0;
    const end = ranges[index + 1] ?? 0;
    body.writeUInt16LE(start - equalFrom, to);
    body.writeUInt16LE(end - start, to + 2);
    to += rangeHeadBytes;
    to += after.copy(body, to, start, end);
    equalFrom = end;
  }
  return to;
}

function lengthOf(ranges: readonly number[]): number {
  let length = 0;
  for (let index = 0; index < ranges.length; index += 2)
    length += rangeHeadBytes + (ranges[index + 1] ?? 0) - (ranges[index] ?? 0);
  return length;
}

/** The records of a body. Throws PiecesRefused if it is malformed. */
export function* readRecords(body: Buffer, pageBytes: number): Generator<PageRecord> {
  for (let at = 0; at < body.length; ) {
    requireBytes(body, at + recordHeadBytes);
    const page = body.readUInt32LE(at);
    if (page === 0) throw new PiecesRefused('damaged', 'a record has no page');
    const checksum = body.readUInt32LE(at + 4);
    const count = body.readUInt16LE(at + 8);
    const from = at + recordHeadBytes;
    at = endOf(body, from, { count, pageBytes });
    yield {
      page,
      checksum,
      isWhole: count === 0,
      patch: (version) => patch(version, body, { from, count }),
    };
  }
}

/** Behind a record's ranges. Throws PiecesRefused if they do not fit. */
function endOf(body: Buffer, from: number, { count, pageBytes }: { count: number; pageBytes: number }): number {
  let at = from;
  if (count === 0) at += pageBytes;
  for (let index = 0, end = 0; index < count; index += 1) {
    requireBytes(body, at + rangeHeadBytes);
    const length = body.readUInt16LE(at + 2);
    end += body.readUInt16LE(at) + length;
    if (end > pageBytes) throw new PiecesRefused('damaged', 'a range is longer than its page');
    at += rangeHeadBytes + length;
  }
  requireBytes(body, at);
  return at;
}

/** What endOf() has looked at. */
function patch(version: Buffer, body: Buffer, { from, count }: { from: number; count: number }): void {
  let at = from;
  if (count === 0) body.copy(version, 0, at, at + version.length);
  for (let index = 0, end = 0; index < count; index += 1) {
    const start = end + body.readUInt16LE(at);
    end = start + body.readUInt16LE(at + 2);
    at += rangeHeadBytes;
    body.copy(version, start, at, at + end - start);
    at += end - start;
  }
}

function requireBytes(body: Buffer, length: number): void {
  if (body.length < length) throw new PiecesRefused('damaged', 'a record is cut off');
}

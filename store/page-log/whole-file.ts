// A whole database file as one change, for a log whose copies have nothing of it yet.

import { type Change, LogUnreadable } from './added-frames.ts';
import { encodeChange } from './encode.ts';
import { firstLink, type Link } from './pieces.ts';

/** In a database's header (SQLite's file format 1.3). */
const pageBytesAt = 16;
const versionAt = 60;
const largestPageBytes = 65_536;

/** The pieces that make an empty file this one. Throws ChangeTooLarge, LogUnreadable. */
export function encodeFile(bytes: Buffer): { pieces: Buffer[]; link: Link } {
  const said = bytes.readUInt16BE(pageBytesAt);
  const pageBytes = said === 1 ? largestPageBytes : said;
  if (bytes.length === 0 || bytes.length % pageBytes !== 0) throw new LogUnreadable('the file is cut off');
  const sizePages = bytes.length / pageBytes;
  const change: Change = {
    pageBytes,
    sizePages,
    commits: 1,
    schemaVersion: bytes.readInt32BE(versionAt),
    pages: Array.from({ length: sizePages }, (_, index) => ({
      page: index + 1,
      at: index * pageBytes,
      baseAt: undefined,
    })),
    kept: [],
  };
  return encodeChange(change, { read: (into, at) => bytes.copy(into, 0, at, at + into.length), link: firstLink });
}

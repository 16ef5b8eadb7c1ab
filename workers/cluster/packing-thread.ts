// The thread that packs database files for snapshots, and unpacks them. A whole file is in its memory meanwhile.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { Database, maxWrittenBytes, writeDurably } from '../../store/database.ts';
import { answerCalls } from '../thread.ts';

export interface PackedFile {
  /** Of the unpacked file, lower-case hexadecimal. */
  readonly sha256: string;
  readonly bytes: number;
  /** The schema's version. */
  readonly version: number;
}

/** Level 3 takes half as long again and gains a twentieth. */
const packing = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** By an id of the caller: files whose state is held. */
const held = new Map<string, Database>();

export const methods = {
  /** Answers once the thread runs. */
  ready(_: undefined): void {},

  /** Holds the state that the file has now, while it is written to. Ends with pack() or drop(). */
  hold({ id, path }: { id: string; path: string }): void {
    const db = Database.openReader(path);
    db.beginReading();
    held.set(id, db);
  },

  /** Writes the held state, packed, to `to`. */
  pack({ id, to }: { id: string; to: string }): PackedFile {
    const db = held.get(id);
    if (db === undefined) throw new Error('its state is not held');
    try {
      const { version } = db;
      const bytes = db.serialize();
      // What cannot be unpacked must not count as a snapshot, since the log before one is purged.
      if (bytes.length > maxWrittenBytes)
        throw new Error(`the file has ${bytes.length} bytes, and a snapshot at most ${maxWrittenBytes}`);
      writeDurably(to, zstdCompressSync(bytes, packing));
      return { sha256: sha256Of(bytes), bytes: bytes.length, version };
    } finally {
      methods.drop({ id });
    }
  },

  drop({ id }: { id: string }): void {
    held.get(id)?.close();
    held.delete(id);
  },

  /** Writes the file that was packed at `from` to `to`, if it is the one that it should be. */
  unpack({ from, to, sha256, bytes }: { from: string; to: string; sha256: string; bytes: number }): void {
    const unpacked = zstdDecompressSync(readFileSync(from), { maxOutputLength: Math.max(bytes, 1) });
    if (unpacked.length !== bytes || sha256Of(unpacked) !== sha256)
      throw new Error('the snapshot is not the file that was packed');
    writeDurably(to, unpacked);
  },
};

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

answerCalls(methods);

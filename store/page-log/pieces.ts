// A piece is one message of a file's log of changes: a head, pages packed by zstd, and a digest of both. Each names the
// piece before it by its digest, across changes: a piece that is missing, repeated or moved does not fit. All numbers
// are little-endian.
//
//   0 format (1 byte) | 1 is the last piece of its change (1) | 2 bytes per page (4) | 6 pages of the file after it (4)
//   10 commits (4) | 14 schema's user_version (4) | 18 bytes of the pages unpacked (4) | 22 link to the piece before (8)
//   30 pages, packed | last 8 bytes: the first 8 of SHA-256 over all before, which is the link to this piece

import { hash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** Names a piece: 16 hex digits. */
export type Link = string;

/** The link that the first piece of all goes on from. */
export const firstLink: Link = '0'.repeat(16);

export interface PieceHead {
  readonly pageBytes: number;
  readonly sizePages: number;
  readonly commits: number;
  readonly schemaVersion: number;
  /** A change is complete with its last piece. */
  readonly isLast: boolean;
}

export interface OpenedPiece {
  readonly head: PieceHead;
  readonly body: Buffer;
  readonly link: Link;
}

/**
 * `format`: written by another version. `damaged`: not what was sealed. `order`: does not follow the piece before.
 * `incomplete`: a change's last piece is missing. `too large`: more pieces than can be applied at once. `page size`,
 * `page`: of another file, or of another version of the page. `log`: the copy has a write-ahead log.
 */
export type Unfit = 'format' | 'damaged' | 'order' | 'incomplete' | 'too large' | 'page size' | 'page' | 'log';

/** Pieces do not fit a copy. Nothing was written. */
export class PiecesRefused extends Error {
  override readonly name = 'PiecesRefused';
  readonly reason: Unfit;

  constructor(reason: Unfit, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The pages of a piece, unpacked. Less than 1 MiB by as much as a message's own head and zstd may add at worst. */
export const maxBodyBytes = 1_000_000;
/** Of one change, and applied at once; their pages are in memory together. More is cheaper as a copy of the file. */
export const maxPieces = 256;

/**
 * Of what nodes write for each other: pieces, and snapshots. It is a part of what a node must know to open a file
 * (../schema-version.ts), so that nodes which do not know a new one leave alone what is written in it.
 */
export const format = 1;
const headBytes = 30;
const linkBytes = 8;
/** Faster than level 3; a message's change is less than a hundredth larger. */
const level = { [constants.ZSTD_c_compressionLevel]: 1 };
/** Most bodies are packed to less, so that the output is one piece of memory. */
const chunkSize = 64 * 1024;

/** Packs a body of at most maxBodyBytes. The piece is at most 1 MiB. */
export function sealPiece(head: PieceHead, body: Buffer, before: Link): { piece: Buffer; link: Link } {
  const packed = zstdCompressSync(body, { params: level, pledgedSrcSize: body.length, chunkSize });
  const piece = Buffer.allocUnsafe(headBytes + packed.length + linkBytes);
  piece.writeUInt8(format, 0);
  piece.writeUInt8(head.isLast ? 1 : 0, 1);
  piece.writeUInt32LE(head.pageBytes, 2);
  piece.writeUInt32LE(head.sizePages, 6);
  piece.writeUInt32LE(head.commits, 10);
  piece.writeInt32LE(head.schemaVersion, 14);
  piece.writeUInt32LE(body.length, 18);
  piece.write(before, headBytes - linkBytes, 'hex');
  packed.copy(piece, headBytes);
  const digest = digestOf(piece);
  digest.copy(piece, piece.length - linkBytes);
  return { piece, link: digest.toString('hex') };
}

/** Throws PiecesRefused unless the piece is whole and follows the one named by `before`. */
export function openPiece(piece: Buffer, before: Link): OpenedPiece {
  if (piece[0] !== format)
    throw new PiecesRefused(
      'format',
      `it has format ${piece[0]}, and this program knows ${format}: a newer version wrote it`,
    );
  if (piece.length < headBytes + linkBytes) throw new PiecesRefused('damaged', 'the piece is cut off');
  const digest = digestOf(piece);
  if (!digest.equals(piece.subarray(-linkBytes)))
    throw new PiecesRefused('damaged', 'the piece is not as it was sealed');
  const named = piece.toString('hex', headBytes - linkBytes, headBytes);
  if (named !== before) throw new PiecesRefused('order', `the piece follows ${named}, not ${before}`);
  return {
    head: {
      pageBytes: piece.readUInt32LE(2),
      sizePages: piece.readUInt32LE(6),
      commits: piece.readUInt32LE(10),
      schemaVersion: piece.readInt32LE(14),
      isLast: endsChange(piece),
    },
    body: unpacked(piece.subarray(headBytes, -linkBytes), piece.readUInt32LE(18)),
    link: digest.toString('hex'),
  };
}

/** Whether a change is complete with this piece. Does not check it. */
export function endsChange(piece: Buffer): boolean {
  return piece[1] === 1;
}

function unpacked(packed: Buffer, bodyBytes: number): Buffer {
  try {
    const chunkSize = Math.max(constants.Z_MIN_CHUNK, Math.min(bodyBytes, maxBodyBytes) + 1);
    const body = zstdDecompressSync(packed, { maxOutputLength: maxBodyBytes, chunkSize });
    if (body.length === bodyBytes) return body;
  } catch (cause) {
    throw Object.assign(new PiecesRefused('damaged', 'the pages cannot be unpacked'), { cause });
  }
  throw new PiecesRefused('damaged', `the pages are not ${bodyBytes} bytes long`);
}

function digestOf(piece: Buffer): Buffer {
  return hash('sha256', piece.subarray(0, -linkBytes), 'buffer').subarray(0, linkBytes);
}

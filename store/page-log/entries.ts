// Pieces of several changes as the bytes of one entry in a log: each with its length before it. Entries that are joined
// are the bytes one after the other.

import { maxPieces, PiecesRefused } from './pieces.ts';

const lengthBytes = 4;

export function joinPieces(pieces: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [];
  for (const piece of pieces) {
    const length = Buffer.allocUnsafe(lengthBytes);
    length.writeUInt32LE(piece.length);
    parts.push(length, piece);
  }
  return Buffer.concat(parts);
}

/** Throws PiecesRefused if the bytes are not whole. */
export function piecesOf(entry: Uint8Array): Buffer[] {
  const bytes = Buffer.from(entry.buffer, entry.byteOffset, entry.byteLength);
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const start = at + lengthBytes;
    const end = start > bytes.length ? Number.NaN : start + bytes.readUInt32LE(at);
    if (!(end <= bytes.length)) throw new PiecesRefused('damaged', 'the entry is cut off');
    pieces.push(bytes.subarray(start, end));
    at = end;
  }
  return pieces;
}

/** The pieces of as many entries as can be applied at once, with the last one's sequence. An entry has at most as many. */
export function* piecesTogether(
  entries: Iterable<{ readonly sequence: number; readonly bytes: Uint8Array }>,
): Generator<{ readonly sequence: number; readonly pieces: Buffer[] }, void, void> {
  let pieces: Buffer[] = [];
  let last: number | undefined;
  for (const { sequence, bytes } of entries) {
    const more = piecesOf(bytes);
    if (last !== undefined && pieces.length > 0 && pieces.length + more.length > maxPieces) {
      yield { sequence: last, pieces };
      pieces = [];
    }
    pieces.push(...more);
    last = sequence;
  }
  if (last !== undefined) yield { sequence: last, pieces };
}

// Bytes that come in pieces, kept in one buffer: a piece of one byte costs one byte, not an object of a hundred. And
// how small pieces may be, since each costs the loop a turn, whatever it holds.

const leastCapacity = 1024;
/** So many pieces may have any size, as clients have that write a body bit by bit. */
const freePieces = 1024;
/** Beyond those, on average. Whoever sends smaller ones means no good, or reads a file byte by byte. */
const leastPieceBytes = 64;

export class GatheredBytes {
  #buffer: Buffer = Buffer.alloc(0);
  #length = 0;

  get byteLength(): number {
    return this.#length;
  }

  /** Copies it: the library takes its memory back. */
  add(piece: Uint8Array): void {
    const needed = this.#length + piece.byteLength;
    if (needed > this.#buffer.byteLength) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.byteLength * 2, leastCapacity));
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    this.#buffer.set(piece, this.#length);
    this.#length = needed;
  }

  /** All of it; it is empty then. */
  take(): Uint8Array {
    const all = this.#buffer.subarray(0, this.#length);
    this.#buffer = Buffer.alloc(0);
    this.#length = 0;
    return all;
  }
}

/** Counts the pieces of one body. */
export class Pieces {
  #count = 0;
  #bytes = 0;

  /** False once they are too many for what they hold. */
  allow(byteLength: number): boolean {
    this.#count += 1;
    this.#bytes += byteLength;
    return this.#count <= freePieces || this.#bytes >= (this.#count - freePieces) * leastPieceBytes;
  }
}

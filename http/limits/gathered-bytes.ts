// Collects bytes that arrive in pieces in one buffer, so that a piece of one byte costs one byte and not an object of a
// hundred. Also limits how small pieces may be, since each costs a turn of the loop.

const leastCapacity = 1024;
/** The first pieces may have any size: some clients write a body bit by bit. */
const freePieces = 1024;
/** The average size required after those. Smaller pieces are an attack, or a file that is read byte by byte. */
const leastPieceBytes = 64;

export class GatheredBytes {
  #buffer: Buffer = Buffer.alloc(0);
  #length = 0;

  get byteLength(): number {
    return this.#length;
  }

  /** Copies the piece: the library reuses its memory. */
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

  /** Returns everything and empties the buffer. */
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

  /** False once there are too many pieces for their total size. */
  allow(byteLength: number): boolean {
    this.#count += 1;
    this.#bytes += byteLength;
    return this.#count <= freePieces || this.#bytes >= (this.#count - freePieces) * leastPieceBytes;
  }
}

// Collects bytes that arrive in pieces in a few buffers, so that a piece of one byte costs one byte and not an object of
// a hundred, and a large piece is copied once. Also limits how small pieces may be, since each costs a turn of the loop.

const leastCapacity = 1024;
/** Buffers for small pieces grow to this size. A larger piece has a buffer of its own. */
const largestShared = 64 * 1024;
/** The first pieces may have any size: some clients write a body bit by bit. */
const freePieces = 1024;
/** The average size required after those. Smaller pieces are an attack, or a file that is read byte by byte. */
const leastPieceBytes = 64;

export class GatheredBytes {
  /** All but the last are full, or as full as the piece after them allowed. */
  #buffers: Buffer[] = [];
  /** Free bytes at the end of the last buffer. */
  #free = 0;
  #capacity = leastCapacity;
  #length = 0;

  get byteLength(): number {
    return this.#length;
  }

  /** Copies the piece: the library reuses its memory. */
  add(piece: Uint8Array): void {
    const { byteLength } = piece;
    if (byteLength > this.#free) {
      this.#trim();
      const buffer = Buffer.allocUnsafeSlow(Math.max(byteLength, this.#capacity));
      this.#buffers.push(buffer);
      this.#free = buffer.byteLength;
      this.#capacity = Math.min(this.#capacity * 2, largestShared);
    }
    const last = this.#buffers.at(-1);
    last?.set(piece, last.byteLength - this.#free);
    this.#free -= byteLength;
    this.#length += byteLength;
  }

  /** Returns everything in one piece and keeps nothing. */
  take(): Uint8Array {
    this.#trim();
    const [first, ...rest] = this.#buffers;
    const all = first === undefined || rest.length > 0 ? Buffer.concat(this.#buffers, this.#length) : first;
    this.#buffers = [];
    this.#length = 0;
    this.#capacity = leastCapacity;
    return all;
  }

  /** Returns the bytes that have been here the longest, without copying them; none if there are none. */
  takeFirst(): Uint8Array {
    if (this.#buffers.length <= 1) return this.take();
    const first = this.#buffers.shift();
    this.#length -= first?.byteLength ?? 0;
    return first ?? new Uint8Array(0);
  }

  /** Cuts off what the last buffer has not used. */
  #trim(): void {
    const last = this.#buffers.pop();
    if (last !== undefined) this.#buffers.push(last.subarray(0, last.byteLength - this.#free));
    this.#free = 0;
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

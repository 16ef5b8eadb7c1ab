// Memory in which frames of logs are kept for a moment: a ring, so that reading each commit makes no garbage. What was
// taken first is overwritten first. For one thread.

export interface Taken {
  readonly bytes: Buffer;
  /** Whether nobody else has taken the same memory since. */
  readonly isIntact: () => boolean;
}

/** Whatever is read in words begins at a multiple of their size. */
const alignment = 8;

export class FrameMemory {
  readonly #size: number;
  /** From the first use on. */
  #ring: Buffer | undefined;
  /** Since the beginning. */
  #takenBytes = 0;

  /** `size`: bytes, a multiple of 8. */
  constructor(size: number) {
    this.#size = size;
  }

  /** At most `size` bytes, with anything in them. */
  take(length: number): Taken {
    if (length > this.#size) throw new RangeError(`${length} bytes are more than the ${this.#size} there are`);
    this.#ring ??= Buffer.allocUnsafeSlow(this.#size);
    let from = Math.ceil(this.#takenBytes / alignment) * alignment;
    // In one piece: what is left at the ring's end is passed over.
    if ((from % this.#size) + length > this.#size) from += this.#size - (from % this.#size);
    this.#takenBytes = from + length;
    const at = from % this.#size;
    return {
      bytes: this.#ring.subarray(at, at + length),
      isIntact: () => this.#takenBytes - from <= this.#size,
    };
  }
}

// The positions of a long list's rows of which only some are drawn: measured or estimated heights, and their sums.
// Plain arithmetic, testable without a browser.

export class Heights {
  readonly #measured = new Map<string, number>();
  #keys: readonly string[] = [];
  #places = new Map<string, number>();
  #guesses: readonly number[] = [];
  #offsets = new Float64Array(1);
  /** Offsets up to and including this row are valid. */
  #sound = 0;

  /** The rows, in order; `guesses` are the heights of rows that were never measured. */
  set(keys: readonly string[], guesses: readonly number[]): void {
    this.#keys = keys;
    this.#guesses = guesses;
    this.#places = new Map(keys.map((key, index) => [key, index]));
    this.#offsets = new Float64Array(keys.length + 1);
    this.#sound = 0;
  }

  /** Returns true if the height has changed. */
  measure(key: string, height: number): boolean {
    const index = this.#places.get(key);
    if (index === undefined || Math.abs(this.#heightAt(index) - height) < 0.5) {
      if (index !== undefined) this.#measured.set(key, height);
      return false;
    }
    this.#measured.set(key, height);
    this.#sound = Math.min(this.#sound, index);
    return true;
  }

  indexOf(key: string): number | undefined {
    return this.#places.get(key);
  }

  get total(): number {
    return this.offsetOf(this.#keys.length);
  }

  /** The offset of the row's upper edge; for the number of rows, of the end. */
  offsetOf(index: number): number {
    for (; this.#sound < index; this.#sound += 1)
      this.#offsets[this.#sound + 1] = (this.#offsets[this.#sound] ?? 0) + this.#heightAt(this.#sound);
    return this.#offsets[index] ?? 0;
  }

  /** The rows between two offsets: from `first` to `end`, exclusive. */
  between(top: number, bottom: number): { readonly first: number; readonly end: number } {
    const count = this.#keys.length;
    if (count === 0) return { first: 0, end: 0 };
    void this.offsetOf(count);
    const first = this.#at(top);
    return { first, end: Math.min(count, this.#at(bottom) + 1) };
  }

  /** The row at this offset. */
  #at(offset: number): number {
    let [low, high] = [0, this.#keys.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#offsets[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #heightAt(index: number): number {
    return this.#measured.get(this.#keys[index] ?? '') ?? this.#guesses[index] ?? 0;
  }
}

// Lists of whole numbers as short text: five bits a character, the lowest first, and a sixth that says whether the
// number goes on. Small numbers take one character, and a text comes out of SQLite at a fraction of what a blob costs.
// Pure functions; rollups store what numeralsOf() makes.

const zero = 48;
const bits = 5;
const lowest = (1 << bits) - 1;
const goesOn = 1 << bits;

/** None may be negative, or as large as 2^32. */
export function numeralsOf(numbers: readonly number[]): string {
  let text = '';
  for (const number of numbers) {
    let rest = number;
    for (; rest > lowest; rest >>>= bits) text += String.fromCharCode(zero + goesOn + (rest & lowest));
    text += String.fromCharCode(zero + rest);
  }
  return text;
}

/** Reads a list from its start. */
export class NumeralReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Steps over the space between lists that SQL joined with group_concat(…, ' '), if one is next. */
  startsAnew(): boolean {
    if (this.#text.charCodeAt(this.#at) >= zero) return false;
    this.#at += 1;
    return true;
  }

  next(): number {
    const digit = this.#text.charCodeAt(this.#at) - zero;
    this.#at += 1;
    // As most are.
    return digit <= lowest ? digit : this.#longer(digit & lowest);
  }

  #longer(firstDigit: number): number {
    let value = firstDigit;
    for (let factor = 1 << bits; ; factor *= 1 << bits) {
      const digit = this.#text.charCodeAt(this.#at) - zero;
      this.#at += 1;
      value += (digit & lowest) * factor;
      if (!(digit >= goesOn)) return value;
    }
  }
}

// Estimates in one pass over the text what compiling a regular expression (RE2 syntax) costs. Compiling is the slow
// part: nested repetitions such as `.{0,900}`, or ignoring case for the letters of all scripts, can take seconds within
// 500 characters. Invalid expressions are left to the compiler; the estimate must only never be too low.

export interface PatternCost {
  /** Characters and classes, with repetitions expanded. */
  readonly size: number;
  /** Characters in the ranges of classes if case is ignored anywhere, because each is then visited. */
  readonly ranged: number;
  /** Unicode classes, with thousands of characters each. */
  readonly named: number;
}

const token =
  /\\Q(?:[^\\]|\\(?!E))*(?:\\E)?|\\x(?:\{(?<braced>[\da-f]*)\}|(?<hex>[\da-f]{2}))|(?<named>\\p(?:\{[^}]*\}|[^])?)|\\[^]|\[:\^?\w+:\]|(?<flags>\(\?[\w-]*\))|(?<open>\((?:\?(?:P?<\w*>|[\w-]*:))?)|\{(?<least>\d+)(?:(?<more>,)(?<most>\d*))?\}|[^]/giu;

const ignoresCase = /\(\?\w*i/;

export function costOf(pattern: string): PatternCost {
  let [ranged, named] = [0, 0];
  /** For each open group, the size of what came before it. */
  const outer: number[] = [];
  /** Sizes of the innermost group and of its last item, which a repetition repeats. */
  let [size, last] = [0, 0];
  let ofClass: ClassText | undefined;
  for (const { 0: text, groups = {} } of pattern.matchAll(token)) {
    if (groups['named'] !== undefined) named += 1;
    if (ofClass !== undefined) {
      if (text === ']' && ofClass.hasOne) {
        ranged += ofClass.ranged;
        ofClass = undefined;
      } else ofClass.add(text, characterOf(text, groups['braced'] ?? groups['hex']));
    } else if (groups['open'] !== undefined) {
      outer.push(size);
      [size, last] = [0, 0];
    } else if (text === ')') {
      last = size;
      size += outer.pop() ?? 0;
    } else if (groups['least'] !== undefined) {
      const { least, more, most } = groups;
      const times = most !== undefined && most !== '' ? Number(most) : Number(least) + (more === undefined ? 0 : 1);
      const whole = times * Math.max(1, last);
      size += whole - last;
      last = whole;
    } else if (groups['flags'] === undefined && !/^[*+?|]$/.test(text)) {
      last = text.startsWith('\\Q') ? text.length : 1;
      size += last;
      if (text === '[') ofClass = new ClassText();
    }
  }
  return {
    size: outer.reduce((sum, before) => sum + before, size),
    ranged: ignoresCase.test(pattern) ? ranged : 0,
    named,
  };
}

/** The text between the brackets of a class. */
class ClassText {
  ranged = 0;
  /** A bracket in first position does not close the class. */
  hasOne = false;
  #isNegated = false;
  #from: number | undefined;
  #isRange = false;

  add(text: string, character: number): void {
    if (text === '^' && !this.hasOne && !this.#isNegated) {
      this.#isNegated = true;
      return;
    }
    this.hasOne = true;
    if (text === '-' && this.#from !== undefined && !this.#isRange) {
      this.#isRange = true;
    } else if (this.#isRange && this.#from !== undefined) {
      this.ranged += Math.max(0, character - this.#from);
      [this.#from, this.#isRange] = [undefined, false];
    } else this.#from = character;
  }
}

function characterOf(text: string, hex: string | undefined): number {
  if (hex !== undefined) return Number.parseInt(hex, 16) || 0;
  return text.codePointAt(text.length > 1 && text.startsWith('\\') ? 1 : 0) ?? 0;
}

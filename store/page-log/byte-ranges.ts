// Compares two versions of a page.

/** Bytes from `start` up to, but not including, `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const wordBytes = 4;
/** A range ends before this many equal words: its own place and length take as much as one. */
const equalWords = 2;

/**
 * The ranges in which two versions of a page differ, ascending, not adjacent; near ones are joined. Both buffers are
 * of one length, a multiple of 4, and begin at a multiple of 4 of their memory.
 */
export function changedRanges(before: Uint8Array, after: Uint8Array): ByteRange[] {
  const old = wordsOf(before);
  const now = wordsOf(after);
  const ranges: ByteRange[] = [];
  for (let word = 0; word < now.length; word += 1) {
    if (old[word] === now[word]) continue;
    const first = word;
    let last = word;
    for (word += 1; word < now.length && word - last <= equalWords; word += 1) if (old[word] !== now[word]) last = word;
    ranges.push(trimmed({ start: first * wordBytes, end: (last + 1) * wordBytes }, before, after));
    word = last;
  }
  return ranges;
}

/** Words compare several times faster than bytes. */
function wordsOf(page: Uint8Array): Int32Array {
  return new Int32Array(page.buffer, page.byteOffset, page.length / wordBytes);
}

/** Without the equal bytes of its first and last word. */
function trimmed(range: ByteRange, before: Uint8Array, after: Uint8Array): ByteRange {
  let { start, end } = range;
  while (before[start] === after[start]) start += 1;
  while (before[end - 1] === after[end - 1]) end -= 1;
  return { start, end };
}

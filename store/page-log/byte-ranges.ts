// Compares two versions of a page.

const wordBytes = 4;
/** A range ends before this many equal words: its own place and length take as much as one. */
const equalWords = 2;

/**
 * The ranges in which two versions of a page differ, ascending, not adjacent; near ones are joined. Each is its first
 * byte and the one behind its last, one after the other in one list: an object for each would be most of a commit's
 * garbage. Both buffers are of one length, a multiple of 4, and begin at a multiple of 4 of their memory.
 */
export function changedRanges(before: Uint8Array, after: Uint8Array): number[] {
  const old = wordsOf(before);
  const now = wordsOf(after);
  const ranges: number[] = [];
  for (let word = nextDifferent(old, now, 0); word < now.length; ) {
    let start = word * wordBytes;
    let last = word;
    for (word += 1; word < now.length && word - last <= equalWords; word += 1) if (old[word] !== now[word]) last = word;
    let end = (last + 1) * wordBytes;
    // Without the equal bytes of the first and last word.
    while (before[start] === after[start]) start += 1;
    while (before[end - 1] === after[end - 1]) end -= 1;
    ranges.push(start, end);
    word = nextDifferent(old, now, last + 1);
  }
  return ranges;
}

/** Words compare several times faster than bytes. */
function wordsOf(page: Uint8Array): Int32Array {
  return new Int32Array(page.buffer, page.byteOffset, page.length / wordBytes);
}

/** The first word from `from` on that differs, or the number of words. Most of a page is equal: four at a time. */
function nextDifferent(old: Int32Array, now: Int32Array, from: number): number {
  let word = from;
  while (
    word + 4 <= now.length &&
    old[word] === now[word] &&
    old[word + 1] === now[word + 1] &&
    old[word + 2] === now[word + 2] &&
    old[word + 3] === now[word + 3]
  )
    word += 4;
  while (word < now.length && old[word] === now[word]) word += 1;
  return word;
}

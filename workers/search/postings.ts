// Lists of documents, packed for the index file. Documents are numbered in the order of their writing and lie in segments of
// a fixed size; a segment is written once, when it is full, and never changed. Words of the segments that are not full yet
// are kept in memory and are read again from their source after a restart.

import type { Database } from '../../store/database.ts';
import { findProgress, insertPosting, postingsBeyond, postingsOf, type Progress, putProgress, type SearchField } from '../../store/search-index.ts';
import type { Dictionary } from './dictionary.ts';
import { canBeMisspelt, eachWord, isMisspelt, type Level, levels, listedPrefix, listedPrefixes, type QueryWord } from './words.ts';

/** Documents of a segment. Words of so many messages take about 3 MB of memory. */
export const segmentDocs = 8192;
const bitmapBytes = segmentDocs / 8;
/** Rows written before somebody else may have the thread: a millisecond or two. */
const rowsPerSlice = 256;

/** Documents of one segment: offsets from `base`, ascending, or as they are packed. */
export interface DocList {
  readonly base: number;
  readonly docs: Uint8Array | readonly number[];
}

/** Where a word was met, by how well it was. */
export interface Meeting {
  readonly level: Level;
  readonly lists: readonly DocList[];
}

type Words = Map<string, number[]>;

interface Recent {
  readonly words: Words;
  lastDoc: number;
  lastId: string;
}

export class WordIndex {
  readonly #db: Database;
  readonly #field: SearchField;
  readonly #dictionary: Dictionary;
  #progress: Progress;
  /** By segment: those that are not in the file. */
  readonly #recent = new Map<number, Recent>();
  #lastDoc: number;

  constructor(db: Database, field: SearchField, dictionary: Dictionary) {
    this.#db = db;
    this.#field = field;
    this.#dictionary = dictionary;
    this.#progress = findProgress(db, field) ?? { segments: 0, lastDoc: 0, lastId: '' };
    this.#lastDoc = Math.max(0, this.#progress.segments * segmentDocs - 1);
  }

  get progress(): Progress {
    return this.#progress;
  }

  /** The last document whose words are known; 0 before the first. */
  get lastDoc(): number {
    return this.#lastDoc;
  }

  /** Segments that are full and not in the file yet. */
  get fullSegments(): number {
    return Math.floor((this.#lastDoc + 1) / segmentDocs) - this.#progress.segments;
  }

  /** Takes the next document in. Their numbers ascend. */
  add(doc: number, id: string, text: string): void {
    const segment = Math.floor(doc / segmentDocs);
    let recent = this.#recent.get(segment);
    if (recent === undefined) this.#recent.set(segment, (recent = { words: new Map(), lastDoc: doc, lastId: id }));
    const { words } = recent;
    const offset = doc - segment * segmentDocs;
    eachWord(text, (word) => {
      const offsets = words.get(word);
      if (offsets === undefined) words.set(word, [offset]);
      else if (offsets.at(-1) !== offset) offsets.push(offset);
    });
    recent.lastDoc = doc;
    recent.lastId = id;
    this.#lastDoc = doc;
  }

  /** Where a word stands, best meeting first; a document may be in more than one. */
  find(asked: QueryWord, spelledAlike: readonly string[]): Meeting[] {
    const mayBeMisspelt = canBeMisspelt(asked.text);
    const exact: DocList[] = this.#stored(asked.text);
    const beginning: DocList[] = asked.isPrefix ? this.#storedLonger(asked.text) : [];
    const misspelt: DocList[] = spelledAlike.flatMap((word) => this.#stored(word));
    for (const [segment, { words }] of this.#recent) {
      const base = segment * segmentDocs;
      const docs = words.get(asked.text);
      if (docs !== undefined) exact.push({ base, docs });
      if (!asked.isPrefix && !mayBeMisspelt) continue;
      for (const [word, offsets] of words) {
        if (word === asked.text) continue;
        if (asked.isPrefix && word.startsWith(asked.text)) beginning.push({ base, docs: offsets });
        else if (mayBeMisspelt && isMisspelt(asked.text, word)) misspelt.push({ base, docs: offsets });
      }
    }
    return [
      { level: levels.exact, lists: exact },
      { level: levels.beginning, lists: beginning },
      { level: levels.misspelt, lists: misspelt },
    ];
  }

  /**
   * Writes the oldest full segment, a slice at a time, inside the caller's transaction. What is asked meanwhile is answered from
   * memory, until `written` is called after the commit.
   */
  *write(): Generator<void, { segment: number; written(): void }> {
    const { segments: segment } = this.#progress;
    const recent = this.#recent.get(segment);
    const lists = recent === undefined ? [] : listsOf(recent.words);
    let rows = 0;
    for (const [word, docs] of lists) {
      insertPosting(this.#db, this.#field, word, { segment, docs });
      rows += 1 + this.#dictionary.learn(word);
      if (rows < rowsPerSlice) continue;
      rows = 0;
      yield;
    }
    const progress: Progress = { segments: segment + 1, lastDoc: recent?.lastDoc ?? this.#progress.lastDoc, lastId: recent?.lastId ?? this.#progress.lastId };
    putProgress(this.#db, this.#field, progress);
    return {
      segment,
      written: () => {
        this.#progress = progress;
        this.#recent.delete(segment);
      },
    };
  }

  #stored(word: string): DocList[] {
    return postingsOf(this.#db, this.#field, word, this.#progress.segments).map(docListOf);
  }

  #storedLonger(prefix: string): DocList[] {
    const listed = listedPrefix(prefix);
    if (listed !== undefined) return this.#stored(listed);
    return postingsBeyond(this.#db, this.#field, prefix, this.#progress.segments).map(docListOf);
  }
}

/** Writes the list's documents into `into`, which has room for a segment, and returns how many they are. */
export function readDocs({ base, docs }: DocList, into: Uint32Array): number {
  if (!(docs instanceof Uint8Array)) {
    for (let index = 0; index < docs.length; index += 1) into[index] = base + (docs[index] ?? 0);
    return docs.length;
  }
  if (docs.length !== bitmapBytes) {
    for (let index = 0; index < docs.length; index += 2) into[index >> 1] = base + ((docs[index] ?? 0) | ((docs[index + 1] ?? 0) << 8));
    return docs.length >> 1;
  }
  let count = 0;
  for (let index = 0; index < bitmapBytes; index += 1) {
    for (let byte = docs[index] ?? 0; byte !== 0; byte &= byte - 1) {
      into[count] = base + index * 8 + 31 - Math.clz32(byte & -byte);
      count += 1;
    }
  }
  return count;
}

const docListOf = ({ segment, docs }: { segment: number; docs: Uint8Array }): DocList => ({ base: segment * segmentDocs, docs });

/** Every word and every listed beginning with its packed documents, in the order in which the file keeps them. */
function listsOf(words: Words): [string, Uint8Array][] {
  const lists: [string, Uint8Array][] = [];
  const prefixes = new Map<string, Uint8Array>();
  for (const [word, offsets] of words) {
    lists.push([word, pack(offsets)]);
    for (const prefix of listedPrefixes(word)) {
      let bitmap = prefixes.get(prefix);
      if (bitmap === undefined) prefixes.set(prefix, (bitmap = new Uint8Array(bitmapBytes)));
      setBits(bitmap, offsets);
    }
  }
  const offsets = new Uint32Array(segmentDocs);
  for (const [prefix, docs] of prefixes) lists.push([prefix, pack(offsets.subarray(0, readDocs({ base: 0, docs }, offsets)))]);
  return lists.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Two bytes each, or a bit for every document of the segment where that is not longer. */
function pack(offsets: readonly number[] | Uint32Array): Uint8Array {
  if (offsets.length * 2 >= bitmapBytes) {
    const bitmap = new Uint8Array(bitmapBytes);
    setBits(bitmap, offsets);
    return bitmap;
  }
  const packed = new Uint8Array(offsets.length * 2);
  for (const [index, offset] of offsets.entries()) {
    packed[index * 2] = offset & 0xff;
    packed[index * 2 + 1] = offset >> 8;
  }
  return packed;
}

function setBits(bitmap: Uint8Array, offsets: readonly number[] | Uint32Array): void {
  for (const offset of offsets) bitmap[offset >> 3] = (bitmap[offset >> 3] ?? 0) | (1 << (offset & 7));
}

// Posting lists, packed for the index file. Documents are numbered in the order written and grouped in segments; a full
// segment is written once and never changes. Words of the last, incomplete segments are in memory and read again from
// their source after a restart.

import type { Database } from '../../store/database.ts';
import {
  insertPosting,
  insertSegment,
  type Posting,
  postingsBeyond,
  postingsOf,
  type SearchField,
  type Segment,
  segmentsOf,
} from '../../store/search/index.ts';
import type { Dictionary } from './dictionary.ts';
import { Lexicon } from './lexicon.ts';
import { eachWord, type Level, levels, listedPrefix, listedPrefixes, type QueryWord } from './words.ts';

/** Most documents in a segment. */
export const segmentDocs = 8192;
/** Most words in a segment, so that long mails do not fill the memory: for chats it is 100,000. */
const segmentWords = 400_000;
const bitmapBytes = segmentDocs / 8;
/** Rows written before yielding: a millisecond or two. */
const rowsPerSlice = 256;
/** Documents listed in memory before yielding; a word and a new prefix cost as much as this many. */
const listedPerSlice = 20_000;
const wordCost = 10;
const prefixCost = 100;
/** Words are sorted in groups by their first letters. */
const startChars = 2;

/** Documents of one segment, as ascending offsets from `base`, or packed. */
export interface DocList {
  readonly base: number;
  readonly docs: Uint8Array | readonly number[];
}

/** Where a word matched, by level. */
export interface Meeting {
  readonly level: Level;
  readonly lists: readonly DocList[];
}

/** A segment that is not in the file. */
interface Recent {
  readonly words: Lexicon;
  readonly firstDoc: number;
  count: number;
  lastDoc: number;
  lastId: string;
}

export class WordIndex {
  readonly #db: Database;
  readonly #field: SearchField;
  readonly #dictionary: Dictionary;
  readonly #stored: Segment[];
  /** In order; all but the last are full. */
  readonly #recent: Recent[] = [];

  constructor(db: Database, field: SearchField, dictionary: Dictionary) {
    this.#db = db;
    this.#field = field;
    this.#dictionary = dictionary;
    this.#stored = segmentsOf(db, field);
  }

  /** The last one in the file. */
  get lastStored(): Segment | undefined {
    return this.#stored.at(-1);
  }

  /** The last indexed document; 0 before the first. */
  get lastDoc(): number {
    return (this.#recent.at(-1) ?? this.#stored.at(-1))?.lastDoc ?? 0;
  }

  /** Segments that are full and not in the file yet. */
  get fullSegments(): number {
    return Math.max(0, this.#recent.length - 1);
  }

  /** Indexes the next document. Numbers ascend. */
  add(doc: number, id: string, text: string): void {
    let recent = this.#recent.at(-1);
    if (recent === undefined || recent.count >= segmentWords || doc - recent.firstDoc >= segmentDocs) {
      recent = { words: new Lexicon(), firstDoc: doc, count: 0, lastDoc: doc, lastId: id };
      this.#recent.push(recent);
    }
    const { words } = recent;
    const offset = doc - recent.firstDoc;
    let count = 0;
    eachWord(text, (word) => {
      count += 1;
      words.add(word, offset);
    });
    recent.count += count;
    recent.lastDoc = doc;
    recent.lastId = id;
  }

  /** Matches of a word, best level first; a document may be in more than one. */
  find(asked: QueryWord, spelledAlike: readonly string[]): Meeting[] {
    const exact: DocList[] = this.#read(asked.text);
    const beginning: DocList[] = asked.isPrefix ? this.#readLonger(asked.text) : [];
    const misspelt: DocList[] = spelledAlike.flatMap((word) => this.#read(word));
    for (const { firstDoc: base, words } of this.#recent) {
      const docs = words.docsOf(asked.text);
      if (docs !== undefined) exact.push({ base, docs });
      if (asked.isPrefix) for (const docs of words.docsBeyond(asked.text)) beginning.push({ base, docs });
      for (const docs of words.docsOfAlike(asked.text)) misspelt.push({ base, docs });
    }
    return [
      { level: levels.exact, lists: exact },
      { level: levels.beginning, lists: beginning },
      { level: levels.misspelt, lists: misspelt },
    ];
  }

  /**
   * Writes the oldest full segment, a slice at a time, in the caller's transaction. Until `written` is called after the
   * commit, reads are answered from memory.
   */
  *write(ownersOf: (segment: Segment) => Uint8Array | null): Generator<void, { written(): void }> {
    const [recent] = this.#recent;
    if (recent === undefined) throw new Error('there is no segment to write');
    const number = this.#stored.length;
    let rows = 0;
    for (const lists of yield* listsOf(recent.words)) {
      for (const [word, docs] of lists.sort(([a], [b]) => (a < b ? -1 : 1))) {
        insertPosting(this.#db, this.#field, word, { segment: number, docs });
        rows += 1 + this.#dictionary.learn(word);
        if (rows < rowsPerSlice) continue;
        rows = 0;
        yield;
      }
    }
    const segment: Segment = { firstDoc: recent.firstDoc, lastDoc: recent.lastDoc, lastId: recent.lastId };
    insertSegment(this.#db, this.#field, { number, ...segment, owners: ownersOf(segment) });
    return {
      written: () => {
        this.#stored.push(segment);
        this.#recent.shift();
      },
    };
  }

  /** Takes from the file what another connection has written of these documents, instead of from memory. */
  adopt(): void {
    const indexedTo = this.lastDoc;
    for (const segment of segmentsOf(this.#db, this.#field).slice(this.#stored.length)) {
      if (segment.lastDoc > indexedTo) break;
      this.#stored.push(segment);
    }
    const storedTo = this.#stored.at(-1)?.lastDoc ?? 0;
    while (this.#recent[0] !== undefined && this.#recent[0].lastDoc <= storedTo) this.#recent.shift();
  }

  #read(word: string): DocList[] {
    if (this.#stored.length === 0) return [];
    return this.#listsOf(postingsOf(this.#db, this.#field, word, this.#stored.length));
  }

  #readLonger(prefix: string): DocList[] {
    const listed = listedPrefix(prefix);
    return listed === undefined
      ? this.#listsOf(postingsBeyond(this.#db, this.#field, prefix, this.#stored.length))
      : this.#read(listed);
  }

  #listsOf(postings: readonly Posting[]): DocList[] {
    return postings.map(({ segment, docs }) => ({ base: this.#stored[segment]?.firstDoc ?? 0, docs }));
  }
}

/** Writes the list's documents into `into`, which has room for a segment, and returns their number. */
export function readDocs({ base, docs }: DocList, into: Uint32Array): number {
  if (!(docs instanceof Uint8Array)) {
    for (let index = 0; index < docs.length; index += 1) into[index] = base + (docs[index] ?? 0);
    return docs.length;
  }
  if (docs.length !== bitmapBytes) {
    for (let index = 0; index < docs.length; index += 2)
      into[index >> 1] = base + ((docs[index] ?? 0) | ((docs[index + 1] ?? 0) << 8));
    return docs.length >> 1;
  }
  let count = 0;
  for (let index = 0; index < bitmapBytes; index += 4) {
    const first = base + index * 8;
    for (
      let bits =
        (docs[index] ?? 0) |
        ((docs[index + 1] ?? 0) << 8) |
        ((docs[index + 2] ?? 0) << 16) |
        ((docs[index + 3] ?? 0) << 24);
      bits !== 0;
      bits &= bits - 1
    ) {
      into[count] = first + 31 - Math.clz32(bits & -bits);
      count += 1;
    }
  }
  return count;
}

type List = [word: string, docs: Uint8Array];

/**
 * Every word and listed prefix with its packed documents, grouped by their first letters, in the file's order of
 * groups. Unsorted within a group: sorting everything at once would block the thread.
 */
function* listsOf(words: Lexicon): Generator<void, List[][]> {
  const byStart = new Map<string, List[]>();
  const add = (word: string, docs: Uint8Array): void => {
    const start = word.slice(0, startChars);
    const lists = byStart.get(start);
    if (lists === undefined) byStart.set(start, [[word, docs]]);
    else lists.push([word, docs]);
  };
  const prefixes = new Map<string, Uint8Array>();
  let listed = 0;
  for (const { text: word, docs: offsets } of words) {
    add(word, pack(offsets));
    for (const prefix of listedPrefixes(word)) {
      let bitmap = prefixes.get(prefix);
      if (bitmap === undefined) {
        prefixes.set(prefix, (bitmap = new Uint8Array(bitmapBytes)));
        listed += prefixCost;
      }
      setBits(bitmap, offsets);
    }
    listed += wordCost + offsets.length;
    if (listed < listedPerSlice) continue;
    listed = 0;
    yield;
  }
  const offsets = new Uint32Array(segmentDocs);
  for (const [prefix, docs] of prefixes) {
    add(prefix, pack(offsets.subarray(0, readDocs({ base: 0, docs }, offsets))));
    listed += wordCost + bitmapBytes;
    if (listed < listedPerSlice) continue;
    listed = 0;
    yield;
  }
  return [...byStart].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, lists]) => lists);
}

/** Two bytes each, or a bitmap of the segment if that is not longer. */
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

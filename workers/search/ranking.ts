// Which conversations match every word of a query, their exact number, and the best of them. A word may match a
// message, the customer's name or email, or the ticket's subject or number. Words may match in different messages of a
// conversation, but those rank below matches within one message. Knows no file and no text.

import { type DocList, type Meeting, readDocs, segmentDocs } from './postings.ts';
import { levels as meetingLevels } from './words.ts';

/** Where one word of the query matched. */
export interface WordMeetings {
  readonly messages: readonly Meeting[];
  readonly visitors: readonly Meeting[];
  readonly subjects: readonly Meeting[];
  /** The ticket that the word may name. */
  readonly ticketNumber: number | undefined;
}

export interface RankingInput {
  readonly words: readonly WordMeetings[];
  /** For each message, the number of its conversation. */
  readonly owners: Uint32Array;
  /** For each conversation, its first message; 0 if it has none. */
  readonly firstMessages: Uint32Array;
  readonly conversations: {
    readonly lastNo: number;
    /** By number. */
    readonly updatedMs: Float64Array;
    /** The conversations of a visitor's document, one after the other; 0 ends them. */
    firstOfVisitor(doc: number): number;
    nextOfVisitor(no: number): number;
    /** 0 if there is none. */
    ofTicket(ticketNumber: number): number;
    /** Compares their ids as text. */
    compareIds(a: number, b: number): number;
  };
  /** Filters these numbers, in their order. */
  wantedOf(numbers: Uint32Array): Uint32Array;
  readonly limit: number;
}

export interface Ranked {
  readonly no: number;
  /** The message that matches best; 0 if only customer, subject or number match. */
  readonly message: number;
}

interface RaisingWord {
  /** The best level first. */
  readonly messages: readonly Meeting[];
  readonly beside: Beside | undefined;
  readonly owners: Uint32Array;
  readonly lastNo: number;
}

type Compare = (a: number, b: number) => number;

/** Above this bit, a message's score holds its gain over matches outside messages; below it, its own level. */
const gainShift = 12;
/** Messages of this many times the wanted conversations are scored before those of all. */
const shortlistFactor = 4;
/** Reading the columns of all conversations is worth it from this share of them on, as sizeOf estimates it. */
const frequentShare = 4;
/** Greater than the sum of all levels; its product with any time is still a whole number. */
const beyondLevels = 2 ** 10;
const beyondTimeMs = 2 ** 43;

/**
 * Columns by conversation or by message of a segment, used again for each query. Each is zero between queries: what a
 * query sets it clears, so that a rare word costs nothing per conversation of the workspace.
 */
export class Ranking {
  /** The best level of the word in question. */
  #levels = new Uint8Array(0);
  /** The sum of every word's best level anywhere in the conversation. */
  #sums = new Uint16Array(0);
  /** Those that the word in question raised, in that order. */
  #raised = new Uint32Array(0);
  #isScored = new Uint8Array(0);
  #messages = new Uint32Array(0);
  #scores = new Uint32Array(0);
  readonly #docs = new Uint32Array(segmentDocs);
  readonly #ownScores = new Uint32Array(segmentDocs);
  /** The last word that each message was counted for. */
  readonly #counted = new Uint8Array(segmentDocs);

  /** Best first: level of matches, matches within one message, then the newest. */
  rank(input: RankingInput): { total: number; first: Ranked[] } {
    this.#reserve(input.conversations.lastNo + 1);
    const beside = input.words.map((word) => this.#levelsBeside(input, word));
    const met = this.#meetAll(input, beside);
    try {
      return this.#best(input, beside, input.wantedOf(met));
    } finally {
      for (let at = 0; at < met.length; at += 1) this.#sums[met[at] ?? 0] = 0;
    }
  }

  #reserve(size: number): void {
    if (this.#sums.length >= size) return;
    const capacity = 2 * size;
    this.#levels = new Uint8Array(capacity);
    this.#sums = new Uint16Array(capacity);
    this.#raised = new Uint32Array(capacity);
    this.#isScored = new Uint8Array(capacity);
    this.#messages = new Uint32Array(capacity);
    this.#scores = new Uint32Array(capacity);
  }

  /** Undefined if none matches. */
  #levelsBeside(
    { conversations }: RankingInput,
    { visitors, subjects, ticketNumber }: WordMeetings,
  ): Beside | undefined {
    if (ticketNumber === undefined && !hasLists(visitors) && !hasLists(subjects)) return undefined;
    const levels = new Uint8Array(conversations.lastNo + 1);
    const numbers: number[] = [];
    const raise = (no: number, level: number): void => {
      const before = levels[no] ?? 0;
      if (no === 0 || level <= before) return;
      if (before === 0) numbers.push(no);
      levels[no] = level;
    };
    this.#eachDoc(visitors, (doc, level) => {
      for (let no = conversations.firstOfVisitor(doc); no !== 0; no = conversations.nextOfVisitor(no)) raise(no, level);
    });
    this.#eachDoc(subjects, (doc, level) => raise(conversations.ofTicket(doc), level));
    if (ticketNumber !== undefined) raise(conversations.ofTicket(ticketNumber), meetingLevels.named);
    return { numbers, levels };
  }

  #eachDoc(meetings: readonly Meeting[], call: (doc: number, level: number) => void): void {
    const docs = this.#docs;
    for (const { level, lists } of meetings) {
      for (const list of lists) {
        const count = readDocs(list, docs);
        for (let at = 0; at < count; at += 1) call(docs[at] ?? 0, level);
      }
    }
  }

  /** The conversations that every word matches, roughly the newest first. Sets their sums. */
  #meetAll(
    { words, owners, conversations: { lastNo } }: RankingInput,
    beside: readonly (Beside | undefined)[],
  ): Uint32Array {
    const order = words
      .map((_, index) => index)
      .sort((a, b) => sizeOf(words[a], beside[a]) - sizeOf(words[b], beside[b]));
    const [levels, sums] = [this.#levels, this.#sums];
    let met = new Uint32Array(0);
    for (const [place, index] of order.entries()) {
      const word = { messages: words[index]?.messages ?? [], beside: beside[index], owners, lastNo };
      const isFirst = place === 0;
      const isFrequent = sizeOf(words[index], beside[index]) * frequentShare > lastNo;
      const raised = isFrequent ? this.#raiseMany(word, isFirst) : this.#raiseFew(word, isFirst);
      // Without this word, the others are not enough.
      for (let at = 0; at < met.length; at += 1) if (levels[met[at] ?? 0] === 0) sums[met[at] ?? 0] = 0;
      for (let at = 0; at < raised.length; at += 1) {
        const no = raised[at] ?? 0;
        sums[no] = (sums[no] ?? 0) + (levels[no] ?? 0);
      }
      if (isFrequent) levels.fill(0, 0, lastNo + 1);
      else for (let at = 0; at < raised.length; at += 1) levels[raised[at] ?? 0] = 0;
      met = raised;
    }
    return met;
  }

  /**
   * The conversations that a word matches, roughly the newest first, and that the words before did, unless it is the
   * first. Sets their levels.
   */
  #raiseFew({ messages, beside, owners }: RaisingWord, isFirst: boolean): Uint32Array<ArrayBuffer> {
    const [levels, sums, raised, docs] = [this.#levels, this.#sums, this.#raised, this.#docs];
    let count = 0;
    for (const no of beside?.numbers ?? []) {
      if (!isFirst && sums[no] === 0) continue;
      levels[no] = beside?.levels[no] ?? 0;
      raised[count] = no;
      count += 1;
    }
    for (const { level, lists } of messages) {
      for (const list of lists) {
        const docCount = readDocs(list, docs);
        for (let at = 0; at < docCount; at += 1) {
          const no = owners[docs[at] ?? 0] ?? 0;
          const before = levels[no] ?? 0;
          if (before >= level || (!isFirst && sums[no] === 0)) continue;
          if (before === 0) {
            raised[count] = no;
            count += 1;
          }
          levels[no] = level;
        }
      }
    }
    return raised.slice(0, count).reverse();
  }

  /**
   * The same for a word that most conversations have: writes every message's level without a look at the one before, the
   * best last, and then reads the whole column. Half the time, because the processor has nothing to guess.
   */
  #raiseMany({ messages, beside, owners, lastNo }: RaisingWord, isFirst: boolean): Uint32Array<ArrayBuffer> {
    const [levels, sums, raised, docs] = [this.#levels, this.#sums, this.#raised, this.#docs];
    for (const { level, lists } of messages.toReversed()) {
      for (const list of lists) {
        const docCount = readDocs(list, docs);
        for (let at = 0; at < docCount; at += 1) levels[owners[docs[at] ?? 0] ?? 0] = level;
      }
    }
    for (const no of beside?.numbers ?? []) levels[no] = Math.max(levels[no] ?? 0, beside?.levels[no] ?? 0);
    let count = 0;
    for (let no = lastNo; no > 0; no -= 1) {
      if (levels[no] === 0 || (!isFirst && sums[no] === 0)) continue;
      raised[count] = no;
      count += 1;
    }
    return raised.slice(0, count);
  }

  #best(
    input: RankingInput,
    beside: readonly (Beside | undefined)[],
    found: Uint32Array,
  ): { total: number; first: Ranked[] } {
    const { conversations, limit } = input;
    const { updatedMs } = conversations;
    const sums = this.#sums;
    const sumOf = (no: number): number => sums[no] ?? 0;
    const byId: Compare = (a, b) => conversations.compareIds(b, a);
    const byTime: Compare = (a, b) => (updatedMs[b] ?? 0) - (updatedMs[a] ?? 0) || byId(a, b);
    const shortlist = firstOf({
      numbers: found,
      merits: meritsAtFirst(found, sums, updatedMs),
      // The level of one word is that of a message already, or of what is beside.
      limit: input.words.length === 1 ? limit : limit * shortlistFactor,
      compareEqual: byId,
    });
    const lowestSum = sumOf(shortlist.at(-1) ?? 0);

    for (let numbers = shortlist; ; numbers = found.filter((no) => sumOf(no) >= lowestSum)) {
      this.#scoreMessages(input, beside, numbers);
      const bestOf = (no: number): number =>
        beside.reduce((sum, met) => sum + (met?.levels[no] ?? 0), (this.#scores[no] ?? 0) >>> gainShift);
      const merits = new Float64Array(numbers.length);
      for (const [place, no] of numbers.entries()) merits[place] = sumOf(no) * beyondLevels + bestOf(no);
      const first = firstOf({ numbers, merits, limit, compareEqual: byTime });
      // No other can rank before a best message with the highest possible level.
      const isSettled =
        numbers !== shortlist ||
        shortlist.length === found.length ||
        first.every((no) => sumOf(no) > lowestSum || bestOf(no) === sumOf(no));
      const ranked = Array.from(first, (no): Ranked => ({ no, message: this.#messages[no] ?? 0 }));
      for (const no of numbers) this.#messages[no] = this.#scores[no] = 0;
      if (isSettled) return { total: found.length, first: ranked };
    }
  }

  /**
   * For each of these conversations, the message with the highest score (the newest among equals), and the combined
   * level of its words and those matched outside messages, at most the level of all words.
   */
  #scoreMessages(
    { words, owners, firstMessages }: RankingInput,
    beside: readonly (Beside | undefined)[],
    numbers: Uint32Array,
  ): void {
    const [isScored, messages, scores] = [this.#isScored, this.#messages, this.#scores];
    const [docs, ownScores, counted] = [this.#docs, this.#ownScores, this.#counted];
    let firstMessage = owners.length;
    for (const no of numbers) {
      const first = firstMessages[no] ?? 0;
      if (first === 0) continue;
      isScored[no] = 1;
      firstMessage = Math.min(firstMessage, first);
    }
    for (const [base, meetings] of meetingsBySegment(words)) {
      if (base + segmentDocs <= firstMessage) continue;
      ownScores.fill(0);
      counted.fill(0);
      for (const { word, level, list } of meetings) {
        const besideLevels = beside[word]?.levels;
        const count = readDocs(list, docs);
        for (let at = 0; at < count; at += 1) {
          const message = docs[at] ?? 0;
          const no = owners[message] ?? 0;
          const offset = message - base;
          if (isScored[no] !== 1 || counted[offset] === word + 1) continue;
          counted[offset] = word + 1;
          const gain = Math.max(0, level - (besideLevels?.[no] ?? 0));
          const own = (ownScores[offset] ?? 0) + (gain << gainShift) + level;
          ownScores[offset] = own;
          const highest = scores[no] ?? 0;
          if (own > highest || (own === highest && message > (messages[no] ?? 0))) {
            scores[no] = own;
            messages[no] = message;
          }
        }
      }
    }
    for (const no of numbers) isScored[no] = 0;
  }
}

/** The conversations whose customer, subject or number a word matches, and by number at which level. */
interface Beside {
  readonly numbers: readonly number[];
  readonly levels: Uint8Array;
}

function hasLists(meetings: readonly Meeting[]): boolean {
  return meetings.some(({ lists }) => lists.length > 0);
}

/** Roughly how many conversations a word matches. */
function sizeOf(word: WordMeetings | undefined, beside: Beside | undefined): number {
  let size = beside?.numbers.length ?? 0;
  for (const { lists } of word?.messages ?? []) for (const { docs } of lists) size += docs.length;
  return size;
}

interface SegmentMeeting {
  /** Its place in the query. */
  readonly word: number;
  readonly level: number;
  readonly list: DocList;
}

/** By the first document of each segment, word by word, best match first. */
function meetingsBySegment(words: readonly WordMeetings[]): Map<number, SegmentMeeting[]> {
  const segments = new Map<number, SegmentMeeting[]>();
  for (const [word, { messages }] of words.entries()) {
    for (const { level, lists } of messages) {
      for (const list of lists) {
        const meetings = segments.get(list.base);
        if (meetings === undefined) segments.set(list.base, [{ word, level, list }]);
        else meetings.push({ word, level, list });
      }
    }
  }
  return segments;
}

/** Ranks before messages are scored, by number: level of matches, then the newest. */
function meritsAtFirst(numbers: Uint32Array, sums: Uint16Array, updatedMs: Float64Array): Float64Array {
  const merits = new Float64Array(numbers.length);
  for (let place = 0; place < numbers.length; place += 1) {
    const no = numbers[place] ?? 0;
    merits[place] = (sums[no] ?? 0) * beyondTimeMs + (updatedMs[no] ?? 0);
  }
  return merits;
}

/** Of these numbers, with their merits at the same index, the best in order. */
function firstOf({
  numbers,
  merits,
  limit,
  compareEqual,
}: {
  numbers: Uint32Array;
  merits: Float64Array;
  limit: number;
  compareEqual: Compare;
}): Uint32Array {
  /** Indexes into the lists. */
  const first: number[] = [];
  const compare = (a: number, b: number): number =>
    (merits[b] ?? 0) - (merits[a] ?? 0) || compareEqual(numbers[a] ?? 0, numbers[b] ?? 0);
  let least = Number.NEGATIVE_INFINITY;
  for (let place = 0; place < numbers.length; place += 1) {
    if ((merits[place] ?? 0) < least || (first.length === limit && compare(place, first.at(-1) ?? 0) > 0)) continue;
    let low = 0;
    let high = first.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(place, first[middle] ?? 0) > 0) low = middle + 1;
      else high = middle;
    }
    first.splice(low, 0, place);
    if (first.length > limit) first.pop();
    if (first.length === limit) least = merits[first.at(-1) ?? 0] ?? 0;
  }
  const best = new Uint32Array(first.length);
  for (let place = 0; place < best.length; place += 1) best[place] = numbers[first[place] ?? 0] ?? 0;
  return best;
}

// Which conversations match every word of a query, their exact number, and the best of them. A word may match a
// message, the customer's name or email, or the ticket's subject or number. Words may match in different messages of a
// conversation, but those rank below matches within one message. Pure, apart from its input's methods.

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
  readonly lastVisitor: number;
  readonly lastTicket: number;
  readonly conversations: {
    readonly lastNo: number;
    /** By number. */
    readonly visitorDocs: Uint32Array;
    readonly ticketNumbers: Uint32Array;
    readonly updatedMs: Float64Array;
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

interface Met {
  /** By number, the sum of every word's best level anywhere in the conversation; 0 if a word does not match. */
  readonly sums: Uint16Array;
  /** By word, each conversation's level outside its messages; undefined if none matches. */
  readonly beside: readonly (Uint8Array | undefined)[];
}

type Compare = (a: number, b: number) => number;

/** Above this bit, a message's score holds its gain over matches outside messages; below it, its own level. */
const gainShift = 12;
/** Messages of this many times the wanted conversations are scored before those of all. */
const shortlistFactor = 4;
/** Greater than the sum of all levels; its product with any time is still a whole number. */
const beyondLevels = 2 ** 10;
const beyondTimeMs = 2 ** 43;

/** Best first: level of matches, matches within one message, then the newest. */
export function rank(input: RankingInput): { total: number; first: Ranked[] } {
  const { conversations, limit } = input;
  const { updatedMs } = conversations;
  const met = meetAll(input);
  if (met === undefined) return { total: 0, first: [] };
  const sumOf = (no: number): number => met.sums[no] ?? 0;
  const byId: Compare = (a, b) => conversations.compareIds(b, a);
  const byTime: Compare = (a, b) => (updatedMs[b] ?? 0) - (updatedMs[a] ?? 0) || byId(a, b);
  const found = input.wantedOf(numbersOf(met.sums));
  const shortlist = firstOf({
    numbers: found,
    merits: meritsAtFirst(found, met.sums, updatedMs),
    limit: limit * shortlistFactor,
    compareEqual: byId,
  });
  const lowestSum = sumOf(shortlist.at(-1) ?? 0);

  for (let numbers = shortlist; ; numbers = found.filter((no) => sumOf(no) >= lowestSum)) {
    const { bestOf, messageOf } = scoreMessages(input, met, numbers);
    const merits = new Float64Array(numbers.length);
    for (const [place, no] of numbers.entries()) merits[place] = sumOf(no) * beyondLevels + bestOf(no);
    const first = firstOf({ numbers, merits, limit, compareEqual: byTime });
    // No other can rank before a best message with the highest possible level.
    const isSettled =
      numbers !== shortlist ||
      shortlist.length === found.length ||
      first.every((no) => sumOf(no) > lowestSum || bestOf(no) === sumOf(no));
    if (isSettled) return { total: found.length, first: Array.from(first, (no) => ({ no, message: messageOf(no) })) };
  }
}

/** Undefined if none matches every word. */
function meetAll(input: RankingInput): Met | undefined {
  const size = input.conversations.lastNo + 1;
  const sums = new Uint16Array(size);
  const levels = new Uint8Array(size);
  const beside: (Uint8Array | undefined)[] = [];
  for (const [index, word] of input.words.entries()) {
    const besideLevels = levelsBeside(input, word);
    beside.push(besideLevels);
    if (besideLevels === undefined) levels.fill(0);
    else levels.set(besideLevels);
    raiseByMessages(levels, word.messages, input.owners);
    if (!addLevels(sums, levels, { isFirst: index === 0 })) return undefined;
  }
  return { sums, beside };
}

/**
 * Adds where both are greater than 0 and leaves 0 elsewhere; the first levels are copied. Returns true if anything is
 * left.
 */
function addLevels(sums: Uint16Array, levels: Uint8Array, { isFirst }: { isFirst: boolean }): boolean {
  let any = 0;
  for (let no = 1; no < sums.length; no += 1) {
    const level = levels[no] ?? 0;
    const sum = sums[no] ?? 0;
    const both = level !== 0 && (isFirst || sum !== 0) ? sum + level : 0;
    sums[no] = both;
    any |= both;
  }
  return any !== 0;
}

/** Numbers with a sum, newest first, so that most others are rejected by one comparison. */
function numbersOf(sums: Uint16Array): Uint32Array {
  const numbers = new Uint32Array(sums.length);
  let count = 0;
  for (let no = sums.length - 1; no > 0; no -= 1) {
    if (sums[no] === 0) continue;
    numbers[count] = no;
    count += 1;
  }
  return numbers.subarray(0, count);
}

/** By conversation, the level of its customer, subject or number for the word; undefined if none matches. */
function levelsBeside(
  { conversations, lastVisitor, lastTicket }: RankingInput,
  { visitors, subjects, ticketNumber }: WordMeetings,
): Uint8Array | undefined {
  const byVisitor = levelsByDoc(visitors, lastVisitor);
  const byTicket = levelsByDoc(subjects, lastTicket);
  if (byVisitor === undefined && byTicket === undefined && ticketNumber === undefined) return undefined;
  const { lastNo, visitorDocs, ticketNumbers } = conversations;
  const levels = new Uint8Array(lastNo + 1);
  if (byVisitor !== undefined)
    for (let no = 1; no <= lastNo; no += 1) levels[no] = byVisitor[visitorDocs[no] ?? 0] ?? 0;
  if (byTicket !== undefined)
    for (let no = 1; no <= lastNo; no += 1)
      levels[no] = Math.max(levels[no] ?? 0, byTicket[ticketNumbers[no] ?? 0] ?? 0);
  const named =
    ticketNumber === undefined || ticketNumber === 0 ? -1 : ticketNumbers.subarray(0, lastNo + 1).indexOf(ticketNumber);
  if (named > 0) levels[named] = meetingLevels.named;
  return levels;
}

/** By document, the level for a word; undefined if none matches. */
function levelsByDoc(meetings: readonly Meeting[], lastDoc: number): Uint8Array | undefined {
  if (meetings.every(({ lists }) => lists.length === 0)) return undefined;
  const levels = new Uint8Array(lastDoc + 1);
  const docs = new Uint32Array(segmentDocs);
  for (const { level, lists } of meetings) {
    for (const list of lists) {
      const count = readDocs(list, docs);
      for (let at = 0; at < count; at += 1) {
        const doc = docs[at] ?? 0;
        if (level > (levels[doc] ?? 0)) levels[doc] = level;
      }
    }
  }
  return levels;
}

/** Raises conversations to the level of their messages for a word. */
function raiseByMessages(levels: Uint8Array, meetings: readonly Meeting[], owners: Uint32Array): void {
  const docs = new Uint32Array(segmentDocs);
  for (const { level, lists } of meetings) {
    for (const list of lists) {
      const count = readDocs(list, docs);
      for (let at = 0; at < count; at += 1) {
        const no = owners[docs[at] ?? 0] ?? 0;
        if (level > (levels[no] ?? 0)) levels[no] = level;
      }
    }
  }
}

/**
 * For each of these conversations, the message with the highest score (the newest among equals), and the combined level
 * of its words and those matched outside messages, at most the level of all words.
 */
function scoreMessages(
  { words, owners, firstMessages }: RankingInput,
  { sums, beside }: Met,
  numbers: Uint32Array,
): { bestOf(no: number): number; messageOf(no: number): number } {
  const isScored = new Uint8Array(sums.length);
  let firstMessage = owners.length;
  for (const no of numbers) {
    const first = firstMessages[no] ?? 0;
    if (first === 0) continue;
    isScored[no] = 1;
    firstMessage = Math.min(firstMessage, first);
  }
  const messages = new Uint32Array(sums.length);
  const scores = new Uint32Array(sums.length);
  const docs = new Uint32Array(segmentDocs);
  const ownScores = new Uint32Array(segmentDocs);
  /** The last word that each message was counted for. */
  const counted = new Uint8Array(segmentDocs);
  for (const [base, meetings] of meetingsBySegment(words)) {
    if (base + segmentDocs <= firstMessage) continue;
    ownScores.fill(0);
    counted.fill(0);
    for (const { word, level, list } of meetings) {
      const besideLevels = beside[word];
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
  return {
    bestOf: (no) => beside.reduce((sum, levels) => sum + (levels?.[no] ?? 0), (scores[no] ?? 0) >>> gainShift),
    messageOf: (no) => messages[no] ?? 0,
  };
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
  return Uint32Array.from(first, (place) => numbers[place] ?? 0);
}

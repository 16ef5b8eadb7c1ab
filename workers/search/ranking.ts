// Which conversations meet every word of a query, how many they are, and which come first. Exact: nothing is estimated or cut
// off. A word is met by a message, by the customer's name or email, or by the ticket's subject or number; a conversation's messages together
// meet a query too, but come after those of which one message does. Pure but for what it is given.

import { type Meeting, readDocs, segmentDocs } from './postings.ts';
import { levels as meetingLevels } from './words.ts';

/** Where one word of the query was met. */
export interface WordMeetings {
  readonly messages: readonly Meeting[];
  readonly visitors: readonly Meeting[];
  readonly subjects: readonly Meeting[];
  /** The ticket that the word may name. */
  readonly ticketNumber: number | undefined;
}

export interface RankingInput {
  readonly words: readonly WordMeetings[];
  /** Of each message the number of its conversation. */
  readonly owners: Uint32Array;
  readonly lastMessage: number;
  readonly lastVisitor: number;
  readonly lastTicket: number;
  readonly conversations: {
    readonly lastNo: number;
    visitorDoc(no: number): number;
    ticketNumber(no: number): number;
    updatedMs(no: number): number;
    idOf(no: number): string;
  };
  isWanted(no: number): boolean;
  readonly limit: number;
}

export interface Ranked {
  readonly no: number;
  /** The message that meets the query best; 0 when only what stands beside the messages does. */
  readonly message: number;
}

interface Candidate extends Ranked {
  /** Levels of all words, wherever in the conversation each is met best. */
  readonly sum: number;
  /** Levels of the words that its best message and what stands beside it meet together. */
  readonly best: number;
}

/** A message's score holds, above this bit, what it adds to what stands beside it, and below it what it meets itself. */
const gainShift = 12;

export function rank(input: RankingInput): { total: number; first: Ranked[] } {
  const { words, owners, conversations } = input;
  const size = conversations.lastNo + 1;
  /** How many words, from the first on, each conversation has met. */
  const met = new Uint8Array(size);
  const sum = new Uint16Array(size);
  const byBeside = new Uint16Array(size);
  const wordLevel = new Uint8Array(size);
  const besideLevel = new Uint8Array(size);
  const score = new Uint32Array(input.lastMessage + 1);
  /** The last word that each message was counted for. */
  const counted = new Uint8Array(input.lastMessage + 1);
  /** Of each conversation the message with the highest score, the newest of those. */
  const bestMessage = new Uint32Array(size);
  const bestScore = new Uint32Array(size);
  const docs = new Uint32Array(segmentDocs);

  for (const [index, word] of words.entries()) {
    levelsBeside(input, word, besideLevel);
    wordLevel.set(besideLevel);
    for (const { level, lists } of word.messages) {
      for (const list of lists) {
        const count = readDocs(list, docs);
        for (let at = 0; at < count; at += 1) {
          const message = docs[at] ?? 0;
          const no = owners[message] ?? 0;
          if (met[no] !== index || counted[message] === index + 1) continue;
          counted[message] = index + 1;
          const gain = Math.max(0, level - (besideLevel[no] ?? 0));
          const own = (score[message] ?? 0) + (gain << gainShift) + level;
          score[message] = own;
          const highest = bestScore[no] ?? 0;
          if (own > highest || (own === highest && message > (bestMessage[no] ?? 0))) {
            bestScore[no] = own;
            bestMessage[no] = message;
          }
          if (level > (wordLevel[no] ?? 0)) wordLevel[no] = level;
        }
      }
    }
    let isMet = false;
    for (let no = 1; no < size; no += 1) {
      const level = wordLevel[no] ?? 0;
      if (level === 0 || met[no] !== index) continue;
      isMet = true;
      met[no] = index + 1;
      sum[no] = (sum[no] ?? 0) + level;
      byBeside[no] = (byBeside[no] ?? 0) + (besideLevel[no] ?? 0);
    }
    if (!isMet) return { total: 0, first: [] };
  }

  const first = new First(input.limit, (no) => conversations.updatedMs(no), (no) => conversations.idOf(no));
  let total = 0;
  // The newest first, so that most of the others are turned away by one comparison.
  for (let no = size - 1; no > 0; no -= 1) {
    if (met[no] !== words.length || !input.isWanted(no)) continue;
    total += 1;
    first.offer({ no, message: bestMessage[no] ?? 0, sum: sum[no] ?? 0, best: (byBeside[no] ?? 0) + ((bestScore[no] ?? 0) >>> gainShift) });
  }
  return { total, first: first.inOrder };
}

/** Fills in how well each conversation's customer, subject or number meets the word. */
function levelsBeside({ conversations, lastVisitor, lastTicket }: RankingInput, { visitors, subjects, ticketNumber }: WordMeetings, levels: Uint8Array): void {
  levels.fill(0);
  const byVisitor = levelsByDoc(visitors, lastVisitor);
  const byTicket = levelsByDoc(subjects, lastTicket);
  if (byVisitor === undefined && byTicket === undefined && ticketNumber === undefined) return;
  for (let no = 1; no < levels.length; no += 1) {
    const ticket = conversations.ticketNumber(no);
    levels[no] = ticket !== 0 && ticket === ticketNumber ? meetingLevels.named : Math.max(byVisitor?.[conversations.visitorDoc(no)] ?? 0, byTicket?.[ticket] ?? 0);
  }
}

/** How well each document meets a word; undefined when none does. */
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

/** The best of what was offered, best first: words met well, words met together, then the newest. */
class First {
  readonly inOrder: Candidate[] = [];
  readonly #limit: number;
  readonly #updatedMs: (no: number) => number;
  readonly #idOf: (no: number) => string;

  constructor(limit: number, updatedMs: (no: number) => number, idOf: (no: number) => string) {
    this.#limit = limit;
    this.#updatedMs = updatedMs;
    this.#idOf = idOf;
  }

  offer(candidate: Candidate): void {
    const last = this.inOrder.at(-1);
    const isFull = this.inOrder.length === this.#limit;
    if (isFull && last !== undefined && this.#compare(candidate, last) > 0) return;
    let low = 0;
    let high = this.inOrder.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.inOrder[middle];
      if (other !== undefined && this.#compare(candidate, other) > 0) low = middle + 1;
      else high = middle;
    }
    this.inOrder.splice(low, 0, candidate);
    if (isFull) this.inOrder.pop();
  }

  /** Negative when `a` comes before `b`. */
  #compare(a: Candidate, b: Candidate): number {
    const byWords = b.sum - a.sum || b.best - a.best || this.#updatedMs(b.no) - this.#updatedMs(a.no);
    if (byWords !== 0) return byWords;
    return this.#idOf(b.no) < this.#idOf(a.no) ? -1 : 1;
  }
}

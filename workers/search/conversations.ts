// What a search asks of every conversation, by its small number and in columns, so that tens of thousands are looked through
// in a millisecond. Held in memory alone and read from the workspace's file, since all of it changes.

import type { Channel, ConversationFacets, ConversationStatus, Reach } from '../../store/conversations.ts';
import type { Database } from '../../store/database.ts';
import { nameKey } from '../../store/folding.ts';
import { findConversationNumber, findNumberedConversation, insertConversationNumber, lastConversationNumber } from '../../store/search-index.ts';

export interface SearchFilter {
  readonly channel?: Channel | undefined;
  readonly status?: ConversationStatus | undefined;
  readonly tag?: string | undefined;
  /** Of updatedAt, inclusive. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

const firstCapacity = 1024;
/** Rows written before somebody else may have the thread: a millisecond or two. */
const rowsPerSlice = 256;
const maxAskedNumbers = 5000;
const nobody = 0;

export class Conversations {
  readonly #db: Database;
  /** Text values by a number from 1; 0 is none. */
  readonly #codes = new Map<string, number>();
  readonly #tags = new Map<number, readonly string[]>();
  /** Numbered, but not in the file yet. */
  readonly #newNumbers = new Map<string, number>();
  readonly #newIds = new Map<number, string>();
  /** Read from the file not long ago: the messages of a conversation come close together. */
  readonly #askedNumbers = new Map<string, number>();
  #lastNo: number;
  #channel = new Uint16Array(firstCapacity);
  #status = new Uint16Array(firstCapacity);
  #department = new Uint32Array(firstCapacity);
  #assignee = new Uint32Array(firstCapacity);
  #offeredTo = new Uint32Array(firstCapacity);
  #visitorDoc = new Uint32Array(firstCapacity);
  #ticketNumber = new Uint32Array(firstCapacity);
  #updatedMs = new Float64Array(firstCapacity);

  constructor(db: Database) {
    this.#db = db;
    this.#lastNo = lastConversationNumber(db);
    this.#reserve();
  }

  /** Numbers run from 1 to here. */
  get lastNo(): number {
    return this.#lastNo;
  }

  /** The conversation's number; given now if it has none. */
  numberOf(conversationId: string): number {
    const known = this.#newNumbers.get(conversationId) ?? this.#askedNumbers.get(conversationId) ?? this.#storedNumber(conversationId);
    if (known !== undefined) return known;
    this.#lastNo += 1;
    this.#reserve();
    this.#newNumbers.set(conversationId, this.#lastNo);
    this.#newIds.set(this.#lastNo, conversationId);
    return this.#lastNo;
  }

  idOf(no: number): string {
    const conversationId = this.#newIds.get(no) ?? findNumberedConversation(this.#db, no);
    if (conversationId === undefined) throw new Error(`no conversation has the number ${no}`);
    return conversationId;
  }

  put(facets: ConversationFacets): void {
    const no = this.numberOf(facets.id);
    this.#channel[no] = this.#codeOf(facets.channel);
    this.#status[no] = this.#codeOf(facets.status);
    this.#department[no] = this.#codeOf(facets.departmentId);
    this.#assignee[no] = this.#codeOf(facets.assignedAgentId);
    this.#offeredTo[no] = this.#codeOf(facets.offeredToAgentId);
    this.#visitorDoc[no] = facets.visitorChangeSeq ?? 0;
    this.#ticketNumber[no] = facets.ticketNumber ?? 0;
    this.#updatedMs[no] = Date.parse(facets.updatedAt);
    if (facets.tags.length > 0) this.#tags.set(no, facets.tags.map(nameKey));
    else this.#tags.delete(no);
  }

  setVisitorDoc(no: number, doc: number): void {
    this.#visitorDoc[no] = doc;
  }

  /** Under which number the words of its visitor's name and email are known; 0 for none. */
  visitorDoc(no: number): number {
    return this.#visitorDoc[no] ?? 0;
  }

  /** Under which the words of its subject are known, too; 0 for none. */
  ticketNumber(no: number): number {
    return this.#ticketNumber[no] ?? 0;
  }

  updatedMs(no: number): number {
    return this.#updatedMs[no] ?? 0;
  }

  /** The rule of Reach (store/conversations.ts) and the filter, as one question by number. */
  wanted(reach: Reach, filter: SearchFilter): (no: number) => boolean {
    const channels = this.#setOf(reach.channels.filter((channel) => filter.channel === undefined || channel === filter.channel));
    const departments = reach.departmentIds === null ? undefined : this.#setOf([null, ...reach.departmentIds]);
    const agent = this.#codeOf(reach.agentId);
    const status = filter.status === undefined ? undefined : this.#codeOf(filter.status);
    const tag = filter.tag === undefined ? undefined : nameKey(filter.tag);
    const { fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY } = filter;
    return (no) => {
      if (channels[this.#channel[no] ?? nobody] !== 1) return false;
      if (status !== undefined && this.#status[no] !== status) return false;
      const updatedMs = this.#updatedMs[no] ?? 0;
      if (updatedMs < fromMs || updatedMs > toMs) return false;
      if (departments !== undefined && departments[this.#department[no] ?? nobody] !== 1 && this.#assignee[no] !== agent && this.#offeredTo[no] !== agent) return false;
      return tag === undefined || this.#tags.get(no)?.includes(tag) === true;
    };
  }

  /** Writes the numbers given since the last time, a slice at a time, inside the caller's transaction. `written` is called after the commit. */
  *write(): Generator<void, { written(): void }> {
    const writing = [...this.#newIds];
    for (const [index, [no, conversationId]] of writing.entries()) {
      insertConversationNumber(this.#db, no, conversationId);
      if ((index + 1) % rowsPerSlice === 0) yield;
    }
    return {
      written: () => {
        for (const [no, conversationId] of writing) {
          this.#newIds.delete(no);
          this.#newNumbers.delete(conversationId);
        }
      },
    };
  }

  #storedNumber(conversationId: string): number | undefined {
    const no = findConversationNumber(this.#db, conversationId);
    if (no === undefined) return undefined;
    if (this.#askedNumbers.size >= maxAskedNumbers) this.#askedNumbers.clear();
    this.#askedNumbers.set(conversationId, no);
    return no;
  }

  #codeOf(value: string | null): number {
    if (value === null) return nobody;
    let code = this.#codes.get(value);
    if (code === undefined) this.#codes.set(value, (code = this.#codes.size + 1));
    return code;
  }

  /** 1 for the code of each value. */
  #setOf(values: readonly (string | null)[]): Uint8Array {
    const codes = values.map((value) => this.#codeOf(value));
    const set = new Uint8Array(this.#codes.size + 1);
    for (const code of codes) set[code] = 1;
    return set;
  }

  #reserve(): void {
    let capacity = this.#channel.length;
    if (this.#lastNo < capacity) return;
    while (capacity <= this.#lastNo) capacity *= 2;
    this.#channel = grown(this.#channel, new Uint16Array(capacity));
    this.#status = grown(this.#status, new Uint16Array(capacity));
    this.#department = grown(this.#department, new Uint32Array(capacity));
    this.#assignee = grown(this.#assignee, new Uint32Array(capacity));
    this.#offeredTo = grown(this.#offeredTo, new Uint32Array(capacity));
    this.#visitorDoc = grown(this.#visitorDoc, new Uint32Array(capacity));
    this.#ticketNumber = grown(this.#ticketNumber, new Uint32Array(capacity));
    this.#updatedMs = grown(this.#updatedMs, new Float64Array(capacity));
  }
}

type Column = Uint16Array | Uint32Array | Float64Array;

export function grown<C extends Column>(from: C, into: C): C {
  into.set(from);
  return into;
}

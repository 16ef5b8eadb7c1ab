// The search filters' data of every conversation, in columns by a small number, so that tens of thousands are scanned
// in a millisecond. Only in memory, read from the workspace's file, because all of it changes.

import type {
  Channel,
  ConversationFacets,
  ConversationStatus,
  Reach,
} from '../../store/conversations/conversations.ts';
import type { Database } from '../../store/database.ts';
import { nameKey } from '../../store/folding.ts';
import {
  conversationsNumbered,
  findConversationNumber,
  findNumberedConversation,
  insertConversationNumber,
  lastConversationNumber,
} from '../../store/search/index.ts';

export interface SearchFilter {
  readonly channel?: Channel | undefined;
  readonly status?: ConversationStatus | undefined;
  readonly tag?: string | undefined;
  /** Of updatedAt, inclusive. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

const firstCapacity = 1024;
/** Rows written before yielding: a millisecond or two. */
const rowsPerSlice = 256;
const maxAskedNumbers = 5000;
const none = 0;

export class Conversations {
  readonly #db: Database;
  /** Text values by a code from 1; 0 is none. */
  readonly #codes = new Map<string, number>();
  /** Those that occur. */
  readonly #channels = new Set<Channel>();
  readonly #tags = new Map<number, readonly string[]>();
  /** Numbered, but not in the file yet. */
  readonly #newNumbers = new Map<string, number>();
  readonly #newIds = new Map<number, string>();
  /** A cache of numbers read from the file: messages of a conversation come close together. */
  readonly #askedNumbers = new Map<string, number>();
  #lastNo: number;
  /** Higher numbers in the file are not ours: another connection wrote them. */
  #lastStoredNo: number;
  #channel = new Uint16Array(firstCapacity);
  #status = new Uint16Array(firstCapacity);
  #department = new Uint32Array(firstCapacity);
  #assignee = new Uint32Array(firstCapacity);
  #offeredTo = new Uint32Array(firstCapacity);
  /** By number, the document of its visitor's name and email; 0 for none. Those of one are linked in both directions. */
  #visitorDocs = new Uint32Array(firstCapacity);
  #nextOfVisitor = new Uint32Array(firstCapacity);
  #previousOfVisitor = new Uint32Array(firstCapacity);
  #firstOfVisitor = new Uint32Array(firstCapacity);
  /** By ticket number, under which its subject is indexed, too. */
  #tickets = new Uint32Array(firstCapacity);
  #updatedMs = new Float64Array(firstCapacity);
  /**
   * The start of each id, as much as a number holds: many conversations are updated in the same millisecond, but few
   * were created in the same.
   */
  #idStarts = new Float64Array(firstCapacity);

  constructor(db: Database) {
    this.#db = db;
    this.#lastNo = lastConversationNumber(db);
    this.#lastStoredNo = this.#lastNo;
    this.#reserve();
  }

  /** Numbers run from 1 to here. */
  get lastNo(): number {
    return this.#lastNo;
  }

  /** Numbers that are only in memory. */
  get unwritten(): number {
    return this.#newIds.size;
  }

  /** The conversation's number, assigned now if it has none. */
  numberOf(conversationId: string): number {
    const known =
      this.#newNumbers.get(conversationId) ??
      this.#askedNumbers.get(conversationId) ??
      this.#storedNumber(conversationId);
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

  /** The ids of the numbers, in one query. */
  idsOf(numbers: readonly number[]): string[] {
    const stored = conversationsNumbered(
      this.#db,
      numbers.filter((no) => !this.#newIds.has(no)),
    );
    return numbers.map((no) => stored.get(no) ?? this.idOf(no));
  }

  put(facets: ConversationFacets): void {
    const no = this.numberOf(facets.id);
    this.#channels.add(facets.channel);
    this.#channel[no] = this.#codeOf(facets.channel);
    this.#status[no] = this.#codeOf(facets.status);
    this.#department[no] = this.#codeOf(facets.departmentId);
    this.#assignee[no] = this.#codeOf(facets.assignedAgentId);
    this.#offeredTo[no] = this.#codeOf(facets.offeredToAgentId);
    this.setVisitorDoc(no, facets.visitorChangeSeq ?? 0);
    if (facets.ticketNumber !== null) {
      this.#tickets = withRoom(this.#tickets, facets.ticketNumber);
      this.#tickets[facets.ticketNumber] = no;
    }
    this.#updatedMs[no] = Date.parse(facets.updatedAt);
    this.#idStarts[no] = Number.parseInt(facets.id.slice(0, 8) + facets.id.slice(9, 13), 16);
    if (facets.tags.length > 0) this.#tags.set(no, facets.tags.map(nameKey));
    else this.#tags.delete(no);
  }

  setVisitorDoc(no: number, doc: number): void {
    const before = this.#visitorDocs[no] ?? none;
    if (doc === before) return;
    if (before !== none) this.#unlink(no, before);
    this.#visitorDocs[no] = doc;
    if (doc === none) return;
    this.#firstOfVisitor = withRoom(this.#firstOfVisitor, doc);
    const next = this.#firstOfVisitor[doc] ?? none;
    this.#firstOfVisitor[doc] = no;
    this.#nextOfVisitor[no] = next;
    this.#previousOfVisitor[no] = none;
    if (next !== none) this.#previousOfVisitor[next] = no;
  }

  #unlink(no: number, doc: number): void {
    const next = this.#nextOfVisitor[no] ?? none;
    const previous = this.#previousOfVisitor[no] ?? none;
    if (previous === none) this.#firstOfVisitor[doc] = next;
    else this.#nextOfVisitor[previous] = next;
    if (next !== none) this.#previousOfVisitor[next] = previous;
  }

  /** The first conversation of a visitor's document, for nextOfVisitor(); 0 for none. */
  firstOfVisitor(doc: number): number {
    return this.#firstOfVisitor[doc] ?? none;
  }

  nextOfVisitor(no: number): number {
    return this.#nextOfVisitor[no] ?? none;
  }

  /** 0 if there is no such ticket. */
  ofTicket(ticketNumber: number): number {
    return this.#tickets[ticketNumber] ?? none;
  }

  /** By number. Valid only for the moment: a full column is replaced. */
  get updatedMs(): Float64Array {
    return this.#updatedMs;
  }

  /** Compares their ids as text. */
  compareIds(a: number, b: number): number {
    return (this.#idStarts[a] ?? 0) - (this.#idStarts[b] ?? 0) || (this.idOf(a) < this.idOf(b) ? -1 : 1);
  }

  /** Filters these numbers by Reach (store/conversations/conversations.ts) and the filter, in their order. */
  wantedOf(numbers: Uint32Array, reach: Reach, filter: SearchFilter): Uint32Array {
    if (this.#isAll(reach) && Object.values(filter).every((value) => value === undefined)) return numbers;
    const channels = this.#setOf(
      reach.channels.filter((channel) => filter.channel === undefined || channel === filter.channel),
    );
    const departments = reach.departmentIds === null ? undefined : this.#setOf([null, ...reach.departmentIds]);
    const agent = this.#codeOf(reach.agentId);
    const status = filter.status === undefined ? undefined : this.#codeOf(filter.status);
    const tag = filter.tag === undefined ? undefined : nameKey(filter.tag);
    const { fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY } = filter;
    const wanted = new Uint32Array(numbers.length);
    let count = 0;
    for (let place = 0; place < numbers.length; place += 1) {
      const no = numbers[place] ?? 0;
      if (channels[this.#channel[no] ?? none] !== 1) continue;
      if (status !== undefined && this.#status[no] !== status) continue;
      const updatedMs = this.#updatedMs[no] ?? 0;
      if (updatedMs < fromMs || updatedMs > toMs) continue;
      if (
        departments !== undefined &&
        departments[this.#department[no] ?? none] !== 1 &&
        this.#assignee[no] !== agent &&
        this.#offeredTo[no] !== agent
      )
        continue;
      if (tag !== undefined && this.#tags.get(no)?.includes(tag) !== true) continue;
      wanted[count] = no;
      count += 1;
    }
    return wanted.subarray(0, count);
  }

  /** Writes newly assigned numbers, a slice at a time, in the caller's transaction. Call `written` after the commit. */
  *write(): Generator<void, { written(): void }> {
    const writing = [...this.#newIds];
    for (const [index, [no, conversationId]] of writing.entries()) {
      insertConversationNumber(this.#db, no, conversationId);
      if ((index + 1) % rowsPerSlice === 0) yield;
    }
    return {
      written: () => {
        for (const [no, conversationId] of writing) {
          this.#lastStoredNo = no;
          this.#newIds.delete(no);
          this.#newNumbers.delete(conversationId);
        }
      },
    };
  }

  #isAll({ channels, departmentIds }: Reach): boolean {
    return departmentIds === null && [...this.#channels].every((channel) => channels.includes(channel));
  }

  #storedNumber(conversationId: string): number | undefined {
    const no = findConversationNumber(this.#db, conversationId);
    if (no === undefined || no > this.#lastStoredNo) return undefined;
    if (this.#askedNumbers.size >= maxAskedNumbers) this.#askedNumbers.clear();
    this.#askedNumbers.set(conversationId, no);
    return no;
  }

  #codeOf(value: string | null): number {
    if (value === null) return none;
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
    this.#visitorDocs = grown(this.#visitorDocs, new Uint32Array(capacity));
    this.#nextOfVisitor = grown(this.#nextOfVisitor, new Uint32Array(capacity));
    this.#previousOfVisitor = grown(this.#previousOfVisitor, new Uint32Array(capacity));
    this.#updatedMs = grown(this.#updatedMs, new Float64Array(capacity));
    this.#idStarts = grown(this.#idStarts, new Float64Array(capacity));
  }
}

type Column = Uint16Array | Uint32Array | Float64Array;

/** The column itself if it has this index, or a larger one. */
function withRoom(column: Uint32Array<ArrayBuffer>, index: number): Uint32Array<ArrayBuffer> {
  return index < column.length ? column : grown(column, new Uint32Array(2 * index));
}

export function grown<C extends Column>(from: C, into: C): C {
  into.set(from);
  return into;
}

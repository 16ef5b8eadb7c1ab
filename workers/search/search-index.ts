// The search index of one workspace: a file beside the workspace's own, recent documents that are not in it yet, and
// the columns in memory. It follows the workspace's file by the numbers of its messages and changes, a step at a time,
// and can be rebuilt from it at any moment. It never writes to the workspace's file. One thread writes an index; another
// may have a copy, which reads the same file and keeps columns and recent documents of its own.

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  type Channel,
  type ConversationStatus,
  changedConversations,
  conversationIdsOfVisitor,
  facetsAfter,
  findFacets,
  hasMoreConversations,
  newestConversationChange,
  type Reach,
  type ShownConversation,
  shownConversations,
  ticketsAfter,
} from '../../store/conversations/conversations.ts';
import { findMessageWritten, messagesWrittenAfter, newestMessageRowid } from '../../store/conversations/messages.ts';
import { firstMessageRowid, movedMessagesAfter } from '../../store/conversations/moves.ts';
import { findVisitorNamed, newestVisitorChange, visitorsNamedAfter } from '../../store/customers/visitors.ts';
import { Database, DatabaseUnusable, removeDatabase, type Seen } from '../../store/database.ts';
import { Json, toJson } from '../../store/json.ts';
import { searchSchema } from '../../store/migrations/search.ts';
import { everyOwners, type Segment } from '../../store/search/index.ts';
import { Conversations, grown, type SearchFilter } from './conversations.ts';
import { Dictionary } from './dictionary.ts';
import { excerptOf } from './excerpt.ts';
import { WordIndex } from './postings.ts';
import { type Ranked, Ranking } from './ranking.ts';
import { queryWords, ticketNumberOf } from './words.ts';

export interface SearchQuestion {
  readonly q: string;
  /** Where words may match: a caller who may not read messages, or customers, must not find by them either. */
  readonly looksIn: { readonly messages: boolean; readonly customers: boolean };
  readonly reach: Reach;
  readonly filter: SearchFilter;
  readonly limit: number;
}

export interface SearchRow {
  readonly conversationId: string;
  readonly version: number;
  readonly channel: Channel;
  readonly status: ConversationStatus;
  readonly subject: string | null;
  readonly ticketNumber: number | null;
  readonly updatedAt: string;
  readonly matchedBody: string;
  readonly visitorId: string | null;
  readonly visitorName: string | null;
  readonly visitorEmail: string | null;
  readonly visitorPhoneE164: string | null;
  readonly tags: readonly string[];
}

export interface SearchAnswer {
  readonly rows: readonly SearchRow[];
  readonly total: number;
  /** Only while many messages are not indexed yet: how many are, of all. The answer covers only those. */
  readonly indexing?: Indexing;
}

export interface Indexing {
  readonly done: number;
  readonly total: number;
}

/** Rows indexed per step; each step takes some milliseconds. */
const messagesPerStep = 500;
const visitorsPerStep = 500;
const ticketsPerStep = 500;
const conversationsPerStep = 1000;
const movesPerStep = 500;
/** Full segments kept in memory while other calls wait; beyond it writing comes first. */
const maxFullSegments = 2;
const writeSliceMs = 4;
/** At most this many messages, or conversations, are indexed while a caller waits. */
const fewMessages = 5000;
const fewConversations = 5000;
/** Copies keep the numbers of new conversations, about 10 MB for so many. */
const maxUnwrittenInCopy = 50_000;
/** Initial capacity in messages. */
const firstRoom = 1024;

export class SearchIndex {
  readonly #source: Database;
  readonly #db: Database;
  readonly #conversations: Conversations;
  readonly #messages: WordIndex;
  readonly #visitors: WordIndex;
  readonly #subjects: WordIndex;
  readonly #dictionary: Dictionary;
  readonly #ranking = new Ranking();
  /** By message, the number of its conversation. */
  #owners: Uint32Array;
  /** By number of a conversation, its first message; 0 before it. */
  #firstMessages: Uint32Array;
  /** In the order in which they are written to the file. */
  readonly #words: readonly WordIndex[];
  /** While the columns are filled: the last conversation read. */
  #loading: { afterId: string } | undefined = { afterId: '' };
  /** Everything up to here was in the file when filling the columns began. */
  readonly #loadedFrom: { message: number; visitor: number };
  #conversationSeq: number;
  /** Segments keep the conversations of when they were written, so all moves are followed after each start. */
  #moveSeq = 0;
  /** Only reads the file. */
  readonly #isCopy: boolean;
  #writing: Generator<void, void> | undefined;
  /** The version of the file up to which its segments are adopted. */
  #adopted: number | undefined;
  /** The version of the source up to which everything is followed. */
  #followed: number | undefined;

  private constructor(source: Database, db: Database, { isCopy }: { isCopy: boolean }) {
    this.#source = source;
    this.#db = db;
    this.#isCopy = isCopy;
    this.#dictionary = new Dictionary(db);
    this.#conversations = new Conversations(db);
    this.#messages = new WordIndex(db, 'message', this.#dictionary);
    this.#visitors = new WordIndex(db, 'visitor', this.#dictionary);
    this.#subjects = new WordIndex(db, 'subject', this.#dictionary);
    this.#words = [this.#messages, this.#visitors, this.#subjects];
    this.#owners = readOwners(db, this.#messages.lastDoc);
    this.#firstMessages = firstMessagesOf(this.#owners, this.#conversations.lastNo);
    this.#conversationSeq = newestConversationChange(source);
    this.#loadedFrom = { message: newestMessageRowid(source), visitor: newestVisitorChange(source) };
  }

  /**
   * Opens the index of `source` at `path`. One that is missing, damaged, of another version or of another source is
   * started over.
   */
  static open(source: Database, path: string): SearchIndex {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const index = SearchIndex.#openAsIs(source, path);
    if (index !== undefined) return index;
    removeDatabase(path);
    return new SearchIndex(source, Database.openDerived(path, searchSchema), { isCopy: false });
  }

  /** Opens a copy beside the thread that writes the file. Undefined if the file is missing or not of this source. */
  static openCopy(source: Database, path: string): SearchIndex | undefined {
    let db: Database | undefined;
    try {
      const opened = (db = Database.openDerivedReader(path, searchSchema));
      const index = opened.snapshot(() => new SearchIndex(source, opened, { isCopy: true }));
      if (index.#isOfItsSource()) return index;
    } catch {
      // The thread that writes it repairs it.
    }
    db?.close();
    return undefined;
  }

  static #openAsIs(source: Database, path: string): SearchIndex | undefined {
    let db: Database | undefined;
    try {
      db = Database.openDerived(path, searchSchema);
      const index = new SearchIndex(source, db, { isCopy: false });
      if (index.#isOfItsSource()) return index;
    } catch (error) {
      const isItsOwn = error instanceof DatabaseUnusable || db?.isSound() === false;
      if (!isItsOwn) {
        db?.close();
        throw error;
      }
    }
    db?.close();
    return undefined;
  }

  /** Indexes one step. Returns true if nothing is left. Words and columns are complete only then. */
  advance(): boolean {
    if (this.#writesFirst()) return false;
    const isDone = this.#source.snapshot(() => this.#step());
    if (this.#isCopy) this.#db.snapshot(() => this.#adopt());
    return isDone;
  }

  /** Segments are written, so that they do not fill the memory. */
  #writesFirst(): boolean {
    if (this.#isCopy) return false;
    const isFull = this.#words.some(({ fullSegments }) => fullSegments >= maxFullSegments);
    if (isFull) this.write();
    return isFull;
  }

  /** True of a copy that holds too much: open another one. The file was replaced, or its thread writes nothing. */
  get isWorn(): boolean {
    const isFull = this.#words.some(({ fullSegments }) => fullSegments > maxFullSegments);
    return this.#isCopy && (isFull || this.#conversations.unwritten > maxUnwrittenInCopy);
  }

  /** True if a full segment waits to be written. */
  get hasToWrite(): boolean {
    if (this.#isCopy) return false;
    return this.#writing !== undefined || this.#words.some(({ fullSegments }) => fullSegments > 0);
  }

  /** Writes full segments for some milliseconds. Returns true if none is left. */
  write(): boolean {
    const untilMs = performance.now() + writeSliceMs;
    while (this.hasToWrite) {
      this.#writing ??= this.#writeSegment();
      if (this.#writing.next().done === true) this.#writing = undefined;
      if (performance.now() >= untilMs) return false;
    }
    return true;
  }

  /** Indexes one step and answers from everything that was written until now. `result` is undefined if more is left. */
  search(question: SearchQuestion): Seen<Json<SearchAnswer> | undefined> {
    return this.#source.readTogether(() =>
      !this.#writesFirst() && this.#step() ? this.#answer(question, undefined) : undefined,
    );
  }

  /** Progress, if indexing the rest would take longer than a caller should wait. */
  get indexing(): Indexing | undefined {
    const total = newestMessageRowid(this.#source);
    const done = this.#messages.lastDoc;
    const isFar =
      total - done > fewMessages ||
      (this.#loading !== undefined && hasMoreConversations(this.#source, fewConversations));
    // A message is not found before its conversation is in the columns.
    return isFar ? { done: this.#loading === undefined ? done : 0, total } : undefined;
  }

  /** Searches only what is indexed. */
  searchSoFar(question: SearchQuestion, indexing: Indexing): Seen<Json<SearchAnswer>> {
    return this.#source.readTogether(() => this.#answer(question, indexing));
  }

  isSound(): boolean {
    return this.#db.isSound();
  }

  close(): void {
    this.#db.close();
  }

  #answer(question: SearchQuestion, indexing: Indexing | undefined): Json<SearchAnswer> {
    // While a segment is being written, a transaction is open already.
    return this.#db.inTransaction
      ? this.#answerTogether(question, indexing)
      : this.#db.snapshot(() => this.#answerTogether(question, indexing));
  }

  /** Drops from a copy's memory the segments that are in the file by now. In a snapshot of the file. */
  #adopt(): void {
    const version = this.#db.versionOfOthers;
    if (version === this.#adopted && this.#words.every(({ fullSegments }) => fullSegments === 0)) return;
    for (const words of this.#words) words.adopt();
    this.#adopted = version;
  }

  #answerTogether(
    { q, looksIn, reach, filter, limit }: SearchQuestion,
    indexing: Indexing | undefined,
  ): Json<SearchAnswer> {
    if (this.#isCopy) this.#adopt();
    const words = queryWords(q);
    if (words.length === 0) return written([], 0, indexing);
    const { total, first } = this.#ranking.rank({
      words: words.map((word) => {
        const alike = this.#dictionary.spelledAlike(word.text);
        return {
          messages: looksIn.messages ? this.#messages.find(word, alike) : [],
          visitors: looksIn.customers ? this.#visitors.find(word, alike) : [],
          subjects: this.#subjects.find(word, alike),
          ticketNumber: ticketNumberOf(word),
        };
      }),
      owners: this.#owners,
      firstMessages: this.#firstMessages,
      conversations: this.#conversations,
      wantedOf: (numbers) => this.#conversations.wantedOf(numbers, reach, filter),
      limit,
    });
    const rows = this.#shown(indexing === undefined ? first : first.map((ranked) => this.#unlessMoved(ranked))).map(
      ({ json, text }) => `${json.slice(0, -1)},"matchedBody":${toJson(excerptOf(text, words))}}`,
    );
    if (rows.length < first.length) throw new Error('the index has conversations that the workspace does not');
    return written(rows, total, indexing);
  }

  #shown(ranked: readonly Ranked[]): ShownConversation[] {
    const without = ranked.filter(({ message }) => message === 0).map(({ no }) => no);
    const ids = this.#conversations.idsOf(without).values();
    return shownConversations(
      this.#source,
      ranked.map(({ message }) => (message === 0 ? (ids.next().value ?? '') : message)),
    );
  }

  /** A move that is not followed yet may have taken the message into a conversation that the caller may not see. */
  #unlessMoved({ no, message }: Ranked): Ranked {
    const isThere = findMessageWritten(this.#source, message)?.conversationId === this.#conversations.idOf(no);
    return { no, message: isThere ? message : 0 };
  }

  /** A search right after another one learns from one number that nothing was written meanwhile. */
  #step(): boolean {
    const version = this.#source.versionOfOthers;
    if (version === this.#followed) return true;
    const isDone = this.#follow();
    this.#followed = isDone ? version : undefined;
    return isDone;
  }

  #follow(): boolean {
    return (
      this.#load() &&
      this.#followConversations() &&
      this.#followVisitors() &&
      this.#followTickets() &&
      this.#followMessages() &&
      this.#followMoves()
    );
  }

  #load(): boolean {
    if (this.#loading === undefined) return true;
    const page = facetsAfter(this.#source, this.#loading.afterId, conversationsPerStep);
    for (const facets of page) this.#conversations.put(facets);
    const last = page.at(-1);
    this.#loading = last === undefined || page.length < conversationsPerStep ? undefined : { afterId: last.id };
    return this.#loading === undefined;
  }

  #followConversations(): boolean {
    const page = changedConversations(this.#source, this.#conversationSeq, conversationsPerStep);
    for (const { seq, conversationId } of page) {
      this.#refresh(conversationId);
      this.#conversationSeq = seq;
    }
    return page.length < conversationsPerStep;
  }

  #followVisitors(): boolean {
    const page = visitorsNamedAfter(this.#source, this.#visitors.lastDoc, visitorsPerStep);
    for (const { seq, visitorId, name, email } of page) {
      this.#visitors.add(seq, visitorId, `${name ?? ''} ${email ?? ''}`);
      if (seq <= this.#loadedFrom.visitor) continue;
      for (const conversationId of conversationIdsOfVisitor(this.#source, visitorId))
        this.#conversations.setVisitorDoc(this.#conversations.numberOf(conversationId), seq);
    }
    return page.length < visitorsPerStep;
  }

  /** A subject is written with its ticket and never changes. */
  #followTickets(): boolean {
    const page = ticketsAfter(this.#source, this.#subjects.lastDoc, ticketsPerStep);
    for (const { ticketNumber, id, subject } of page) this.#subjects.add(ticketNumber, id, subject ?? '');
    return page.length < ticketsPerStep;
  }

  #followMessages(): boolean {
    const page = messagesWrittenAfter(this.#source, this.#messages.lastDoc, messagesPerStep);
    const touched = new Set<string>();
    for (const { rowid, id, conversationId, senderType, body } of page) {
      if (this.#owners.length <= rowid) this.#owners = grown(this.#owners, new Uint32Array(2 * rowid));
      const no = this.#conversations.numberOf(conversationId);
      this.#owners[rowid] = no;
      if (this.#firstMessages.length <= no) this.#firstMessages = grown(this.#firstMessages, new Uint32Array(2 * no));
      this.#firstMessages[no] ||= rowid;
      // Lines from the service itself have no author.
      this.#messages.add(rowid, id, senderType === 'system' ? '' : body);
      if (rowid > this.#loadedFrom.message) touched.add(conversationId);
    }
    for (const conversationId of touched) this.#refresh(conversationId);
    return page.length < messagesPerStep;
  }

  /** Tickets were merged or split: the words stay, their conversation is another. Every message is indexed by now. */
  #followMoves(): boolean {
    const page = movedMessagesAfter(this.#source, this.#moveSeq, movesPerStep);
    const touched = new Set<string>();
    for (const { seq, rowid, conversationId, fromId, toId } of page) {
      this.#owners[rowid] = this.#conversations.numberOf(conversationId);
      touched.add(fromId).add(toId).add(conversationId);
      this.#moveSeq = seq;
    }
    for (const conversationId of touched) {
      const no = this.#conversations.numberOf(conversationId);
      if (this.#firstMessages.length <= no) this.#firstMessages = grown(this.#firstMessages, new Uint32Array(2 * no));
      this.#firstMessages[no] = firstMessageRowid(this.#source, conversationId);
    }
    return page.length < movesPerStep;
  }

  #refresh(conversationId: string): void {
    const facets = findFacets(this.#source, conversationId);
    if (facets !== undefined) this.#conversations.put(facets);
  }

  *#writeSegment(): Generator<void, void> {
    const full = this.#words.find(({ fullSegments }) => fullSegments > 0) ?? this.#messages;
    this.#db.begin();
    try {
      const words = yield* full.write(full === this.#messages ? (segment) => this.#ownersOf(segment) : () => null);
      const numbers = yield* this.#conversations.write();
      this.#db.commit();
      words.written();
      numbers.written();
    } catch (error) {
      this.#db.rollback();
      throw error;
    }
  }

  #ownersOf({ firstDoc, lastDoc }: Segment): Uint8Array {
    const owners = this.#owners.subarray(firstDoc, lastDoc + 1);
    return new Uint8Array(owners.buffer, owners.byteOffset, owners.byteLength);
  }

  /** False if the index's last documents are not in the source: restored from elsewhere, or lost in a power failure. */
  #isOfItsSource(): boolean {
    const message = this.#messages.lastStored;
    const visitor = this.#visitors.lastStored;
    const ticket = this.#subjects.lastStored;
    const isSameMessage =
      message === undefined || findMessageWritten(this.#source, message.lastDoc)?.id === message.lastId;
    const isSameTicket =
      ticket === undefined || ticketsAfter(this.#source, ticket.lastDoc - 1, 1)[0]?.id === ticket.lastId;
    if (visitor === undefined) return isSameMessage && isSameTicket;
    const named = findVisitorNamed(this.#source, visitor.lastDoc);
    return (
      isSameMessage &&
      isSameTicket &&
      (named === undefined ? visitor.lastDoc <= this.#loadedFrom.visitor : named === visitor.lastId)
    );
  }
}

function written(rows: readonly string[], total: number, indexing: Indexing | undefined): Json<SearchAnswer> {
  const progress = indexing === undefined ? '' : `,"indexing":${toJson(indexing)}`;
  return new Json(`{"rows":[${rows.join(',')}],"total":${total}${progress}}`);
}

function readOwners(db: Database, lastDoc: number): Uint32Array {
  const owners = new Uint32Array(lastDoc + firstRoom);
  for (const { firstDoc, owners: packed } of everyOwners(db)) {
    // Copied, because a Uint32Array must be aligned to four bytes.
    owners.set(
      new Uint32Array(packed.buffer.slice(packed.byteOffset, packed.byteOffset + packed.byteLength)),
      firstDoc,
    );
  }
  return owners;
}

function firstMessagesOf(owners: Uint32Array, lastNo: number): Uint32Array {
  const first = new Uint32Array(lastNo + firstRoom);
  for (let message = owners.length - 1; message > 0; message -= 1) first[owners[message] ?? 0] = message;
  return first;
}

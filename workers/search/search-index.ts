// The search index of one workspace: a file beside the workspace's own, recent documents that are not in it yet, and
// the columns in memory. It follows the workspace's file by the numbers of its messages and changes, a step at a time,
// and can be rebuilt from it at any moment. It never writes to the workspace's file. Only the reader thread has one.

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
  summariesOf,
  ticketsAfter,
} from '../../store/conversations/conversations.ts';
import { findMessageWritten, messagesWrittenAfter, newestMessageRowid } from '../../store/conversations/messages.ts';
import { firstMessageRowid, movedMessagesAfter } from '../../store/conversations/moves.ts';
import { findVisitorNamed, newestVisitorChange, visitorsNamedAfter } from '../../store/customers/visitors.ts';
import { Database, DatabaseUnusable, removeDatabase, type Seen } from '../../store/database.ts';
import { searchSchema } from '../../store/migrations/search.ts';
import { everyOwners, type Segment } from '../../store/search/index.ts';
import { Conversations, grown, type SearchFilter } from './conversations.ts';
import { Dictionary } from './dictionary.ts';
import { excerptOf } from './excerpt.ts';
import { WordIndex } from './postings.ts';
import { Ranking } from './ranking.ts';
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
  #writing: Generator<void, void> | undefined;

  private constructor(source: Database, db: Database) {
    this.#source = source;
    this.#db = db;
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
    return new SearchIndex(source, Database.openDerived(path, searchSchema));
  }

  static #openAsIs(source: Database, path: string): SearchIndex | undefined {
    let db: Database | undefined;
    try {
      db = Database.openDerived(path, searchSchema);
      const index = new SearchIndex(source, db);
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
    if (this.#words.some(({ fullSegments }) => fullSegments >= maxFullSegments)) {
      this.write();
      return false;
    }
    return this.#source.snapshot(() => this.#step());
  }

  /** Writes full segments for some milliseconds. Returns true if none is left. */
  write(): boolean {
    const untilMs = performance.now() + writeSliceMs;
    while (this.#writing !== undefined || this.#words.some(({ fullSegments }) => fullSegments > 0)) {
      this.#writing ??= this.#writeSegment();
      if (this.#writing.next().done === true) this.#writing = undefined;
      if (performance.now() >= untilMs) return false;
    }
    return true;
  }

  /** Call when advance() has just returned true; indexes the few messages since. */
  search(question: SearchQuestion): Seen<SearchAnswer> {
    return this.#source.readTogether(() => {
      while (!this.#step());
      return this.#answer(question);
    });
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
  searchSoFar(question: SearchQuestion, indexing: Indexing): Seen<SearchAnswer> {
    return this.#source.readTogether(() => ({ ...this.#answer(question), indexing }));
  }

  isSound(): boolean {
    return this.#db.isSound();
  }

  close(): void {
    this.#db.close();
  }

  #answer(question: SearchQuestion): SearchAnswer {
    // While a segment is being written, a transaction is open already.
    return this.#db.inTransaction
      ? this.#answerTogether(question)
      : this.#db.snapshot(() => this.#answerTogether(question));
  }

  #answerTogether({ q, looksIn, reach, filter, limit }: SearchQuestion): SearchAnswer {
    const words = queryWords(q);
    if (words.length === 0) return { rows: [], total: 0 };
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
    const ids = this.#conversations.idsOf(first.map(({ no }) => no));
    const asked = first.map(({ message }, index) => ({
      conversationId: ids[index] ?? '',
      messageRowid: message === 0 ? null : message,
    }));
    const rows = summariesOf(this.#source, asked).map(
      ({ id: conversationId, preview, body, ...shown }): SearchRow => ({
        conversationId,
        ...shown,
        matchedBody: excerptOf(body ?? preview ?? '', words),
      }),
    );
    if (rows.length < first.length) throw new Error('the index has conversations that the workspace does not');
    return { rows, total };
  }

  #step(): boolean {
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

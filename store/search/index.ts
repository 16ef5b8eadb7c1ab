// The rows of a search index: a file beside the workspace's that can be deleted at any time. Only workers/search/ uses
// it and knows what they mean.

import type { Database } from '../database.ts';
import { toJson } from '../json.ts';

/** Fields with words: bodies of messages, names and emails of visitors, subjects of tickets. */
export type SearchField = 'message' | 'visitor' | 'subject';

/** The documents of one segment that contain a word. */
export interface Posting {
  readonly segment: number;
  readonly docs: Uint8Array;
}

/** Documents from the first to the last, with possible gaps. */
export interface Segment {
  readonly firstDoc: number;
  readonly lastDoc: number;
  /** The id of document `lastDoc`. */
  readonly lastId: string;
}

/** As stored. */
const codeOf: Record<SearchField, number> = { message: 0, visitor: 1, subject: 2 };
/** Sorts after everything with the same prefix. */
const afterAll = '\u{10ffff}';

/** In order; a segment's number is its index here. */
export function segmentsOf(db: Database, field: SearchField): Segment[] {
  return db.all<Segment>('SELECT firstDoc, lastDoc, lastId FROM segment WHERE field = ? ORDER BY segment', [
    codeOf[field],
  ]);
}

export function insertSegment(
  db: Database,
  field: SearchField,
  segment: Segment & { number: number; owners: Uint8Array | null },
): void {
  const { number, firstDoc, lastDoc, lastId, owners } = segment;
  db.run('INSERT INTO segment (field, segment, firstDoc, lastDoc, lastId, owners) VALUES (?, ?, ?, ?, ?, ?)', [
    codeOf[field],
    number,
    firstDoc,
    lastDoc,
    lastId,
    owners,
  ]);
}

/** For every segment of messages, its first document and its owners. */
export function* everyOwners(db: Database): Generator<{ firstDoc: number; owners: Uint8Array }> {
  yield* db.iterate<{ firstDoc: number; owners: Uint8Array }>(
    'SELECT firstDoc, owners FROM segment WHERE owners IS NOT NULL ORDER BY firstDoc',
  );
}

/** Undefined if there is no such segment of messages. */
export function segmentOwners(db: Database, number: number): Uint8Array | undefined {
  return (
    db.get<{ owners: Uint8Array | null }>('SELECT owners FROM segment WHERE field = ? AND segment = ?', [
      codeOf.message,
      number,
    ])?.owners ?? undefined
  );
}

export function insertPosting(db: Database, field: SearchField, word: string, posting: Posting): void {
  db.run('INSERT INTO posting (field, word, segment, docs) VALUES (?, ?, ?, ?)', [
    codeOf[field],
    word,
    posting.segment,
    posting.docs,
  ]);
}

/** Of one word, in segments before `segments`. */
export function postingsOf(db: Database, field: SearchField, word: string, segments: number): Posting[] {
  return db.all<Posting>('SELECT segment, docs FROM posting WHERE field = ? AND word = ? AND segment < ?', [
    codeOf[field],
    word,
    segments,
  ]);
}

/** Of every longer word that begins with `prefix`. */
export function postingsBeyond(db: Database, field: SearchField, prefix: string, segments: number): Posting[] {
  return db.all<Posting>(
    'SELECT segment, docs FROM posting WHERE field = ? AND word > ? AND word < ? AND segment < ?',
    [codeOf[field], prefix, prefix + afterAll, segments],
  );
}

export function isSpelled(db: Database, hash: number, word: string): boolean {
  return db.get('SELECT 1 FROM spelling WHERE hash = ? AND word = ?', [hash, word]) !== undefined;
}

export function insertSpelling(db: Database, hash: number, word: string): void {
  db.run('INSERT OR IGNORE INTO spelling (hash, word) VALUES (?, ?)', [hash, word]);
}

/** Under any of these hashes, without duplicates. */
export function wordsSpelled(db: Database, hashes: readonly number[]): string[] {
  const rows = db.allValues('SELECT word FROM spelling WHERE hash IN (SELECT value FROM json_each(?))', [
    toJson(hashes),
  ]) as [string][];
  return [...new Set(rows.map(([word]) => word))];
}

export function insertConversationNumber(db: Database, no: number, conversationId: string): void {
  db.run('INSERT INTO conversation (no, id) VALUES (?, ?)', [no, conversationId]);
}

export function findConversationNumber(db: Database, conversationId: string): number | undefined {
  return db.get<{ no: number }>('SELECT no FROM conversation WHERE id = ?', [conversationId])?.no;
}

export function findNumberedConversation(db: Database, no: number): string | undefined {
  return db.get<{ id: string }>('SELECT id FROM conversation WHERE no = ?', [no])?.id;
}

/** Those that exist. */
export function conversationsNumbered(db: Database, numbers: readonly number[]): Map<number, string> {
  const rows = db.all<{ no: number; id: string }>(
    'SELECT no, id FROM conversation WHERE no IN (SELECT value FROM json_each(?))',
    [toJson(numbers)],
  );
  return new Map(rows.map(({ no, id }) => [no, id]));
}

export function lastConversationNumber(db: Database): number {
  return db.get<{ no: number | null }>('SELECT max(no) AS no FROM conversation')?.no ?? 0;
}

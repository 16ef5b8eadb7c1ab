// The rows of a search index: a file beside the workspace's that can be removed at any time. What they mean is known to
// workers/search/ alone, the only caller.

import type { Database } from './database.ts';

/** What words stand in. Stored by its place in this list. */
export const searchFields = ['message', 'visitor'] as const;
export type SearchField = (typeof searchFields)[number];

/** The documents of one segment that hold a word. */
export interface Posting {
  readonly segment: number;
  readonly docs: Uint8Array;
}

export interface Progress {
  /** Complete ones in the file; the first is 0. */
  readonly segments: number;
  readonly lastDoc: number;
  /** The id of what `lastDoc` numbers. */
  readonly lastId: string;
}

const codeOf: Record<SearchField, number> = { message: 0, visitor: 1 };
/** Sorts after whatever begins with the same letters. */
const afterAll = '\u{10ffff}';

export function findProgress(db: Database, field: SearchField): Progress | undefined {
  return db.get<Progress>('SELECT segments, lastDoc, lastId FROM progress WHERE field = ?', [codeOf[field]]);
}

export function putProgress(db: Database, field: SearchField, progress: Progress): void {
  db.run('INSERT OR REPLACE INTO progress (field, segments, lastDoc, lastId) VALUES (?, ?, ?, ?)', [codeOf[field], progress.segments, progress.lastDoc, progress.lastId]);
}

export function insertPosting(db: Database, field: SearchField, word: string, posting: Posting): void {
  db.run('INSERT INTO posting (field, word, segment, docs) VALUES (?, ?, ?, ?)', [codeOf[field], word, posting.segment, posting.docs]);
}

/** Of one word, in segments before `segments`. */
export function postingsOf(db: Database, field: SearchField, word: string, segments: number): Posting[] {
  return db.all<Posting>('SELECT segment, docs FROM posting WHERE field = ? AND word = ? AND segment < ?', [codeOf[field], word, segments]);
}

/** Of every longer word that begins with `prefix`. */
export function postingsBeyond(db: Database, field: SearchField, prefix: string, segments: number): Posting[] {
  return db.all<Posting>('SELECT segment, docs FROM posting WHERE field = ? AND word > ? AND word < ? AND segment < ?', [codeOf[field], prefix, prefix + afterAll, segments]);
}

export function isSpelled(db: Database, hash: number, word: string): boolean {
  return db.get('SELECT 1 FROM spelling WHERE hash = ? AND word = ?', [hash, word]) !== undefined;
}

export function insertSpelling(db: Database, hash: number, word: string): void {
  db.run('INSERT OR IGNORE INTO spelling (hash, word) VALUES (?, ?)', [hash, word]);
}

export function wordsSpelled(db: Database, hash: number): string[] {
  return db.all<{ word: string }>('SELECT word FROM spelling WHERE hash = ?', [hash]).map((row) => row.word);
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

export function lastConversationNumber(db: Database): number {
  return db.get<{ no: number | null }>('SELECT max(no) AS no FROM conversation')?.no ?? 0;
}

export function insertOwners(db: Database, segment: number, conversations: Uint8Array): void {
  db.run('INSERT INTO owner (segment, conversations) VALUES (?, ?)', [segment, conversations]);
}

/** In the order of their segments. */
export function* everyOwners(db: Database): Generator<Uint8Array> {
  for (const row of db.iterate<{ conversations: Uint8Array }>('SELECT conversations FROM owner ORDER BY segment')) yield row.conversations;
}

// Internal notes of a conversation.

import type { Cursor } from '../cursor.ts';
import type { Database } from '../database.ts';

export interface NoteRecord {
  readonly id: string;
  readonly conversationId: string;
  readonly visitorId: string | null;
  readonly authorAgentId: string;
  readonly body: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export function insertNote(db: Database, note: NoteRecord): void {
  db.run(
    'INSERT INTO note (id, conversationId, visitorId, authorAgentId, body, createdAt, updatedAt) VALUES (@id, @conversationId, @visitorId, @authorAgentId, @body, @createdAt, @updatedAt)',
    { ...note },
  );
}

export function updateNote(db: Database, note: NoteRecord): void {
  db.run('UPDATE note SET body = ?, updatedAt = ? WHERE id = ?', [note.body, note.updatedAt, note.id]);
}

export function deleteNote(db: Database, noteId: string): void {
  db.run('DELETE FROM note WHERE id = ?', [noteId]);
}

export function findNote(db: Database, noteId: string): NoteRecord | undefined {
  return db.get<NoteRecord>('SELECT * FROM note WHERE id = ?', [noteId]);
}

export function findLatestNoteBy(db: Database, conversationId: string, authorAgentId: string): NoteRecord | undefined {
  return db.get<NoteRecord>(
    'SELECT * FROM note WHERE conversationId = ? AND authorAgentId = ? ORDER BY createdAt DESC, id DESC LIMIT 1',
    [conversationId, authorAgentId],
  );
}

/** Newest first. */
export function notesOf(db: Database, conversationId: string): NoteRecord[] {
  return db.all<NoteRecord>('SELECT * FROM note WHERE conversationId = ? ORDER BY createdAt DESC, id DESC', [
    conversationId,
  ]);
}

/** The position of the conversation's newest note; undefined if it has none. */
export function newestNote(db: Database, conversationId: string): Cursor | undefined {
  return db.get<Cursor>(
    'SELECT createdAt AS at, id FROM note WHERE conversationId = ? ORDER BY createdAt DESC, id DESC LIMIT 1',
    [conversationId],
  );
}

/** Oldest first, one by one: after `after`, up to and including `upTo`. */
export function* notesBetween(
  db: Database,
  range: { conversationId: string; after: Cursor; upTo: Cursor },
): Generator<NoteRecord> {
  const { conversationId, after, upTo } = range;
  yield* db.iterate<NoteRecord>(
    'SELECT * FROM note WHERE conversationId = ? AND (createdAt, id) > (?, ?) AND (createdAt, id) <= (?, ?) ORDER BY createdAt, id',
    [conversationId, after.at, after.id, upTo.at, upTo.id],
  );
}

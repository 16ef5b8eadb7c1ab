// What callers left when nobody answered. One for a call.

import { type Reach, reachValues, withinReach } from './conversations.ts';
import { below, type Cursor } from './cursor.ts';
import type { Database } from './database.ts';

export interface VoicemailRecord {
  readonly id: string;
  readonly conversationId: string;
  readonly fromE164: string | null;
  readonly durationMs: number | null;
  readonly recordingUrl: string | null;
  readonly transcript: string | null;
  readonly listenedAt: string | null;
  readonly createdAt: string;
}

export function insertVoicemail(db: Database, voicemail: VoicemailRecord): void {
  db.run(
    `INSERT INTO voicemail (id, conversationId, fromE164, durationMs, recordingUrl, transcript, listenedAt, createdAt)
     VALUES (@id, @conversationId, @fromE164, @durationMs, @recordingUrl, @transcript, @listenedAt, @createdAt)`,
    { ...voicemail },
  );
}

export function findVoicemail(db: Database, voicemailId: string): VoicemailRecord | undefined {
  return db.get<VoicemailRecord>('SELECT * FROM voicemail WHERE id = ?', [voicemailId]);
}

export function setVoicemailListened(db: Database, voicemailId: string, at: string): void {
  db.run('UPDATE voicemail SET listenedAt = ? WHERE id = ?', [at, voicemailId]);
}

export function setVoicemailTranscript(db: Database, voicemailId: string, transcript: string): void {
  db.run('UPDATE voicemail SET transcript = ? WHERE id = ?', [transcript, voicemailId]);
}

/** Newest first, from just below `cursor`, of the calls within reach. */
export function voicemailPage(db: Database, page: { reach: Reach; conversationId?: string | undefined; cursor: Cursor | undefined; limit: number }): VoicemailRecord[] {
  return db.all<VoicemailRecord>(
    `SELECT voicemail.* FROM voicemail JOIN conversation ON conversation.id = voicemail.conversationId
     WHERE ${page.conversationId === undefined ? '' : 'voicemail.conversationId = @conversationId AND '}${withinReach} AND (voicemail.createdAt, voicemail.id) < (@at, @id)
     ORDER BY voicemail.createdAt DESC, voicemail.id DESC LIMIT @limit`,
    { ...reachValues(page.reach), ...below(page.cursor), ...(page.conversationId === undefined ? {} : { conversationId: page.conversationId }), limit: page.limit },
  );
}

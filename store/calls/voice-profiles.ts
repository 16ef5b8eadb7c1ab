// Voice profiles: how a phone number speaks to its callers.

import type { Database } from '../database.ts';

export interface VoiceProfileRecord {
  readonly id: string;
  readonly name: string;
  readonly greetingText: string;
  /** The carrier's name for a voice. */
  readonly voice: string;
  readonly createdAt: string;
}

export function insertVoiceProfile(db: Database, profile: VoiceProfileRecord): void {
  db.run(
    'INSERT INTO voiceProfile (id, name, greetingText, voice, createdAt) VALUES (@id, @name, @greetingText, @voice, @createdAt)',
    { ...profile },
  );
}

export function findVoiceProfile(db: Database, voiceProfileId: string): VoiceProfileRecord | undefined {
  return db.get<VoiceProfileRecord>('SELECT * FROM voiceProfile WHERE id = ?', [voiceProfileId]);
}

/** Newest first. */
export function newestVoiceProfiles(db: Database, limit: number): VoiceProfileRecord[] {
  return db.all<VoiceProfileRecord>('SELECT * FROM voiceProfile ORDER BY createdAt DESC, id DESC LIMIT ?', [limit]);
}

export function countVoiceProfiles(db: Database): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM voiceProfile')?.count ?? 0;
}

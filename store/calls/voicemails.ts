// Voicemails of unanswered calls. At most one per call.

import { type Reach, reachValues, withinReach } from '../conversations/conversations.ts';
import { below, type Cursor, newestOf } from '../cursor.ts';
import type { Database, Value } from '../database.ts';

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

/** Newest first, from just below `cursor`, of calls within reach, or of one of them. */
export function voicemailPage(
  db: Database,
  page: { reach: Reach; conversationId?: string | undefined; cursor: Cursor | undefined; limit: number },
): VoicemailRecord[] {
  const { reach, conversationId, limit } = page;
  if (!reach.channels.includes('call')) return [];
  const range = { ...below(page.cursor), limit };
  if (conversationId !== undefined) return voicemailOf(db, { ...reachValues(reach), ...range, conversationId });
  if (reach.departmentIds === null)
    return db.all<VoicemailRecord>(
      'SELECT * FROM voicemail WHERE (createdAt, id) < (@at, @id) ORDER BY createdAt DESC, id DESC LIMIT @limit',
      range,
    );
  const runs = [
    ...[null, ...reach.departmentIds].map((departmentId) =>
      placesIn(db, 'INDEXED BY conversationVoicemails WHERE departmentId IS @departmentId', { ...range, departmentId }),
    ),
    placesIn(db, 'INDEXED BY conversationVoicemailsOfAssignee WHERE assignedAgentId = @agentId', {
      ...range,
      agentId: reach.agentId,
    }),
    placesIn(
      db,
      `INDEXED BY conversationOffered WHERE handshake IS NOT NULL AND handshake ->> 'toAgentId' = @agentId`,
      { ...range, agentId: reach.agentId },
    ),
  ];
  return newestOf(runs, limit).flatMap(({ id }) => findVoicemail(db, id) ?? []);
}

/** A range of an index over conversations with a voicemail. */
function placesIn(db: Database, where: string, values: Readonly<Record<string, Value>>): Cursor[] {
  return db.all(
    `SELECT voicemailAt AS at, voicemailId AS id FROM conversation ${where} AND voicemailAt IS NOT NULL AND (voicemailAt, voicemailId) < (@at, @id)
     ORDER BY voicemailAt DESC, voicemailId DESC LIMIT @limit`,
    values,
  );
}

function voicemailOf(
  db: Database,
  values: ReturnType<typeof reachValues> & { conversationId: string; at: string; id: string; limit: number },
): VoicemailRecord[] {
  return db.all(
    `SELECT voicemail.* FROM voicemail JOIN conversation ON conversation.id = voicemail.conversationId
     WHERE voicemail.conversationId = @conversationId AND ${withinReach} AND (voicemail.createdAt, voicemail.id) < (@at, @id) LIMIT @limit`,
    values,
  );
}

// The timeline of a call, ordered by position. Append-only.

import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';

export type CallEventType =
  | 'ringing'
  | 'answered'
  | 'on_hold'
  | 'resumed'
  | 'transferred'
  | 'ended'
  | 'voicemail_left'
  | 'ai_engaged';

export interface CallEventDetail {
  readonly fromE164?: string;
  /** The agent who answered, or to whom it was transferred. */
  readonly agentId?: string;
  /** The department it was transferred to. */
  readonly departmentId?: string;
  readonly voicemailId?: string;
}

export interface CallEventRecord {
  readonly conversationId: string;
  readonly position: number;
  readonly eventType: CallEventType;
  readonly detail: CallEventDetail;
  readonly createdAt: string;
}

export function insertCallEvent(db: Database, event: CallEventRecord): void {
  db.run(
    'INSERT INTO callEvent (conversationId, position, eventType, detail, createdAt) VALUES (@conversationId, @position, @eventType, @detail, @createdAt)',
    {
      ...event,
      detail: toJson(event.detail),
    },
  );
}

export function callEventsOf(db: Database, conversationId: string): CallEventRecord[] {
  return db
    .all<Omit<CallEventRecord, 'detail'> & { detail: string }>(
      'SELECT * FROM callEvent WHERE conversationId = ? ORDER BY position',
      [conversationId],
    )
    .map((row) => ({ ...row, detail: fromJson(row.detail) }));
}

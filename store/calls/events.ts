// The timeline of a call: what happened, in the order of position. Append-only.

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
  /** Who answered, or whom it was transferred to. */
  readonly agentId?: string;
  /** Where it was transferred to. */
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

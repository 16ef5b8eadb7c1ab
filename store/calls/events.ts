// The timeline of a call, ordered by position. Append-only.

import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';
import type { CallEventDetail, CallEventType } from './records.ts';

export type { CallEventDetail, CallEventType } from './records.ts';

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

// A customer's conversation history, with the number and duration of calls.

import type { Database } from '../database.ts';
import type { Channel, ConversationStatus, Reach } from './conversations.ts';
import { reachValues, withinReach } from './conversations.ts';

/** A visitor's, or a contact's with all its visitors. */
export type Customer = { readonly visitorId: string } | { readonly contactId: string };

export interface HistoryRow {
  readonly id: string;
  readonly channel: Channel;
  readonly status: ConversationStatus;
  readonly preview: string | null;
  readonly assignedAgentId: string | null;
  readonly createdAt: string;
  readonly solvedAt: string | null;
  readonly closedAt: string | null;
  readonly rating: number | null;
  /** Null if it is not a call. */
  readonly callPhase: string | null;
  readonly callPeerE164: string | null;
  readonly callEndedAt: string | null;
  readonly callDurationMs: number | null;
}

const ofCustomer =
  '(@visitorId IS NOT NULL AND conversation.visitorId = @visitorId OR @contactId IS NOT NULL AND conversation.contactId = @contactId)';

function valuesOf(customer: Customer): { visitorId: string | null; contactId: string | null } {
  return 'visitorId' in customer
    ? { visitorId: customer.visitorId, contactId: null }
    : { visitorId: null, contactId: customer.contactId };
}

/** Newest first. */
export function conversationHistory(
  db: Database,
  of: { customer: Customer; reach: Reach; limit: number },
): HistoryRow[] {
  return db.all<HistoryRow>(
    `SELECT conversation.id, channel, status, preview, assignedAgentId, conversation.createdAt, solvedAt, closedAt, rating,
       call.phase AS callPhase, call.fromE164 AS callPeerE164, call.endedAt AS callEndedAt, call.durationMs AS callDurationMs
     FROM conversation LEFT JOIN call ON call.conversationId = conversation.id WHERE ${ofCustomer} AND ${withinReach}
     ORDER BY conversation.createdAt DESC, conversation.id DESC LIMIT @limit`,
    { ...valuesOf(of.customer), ...reachValues(of.reach), limit: of.limit },
  );
}

export function countByChannel(db: Database, of: { customer: Customer; reach: Reach }): Map<Channel, number> {
  const rows = db.all<{ channel: Channel; count: number }>(
    `SELECT channel, count(*) AS count FROM conversation WHERE ${ofCustomer} AND ${withinReach} GROUP BY channel`,
    {
      ...valuesOf(of.customer),
      ...reachValues(of.reach),
    },
  );
  return new Map(rows.map(({ channel, count }) => [channel, count]));
}

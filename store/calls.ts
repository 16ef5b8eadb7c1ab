// What a conversation of channel call has beside the others: where it came in, how far it is, who is on the phone.

import { type ConversationStatus, type Reach, reachValues, withinReach } from './conversations.ts';
import type { Cursor } from './cursor.ts';
import type { Database, Value } from './database.ts';
import { fromJson, toJson } from './json.ts';

export type CallPhase = 'ringing' | 'active' | 'voicemail' | 'ended';

export interface CallRecord {
  readonly conversationId: string;
  readonly phoneNumberId: string;
  /** The carrier's name for it. */
  readonly carrierCallId: string;
  /** Null when the caller withholds it. */
  readonly fromE164: string | null;
  readonly toE164: string;
  readonly phase: CallPhase;
  /** Who is on the phone; set in the phase active alone. */
  readonly agentId: string | null;
  readonly isOnHold: boolean;
  /** As the number's setting was when the call came in. */
  readonly isRecorded: boolean;
  /** Whom it rings, or rang last; the longest idle first. */
  readonly ringingAgentIds: readonly string[];
  /** When it was answered first. */
  readonly answeredAt: string | null;
  readonly endedAt: string | null;
  /** When the carrier itself said that it ended. */
  readonly carrierEndedAt: string | null;
  readonly durationMs: number | null;
  readonly recordingUrl: string | null;
  readonly voicemailId: string | null;
  readonly createdAt: string;
}

type Row = Omit<CallRecord, 'isOnHold' | 'isRecorded' | 'ringingAgentIds'> & { isOnHold: number; isRecorded: number; ringingAgentIds: string };

function fromRow(row: Row): CallRecord {
  return { ...row, isOnHold: row.isOnHold === 1, isRecorded: row.isRecorded === 1, ringingAgentIds: fromJson(row.ringingAgentIds) };
}

function toRow(call: CallRecord): Row {
  return { ...call, isOnHold: call.isOnHold ? 1 : 0, isRecorded: call.isRecorded ? 1 : 0, ringingAgentIds: toJson(call.ringingAgentIds) };
}

export function findCall(db: Database, conversationId: string): CallRecord | undefined {
  const row = db.get<Row>('SELECT * FROM call WHERE conversationId = ?', [conversationId]);
  return row && fromRow(row);
}

/** The conversation of the call that the carrier names so. */
export function findCallIdByCarrier(db: Database, carrierCallId: string): string | undefined {
  return db.get<{ id: string }>('SELECT conversationId AS id FROM call WHERE carrierCallId = ?', [carrierCallId])?.id;
}

export function insertCall(db: Database, call: CallRecord): void {
  db.run(
    `INSERT INTO call (conversationId, phoneNumberId, carrierCallId, fromE164, toE164, phase, agentId, isOnHold, isRecorded, ringingAgentIds, answeredAt, endedAt,
       carrierEndedAt, durationMs, recordingUrl, voicemailId, createdAt)
     VALUES (@conversationId, @phoneNumberId, @carrierCallId, @fromE164, @toE164, @phase, @agentId, @isOnHold, @isRecorded, @ringingAgentIds, @answeredAt, @endedAt,
       @carrierEndedAt, @durationMs, @recordingUrl, @voicemailId, @createdAt)`,
    { ...toRow(call) },
  );
}

/** Writes every field that can change. */
export function updateCall(db: Database, call: CallRecord): void {
  db.run(
    `UPDATE call SET phase = @phase, agentId = @agentId, isOnHold = @isOnHold, ringingAgentIds = @ringingAgentIds, answeredAt = @answeredAt, endedAt = @endedAt,
       carrierEndedAt = @carrierEndedAt, durationMs = @durationMs, recordingUrl = @recordingUrl, voicemailId = @voicemailId WHERE conversationId = @conversationId`,
    { ...toRow(call) },
  );
}

/** The call that the agent is in. */
export function findCallIdOfAgent(db: Database, agentId: string): string | undefined {
  return db.get<{ id: string }>('SELECT conversationId AS id FROM call WHERE agentId = ?', [agentId])?.id;
}

export function agentIdsInCalls(db: Database): Set<string> {
  return new Set(db.all<{ agentId: string }>('SELECT agentId FROM call WHERE agentId IS NOT NULL').map((row) => row.agentId));
}

/** The longest ringing first. */
export function ringingCallIds(db: Database, limit: number): string[] {
  return db.all<{ id: string }>(`SELECT conversationId AS id FROM call WHERE phase = 'ringing' ORDER BY createdAt LIMIT ?`, [limit]).map((row) => row.id);
}

export function ringingCallIdsOfNumber(db: Database, phoneNumberId: string): string[] {
  return db.all<{ id: string }>(`SELECT conversationId AS id FROM call WHERE phoneNumberId = ? AND phase = 'ringing' ORDER BY createdAt`, [phoneNumberId]).map((row) => row.id);
}

export interface CallFilter {
  readonly status?: ConversationStatus | undefined;
  /** An agent, or `none` for what nobody has. */
  readonly assigneeId?: string | undefined;
  readonly departmentId?: string | undefined;
  readonly phoneNumberId?: string | undefined;
  readonly visitorId?: string | undefined;
}

const conditions: Readonly<Record<keyof CallFilter, string>> = {
  status: 'conversation.status = @status',
  assigneeId: 'conversation.assignedAgentId = @assigneeId',
  departmentId: 'conversation.departmentId = @departmentId',
  phoneNumberId: 'EXISTS (SELECT 1 FROM call WHERE call.conversationId = conversation.id AND call.phoneNumberId = @phoneNumberId)',
  visitorId: 'conversation.visitorId = @visitorId',
};

/** Conversations that are calls, newest first, from just below `cursor`. The statement names only what is asked for, so that an index serves it. */
export function callIdPage(db: Database, page: { reach: Reach; filter: CallFilter; cursor: Cursor | undefined; limit: number }): string[] {
  const where = [`conversation.channel = 'call'`, withinReach];
  const values: Record<string, Value> = { ...reachValues(page.reach), limit: page.limit };
  for (const field of Object.keys(conditions) as (keyof CallFilter)[]) {
    const value = page.filter[field];
    if (value === undefined) continue;
    if (field === 'assigneeId' && value === 'none') {
      where.push('conversation.assignedAgentId IS NULL');
      continue;
    }
    where.push(conditions[field]);
    values[field] = value;
  }
  if (page.cursor !== undefined) {
    where.push('(conversation.createdAt, conversation.id) < (@at, @id)');
    values['at'] = page.cursor.at;
    values['id'] = page.cursor.id;
  }
  return db
    .all<{ id: string }>(`SELECT conversation.id FROM conversation WHERE ${where.join(' AND ')} ORDER BY conversation.createdAt DESC, conversation.id DESC LIMIT @limit`, values)
    .map((row) => row.id);
}

export function callPhaseOf(db: Database, conversationId: string): CallPhase | undefined {
  return db.get<{ phase: CallPhase }>('SELECT phase FROM call WHERE conversationId = ?', [conversationId])?.phase;
}

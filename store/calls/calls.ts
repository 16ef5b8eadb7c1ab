// The call-specific part of a conversation of channel call: its number, its phase, who is on the phone.

import { type ConversationStatus, type Reach, reachValues, withinReach } from '../conversations/conversations.ts';
import { below, type Cursor, newestOf } from '../cursor.ts';
import type { Database, Value } from '../database.ts';
import { fromJson } from '../json.ts';
import type { RowOf } from '../table.ts';
import type { CallPhase, CallRecord } from './records.ts';

export type { CallPhase, CallRecord } from './records.ts';

const fromRow = (row: RowOf<CallRecord>): CallRecord => ({
  ...row,
  isOnHold: row.isOnHold === 1,
  isRecorded: row.isRecorded === 1,
  ringingAgentIds: fromJson(row.ringingAgentIds),
});

export function findCall(db: Database, conversationId: string): CallRecord | undefined {
  const row = db.get<RowOf<CallRecord>>('SELECT * FROM call WHERE conversationId = ?', [conversationId]);
  return row && fromRow(row);
}

/** The conversation of a call, by the carrier's id. */
export function findCallIdByCarrier(db: Database, carrierCallId: string): string | undefined {
  return db.get<{ id: string }>('SELECT conversationId AS id FROM call WHERE carrierCallId = ?', [carrierCallId])?.id;
}

/** The call that the agent is in. */
export function findCallIdOfAgent(db: Database, agentId: string): string | undefined {
  return db.get<{ id: string }>('SELECT conversationId AS id FROM call WHERE agentId = ?', [agentId])?.id;
}

export function agentIdsInCalls(db: Database): Set<string> {
  return new Set(
    db.all<{ agentId: string }>('SELECT agentId FROM call WHERE agentId IS NOT NULL').map((row) => row.agentId),
  );
}

/** The longest ringing first. */
export function ringingCallIds(db: Database, limit: number): string[] {
  return db
    .all<{ id: string }>(`SELECT conversationId AS id FROM call WHERE phase = 'ringing' ORDER BY createdAt LIMIT ?`, [
      limit,
    ])
    .map((row) => row.id);
}

export function ringingCallIdsOfNumber(db: Database, phoneNumberId: string): string[] {
  return db
    .all<{ id: string }>(
      `SELECT conversationId AS id FROM call WHERE phoneNumberId = ? AND phase = 'ringing' ORDER BY createdAt`,
      [phoneNumberId],
    )
    .map((row) => row.id);
}

export interface CallFilter {
  readonly status?: ConversationStatus | undefined;
  /** An agent, or `none` for unassigned. */
  readonly assigneeId?: string | undefined;
  readonly departmentId?: string | undefined;
  readonly phoneNumberId?: string | undefined;
  readonly visitorId?: string | undefined;
  /** Active calls only. */
  readonly state?: 'ringing' | 'answered' | 'on_hold' | 'live' | undefined;
  /** When it came in, ISO: [from, to). */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const conditions: Readonly<Record<Exclude<keyof CallFilter, 'state' | 'from' | 'to'>, string>> = {
  status: 'conversation.status = @status',
  assigneeId: 'conversation.assignedAgentId = @assigneeId',
  departmentId: 'conversation.departmentId = @departmentId',
  phoneNumberId: 'conversation.phoneNumberId = @phoneNumberId',
  visitorId: 'conversation.visitorId = @visitorId',
};

/** Besides the condition of the source. */
const stateConditions: Readonly<Record<NonNullable<CallFilter['state']>, string>> = {
  ringing: 'TRUE',
  answered: 'NOT call.isOnHold',
  on_hold: 'call.isOnHold',
  live: 'TRUE',
};

/** An index range in the list's order, with its conditions besides the filter. */
interface Source {
  readonly from: string;
  readonly where: string;
  /** The columns of the list's order, as the index has them. */
  readonly at: string;
  readonly id: string;
  readonly values?: Readonly<Record<string, Value>>;
}

/**
 * Conversations that are calls, newest first, from just below `cursor`. Rows outside the agent's scope are read and
 * discarded only in small sets: active calls, and one visitor's calls.
 */
export function callIdPage(
  db: Database,
  page: { reach: Reach; filter: CallFilter; cursor: Cursor | undefined; limit: number },
): string[] {
  const { reach, filter, limit } = page;
  if (!reach.channels.includes('call')) return [];
  const asked: string[] = [];
  const values: Record<string, Value> = { ...reachValues(reach), ...placeBelow(page.cursor, filter.to), limit };
  for (const field of Object.keys(conditions) as (keyof typeof conditions)[]) {
    const value = filter[field];
    if (value === undefined) continue;
    const isNobody = field === 'assigneeId' && value === 'none';
    asked.push(isNobody ? 'conversation.assignedAgentId IS NULL' : conditions[field]);
    if (!isNobody) values[field] = value;
  }
  if (filter.state !== undefined) asked.push(stateConditions[filter.state]);
  if (filter.from !== undefined) values['from'] = filter.from;
  const runs = sourcesOf(reach, filter).map(({ from, where, at, id, values: own }) => {
    const condition = [
      `conversation.channel = 'call'`,
      where,
      ...asked,
      ...(filter.from === undefined ? [] : [`${at} >= @from`]),
    ].join(' AND ');
    return db.all<Cursor>(
      `SELECT ${at} AS at, ${id} AS id FROM ${from} WHERE ${condition} AND (${at}, ${id}) < (@at, @id) ORDER BY ${at} DESC, ${id} DESC LIMIT @limit`,
      { ...values, ...own },
    );
  });
  return newestOf(runs, limit).map(({ id }) => id);
}

/** The lower of both, because SQLite seeks by only one of two bounds and scans what is between them. */
function placeBelow(cursor: Cursor | undefined, to: string | undefined): Cursor {
  const place = below(cursor);
  return to === undefined || to > place.at ? place : below({ at: to, id: '' });
}

const order = { at: 'conversation.createdAt', id: 'conversation.id' };

function sourcesOf(reach: Reach, filter: CallFilter): Source[] {
  const { assigneeId } = filter;
  if (filter.state !== undefined) return sourcesOfNow(filter.state);
  if (filter.visitorId !== undefined)
    return [{ from: 'conversation INDEXED BY conversationByVisitor', where: withinReach, ...order }];
  const own: Source = {
    from: 'conversation INDEXED BY conversationCallsByAssignee',
    where: 'conversation.assignedAgentId = @agentId',
    ...order,
  };
  if (assigneeId === reach.agentId) return [own];
  if (reach.departmentIds === null) return [sourceOfAll(filter)];
  const index =
    filter.phoneNumberId !== undefined
      ? 'conversationCallsOfNumber'
      : assigneeId !== undefined
        ? 'conversationCallsOfAssignee'
        : 'conversationCallsByDepartment';
  const departmentIds = [null, ...reach.departmentIds].filter(
    (id) => filter.departmentId === undefined || id === filter.departmentId,
  );
  return [
    ...departmentIds.map(
      (reachedId): Source => ({
        from: `conversation INDEXED BY ${index}`,
        where: 'conversation.departmentId IS @reachedId',
        ...order,
        values: { reachedId },
      }),
    ),
    ...(assigneeId === undefined ? [own] : []),
    {
      from: 'conversation INDEXED BY conversationOffered',
      where: `conversation.handshake IS NOT NULL AND conversation.handshake ->> 'toAgentId' = @agentId`,
      ...order,
    },
  ];
}

/** Active calls are few, whatever the filter. A call and its conversation have the same creation time. */
function sourcesOfNow(state: NonNullable<CallFilter['state']>): Source[] {
  const found = (index: string, condition: string): Source => ({
    from: `call INDEXED BY ${index} CROSS JOIN conversation ON conversation.id = call.conversationId`,
    where: `${condition} AND ${withinReach}`,
    at: 'call.createdAt',
    id: 'call.conversationId',
  });
  const ringing = state === 'ringing' || state === 'live' ? [found('callRinging', `call.phase = 'ringing'`)] : [];
  return state === 'ringing' ? ringing : [...ringing, found('callByAgent', 'call.agentId IS NOT NULL')];
}

/** For agents who may see all of them. */
function sourceOfAll({ phoneNumberId, assigneeId }: CallFilter): Source {
  if (phoneNumberId !== undefined) {
    return {
      from: 'call INDEXED BY callByNumber CROSS JOIN conversation ON conversation.id = call.conversationId',
      where: 'call.phoneNumberId = @phoneNumberId',
      at: 'call.createdAt',
      id: 'call.conversationId',
    };
  }
  const isOfSomebody = assigneeId !== undefined && assigneeId !== 'none';
  return {
    from: isOfSomebody ? 'conversation INDEXED BY conversationCallsByAssignee' : 'conversation',
    where: 'TRUE',
    ...order,
  };
}

export function callPhaseOf(db: Database, conversationId: string): CallPhase | undefined {
  return db.get<{ phase: CallPhase }>('SELECT phase FROM call WHERE conversationId = ?', [conversationId])?.phase;
}

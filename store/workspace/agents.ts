// Agents and their departments. A deactivated agent keeps its row, because conversations and notes name it.

import { below, type Cursor } from '../cursor.ts';
import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';

export type Role = 'admin' | 'supervisor' | 'agent';
export type AgentStatus = 'available' | 'away' | 'offline';
/** Who set the status: the agent, or the service by its presence. */
export type StatusSource = 'chosen' | 'automatic';
export type AgentChannel = 'chats' | 'tickets' | 'calls';

export interface AgentRecord {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  /** The name by which customers know it; null: its first name. */
  readonly publicName: string | null;
  readonly role: Role;
  readonly status: AgentStatus;
  readonly statusSource: StatusSource;
  /** It has a socket, or had one before a crash. */
  readonly isOnline: boolean;
  /** When its last socket closed; null while it has one, and if it had none since it set its status. */
  readonly goneAt: string | null;
  readonly channels: readonly AgentChannel[];
  readonly groupIds: readonly string[];
  readonly avatarUrl: string | null;
  readonly canTransfer: boolean;
  readonly passwordHash: string | null;
  readonly tokenVersion: number;
  /** When routing last assigned it a conversation; the longest idle comes first. */
  readonly lastAssignedAt: string | null;
  readonly joinedAt: string | null;
  /** The newest event from before that. */
  readonly joinedSeq: number;
  readonly deactivatedAt: string | null;
  readonly createdAt: string;
}

/** Not yet present. */
export type NewAgent = Omit<AgentRecord, 'publicName' | 'statusSource' | 'isOnline' | 'goneAt' | 'joinedSeq'>;

type Row = Omit<AgentRecord, 'isOnline' | 'channels' | 'groupIds' | 'canTransfer'> & {
  isOnline: number;
  channels: string;
  canTransfer: number;
  groupIds: string;
};

const select = `SELECT agent.*, (SELECT json_group_array(departmentId) FROM departmentMember WHERE agentId = agent.id) AS groupIds FROM agent`;

function fromRow(row: Row): AgentRecord {
  return {
    ...row,
    isOnline: row.isOnline === 1,
    channels: fromJson(row.channels),
    groupIds: fromJson(row.groupIds),
    canTransfer: row.canTransfer === 1,
  };
}

function toRow(agent: AgentRecord): Omit<Row, 'groupIds'> {
  const { groupIds: _, ...rest } = agent;
  return {
    ...rest,
    isOnline: agent.isOnline ? 1 : 0,
    channels: toJson(agent.channels),
    canTransfer: agent.canTransfer ? 1 : 0,
  };
}

/** Oldest first. */
export function allAgents(db: Database): AgentRecord[] {
  return db.all<Row>(`${select} ORDER BY createdAt, id`).map(fromRow);
}

/** Only those who have joined and not left. */
export function findActiveAgent(db: Database, agentId: string): AgentRecord | undefined {
  const row = db.get<Row>(`${select} WHERE id = ? AND joinedAt IS NOT NULL AND deactivatedAt IS NULL`, [agentId]);
  return row && fromRow(row);
}

export function insertAgent(db: Database, agent: NewAgent): void {
  db.run(
    `INSERT INTO agent (id, email, name, role, status, channels, avatarUrl, canTransfer, passwordHash, tokenVersion, lastAssignedAt, joinedAt, deactivatedAt, createdAt)
     VALUES (@id, @email, @name, @role, @status, @channels, @avatarUrl, @canTransfer, @passwordHash, @tokenVersion, @lastAssignedAt, @joinedAt, @deactivatedAt, @createdAt)`,
    { ...agent, groupIds: null, channels: toJson(agent.channels), canTransfer: agent.canTransfer ? 1 : 0 },
  );
  putMemberships(db, agent);
}

/** Writes every field except `id` and `createdAt`, including memberships. */
export function updateAgent(db: Database, agent: AgentRecord): void {
  db.run(
    `UPDATE agent SET email = @email, name = @name, publicName = @publicName, role = @role, status = @status, statusSource = @statusSource, isOnline = @isOnline, goneAt = @goneAt, channels = @channels, avatarUrl = @avatarUrl, canTransfer = @canTransfer,
       passwordHash = @passwordHash, tokenVersion = @tokenVersion, lastAssignedAt = @lastAssignedAt, joinedAt = @joinedAt, joinedSeq = @joinedSeq, deactivatedAt = @deactivatedAt WHERE id = @id`,
    { ...toRow(agent) },
  );
  db.run('DELETE FROM departmentMember WHERE agentId = ?', [agent.id]);
  putMemberships(db, agent);
}

export function isAnyAgentOnline(db: Database): boolean {
  return db.get('SELECT 1 FROM agent WHERE isOnline = 1 LIMIT 1') !== undefined;
}

/** Writes its presence. */
export function setPresence(db: Database, { id, isOnline, goneAt }: AgentRecord): void {
  db.run('UPDATE agent SET isOnline = ?, goneAt = ? WHERE id = ?', [isOnline ? 1 : 0, goneAt, id]);
}

export function setLastAssignedAt(db: Database, agentId: string, at: string): void {
  db.run('UPDATE agent SET lastAssignedAt = ? WHERE id = ?', [at, agentId]);
}

export interface AgentFilter {
  readonly role?: Role | undefined;
  readonly status?: AgentStatus | undefined;
  readonly departmentId?: string | undefined;
  readonly inviteStatus?: 'pending' | 'joined' | 'deactivated' | undefined;
}

/** Newest first, from just below `cursor`. */
export function agentPage(
  db: Database,
  page: { filter: AgentFilter; cursor: Cursor | undefined; limit: number },
): AgentRecord[] {
  const { role = null, status = null, departmentId = null, inviteStatus = null } = page.filter;
  return db
    .all<Row>(
      `${select} WHERE (@role IS NULL OR role = @role) AND (@status IS NULL OR status = @status)
         AND (@departmentId IS NULL OR EXISTS (SELECT 1 FROM departmentMember WHERE agentId = agent.id AND departmentId = @departmentId))
         AND (@inviteStatus IS NULL OR @inviteStatus = CASE WHEN deactivatedAt IS NOT NULL THEN 'deactivated' WHEN joinedAt IS NULL THEN 'pending' ELSE 'joined' END)
         AND (createdAt, id) < (@at, @id)
       ORDER BY createdAt DESC, id DESC LIMIT @limit`,
      { role, status, departmentId, inviteStatus, ...below(page.cursor), limit: page.limit },
    )
    .map(fromRow);
}

function putMemberships(db: Database, agent: NewAgent): void {
  for (const departmentId of agent.groupIds)
    db.run('INSERT INTO departmentMember (departmentId, agentId) VALUES (?, ?)', [departmentId, agent.id]);
}

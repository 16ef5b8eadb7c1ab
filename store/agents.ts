// Agents and the departments they belong to. A deactivated agent keeps its row: conversations and notes name it.

import { below, type Cursor } from './cursor.ts';
import type { Database } from './database.ts';
import { fromJson, toJson } from './json.ts';

export type Role = 'admin' | 'supervisor' | 'agent';
export type AgentStatus = 'available' | 'away' | 'offline';
export type AgentChannel = 'chats' | 'tickets' | 'calls';

export interface AgentRecord {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly status: AgentStatus;
  readonly channels: readonly AgentChannel[];
  readonly groupIds: readonly string[];
  readonly avatarUrl: string | null;
  readonly canTransfer: boolean;
  readonly passwordHash: string | null;
  readonly tokenVersion: number;
  /** When routing last gave it a conversation; the longest idle comes first. */
  readonly lastAssignedAt: string | null;
  readonly joinedAt: string | null;
  readonly deactivatedAt: string | null;
  readonly createdAt: string;
}

type Row = Omit<AgentRecord, 'channels' | 'groupIds' | 'canTransfer'> & { channels: string; canTransfer: number; groupIds: string };

const select = `SELECT agent.*, (SELECT json_group_array(departmentId) FROM departmentMember WHERE agentId = agent.id) AS groupIds FROM agent`;

function fromRow(row: Row): AgentRecord {
  return { ...row, channels: fromJson(row.channels), groupIds: fromJson(row.groupIds), canTransfer: row.canTransfer === 1 };
}

function toRow(agent: AgentRecord): Omit<Row, 'groupIds'> {
  const { groupIds: _, ...rest } = agent;
  return { ...rest, channels: toJson(agent.channels), canTransfer: agent.canTransfer ? 1 : 0 };
}

/** Oldest first. */
export function allAgents(db: Database): AgentRecord[] {
  return db.all<Row>(`${select} ORDER BY createdAt, id`).map(fromRow);
}

/** Of those who have joined and not left. */
export function findActiveAgent(db: Database, agentId: string): AgentRecord | undefined {
  const row = db.get<Row>(`${select} WHERE id = ? AND joinedAt IS NOT NULL AND deactivatedAt IS NULL`, [agentId]);
  return row && fromRow(row);
}

export function insertAgent(db: Database, agent: AgentRecord): void {
  db.run(
    `INSERT INTO agent (id, email, name, role, status, channels, avatarUrl, canTransfer, passwordHash, tokenVersion, lastAssignedAt, joinedAt, deactivatedAt, createdAt)
     VALUES (@id, @email, @name, @role, @status, @channels, @avatarUrl, @canTransfer, @passwordHash, @tokenVersion, @lastAssignedAt, @joinedAt, @deactivatedAt, @createdAt)`,
    { ...toRow(agent) },
  );
  putMemberships(db, agent);
}

/** Writes every field but `id` and `createdAt`, memberships included. */
export function updateAgent(db: Database, agent: AgentRecord): void {
  db.run(
    `UPDATE agent SET email = @email, name = @name, role = @role, status = @status, channels = @channels, avatarUrl = @avatarUrl, canTransfer = @canTransfer,
       passwordHash = @passwordHash, tokenVersion = @tokenVersion, lastAssignedAt = @lastAssignedAt, joinedAt = @joinedAt, deactivatedAt = @deactivatedAt WHERE id = @id`,
    { ...toRow(agent) },
  );
  db.run('DELETE FROM departmentMember WHERE agentId = ?', [agent.id]);
  putMemberships(db, agent);
}

export function setLastAssignedAt(db: Database, agentId: string, at: string): void {
  db.run('UPDATE agent SET lastAssignedAt = ? WHERE id = ?', [at, agentId]);
}

export interface AgentFilter {
  readonly role?: Role | undefined;
  readonly status?: AgentStatus | undefined;
  readonly departmentId?: string | undefined;
}

/** Newest first, from just below `cursor`. */
export function agentPage(db: Database, page: { filter: AgentFilter; cursor: Cursor | undefined; limit: number }): AgentRecord[] {
  const { role = null, status = null, departmentId = null } = page.filter;
  return db
    .all<Row>(
      `${select} WHERE (@role IS NULL OR role = @role) AND (@status IS NULL OR status = @status)
         AND (@departmentId IS NULL OR EXISTS (SELECT 1 FROM departmentMember WHERE agentId = agent.id AND departmentId = @departmentId))
         AND (createdAt, id) < (@at, @id)
       ORDER BY createdAt DESC, id DESC LIMIT @limit`,
      { role, status, departmentId, ...below(page.cursor), limit: page.limit },
    )
    .map(fromRow);
}

function putMemberships(db: Database, agent: AgentRecord): void {
  for (const departmentId of agent.groupIds) db.run('INSERT INTO departmentMember (departmentId, agentId) VALUES (?, ?)', [departmentId, agent.id]);
}

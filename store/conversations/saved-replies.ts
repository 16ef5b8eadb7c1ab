// Saved replies. A shortcut is unique among the workspace's, or among one author's personal ones.

import { below, type Cursor } from '../cursor.ts';
import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';

export interface SavedReplyRecord {
  readonly id: string;
  readonly version: number;
  readonly shortcut: string;
  readonly title: string;
  readonly body: string;
  readonly channels: readonly ('chat' | 'ticket')[];
  readonly scope: 'workspace' | 'personal';
  readonly createdByAgentId: string;
  readonly createdAt: string;
}

type Row = Omit<SavedReplyRecord, 'channels'> & { channels: string };

const fromRow = (row: Row): SavedReplyRecord => ({ ...row, channels: fromJson(row.channels) });

export function insertSavedReply(db: Database, reply: SavedReplyRecord): void {
  db.run(
    `INSERT INTO savedReply (id, version, shortcut, title, body, channels, scope, createdByAgentId, createdAt)
     VALUES (@id, @version, @shortcut, @title, @body, @channels, @scope, @createdByAgentId, @createdAt)`,
    { ...reply, channels: toJson(reply.channels) },
  );
}

export function updateSavedReply(db: Database, reply: SavedReplyRecord): void {
  db.run(
    'UPDATE savedReply SET version = @version, shortcut = @shortcut, title = @title, body = @body, channels = @channels, scope = @scope WHERE id = @id',
    {
      ...reply,
      channels: toJson(reply.channels),
    },
  );
}

export function deleteSavedReply(db: Database, replyId: string): void {
  db.run('DELETE FROM savedReply WHERE id = ?', [replyId]);
}

export function findSavedReply(db: Database, replyId: string): SavedReplyRecord | undefined {
  const row = db.get<Row>('SELECT * FROM savedReply WHERE id = ?', [replyId]);
  return row && fromRow(row);
}

/** By shortcut, ignoring case: among the workspace's, or among `agentId`'s own. */
export function findSavedReplyByShortcut(
  db: Database,
  key: { shortcut: string; scope: SavedReplyRecord['scope']; agentId: string },
): SavedReplyRecord | undefined {
  const row =
    key.scope === 'workspace'
      ? db.get<Row>(`SELECT * FROM savedReply WHERE scope = 'workspace' AND nameKey(shortcut) = nameKey(?)`, [
          key.shortcut,
        ])
      : db.get<Row>(
          `SELECT * FROM savedReply WHERE scope = 'personal' AND createdByAgentId = ? AND nameKey(shortcut) = nameKey(?)`,
          [key.agentId, key.shortcut],
        );
  return row && fromRow(row);
}

export interface SavedReplyFilter {
  readonly scope?: SavedReplyRecord['scope'] | undefined;
  readonly channel?: 'chat' | 'ticket' | undefined;
  /** In the shortcut, the title or the body, ignoring case and diacritics. */
  readonly q?: string | undefined;
}

/** Replies the agent may use: the workspace's and its own. Newest first, from just below `cursor`. */
export function savedReplyPage(
  db: Database,
  page: { agentId: string; filter: SavedReplyFilter; cursor: Cursor | undefined; limit: number },
): SavedReplyRecord[] {
  const { scope = null, channel = null, q = null } = page.filter;
  return db
    .all<Row>(
      `SELECT * FROM savedReply WHERE (scope = 'workspace' OR createdByAgentId = @agentId) AND (@scope IS NULL OR scope = @scope)
         AND (@channel IS NULL OR EXISTS (SELECT 1 FROM json_each(channels) WHERE value = @channel))
         AND (@q IS NULL OR instr(fold(shortcut || char(10) || title || char(10) || body), fold(@q)) > 0)
         AND (createdAt, id) < (@at, @id)
       ORDER BY createdAt DESC, id DESC LIMIT @limit`,
      { agentId: page.agentId, scope, channel, q, ...below(page.cursor), limit: page.limit },
    )
    .map(fromRow);
}

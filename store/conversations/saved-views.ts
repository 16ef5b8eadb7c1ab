// Views of the queue that agents keep under a name: the team's, and each agent's own. A filter may name an agent, a
// department or a site that no longer exists.

import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';
import type { Channel } from './conversations.ts';
import type { QueueSort } from './queue-pages.ts';

export type ViewSort = Exclude<QueueSort, 'activity' | 'oldest_activity'>;

/** As in the queue; the assignee may also be `me`, the agent who looks at the view. */
export interface SavedFilter {
  readonly channel?: Channel;
  readonly departmentId?: string;
  readonly assigneeId?: string;
  readonly siteId?: string;
  readonly tag?: string;
}

export interface SavedViewRecord {
  readonly id: string;
  readonly name: string;
  readonly scope: 'own' | 'team';
  readonly filter: SavedFilter;
  readonly sort: ViewSort;
  readonly createdByAgentId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

type Row = Omit<SavedViewRecord, 'filter'> & { filter: string };

const fromRow = (row: Row): SavedViewRecord => ({ ...row, filter: fromJson(row.filter) });

export function insertSavedView(db: Database, view: SavedViewRecord): void {
  db.run(
    `INSERT INTO savedView (id, name, scope, filter, sort, createdByAgentId, createdAt, updatedAt)
     VALUES (@id, @name, @scope, @filter, @sort, @createdByAgentId, @createdAt, @updatedAt)`,
    { ...view, filter: toJson(view.filter) },
  );
}

export function updateSavedView(db: Database, { id, name, filter, sort, updatedAt }: SavedViewRecord): void {
  db.run('UPDATE savedView SET name = @name, filter = @filter, sort = @sort, updatedAt = @updatedAt WHERE id = @id', {
    id,
    name,
    filter: toJson(filter),
    sort,
    updatedAt,
  });
}

export function deleteSavedView(db: Database, viewId: string): void {
  db.run('DELETE FROM savedView WHERE id = ?', [viewId]);
}

/** The team's stay. */
export function deleteOwnViews(db: Database, agentId: string): void {
  db.run(`DELETE FROM savedView WHERE scope = 'own' AND createdByAgentId = ?`, [agentId]);
}

export function findSavedView(db: Database, viewId: string): SavedViewRecord | undefined {
  const row = db.get<Row>('SELECT * FROM savedView WHERE id = ?', [viewId]);
  return row && fromRow(row);
}

/** Oldest first. */
export function viewsOfTeam(db: Database): SavedViewRecord[] {
  return db.all<Row>(`SELECT * FROM savedView WHERE scope = 'team' ORDER BY createdAt, id`, []).map(fromRow);
}

/** Oldest first. */
export function viewsOfAgent(db: Database, agentId: string): SavedViewRecord[] {
  return db
    .all<Row>(`SELECT * FROM savedView WHERE scope = 'own' AND createdByAgentId = ? ORDER BY createdAt, id`, [agentId])
    .map(fromRow);
}

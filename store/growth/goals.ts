// Goals and their completions by visitors.

import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';
import type { UrlMatch } from './campaigns.ts';

export type GoalStatus = 'active' | 'paused' | 'archived';

export interface GoalRecord {
  readonly id: string;
  readonly name: string;
  readonly condition: UrlMatch;
  /** Per completion; null for no monetary value. */
  readonly valueCents: number | null;
  readonly status: GoalStatus;
  readonly createdAt: string;
}

export interface CompletionRecord {
  readonly id: string;
  readonly goalId: string;
  readonly url: string;
  readonly valueCents: number | null;
  readonly visitorId: string;
  readonly conversationId: string | null;
  readonly departmentId: string | null;
  readonly attributedAgentId: string | null;
  readonly completedAt: string;
}

type Row = Omit<GoalRecord, 'condition'> & { condition: string };

const columns = 'id, name, condition, valueCents, status, createdAt';
const fromRow = (row: Row): GoalRecord => ({ ...row, condition: fromJson(row.condition) });
const toRow = (goal: GoalRecord): Row => ({ ...goal, condition: toJson(goal.condition) });

export function insertGoal(db: Database, goal: GoalRecord): void {
  db.run(
    'INSERT INTO goal (id, name, condition, valueCents, status, createdAt) VALUES (@id, @name, @condition, @valueCents, @status, @createdAt)',
    { ...toRow(goal) },
  );
}

export function updateGoal(db: Database, goal: GoalRecord): void {
  db.run(
    'UPDATE goal SET name = @name, condition = @condition, valueCents = @valueCents, status = @status WHERE id = @id',
    { ...toRow(goal) },
  );
}

/** Its completions stay. */
export function markGoalDeleted(db: Database, goalId: string, at: string): void {
  db.run('UPDATE goal SET deletedAt = ? WHERE id = ?', [at, goalId]);
}

/** Excludes deleted goals. */
export function findGoal(db: Database, goalId: string): GoalRecord | undefined {
  const row = db.get<Row>(`SELECT ${columns} FROM goal WHERE id = ? AND deletedAt IS NULL`, [goalId]);
  return row && fromRow(row);
}

/** Newest first, without deleted ones. */
export function allGoals(db: Database): GoalRecord[] {
  return db
    .all<Row>(`SELECT ${columns} FROM goal WHERE deletedAt IS NULL ORDER BY createdAt DESC, id DESC`)
    .map(fromRow);
}

export function insertCompletion(db: Database, completion: CompletionRecord): void {
  db.run(
    `INSERT INTO goalCompletion (id, goalId, url, valueCents, visitorId, conversationId, departmentId, attributedAgentId, completedAt)
     VALUES (@id, @goalId, @url, @valueCents, @visitorId, @conversationId, @departmentId, @attributedAgentId, @completedAt)`,
    { ...completion },
  );
}

/** When the visitor last completed the goal. */
export function lastCompletedAt(db: Database, visitorId: string, goalId: string): string | undefined {
  return (
    db.get<{ at: string | null }>(
      'SELECT max(completedAt) AS at FROM goalCompletion WHERE visitorId = ? AND goalId = ?',
      [visitorId, goalId],
    )?.at ?? undefined
  );
}

/** With their goals' names, including deleted goals. Newest first. */
export function completionsOfVisitor(
  db: Database,
  visitorId: string,
  limit: number,
): (CompletionRecord & { goalName: string })[] {
  return db.all<CompletionRecord & { goalName: string }>(
    `SELECT goalCompletion.*, goal.name AS goalName FROM goalCompletion INDEXED BY goalCompletionByVisitor JOIN goal ON goal.id = goalCompletion.goalId
     WHERE visitorId = ? ORDER BY completedAt DESC, goalCompletion.id DESC LIMIT ?`,
    [visitorId, limit],
  );
}

/** From `fromAt`, before `toAt`. */
export interface CompletionRange {
  readonly goalId: string;
  readonly fromAt: string;
  readonly toAt: string;
}

/** Newest first. */
export function completionPage(
  db: Database,
  page: CompletionRange & { limit: number; offset: number },
): CompletionRecord[] {
  return db.all<CompletionRecord>(
    'SELECT * FROM goalCompletion WHERE goalId = @goalId AND completedAt >= @fromAt AND completedAt < @toAt ORDER BY completedAt DESC, id DESC LIMIT @limit OFFSET @offset',
    { ...page },
  );
}

export function completionTotals(db: Database, range: CompletionRange): { total: number; totalValueCents: number } {
  return (
    db.get<{ total: number; totalValueCents: number }>(
      'SELECT count(*) AS total, coalesce(sum(valueCents), 0) AS totalValueCents FROM goalCompletion WHERE goalId = @goalId AND completedAt >= @fromAt AND completedAt < @toAt',
      { ...range },
    ) ?? { total: 0, totalValueCents: 0 }
  );
}

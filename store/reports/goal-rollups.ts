// Rollups of goals: completions and their value, by attributed department or in total. An agent's completions are few
// enough to be read directly. A completion never changes, so it is added once, in the transaction that writes it, by
// engine/rollups.ts; store/reports/rebuild.ts rebuilds and verifies rollups.

import type { Database } from '../database.ts';
import { withQuarter } from './quarters.ts';
import { type Days, dayMs, everyone, monthOf, noDepartment, quarterOf } from './rollups.ts';

/** The part of a completion that reports use. */
export interface ReportedCompletion {
  readonly goalId: string;
  readonly valueCents: number | null;
  readonly departmentId: string | null;
  readonly completedAt: string;
}

interface GoalCell {
  readonly departmentId: string;
  /** '*' is every goal, kept only by day, with quarter-hours. */
  readonly goalId: string;
}

interface GoalKey extends GoalCell {
  readonly grain: 'day' | 'month';
  readonly period: number;
}

interface GoalSums {
  readonly completions: number;
  readonly valueCents: number;
  readonly quarters: string;
}

/** A quarter-hour has one figure: completions. */
export const figuresPerGoalQuarter = 1;

/** The rows that a completion adds to. */
function keysOf({ goalId, departmentId, completedAt }: ReportedCompletion): GoalKey[] {
  const ms = Date.parse(completedAt);
  const day = { grain: 'day', period: Math.floor(ms / dayMs) } as const;
  const month = { grain: 'month', period: monthOf(ms) } as const;
  return [everyone, departmentId ?? noDepartment].flatMap((department): GoalKey[] => {
    const cell = { departmentId: department };
    return [
      { ...cell, goalId, ...day },
      { ...cell, goalId, ...month },
      { ...cell, goalId: everyone, ...day },
    ];
  });
}

function added(sums: GoalSums | undefined, key: GoalKey, completion: ReportedCompletion): GoalSums {
  const { completions, valueCents, quarters } = sums ?? { completions: 0, valueCents: 0, quarters: '' };
  return {
    completions: completions + 1,
    valueCents: valueCents + (completion.valueCents ?? 0),
    quarters:
      key.goalId === everyone
        ? withQuarter(quarters, { quarter: quarterOf(Date.parse(completion.completedAt)), figures: [1] })
        : quarters,
  };
}

const ofGoalCell = 'departmentId = @departmentId AND goalId = @goalId';
const ofGoalKey = `${ofGoalCell} AND grain = @grain AND period = @period`;

export function foldCompletion(db: Database, completion: ReportedCompletion): void {
  for (const key of keysOf(completion))
    putRow(
      db,
      key,
      added(
        db.get<GoalSums>(`SELECT completions, valueCents, quarters FROM rollupGoal WHERE ${ofGoalKey}`, { ...key }),
        key,
        completion,
      ),
    );
}

function putRow(db: Database, key: GoalKey, sums: GoalSums): void {
  db.run(
    `INSERT OR REPLACE INTO rollupGoal (departmentId, goalId, grain, period, completions, valueCents, quarters)
     VALUES (@departmentId, @goalId, @grain, @period, @completions, @valueCents, @quarters)`,
    { ...key, ...sums },
  );
}

/** There must be none yet. */
export function buildGoalsOfDay(db: Database, day: number): void {
  for (const [key, sums] of rollupsOf(db, { first: day, next: day + 1 }).values())
    if (key.grain === 'day') putRow(db, key, sums);
}

/** From its days, which must be right. */
export function buildGoalsOfMonth(db: Database, days: Days, month: number): void {
  const sumsOfDays = `SELECT sum(completions) AS completions, sum(valueCents) AS valueCents, '' AS quarters FROM rollupGoal WHERE ${ofGoalCell} AND grain = 'day' AND period >= @first AND period < @next HAVING count(*) > 0`;
  for (const cell of cellsIn(db)) {
    if (cell.goalId === everyone) continue;
    const sums = db.get<GoalSums>(sumsOfDays, { ...cell, ...days });
    if (sums !== undefined) putRow(db, { ...cell, grain: 'month', period: month }, sums);
  }
}

/** One after the other by primary key, which is faster than scanning every row. */
function cellsIn(db: Database): GoalCell[] {
  const next =
    'SELECT departmentId, goalId FROM rollupGoal WHERE (departmentId, goalId) > (@departmentId, @goalId) ORDER BY departmentId, goalId LIMIT 1';
  const cells: GoalCell[] = [];
  for (
    let cell = db.get<GoalCell>(next, { departmentId: '', goalId: '' });
    cell !== undefined;
    cell = db.get<GoalCell>(next, { ...cell })
  )
    cells.push(cell);
  return cells;
}

/** The expected rollups of these days, and of their month if they are all of it. */
function rollupsOf(db: Database, { first, next }: Days): Map<string, [GoalKey, GoalSums]> {
  const rollups = new Map<string, [GoalKey, GoalSums]>();
  const completions = db.iterate<ReportedCompletion>(
    'SELECT goalId, valueCents, departmentId, completedAt FROM goalCompletion INDEXED BY goalCompletionByTime WHERE completedAt >= ? AND completedAt < ?',
    [new Date(first * dayMs).toISOString(), new Date(next * dayMs).toISOString()],
  );
  for (const completion of completions)
    for (const key of keysOf(completion))
      rollups.set(textOf(key), [key, added(rollups.get(textOf(key))?.[1], key, completion)]);
  return rollups;
}

const textOf = (key: GoalKey): string => ['goal', key.departmentId, key.goalId, key.grain, key.period].join('|');

/** As differencesOfMonth() of store/reports/rebuild.ts. */
export function* differencesOfGoals(db: Database, days: Days, month: number): Generator<string> {
  const expected = rollupsOf(db, days);
  const text = ({ completions, valueCents, quarters }: GoalSums): string => [completions, valueCents, quarters].join();
  const rows = db.iterate<GoalKey & GoalSums>(
    `SELECT * FROM rollupGoal WHERE (grain = 'month' AND period = @month OR grain = 'day' AND period >= @first AND period < @next)`,
    { month, ...days },
  );
  const held = new Map<string, string>();
  for (const row of rows) held.set(textOf(row), text(row));
  for (const [key, [, sums]] of expected)
    if (held.get(key) !== text(sums)) yield `${key} holds ${held.get(key) ?? 'nothing'} and should hold ${text(sums)}`;
  for (const [key, is] of held) if (!expected.has(key)) yield `${key} holds ${is} and should hold nothing`;
}
